# SPDX-License-Identifier: Apache-2.0
"""Graphs as a table, for Graphviz and as a page; memory plans as data and a chart."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from contextlib import contextmanager

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from html_page import Page
from pkg.graph.memory_plan import MemoryPlan, PlannedBuffer, PlannedStep

NASTY = "x<b>&\"'\\"


@contextmanager
def net():
    """A small network with a name that HTML and DOT have other meanings for."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [None, 3], NASTY)
        w = pg.Variable(np.ones((3, 4), "float32"), name="w")
        y = pg.record(pkg.relu, x @ w, name="y")
        with pg.control_dependencies([y]):
            z = pkg.exp(w)
        yield graph, x, w, y, z


def test_the_table_has_shapes_bytes_inputs_and_lines():
    with net() as (graph, *_):
        lines = graph.to_text().splitlines()
        assert len(lines) == 2 + len(graph.get_operations())
        row = {line.split()[1]: line for line in lines[2:]}
        assert "float32 [?, 4]" in row["y"] and "matmul:0" in row["y"]
        assert re.search(r"float32 \[3, 4\] +48 ", row["w"])
        assert "^y" in row["exp"]
        assert "test_pictures.py:" in row["y"]
        assert "time" not in lines[0]  # nothing was traced


def test_dot_has_an_arrow_for_each_input_and_quotes_names():
    with net() as (graph, *_):
        dot = graph.to_dot()
        n_inputs = sum(len(op.inputs) for op in graph.get_operations())
        assert len(re.findall(r"^  n\d+ -> n\d+;$", dot, re.M)) == n_inputs
        assert len(re.findall(r"style=dashed", dot)) == 1
        assert 'label="x<b>&\\"\'\\\\\\n' in dot
        for label in re.findall(r'label="(.*)"\];', dot):
            assert not re.search(r'(?<!\\)(\\\\)*"', label)


def test_names_that_look_like_something_else():
    """As that of a control input, of an output, or of two lines."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [2], "^x")
        y = pg.record(pkg.exp, x, name="^")
        with pg.control_dependencies([y]):
            pg.record(pkg.exp, y, name="a\n0  b")
    assert len(graph.to_text().splitlines()) == 2 + 3
    assert "a\\n0  b" in graph.to_text()
    arrows = [line for line in graph.to_dot().splitlines() if "->" in line]
    assert arrows == ["  n0 -> n1;", "  n1 -> n2;", "  n1 -> n2 [style=dashed];"]
    page = Page(graph.to_html())
    assert page.links == ["#n0", "#n1", "#n1"] and page.open == []


def test_the_page_stands_alone_and_escapes_names():
    with net() as (graph, x, w, y, _):
        with pg.Session() as session:
            session.run(w.initializer)
            session.run(y, {x: np.ones((5, 3), "float32")})
            page = Page(graph.to_html(plan=session.memory_plan(y, [x])))
        assert page.open == [] and page.outside == []
        assert "script" not in page.tags and "b" not in page.tags
        assert NASTY in page.text
        assert {link[1:] for link in page.links} <= page.ids
        assert "svg" in page.tags


def test_show_prints_and_writes(capsys, tmp_path):
    with net() as (graph, *_):
        graph.show()
        assert capsys.readouterr().out == graph.to_text()
        graph.show("dot")
        assert capsys.readouterr().out == graph.to_dot()
        graph.show("html", tmp_path / "graph.html")
        assert capsys.readouterr().out == ""
        assert (tmp_path / "graph.html").read_text(encoding="utf-8") == graph.to_html()
        with pytest.raises(ValueError, match="expected one of 'text', 'dot', 'html'"):
            graph.show("png")
        with pytest.raises(TypeError, match="a str for format, got list"):
            graph.show(["a"])
        with pytest.raises(OSError):
            graph.show("text", tmp_path / "nowhere" / "graph.txt")


def planned(session, fetches, feeds):
    session.run(fetches, feeds)
    return session.memory_plan(fetches, feeds)


def test_buffers_that_live_together_do_not_overlap():
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [None], "x")
        y = x
        for _ in range(6):
            y = pkg.exp(-y) + 1
        with pg.Session() as session:
            plan = planned(session, y, {x: np.zeros(1000, "float32")})
    placed = [b for b in plan.buffers if b.offset is not None]
    assert len(placed) > 4
    assert plan.slab_bytes < plan.temporary_bytes
    assert max(plan.in_use()) <= plan.slab_bytes
    # A step may write in the place of what it reads last.
    handed = [
        (plan.buffers[a], plan.buffers[b])
        for i, step in enumerate(plan.steps)
        for a in step.reads
        for b in step.writes
        if plan.buffers[a].last == i == plan.buffers[b].first
    ]
    for i, a in enumerate(placed):
        assert a.offset + a.nbytes <= plan.slab_bytes
        for b in placed[:i]:
            together = a.first <= b.last and b.first <= a.last
            apart = a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset
            assert apart or not together or (b, a) in handed


def test_bytes_in_use_and_of_operations():
    """As if each step were looked at by itself; a place that is taken over is one."""
    buffers = (
        PlannedBuffer("feed", 1000, 0, 0, None),
        PlannedBuffer("temporary", 100, 0, 1, 0),
        PlannedBuffer("temporary", 60, 1, 3, 0),  # in the place of the first
        PlannedBuffer("temporary", 10, 1, 2, 100),
        PlannedBuffer("temporary", 7, None, None, None),
    )
    steps = (
        PlannedStep("a", "a", 5, (0,), (1,)),
        PlannedStep("b", "b", 6, (1,), (2, 3)),
        PlannedStep("c", "c", 5, (2, 3), (1, 1)),
        PlannedStep("d", "d", 7, (2,), ()),
    )
    plan = MemoryPlan(128, 0.0, buffers, steps)
    assert plan.in_use() == [100, 110, 70, 60]
    assert [plan.bytes_of(n) for n in (5, 6, 7, 8)] == [100, 70, 0, 0]


def test_a_plan_says_what_steps_read_and_write():
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [None, 3], "x")
        w = pg.Variable(np.ones((3, 2), "float32"), name="w")
        y = pg.record(pkg.relu, x @ w, name="y")
        with pg.Session() as session:
            session.run(w.initializer)
            plan = planned(session, y, {x: np.ones((7, 3), "float32")})
    assert [step.operation for step in plan.steps] == ["matmul", "y"]
    product, relu = plan.steps
    kinds = [plan.buffers[b].kind for b in product.reads]
    assert sorted(kinds) == ["feed", "variable"]
    assert product.writes == relu.reads
    assert plan.buffers[relu.writes[0]].kind == "result"
    assert plan.bytes_of(y.op._handle.id()) == 7 * 2 * 4
    assert [plan.buffers[b].nbytes for b in product.writes] == [7 * 2 * 4]


def test_the_chart_has_a_box_for_each_temporary_tensor_at_its_place():
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [None], "x")
        y = pkg.exp(-x) * 2 + pkg.exp(x)
        with pg.Session() as session:
            plan = planned(session, y.sum(), {x: np.zeros(512, "float32")})
    chart = plan.chart()
    root = ET.fromstring(chart[chart.index("<svg") :])
    space = "{http://www.w3.org/2000/svg}"
    boxes = root.findall(f"{space}rect")
    placed = [b for b in plan.buffers if b.offset is not None]
    assert len(boxes) == len(placed)
    per_byte = 320 / plan.slab_bytes
    for box, buffer in zip(boxes, placed):
        bottom = 330 - per_byte * buffer.offset
        assert float(box.get("y")) + float(box.get("height")) == pytest.approx(
            bottom, abs=0.6
        )
        assert f"steps {buffer.first} to {buffer.last}" in box[0].text
    rows = str(plan).splitlines()
    assert len(rows) == 3 + len(plan.steps)


def test_bytes_of_unknown_shapes_come_from_the_plan():
    with net() as (graph, x, w, y, _):
        with pg.Session() as session:
            session.run(w.initializer)
            plan = planned(session, y, {x: np.ones((5, 3), "float32")})
        (row,) = [
            line for line in graph.to_text(plan=plan).splitlines() if " y " in line
        ]
        assert re.search(r"float32 \[\?, 4\] +80 ", row)


def test_without_a_plan_the_session_says_why():
    with net() as (_, x, _, y, _):
        with pg.Session() as session:
            with pytest.raises(RuntimeError, match="not run yet"):
                session.memory_plan(y, [x])
            for wrong in (x, 3, "x:0"):
                with pytest.raises(TypeError, match="list of symbols, for feed_dict, "):
                    session.memory_plan(y, wrong)
        with pg.Graph().as_default():
            x = pg.placeholder(pkg.float32, [3])
            places = pg.record(pkg.ops.nonzero, x)
            with pg.Session() as session:
                session.run(places, {x: np.ones(3, "float32")})
                with pytest.raises(RuntimeError, match="called one by one"):
                    session.memory_plan(places, [x])

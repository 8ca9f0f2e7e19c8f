# SPDX-License-Identifier: Apache-2.0
"""Runs that are traced say what they did, and other runs do not."""

from __future__ import annotations

import json
import re
import threading
import time

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from pkg.profiler import recording

ROWS = np.arange(6, dtype="float32").reshape(2, 3)


def small_net():
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    y = pg.record(pkg.exp, x * 2, name="y")
    return x, y


def test_a_traced_run_gives_the_same_and_says_what_ran():
    with pg.Graph().as_default() as graph, pg.Session() as session:
        x, y = small_net()
        assert session.last_trace is None and graph.last_trace is None
        plain = session.run(y, {x: ROWS})
        assert session.last_trace is None
        before = time.monotonic_ns()
        traced = session.run(y, {x: ROWS}, trace=True)
        after = time.monotonic_ns()
        np.testing.assert_array_equal(plain.numpy(), traced.numpy())
        trace = session.last_trace
        assert graph.last_trace is trace
        assert [(e.name, e.operation) for e in trace.events] == [
            (step.op, step.operation) for step in trace.plan.steps
        ]
        assert trace.of(y.op).runs == 1 and trace.of(x.op) is None
        assert all(before <= e.start <= e.end <= after for e in trace.events)
        total = sum(e.duration for e in trace.events)
        assert sum(o.nanoseconds for o in trace.operations.values()) == total
        assert total <= after - before
        session.run(y, {x: ROWS})
        assert session.last_trace is trace


def test_structures_and_failures():
    with pg.Graph().as_default(), pg.Session() as session:
        x, y = small_net()
        values = session.run({"y": y, "both": (x, y)}, {x: ROWS}, trace=True)
        np.testing.assert_array_equal(values["both"][0].numpy(), ROWS)
        trace = session.last_trace
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(y, {x: ROWS[0]}, trace=True)
        assert session.last_trace is trace
        for trace in (False, True):
            with pytest.raises(TypeError, match="number timeout_in_ms, got int"):
                session.run(y, {x: ROWS}, options=3, trace=trace)


def test_what_a_failed_run_did_is_not_read(monkeypatch):
    """It may be much, and nobody gets it."""
    read = []

    def events_from(text):
        read.append(text)
        return events_of(text)

    events_of = recording.events_from
    monkeypatch.setattr(recording, "events_from", events_from)
    with pg.Graph().as_default(), pg.Session() as session:
        x, y = small_net()
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(y, {x: ROWS[0]}, trace=True)
        assert read == []
        session.run(y, {x: ROWS}, trace=True)
        assert len(read) == 1 and len(session.last_trace.events) == 2


def test_the_time_of_a_fused_step_is_that_of_its_last_operation():
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [None], "x")
        first = x * 2
        last = pg.record(pkg.relu, first + 1, name="last")
        values = np.ones(100_000, "float32")
        session.run(last, {x: values}, trace=True)
        trace: pg.RunTrace = session.last_trace
        plan: pg.MemoryPlan = trace.plan
        (step,) = plan.steps
        assert "+" in step.op and step.operation == "last"
        assert trace.of(first.op) is None and trace.of(last.op).runs == 1


def test_the_plan_is_that_of_the_shapes_that_ran():
    with pg.Graph().as_default(), pg.Session() as session:
        x, y = small_net()
        session.run(y, {x: ROWS})
        session.run(y, {x: np.zeros((50, 3), "float32")}, trace=True)
        assert session.last_trace.plan.bytes_of(y.op._handle.id()) == 50 * 3 * 4
        session.run(y, {x: ROWS}, trace=True)  # planned before the other
        assert session.last_trace.plan.bytes_of(y.op._handle.id()) == 2 * 3 * 4
        assert session.memory_plan(y, [x]) == session.last_trace.plan


def test_pictures_show_times_and_the_plan():
    with pg.Graph().as_default() as graph, pg.Session() as session:
        x, y = small_net()
        session.run(y, {x: ROWS}, trace=True)
        text, page, dot = graph.to_text(), graph.to_html(), graph.to_dot()
        (row,) = [line for line in text.splitlines() if re.match(r" *\d+  y ", line)]
        assert re.search(r"float32 \[\?, 3\] +24 +[\d.]+ [num]?s +1 ", row)
        assert "Memory plan" in page and "<svg" in page
        assert page.count("linear-gradient") == 2
        assert re.search(r'label="y\\nexp\\n.*\\n24 bytes\\n[\d.]+ [num]?s"', dot)
        older = session.last_trace
        session.run(x + 1, {x: ROWS}, trace=True)
        assert graph.to_text(trace=older) != graph.to_text()


def test_loops_count_the_turns_of_their_bodies():
    with pg.Graph().as_default(), pg.Session() as session:
        start = pg.placeholder(pkg.float32, [])

        def turn(i, v):
            return i + 1, pg.record(pkg.exp, -v, name="turn")

        _, value = pg.while_loop(lambda i, v: i < 5, turn, (0, start))
        session.run(value, {start: 0.5}, trace=True)
        trace = session.last_trace
        assert trace.plan is None  # operations are called one by one
        assert trace.operations["turn"].runs == 5
        loop = trace.of(value.op)
        assert loop.runs == 1
        assert loop.nanoseconds >= trace.operations["turn"].nanoseconds


def test_operations_that_are_called_one_by_one_are_waited_for():
    big = np.ones((1200, 1200), "float32")
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [None, None], "x")
        product = pg.record(pkg.matmul, x, x, name="product")
        places = pg.record(pkg.ops.nonzero, product[0, :3], name="places")
        session.run(places, {x: big}, trace=True)
        trace = session.last_trace
    assert trace.plan is None
    # It would be little if the call had only been submitted.
    assert trace.operations["product"].nanoseconds > 1e6


def test_concurrent_traced_runs_have_their_own_steps():
    with pg.Graph().as_default() as graph:
        x, y = small_net()
    with pg.Session(graph=graph) as session:
        session.run(y, {x: ROWS})
        found = []

        def work():
            for _ in range(20):
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                session.run(y, {x: ROWS}, options, metadata)
                found.append(metadata.trace)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 80
    assert {len(trace.events) for trace in found} == {2}


def test_step_stats_by_tensorflows_names(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.placeholder(tf.float32, [None], name="a")
        b = tf.exp(a * 2.0, name="b")
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        before = time.time_ns()
        for _ in range(2):  # the second replaces the first
            value = session.run(
                b, {a: [0.0, 1.0]}, options=options, run_metadata=metadata
            )
        after = time.time_ns()
    np.testing.assert_allclose(value, np.exp([0.0, 2.0]), rtol=1e-6)
    (device,) = metadata.step_stats.dev_stats
    assert device.device.endswith("device:CPU:0")
    assert [node.node_name for node in device.node_stats][-1] == "b"
    assert device.node_stats[-1].timeline_label == "b = exp"
    for node in device.node_stats:
        slack = 50e6  # the two clocks are read one after the other
        assert before - slack <= node.all_start_nanos <= after + slack
        assert node.all_start_micros == node.all_start_nanos // 1000
        assert 0 <= node.op_end_rel_nanos <= node.all_end_rel_nanos
        assert device.thread_names[node.thread_id].startswith("main thread")
    metadata.trace.chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert "exp" in [e["name"] for e in trace["traceEvents"]]


def test_without_a_trace_nothing_is_told():
    with tf.Graph().as_default(), tf.Session() as session:
        one = tf.constant(1.0) + 1.0
        metadata = tf.RunMetadata()
        session.run(one, options=tf.RunOptions(), run_metadata=metadata)
        assert metadata.step_stats.dev_stats == [] and metadata.trace is None
        session.run(one, run_metadata=metadata)
        assert metadata.trace is None
        assert session.last_trace is None

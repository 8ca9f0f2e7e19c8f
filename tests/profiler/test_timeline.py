# SPDX-License-Identifier: Apache-2.0
"""What a profile shows: tables, traces for Chrome, pages; of events that are given."""

from __future__ import annotations

import json
import re

import pytest

import pkg
from html_page import Page
from pkg.profiler import ProfileEvent, Timeline, profile
from pkg.profiler.events import nest


def event(name, start, end, **more):
    facts = {
        "kind": "op", "thread": 1, "thread_name": "main thread 1", "stream": 0,
        "shapes": "", "operation": "", "line": "", "number": 0, **more,
    }  # fmt: skip
    return ProfileEvent(name=name, start=start, end=end, **facts)


def timeline(lost=0):
    """conv over mm over mm, relu beside them, a task on another thread."""
    events = [
        event("mm", 2_000, 5_000, line="b.py:2"),
        event("conv<b>", 1_000, 9_000, line="a.py:1", shapes="float32 (2, 3)"),
        event("mm", 3_000, 4_000),
        event("relu", 9_000, 11_000, line="a.py:1"),
        event("work", 4_000, 14_000, kind="task", thread=2, thread_name="worker 2",
              stream=3, line="a.py:1"),
        event("work", 12_000, 15_000, kind="wait", line="a.py:9"),
    ]  # fmt: skip
    nest(events)
    return Timeline(events, 0, 20_000, lost)


def test_self_and_total_times_count_nothing_twice():
    rows = {(row.kind, row.name): row for row in timeline().rows()}
    conv, mm = rows["op", "conv<b>"], rows["op", "mm"]
    assert (conv.calls, conv.total, conv.self_time) == (1, 8_000, 5_000)
    assert (mm.calls, mm.total, mm.self_time, mm.longest) == (2, 3_000, 3_000, 3_000)
    assert mm.mean == 2_000  # of 3 us and of 1 us in it
    assert conv.mean == 8_000
    assert rows["wait", "work"].total == 3_000
    assert rows["task", "work"].total == 10_000


def test_rows_by_line_and_in_other_orders():
    shown = timeline()
    lines = {(row.kind, row.name): row for row in shown.rows("line")}
    assert lines["op", "a.py:1"].total == 10_000
    assert lines["op", "b.py:2"].self_time == 2_000
    for sort, name in [("self", "self_time"), ("total", "total"), ("calls", "calls"),
                       ("mean", "mean"), ("longest", "longest")]:  # fmt: skip
        values = [getattr(row, name) for row in shown.rows(sort=sort)]
        assert values == sorted(values, reverse=True)
    names = [row.name for row in shown.rows(sort="name")]
    assert names == sorted(names)
    by_shape = [row for row in shown.rows("shapes") if row.detail]
    assert [row.detail for row in by_shape] == ["float32 (2, 3)"]
    with pytest.raises(ValueError, match="expected one of name, shapes"):
        shown.rows(by="colour")
    with pytest.raises(ValueError, match="of self, total"):
        shown.rows(sort="colour")
    with pytest.raises(TypeError, match="int or None for limit, got str"):
        shown.table(limit="a")
    with pytest.raises(ValueError, match="0 or more for limit, got -1"):
        shown.table(limit=-1)


def test_the_table_says_times_shares_and_what_was_lost():
    text = timeline(lost=7).table(limit=2)
    lines = text.splitlines()
    assert len(lines) == 2 + 2 + 1
    assert re.match(r"task  work +1 +10 us +50\.0 +10 us", lines[2])
    assert lines[-1] == "6 events of 2 threads in 20 us; 7 had no room (max_events)"
    assert "float32 (2, 3)" in timeline().table("shapes")


def test_chrome_gets_threads_streams_and_lines(tmp_path):
    shown = timeline(lost=2)
    shown.chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert trace["otherData"] == {"lost": 2}
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    names = {
        (e["pid"], e["tid"] if e["name"] == "thread_name" else None): e["args"]["name"]
        for e in trace["traceEvents"]
        if e["ph"] == "M"
    }
    groups = {text: pid for (pid, tid), text in names.items() if tid is None}
    assert set(groups) == {"threads", "streams", "Python lines"}

    def of(group):
        return [
            (names.get((e["pid"], e["tid"])), e["name"], e["ts"], e["dur"])
            for e in spans
            if e["pid"] == groups[group]
        ]

    assert sorted(of("threads")) == [
        ("main thread 1", "conv<b>", 1.0, 8.0),
        ("main thread 1", "mm", 2.0, 3.0),
        ("main thread 1", "mm", 3.0, 1.0),
        ("main thread 1", "relu", 9.0, 2.0),
        ("main thread 1", "wait for work", 12.0, 3.0),
        ("worker 2", "work", 4.0, 10.0),
    ]
    assert of("streams") == [("stream 3", "work", 4.0, 10.0)]
    # Lines of calls at the top, those that follow each other as one.
    assert [row[1:] for row in of("Python lines")] == [
        ("a.py:1", 1.0, 10.0),
        ("a.py:9", 12.0, 3.0),
    ]
    (conv,) = [e for e in spans if e["name"] == "conv<b>"]
    assert conv["cat"] == "op"
    assert conv["args"] == {"shapes": "float32 (2, 3)", "line": "a.py:1"}


def test_the_page_stands_alone_and_has_every_event(tmp_path):
    shown = timeline()
    shown.html(tmp_path / "profile.html")
    page = Page((tmp_path / "profile.html").read_text(encoding="utf-8"))
    assert page.open == [] and page.outside == []
    assert "script" not in page.tags and "b" not in page.tags
    assert "conv<b>" in page.text and "main thread 1" in page.text
    assert page.tags.count("rect") == len(shown.events) + 2  # and two lines
    assert Timeline([], 0, 1).to_html().count("Nothing was noted") == 1


def test_only_the_longest_of_very_many_are_drawn():
    events = [event("f", 10 * i, 10 * i + 5) for i in range(5_000)]
    nest(events)
    text = Timeline(events, 0, 50_000).to_html()
    assert "4000 longest of 5000" in text
    assert text.count("<rect") == 4_000


def test_of_a_program(tmp_path):
    with profile(shapes=True) as p:
        for _ in range(3):
            pkg.ones(4, 4) @ pkg.ones(4, 4)
    p.chrome_trace(tmp_path / "t.json")
    p.html(tmp_path / "t.html")
    trace = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    calls = [e for e in trace["traceEvents"] if e.get("cat") == "op"]
    assert len(calls) == len(p.events)
    assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in calls)
    (row,) = [row for row in p.rows() if row.name == "matmul"]
    assert row.calls == 3
    assert "matmul" in p.table()

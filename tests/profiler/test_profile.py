# SPDX-License-Identifier: Apache-2.0
"""pkg.profiler.profile notes what runs while it is open, and nothing else."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading
import time

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg._binding import core
from pkg.profiler import profile


def named(p, name, kind="op"):
    return [e for e in p.events if e.name == name and e.kind == kind]


def registered_at_profiler():
    found = pkg.explain(pkg.exp, pkg.ones(1))
    (row,) = [row for row in found.table if row.key == "Profiler"]
    return row


def test_every_call_is_noted_once():
    x = pkg.ones(3)
    x.exp()
    with profile() as p:
        for _ in range(7):
            x.exp()
        x + x
    x.exp()
    assert len(named(p, "exp")) == 7
    assert len(named(p, "add")) + len(named(p, "add.Tensor")) == 1
    assert len(p.events) == 8


def test_the_key_is_in_no_call_while_no_profile_is_open():
    row = registered_at_profiler()
    assert (row.registered, row.in_call) == ("off", False)
    with profile():
        row = registered_at_profiler()
        assert (row.registered, row.in_call) == ("fallback", True)
        with profile(["tasks"]):
            pass
        assert registered_at_profiler().in_call
    assert not registered_at_profiler().in_call
    with profile(["tasks", "waits"]):
        assert not registered_at_profiler().in_call


def test_results_and_gradients_are_the_same():
    x = pkg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with profile() as p:
        y = (x * x).sum()
        y.backward()
        x.detach().mul_(2)
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(x.detach().numpy(), [2.0, 4.0, 6.0])
    assert named(p, "mul_") and len(p.events) > 4  # those of the backward pass too


def test_lines_and_shapes_are_those_of_the_call():
    x = pkg.ones(2, 3)
    with profile(shapes=True) as p:
        x.exp()
        line = test_lines_and_shapes_are_those_of_the_call.__code__.co_firstlineno + 3
    (event,) = p.events
    assert event.line == f"{__file__}:{line}"
    assert event.shapes == "float32 (2, 3)"
    with profile(lines=False) as p:
        x.exp()
    (event,) = p.events
    assert (event.line, event.shapes) == ("", "")


def test_one_clock_and_what_lies_in_what():
    before = time.monotonic_ns()
    with profile() as p:
        pkg.conv2d(pkg.ones(1, 1, 5, 5), pkg.ones(1, 1, 2, 2))
    after = time.monotonic_ns()
    (outer,) = named(p, "conv2d")
    inside = [event for event in p.events if event.parent is outer]
    assert inside
    for event in p.events:
        assert before <= event.start <= event.end <= after
    assert outer.children_time == sum(event.duration for event in inside)
    assert 0 <= outer.self_time < outer.duration
    assert [e.start for e in p.events] == sorted(e.start for e in p.events)


def test_calls_of_all_threads_are_noted_with_their_thread():
    calls, n_threads = 200, 4

    def work():
        x = pkg.ones(2)
        for _ in range(calls):
            x.sin()

    with profile() as p:
        threads = [threading.Thread(target=work) for _ in range(n_threads)]
        for thread in threads:
            thread.start()
        pkg.ones(2).cos()
        for thread in threads:
            thread.join()
    by_thread = {}
    for event in named(p, "sin"):
        by_thread[event.thread] = by_thread.get(event.thread, 0) + 1
    assert sum(by_thread.values()) == calls * n_threads
    assert len(by_thread) == n_threads
    (cos,) = named(p, "cos")
    assert cos.thread not in by_thread and cos.thread_name.startswith("main thread")


def test_this_thread_alone():
    def work():
        pkg.ones(2).sin()

    with profile(this_thread=True) as p:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        pkg.ones(2).cos()
    assert {event.name for event in p.events} == {"ones", "cos"}


def test_tasks_streams_and_waits():
    def work():
        time.sleep(0.05)
        return pkg.ones(2).sin()

    stream = pkg.scheduler.Stream()
    with profile() as p:
        event = stream.submit(work)
        event.result()
    (task,) = [e for e in p.events if e.kind == "task"]
    assert task.name.endswith("work") and task.stream > 0
    assert __file__ in task.line
    assert task.duration >= 0.05e9
    (sine,) = named(p, "sin")
    assert task.start <= sine.start <= sine.end <= task.end
    waits = [e for e in p.events if e.kind == "wait"]
    assert [wait.name for wait in waits] == [task.name]
    if core.__name__ == "pkg._pywrap_core":  # pybind11 gives the GIL up before the wait
        assert __file__ in waits[0].line
    if sine.thread != waits[0].thread:
        assert sine.parent is task and task.thread_name.startswith("worker")
    with profile(["tasks"]) as p:
        stream.submit(work).result()
    assert {e.kind for e in p.events} == {"task"}


def test_large_calls_show_where_their_kernel_ran():
    if not pkg.scheduler.async_enabled():
        pytest.skip("PKG_ASYNC=0")
    with profile(shapes=True) as p:
        a = pkg.ones(1500, 1500)
        (a @ a).sum().item()
    (call,) = named(p, "mm")
    (task,) = named(p, "mm", "task")
    assert call.shapes == "float32 (1500, 1500), float32 (1500, 1500)"
    assert task.end > call.end  # the call had returned


def test_room_is_bounded_and_what_is_lost_is_counted():
    x = pkg.ones(2)
    with profile(max_events=10) as p:
        for _ in range(25):
            x.exp()
    assert len(p.events) == 10 and p.lost == 15
    assert "15 had no room" in p.table()
    with profile() as p:
        x.exp()
    assert len(p.events) == 1 and p.lost == 0


def test_nested_profiles_have_what_began_and_ended_in_them():
    x = pkg.ones(2)
    with profile(max_events=2) as outer:
        x.exp()
        with profile(shapes=True) as inner:
            x.sin()
            x.cos()
            x.tan()
        x.exp()
    assert [e.name for e in inner.events] == ["sin", "cos", "tan"] and inner.lost == 0
    assert [e.name for e in outer.events] == ["exp", "sin"]
    assert outer.lost == 3
    assert {e.shapes for e in outer.events} == {""}


def test_profiles_of_two_threads_overlap():
    x = pkg.ones(2)
    opened, go_on = threading.Event(), threading.Event()
    seen = []

    def work():
        with profile() as p:
            x.sin()
            opened.set()
            go_on.wait()
        seen.extend(p.events)

    thread = threading.Thread(target=work)
    with profile() as p:
        thread.start()
        opened.wait()
        x.cos()
    go_on.set()
    thread.join()
    assert {e.name for e in p.events} == {"sin", "cos"}
    assert {e.name for e in seen} == {"sin", "cos"}
    assert not registered_at_profiler().in_call


def test_opening_and_closing_while_others_call():
    stop = threading.Event()
    failures = []

    def work():
        x = pkg.ones(2, requires_grad=True)
        try:
            while not stop.is_set():
                assert (x * 2).sum().item() == 4
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    total = 0
    for _ in range(100):
        with profile() as p:
            pkg.zeros(2)
        assert p.lost == 0
        total += len(named(p, "zeros"))
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert total == 100


def test_a_call_that_fails_is_noted():
    with profile() as p, pytest.raises(RuntimeError):
        pkg.ones(2) + pkg.ones(3)
    assert [e.name for e in p.events][-1].startswith("add")


def test_steps_of_a_graph_are_those_of_its_plan():
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [None], "x")
        y = pg.record(pkg.exp, x * 2, name="y")
        rows = np.ones(4, "float32")
        session.run(y, {x: rows})
        with profile() as p:
            session.run(y, {x: rows})
        plan = session.memory_plan(y, [x])
    steps = [e for e in p.events if e.kind == "step"]
    assert [(e.name, e.operation) for e in steps] == [
        (step.op, step.operation) for step in plan.steps
    ]
    assert steps[-1].operation == "y" and __file__ in steps[-1].line


def test_wrong_use():
    with pytest.raises(ValueError, match="expected some of ops, tasks, waits, steps"):
        profile(["ops", "colours"])
    with pytest.raises(ValueError, match="for kinds, got none"):
        profile([])
    with pytest.raises(ValueError, match="expected 1 to 2"):
        profile(max_events=0)
    with pytest.raises(TypeError, match="expected an int for max_events, got str"):
        profile(max_events="3")
    p = profile()
    with pytest.raises(RuntimeError, match="nothing is there to show"):
        p.lost  # noqa: B018
    with pytest.raises(RuntimeError, match="expected one that is open"):
        p.stop()
    with p:
        with pytest.raises(RuntimeError, match="expected one that is not open"):
            p.start()
        with pytest.raises(RuntimeError, match="nothing is there to show"):
            p.table()
    assert p.events == []
    with p:
        pkg.ones(2)
    assert len(p.events) == 1


def test_a_forgotten_profile_ends():
    p = profile()
    p.start()
    assert registered_at_profiler().in_call
    del p
    gc.collect()
    assert not registered_at_profiler().in_call


def test_a_child_of_fork_goes_on_with_it():
    x = pkg.ones(2)
    with profile() as p:
        x.sin()
        child = os.fork()
        if child == 0:
            x.cos()
            with profile() as own:
                x.tan()
            p.stop()
            good = [e.name for e in own.events] == ["tan"]
            good &= [e.name for e in p.events] == ["sin", "cos", "tan"]
            os._exit(0 if good else 1)
        _, status = os.waitpid(child, 0)
        x.exp()
    assert status == 0
    assert [e.name for e in p.events] == ["sin", "exp"]


def test_profiles_are_not_copied():
    """A copy would end the original; that goes on and notes."""
    with profile() as p:
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="not copied or pickled"):
                copied(p)
        gc.collect()
        pkg.ones(3).exp()
    assert len(named(p, "exp")) == 1
    assert p.timeline is p.timeline
    assert copy.deepcopy(p.timeline).summary() == p.timeline.summary()


def test_kinds_that_are_none():
    with pytest.raises(TypeError, match="expected some of ops, .* for kinds, got int"):
        profile(kinds=5)

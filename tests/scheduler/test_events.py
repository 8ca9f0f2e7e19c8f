# SPDX-License-Identifier: Apache-2.0
"""Cancelled work, and events that are set by hand."""

import threading
import time

import pytest

import pkg
from child import DEADLINE, run_child
from pkg import scheduler
from pkg.scheduler import ManualEvent, submit
from tasks import fail_here


def test_cancel_before_it_runs_reaches_dependants_only():
    gate = ManualEvent()
    event = submit(lambda: 1, deps=gate)
    dependant = submit(lambda: 2, deps=event)
    other = submit(lambda: 3, deps=gate)
    assert event.cancel() is True
    gate.set()
    for cancelled in (event, dependant):
        with pytest.raises(pkg.CancelledError):
            cancelled.result(DEADLINE)
    assert other.result(DEADLINE) == 3
    assert other.cancel() is False


def test_running_work_sees_that_it_shall_stop():
    started = threading.Event()

    def work():
        started.set()
        end = time.monotonic() + DEADLINE
        while not scheduler.cancel_requested() and time.monotonic() < end:
            time.sleep(0.001)
        return scheduler.cancel_requested()

    event = submit(work)
    assert started.wait(DEADLINE)
    assert scheduler.cancel(event) is False
    assert event.result(DEADLINE) is True
    assert scheduler.cancel_requested() is False


def test_manual_event_bridges_work_done_elsewhere():
    event = ManualEvent()
    dependant = submit(lambda: event.result() + 1, deps=event)
    threading.Timer(0.02, event.set, [41]).start()
    assert dependant.result(DEADLINE) == 42
    with pytest.raises(RuntimeError, match="done already"):
        event.set(1)
    assert event.result() == 41


def test_manual_event_carries_an_error():
    event = ManualEvent()
    dependant = submit(int, deps=event)
    event.set_error(ZeroDivisionError("elsewhere"))
    with pytest.raises(ZeroDivisionError, match="elsewhere"):
        dependant.wait(DEADLINE)


def test_a_wrong_number_of_threads_in_the_environment_is_an_error():
    """At the first loop that would be split, and not the end of the process."""
    code = """
        import pkg
        try:
            pkg.rand(1_000_000).exp().sum().item()
        except ValueError as error:
            print(error)
    """
    _, out, _, _ = run_child(code, PKG_NUM_THREADS="zero")
    assert "expected PKG_NUM_THREADS to be an integer" in out and "'zero'" in out


def test_an_error_set_by_hand_is_not_lost():
    """synchronize() raises it, as that of a task, unless somebody has seen it."""
    event = ManualEvent()
    event.set_error(ZeroDivisionError("elsewhere"))
    with pytest.raises(ZeroDivisionError, match="elsewhere"):
        pkg.synchronize()
    seen = ManualEvent()
    seen.set_error(ZeroDivisionError())
    assert isinstance(seen.exception(), ZeroDivisionError)
    pkg.synchronize()


def test_an_event_that_is_called_a_manual_one_is_none():
    event = submit(int)
    event.wait(DEADLINE)
    try:
        event.__class__ = ManualEvent
    except TypeError:
        return
    with pytest.raises((TypeError, RuntimeError)):
        event.set()


def test_a_wrong_timeout_is_not_the_error_of_the_work():
    """Which stays unseen."""
    event = submit(fail_here)
    while not event.done():
        time.sleep(0.001)
    for call in (event.result, event.wait, event.exception):
        with pytest.raises(TypeError) as caught:
            call(timeout="1")
        assert not getattr(caught.value, "__notes__", None)
    with pytest.raises(KeyError):
        pkg.synchronize()


def test_dropping_a_manual_event_cancels_what_depends_on_it():
    event = ManualEvent()
    dependant = submit(int, deps=event)
    del event
    assert isinstance(dependant.exception(DEADLINE), pkg.CancelledError)

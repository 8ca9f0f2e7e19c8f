# SPDX-License-Identifier: Apache-2.0
"""``await event`` in asyncio: results, errors, cancelling, loops that close, fork."""

import asyncio
import gc
import os
import random
import threading
import time
import warnings
import weakref

import pytest

import pkg
from child import DEADLINE, run_child
from pkg import scheduler
from pkg.scheduler import ManualEvent, Stream, submit


def run(coroutine):
    """asyncio.run with a deadline, on this thread."""
    return asyncio.run(asyncio.wait_for(coroutine, DEADLINE))


async def value_of(event):
    return await event


def fail_here():
    raise KeyError("the key")


def test_await_gives_the_result():
    async def main():
        early = submit(lambda: {"answer": 42})
        early.wait(DEADLINE)
        assert await early == {"answer": 42}  # done already
        gate = ManualEvent()
        late = submit(lambda: 7, deps=gate)
        asyncio.get_running_loop().call_later(0.02, gate.set, "value")
        assert await late == 7
        assert await gate == "value"
        assert await Stream().record_event() is None

    run(main())


def test_await_raises_the_error():
    async def main():
        gate = ManualEvent()
        bad = submit(fail_here, deps=gate)
        behind = submit(int, deps=bad)
        asyncio.get_running_loop().call_later(0.02, gate.set)
        for event in (bad, behind, bad):
            with pytest.raises(KeyError, match="the key") as caught:
                await event
        assert any("submitted at" in note for note in caught.value.__notes__)

    run(main())
    pkg.synchronize()


def test_awaiting_cancelled_work_raises_at_once():
    async def main():
        gate = ManualEvent()
        event = submit(int, deps=gate)
        behind = submit(int, deps=[event, gate])
        waiting = asyncio.ensure_future(value_of(behind))
        await asyncio.sleep(0)
        event.cancel()
        for awaitable in (waiting, event):
            with pytest.raises(pkg.CancelledError):
                await awaitable
        assert not gate.done()

    run(main())


def test_the_loop_goes_on_and_no_thread_is_made():
    async def main():
        gate = ManualEvent()
        before = threading.active_count()
        waiting = [asyncio.ensure_future(value_of(gate)) for _ in range(200)]
        ticks = 0
        while ticks < 20:
            await asyncio.sleep(0.001)
            ticks += 1
        assert threading.active_count() == before
        gate.set(5)
        assert await asyncio.gather(*waiting) == [5] * 200

    run(main())


def test_gather_and_wait_for_take_events():
    async def main():
        events = [submit(lambda i=i: i) for i in range(50)]
        assert await asyncio.gather(*events) == list(range(50))
        gate = ManualEvent()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(value_of(gate), 0.02)
        assert not gate.done()
        gate.set(1)
        assert await gate == 1

    run(main())


def test_cancelling_the_coroutine_leaves_the_work_alone():
    """And nothing of it behind, however often; others who await it get their value."""

    async def main():
        gate = ManualEvent()
        other = asyncio.ensure_future(value_of(gate))
        for _ in range(100):
            waiting = asyncio.ensure_future(value_of(gate))
            await asyncio.sleep(0)
            waiting.cancel()
            assert await asyncio.wait([waiting]) and waiting.cancelled()
        assert len(scheduler._awaiting[gate]) == 1
        gate.set(3)
        assert await other == 3 and not gate.cancel()

    before = len(scheduler._awaiting)
    run(main())
    gc.collect()
    assert len(scheduler._awaiting) <= before


def test_a_loop_may_close_before_the_work_is_done():
    gate = ManualEvent()

    async def give_up():
        waiting = asyncio.ensure_future(value_of(gate))
        await asyncio.sleep(0)
        return waiting

    loop = asyncio.new_event_loop()
    waiting = loop.run_until_complete(give_up())
    loop.close()
    gate.set(4)
    assert run(value_of(gate)) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waiting._log_destroy_pending = False
        del waiting
        gc.collect()


def test_two_loops_await_one_event():
    gate = ManualEvent()
    started = threading.Barrier(3)
    results = []

    async def main():
        waiting = asyncio.ensure_future(value_of(gate))
        await asyncio.sleep(0)
        started.wait(DEADLINE)
        results.append(await waiting)

    threads = [threading.Thread(target=run, args=(main(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    started.wait(DEADLINE)
    gate.set("both")
    for thread in threads:
        thread.join(DEADLINE)
    assert results == ["both", "both"]


def test_await_races_with_the_end_of_the_work():
    """On several loops: every await ends, whoever comes first."""
    seed = time.time_ns() % 10**9
    print("seed", seed)
    shared = [ManualEvent() for _ in range(200)]
    failures = []

    async def main(rng):
        for event in shared:
            for _ in range(rng.randrange(3)):
                await asyncio.sleep(0)
            assert await submit(lambda: 1) == 1
            assert await event == "set"

    def loop(number):
        try:
            run(main(random.Random(seed + number)))
        except BaseException as error:  # noqa: BLE001  (reported below)
            failures.append(error)

    threads = [threading.Thread(target=loop, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for event in shared:
        event.set("set")
        time.sleep(0.0005)
    for thread in threads:
        thread.join(DEADLINE)
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_a_dropped_manual_event_ends_the_wait_behind_it():
    async def main():
        gate = ManualEvent()
        behind = submit(int, deps=gate)
        asyncio.get_running_loop().call_later(0.02, lambda: box.clear())
        box = [gate]
        del gate
        with pytest.raises(pkg.CancelledError):
            await behind

    run(main())


def test_what_is_called_when_done_is_dropped_then():
    class Callable:
        def __call__(self):
            calls.append(threading.get_ident())

    calls, work, gate = [], Callable(), ManualEvent()
    alive = weakref.ref(work)
    gate._when_done(work)
    del work
    gate.set()
    assert calls == [threading.get_ident()] and alive() is None
    gate._when_done(lambda: calls.append("now"))
    assert calls[1:] == ["now"]
    with pytest.raises(TypeError, match="a callable for 'callable', got int"):
        gate._when_done(3)


def test_an_error_of_what_is_called_when_done_is_nobodys(monkeypatch):
    import sys

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(args.exc_type))
    gate = ManualEvent()
    gate._when_done(fail_here)
    gate.set()
    assert seen == [KeyError]


def test_await_outside_of_a_loop_says_so():
    event = ManualEvent()
    with pytest.raises(RuntimeError, match="no running event loop"):
        next(event.__await__())
    event.set(1)
    with pytest.raises(StopIteration) as caught:
        next(event.__await__())
    assert caught.value.value == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_awaiting_work_of_the_parent_is_an_error_in_a_child():
    code = """
        import asyncio, os
        from pkg.scheduler import ManualEvent, submit
        gate = ManualEvent()
        work = submit(lambda: 1, deps=gate)
        async def main(event):
            return await event
        pid = os.fork()
        if pid == 0:
            for _ in range(2):
                try:
                    asyncio.run(main(work))
                except RuntimeError as error:
                    assert "when the process forked" in str(error)
                else:
                    os._exit(1)
            assert asyncio.run(main(submit(lambda: 2))) == 2
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        gate.set()
        assert asyncio.run(main(work)) == 1 and status == 0, status
        print("fine")
    """
    status, out, err, _ = run_child(code)
    assert (status, out, err) == (0, "fine\n", "")


def test_exit_while_somebody_awaits():
    """In a daemon thread, and in a loop that nobody runs any more."""
    code = """
        import asyncio, threading
        from pkg.scheduler import ManualEvent, submit
        gate, started = ManualEvent(), threading.Event()
        async def main():
            asyncio.get_running_loop().call_soon(started.set)
            await gate
        threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start()
        started.wait()
        loop = asyncio.new_event_loop()
        task = loop.create_task(main())
        task._log_destroy_pending = False
        started.clear()
        loop.call_later(0.02, loop.stop)
        loop.run_forever()
        late = submit(lambda: gate.set())
    """
    status, out, err, seconds = run_child(code)
    assert (status, out, err) == (0, "", "") and seconds < 8

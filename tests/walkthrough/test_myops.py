# SPDX-License-Identifier: Apache-2.0
"""myops: tasks that run side by side, and their results in order."""

import threading
import time

import pytest

from child import DEADLINE, run_child
from pkg import scheduler
from pkg.walkthrough import myops
from pkg.walkthrough.overload_ops import queue


@pytest.mark.alone
def test_add_returns_at_once_and_the_work_runs_side_by_side():
    begin = time.perf_counter()
    assert [myops.add(i, i * 10) for i in range(4)] == [0, 1, 2, 3]
    assert time.perf_counter() - begin < 0.09  # each takes 0.1 s
    assert myops.wait_all() == [0.0, 11.0, 22.0, 33.0]
    assert 0.09 < time.perf_counter() - begin < 0.39  # one after the other: 0.4 s
    assert myops.wait_all() == []


def test_no_result_is_lost_between_adding_and_waiting_threads():
    group_sizes = []
    stop = threading.Event()
    myops.set_delay(0)
    try:

        def collect():
            while not stop.is_set():
                group_sizes.append(len(myops.wait_all()))

        collector = threading.Thread(target=collect)
        adders = [
            threading.Thread(target=lambda: [myops.add(1, 2) for _ in range(500)])
            for _ in range(8)
        ]
        for thread in [collector, *adders]:
            thread.start()
        for thread in adders:
            thread.join(DEADLINE)
        stop.set()
        collector.join(DEADLINE)
        group_sizes.append(len(myops.wait_all()))
    finally:
        myops.set_delay(100)
    assert sum(group_sizes) == 4000


def test_a_task_may_use_its_own_group_without_threads():
    """With PKG_ASYNC=0 a task runs inside submit(), which holds no lock meanwhile."""
    code = """
        from pkg.walkthrough import myops
        group = myops.TaskGroup()
        assert group.submit(lambda: group.submit(lambda: 7)) == 1
        assert group.wait_all() == [7, 0]
        myops.submit(lambda: myops.add(1, 2))
        print(myops.wait_all())
        myops.submit(myops.wait_all)
        print(myops.wait_all())
    """
    assert run_child(code, PKG_ASYNC="0")[:3] == (0, "[3.0, 0]\n[[]]\n", "")


def test_w03_an_id_means_one_task_of_one_group():
    group = myops.TaskGroup()
    assert [group.add(1, 2), group.add(3, 4)] == [0, 1]
    assert group.result(1) == 7.0
    for unknown in (2, -1):
        with pytest.raises(ValueError, match=f"below 2 of this group, got {unknown}"):
            group.result(unknown)
    other = myops.TaskGroup()
    with pytest.raises(ValueError, match="below 0"):
        other.result(0)


def test_w06_ten_thousand_adds_need_no_thread_each():
    before = threading.active_count()
    begin = time.perf_counter()
    group = myops.TaskGroup()
    for i in range(10000):
        group.add(i, 1)
    assert threading.active_count() <= before + 1  # the pretend device
    assert scheduler.scheduler_stats()["threads"] <= scheduler.num_threads()
    assert group.wait_all() == [i + 1.0 for i in range(10000)]
    assert time.perf_counter() - begin < 10  # one after the other: 1000 s


def test_w07_a_failing_task_loses_no_other_result():
    def fail():
        raise ValueError("third")

    myops.submit(lambda: 1)
    myops.submit(lambda: 2)
    myops.submit(fail)
    myops.submit(lambda: 4)
    with pytest.raises(ExceptionGroup, match="1 of 4 tasks failed") as caught:
        myops.wait_all()
    assert [str(e) for e in caught.value.exceptions] == ["third"]
    assert [r for r in caught.value.results if type(r) is int] == [1, 2, 4]
    myops.submit(fail)
    myops.submit(lambda: 2)
    error, value = myops.wait_all(return_exceptions=True)
    assert isinstance(error, ValueError) and value == 2


def test_w08_two_threads_that_wait_do_not_split_the_tasks():
    groups = [myops.TaskGroup(), myops.TaskGroup()]
    results = [None, None]

    def work(which):
        for i in range(50):
            groups[which].add(which, i)
        results[which] = groups[which].wait_all()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    for which in range(2):
        assert results[which] == [float(which + i) for i in range(50)]
        assert groups[which].wait_all() == results[which]


def test_w09_exit_with_tasks_nobody_waits_for():
    code = """
        from pkg.walkthrough import myops
        for i in range(100):
            myops.add(i, i)
        myops.submit(lambda: print("ran"))
    """
    status, out, err, seconds = run_child(code)
    assert (status, out, err) == (0, "ran\n", "")
    assert seconds < 5


def test_w10_submitting_is_fast_however_many_are_pending():
    gate = scheduler.ManualEvent()
    jobs = queue.JobQueue(ordered=False)

    def batch():
        begin = time.perf_counter()
        for _ in range(2000):
            jobs.submit(int, deps=[gate])
        return time.perf_counter() - begin

    first = batch()
    later = [batch() for _ in range(8)]
    assert jobs.pending() == 18000
    gate.set()
    jobs.flush()
    # The best of the last ones: a busy machine may interrupt any of them.
    assert min(later[-4:]) < 5 * first + 0.05


def test_w11_first_use_from_many_threads_does_not_deadlock():
    code = """
        import threading
        barrier = threading.Barrier(8)
        from pkg.walkthrough import myops
        from pkg.walkthrough.overload_ops import queue
        values = []
        def first_use():
            barrier.wait()
            values.append((queue.Scalar(1) + queue.Scalar(2)).v + queue.pending() * 0)
            myops.add(1, 2)
        threads = [threading.Thread(target=first_use) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(values == [3.0] * 8, len(myops.wait_all()))
    """
    for _ in range(3):
        assert run_child(code)[:3] == (0, "True 8\n", "")

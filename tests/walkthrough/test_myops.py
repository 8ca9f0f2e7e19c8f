# SPDX-License-Identifier: Apache-2.0
"""myops: tasks that run side by side, and their results in order."""

import math
import os
import threading
import time

import pytest
import stages

from child import DEADLINE, run_child
from pkg import scheduler


@pytest.mark.alone
def test_add_returns_at_once_and_the_work_runs_side_by_side(myops):
    begin = time.perf_counter()
    assert [myops.add(i, i * 10) for i in range(4)] == [0, 1, 2, 3]
    assert time.perf_counter() - begin < 0.09  # each takes 0.1 s
    assert myops.wait_all() == [0.0, 11.0, 22.0, 33.0]
    assert 0.09 < time.perf_counter() - begin < 0.39  # one after the other: 0.4 s
    assert myops.wait_all() == []
    with pytest.raises(TypeError):
        myops.add("1", 2)


def test_no_result_is_lost_between_adding_and_waiting_threads(myops):
    group_sizes = []
    stop = threading.Event()
    myops.set_delay(0)

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
    assert sum(group_sizes) == 4000


def test_a_task_may_use_its_own_group_without_threads(binding):
    """With PKG_ASYNC=0 a task runs inside submit(), which holds no lock meanwhile."""
    code = """
        import myops
        group = myops.TaskGroup()
        assert group.submit(lambda: group.submit(lambda: 7)) == 1
        assert group.wait_all() == [7, 0]
        myops.submit(lambda: myops.add(1, 2))
        print(myops.wait_all())
        myops.submit(lambda: len(myops.wait_all()))
        print(myops.wait_all())
    """
    environment = stages.path(stages.build("myops", binding))
    result = run_child(code, **environment, PKG_ASYNC="0")
    assert result[:3] == (0, "[3.0, 0.0]\n[0.0]\n", "")


def test_w03_an_id_means_one_task_of_one_group(myops):
    group = myops.TaskGroup()
    assert [group.add(1, 2), group.add(3, 4)] == [0, 1]
    assert group.result(1) == 7.0
    for unknown in (2, -1):
        with pytest.raises(ValueError, match=f"below 2 of this group, got {unknown}"):
            group.result(unknown)
    other = myops.TaskGroup()
    with pytest.raises(ValueError, match="below 0"):
        other.result(0)


def test_w06_ten_thousand_adds_need_no_thread_each(myops):
    begin = time.perf_counter()
    group = myops.TaskGroup()
    before = len(os.listdir("/proc/self/task"))
    for i in range(10000):
        group.add(i, 1)
    more = len(os.listdir("/proc/self/task")) - before
    assert more <= scheduler.num_threads() + 1  # the pretend device
    assert group.wait_all() == [i + 1.0 for i in range(10000)]
    assert time.perf_counter() - begin < 10  # one after the other: 1000 s


def test_w07_a_failing_task_loses_no_other_result(myops):
    def fail():
        raise ValueError("third")

    def submit(target):
        for work in (lambda: 1, lambda: 2, fail, lambda: 4):
            target.submit(work)

    submit(myops)
    with pytest.raises(ValueError, match="third"):
        myops.wait_all()
    assert myops.wait_all(otherwise=-1) == [1.0, 2.0, -1.0, 4.0]
    assert myops.wait_all() == []
    group = myops.TaskGroup()
    submit(group)
    with pytest.raises(ValueError, match="third"):
        group.wait_all()
    assert (group.result(0), group.result(3)) == (1.0, 4.0)
    assert math.isnan(group.wait_all(math.nan)[2])


def test_w08_two_threads_that_wait_do_not_split_the_tasks(myops):
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


def test_w09_exit_with_tasks_nobody_waits_for(binding):
    code = """
        import myops
        for i in range(100):
            myops.add(i, i)
        myops.submit(lambda: print("ran") or 0)
    """
    environment = stages.path(stages.build("myops", binding))
    status, out, err, seconds = run_child(code, **environment)
    assert (status, out, err) == (0, "ran\n", "")
    assert seconds < 5


def test_w10_submitting_is_fast_however_many_are_pending(queue):
    gate = threading.Event()
    jobs = queue.JobQueue()
    jobs.submit(lambda: gate.wait(DEADLINE))

    def batch():
        begin = time.perf_counter()
        for _ in range(2000):
            jobs.submit(int)
        return time.perf_counter() - begin

    first = batch()
    later = [batch() for _ in range(8)]
    assert jobs.pending() == 18001
    gate.set()
    jobs.flush()
    # The best of the last ones: a busy machine may interrupt any of them.
    assert min(later[-4:]) < 5 * first + 0.05


def test_w11_first_use_from_many_threads_does_not_deadlock(binding):
    code = """
        import threading
        barrier = threading.Barrier(8)
        import myops, overload_ops_queue as queue
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
    stages.build("overload_ops_queue", binding)
    environment = stages.path(stages.build("myops", binding))
    for _ in range(3):
        assert run_child(code, **environment)[:3] == (0, "True 8\n", "")

# SPDX-License-Identifier: Apache-2.0
"""Memory that is cached: given back on demand, and before memory runs out."""

import sys

import pytest

import pkg
from child import run_child

LIMIT = """
    import resource, threading
    import pkg
    def limit(more):
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
    def mib(n):
        return pkg.zeros(n << 20, dtype=pkg.uint8)
"""
SHOW = """
    import gc
    import pkg
    def rss():
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def check(code):
    status, out, err, _ = run_child(code, timeout=60)
    assert (status, out, err) == (0, "fine\n", "")


def test_the_cache_is_given_back_before_memory_runs_out():
    """Blocks of another size hold all that the process may have."""
    check(f"""{LIMIT}
    (pkg.ones(600, 600) @ pkg.ones(600, 600)).sum().item()  # threads and BLAS are there
    limit(850 << 20)  # threads that begin later reserve some, at most 200
    for _ in range(3):
        cached = [mib(100) for _ in range(5)]
        del cached
        large = mib(400)
        assert large.sum().item() == 0
        del large
    print("fine")
    """)


def test_the_caches_of_other_threads_and_pending_work_count_too():
    """Work in flight holds its results until it is done."""
    check(f"""{LIMIT}
    (pkg.ones(600, 600) @ pkg.ones(600, 600)).sum().item()
    limit(900 << 20)
    def use_and_drop():
        for _ in range(3):
            cached = [mib(100) for _ in range(3)]
    thread = threading.Thread(target=use_and_drop)
    thread.start()
    thread.join()
    pkg.scheduler.set_async(True)
    slow = pkg.ones(2500, 2500)
    for _ in range(3):
        slow = slow @ slow / 2500
    pending = [slow.repeat(4, 1) for _ in range(3)]  # 100 MB each
    pending = [p + 1 for p in pending]
    del pending, slow
    large = mib(600)
    assert large.sum().item() == 0
    print("fine")
    """)


def test_what_does_not_fit_at_all_is_an_error():
    check(f"""{LIMIT}
    limit(300 << 20)
    for _ in range(3):
        try:
            mib(400)
        except pkg.OutOfMemoryError as error:
            assert "419430400 bytes" in str(error), error
        else:
            raise AssertionError("no error")
    assert mib(100).sum().item() == 0
    print("fine")
    """)


def test_memory_that_is_no_tensors_has_an_error_with_a_text_too():
    """Here of a list of 2**45 views of a tensor of one element."""
    with pytest.raises(pkg.OutOfMemoryError, match="cannot hold 67553994410557"):
        pkg.ones(1).expand(2**45).unbind()


def test_what_can_never_fit_is_an_error_at_once_whatever_is_pending():
    """And what might fit is there as soon as some of the pending work is done."""
    check(f"""{LIMIT}
    import time
    (pkg.ones(600, 600) @ pkg.ones(600, 600)).sum().item()
    limit(900 << 20)
    gate = pkg.scheduler.ManualEvent()
    held = mib(500)
    pending = pkg.scheduler.submit(lambda: None, deps=gate)
    begin = time.perf_counter()
    for size in 1000, 10**6:
        try:
            mib(size)
        except pkg.OutOfMemoryError:
            pass
        else:
            raise AssertionError("no error")
    assert time.perf_counter() - begin < 5
    def let_go():
        global held
        time.sleep(0.3)
        held = None
    thread = threading.Thread(target=let_go)
    thread.start()
    begin = time.perf_counter()
    large = mib(600)
    assert time.perf_counter() - begin < 5
    thread.join()
    gate.set()
    pending.wait()
    print("fine")
    """)


def test_empty_cache_gives_the_memory_of_a_graph_back():
    """Hundreds of thousands of small blocks, with some in use between them."""
    check(f"""{SHOW}
    x = pkg.ones(1, requires_grad=True)
    before = rss()
    y, kept = x, []
    for i in range(500_000):
        y = y * 1
        if i % 10_000 == 0:
            kept.append(pkg.ones(3))
    graph = rss() - before
    assert graph > 100, graph
    del y
    gc.collect()
    pkg.empty_cache()
    left = rss() - before
    assert left < graph / 10, (left, graph)
    print("fine")
    """)


def test_empty_cache_reaches_the_caches_of_workers():
    """One that has to ask the system again had to give what it kept."""
    check(f"""{SHOW}
    from pkg._binding import core
    from pkg.scheduler import submit
    pkg.set_num_threads(1)
    def fill():  # less than a thread keeps, and of a size that nothing else has
        blocks = [pkg.ones(4000) for _ in range(12)]
        return threading.get_ident()
    def asked():
        before = core.system_allocations()
        workers.add(submit(fill).result(20))
        return core.system_allocations() - before
    import threading
    workers = set()
    asked()
    assert asked() < 4
    for attempt in range(50):  # one that does not rest gives its own when it next asks
        pkg.empty_cache()
        if asked() >= 12:
            break
    else:
        raise AssertionError("kept")
    assert asked() < 4
    assert len(workers) == 1 and threading.get_ident() not in workers
    for _ in range(100):
        pkg.empty_cache()
    asked()
    print("fine")
    """)

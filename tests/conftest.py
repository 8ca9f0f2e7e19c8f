# SPDX-License-Identifier: Apache-2.0
"""Makes support/ importable, orders the tests, counts what lives, names the binding."""

import contextlib
import gc
import os
import signal
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Helpers by their own name; programs of this folder and packages like bindings/ too.
sys.path[:0] = [str(HERE), str(HERE / "support")]
pytest.register_assert_rewrite("op_values", "gradients")

import quick_checks  # noqa: E402
import turns  # noqa: E402

quick_checks.install()

# With several processes (-n): this one first, since it takes as long as all others, and
# last those that wait for what it builds.
FIRST = "binding/test_bindings.py"
LAST = ("binding/test_binding_contract.py", "binding/test_symbols.py")


def pytest_configure(config):
    """For all processes of this run, and those that they start."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so a shell begins `... &`
        signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = turns.begin()
    if folder:
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(lambda: os.environ.pop("PKG_TEST_TURNS"))


def pytest_collection_modifyitems(items):
    """Files keep their order but for these."""
    items.sort(
        key=lambda item: (
            not item.path.as_posix().endswith(FIRST),
            item.path.as_posix().endswith(LAST),
        )
    )


def pytest_collection_finish():
    """The modules and some ten thousand tests stay: a collection of garbage, of which
    tests make thousands, need not look at them."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Of a file, all tests run in one process, which has its fixtures once."""
    from files_in_turn import FilesInTurn

    config.option.loadscopereorder = False  # in the order of above
    return FilesInTurn(config, log)


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Collections do not look at what earlier files left for good: modules, caches."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def turn(request):
    """See support/turns.py.  A test that runs the suite takes none: its tests do."""
    if request.node.get_closest_marker("suite"):
        yield
        return
    with turns.turn(alone=request.node.get_closest_marker("alone") is not None):
        yield


def pytest_report_header():
    """Which extension the Python layer runs on; test_bindings.py reads it."""
    from pkg._binding import core

    return f"binding: {core.__name__}"


@pytest.fixture(autouse=True)
def nothing_is_left(turn):
    """No tensor and no graph node of a test outlives it, on either binding.

    Events and streams may: the value of a fixture, the last event of a stream.  That
    they do not pile up is measured by leaks.py and bindings/probes/life.py.
    """
    from pkg._binding import core

    def live():
        with contextlib.suppress(Exception):  # an error that the test did not read
            core.synchronize()
        return {"tensors": core.live_tensors(), "nodes": core.live_nodes()}

    before = live()
    yield
    left = live()
    for youngest in (1, 2):  # what a test made is mostly young, and all takes a while
        if any(left[kind] > before[kind] for kind in before):
            gc.collect(youngest)
            left = live()
    grown = {
        kind: left[kind] - before[kind] for kind in before if left[kind] > before[kind]
    }
    assert not grown, f"left by the test: {grown}"

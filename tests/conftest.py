# SPDX-License-Identifier: Apache-2.0
"""Makes support/ importable; names the binding under test; counts what lives."""

import contextlib
import gc
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Helpers by their own name; programs of this folder and packages like bindings/ too.
sys.path[:0] = [str(HERE), str(HERE / "support")]
pytest.register_assert_rewrite("op_values", "gradients")


def pytest_report_header():
    """Which extension the Python layer runs on; test_bindings.py reads it."""
    from pkg._binding import core

    return f"binding: {core.__name__}"


@pytest.fixture(autouse=True)
def nothing_is_left():
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
    if any(left[kind] > before[kind] for kind in before):  # collecting takes a while
        gc.collect()
        left = live()
    grown = {
        kind: left[kind] - before[kind] for kind in before if left[kind] > before[kind]
    }
    assert not grown, f"left by the test: {grown}"

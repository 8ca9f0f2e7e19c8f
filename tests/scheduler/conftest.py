# SPDX-License-Identifier: Apache-2.0
"""No test of the scheduler leaves work behind."""

import pytest

import pkg
from pkg import scheduler


@pytest.fixture(autouse=True)
def _nothing_left():
    """No test leaves work behind, and none an error that another one would see."""
    yield
    for _ in range(100):
        try:
            pkg.synchronize()
            break
        except Exception:  # noqa: BLE001  (errors that the test did not look at)
            pass
    assert scheduler.pending_tasks() == 0

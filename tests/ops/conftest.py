# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of ops."""

import pytest

from levels import LEVELS, at_level


@pytest.fixture(params=LEVELS)
def level(request):
    """All loops in this test run on this instruction set."""
    with at_level(request.param) as level:
        yield level

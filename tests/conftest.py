# SPDX-License-Identifier: Apache-2.0
"""Makes the test helpers importable; names the binding under test."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_report_header():
    """Which extension the Python layer runs on; tests/test_bindings.py reads it."""
    from pkg._binding import core

    return f"binding: {core.__name__}"

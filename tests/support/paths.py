# SPDX-License-Identifier: Apache-2.0
"""Where the tree is, for tests in whatever folder."""

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent

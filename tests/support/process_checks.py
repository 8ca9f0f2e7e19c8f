# SPDX-License-Identifier: Apache-2.0
"""What tests of a process's end, fork and Ctrl-C share."""

import os

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.load_op_library``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ... import framework

__all__ = ["load_op_library"]


def load_op_library(library_filename: Any) -> ModuleType:
    """Loads a library of ops; returns a module of functions that add operations to the
    graph.  See ``pkg.load_op_library``, whose functions compute at once."""
    return framework.load_op_library(library_filename, style="tf")

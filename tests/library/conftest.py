# SPDX-License-Identifier: Apache-2.0
"""The examples in PyTorch's style, and the sources beside this file, built once."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import pkg
from libraries import OP_EXAMPLES, TORCH_STYLE, compile_all, library, op_examples

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder with a library for each source."""
    folder = tmp_path_factory.mktemp("ops")
    sources = [*op_examples("torch"), *HERE.glob("*.cc")]
    copies = [Path(shutil.copy(source, folder)) for source in sources]
    compile_all(lambda source: library(source, *TORCH_STYLE), copies)
    return folder


@pytest.fixture(scope="session")
def muladd(built):
    """docs/examples/ops/muladd.py, its library loaded; the ops are pkg.ops.muladd."""
    sys.path.insert(0, str(OP_EXAMPLES))
    try:
        import muladd
    finally:
        sys.path.pop(0)
    muladd.load(built / "muladd.so")
    return muladd


@pytest.fixture(scope="session")
def cell(built):
    """The ops of docs/examples/ops/gated_cell.cc."""
    pkg.ops.load_library(built / "gated_cell.so")
    return pkg.ops.gated_cell


@pytest.fixture(scope="session")
def surface(built):
    """The ops of surface.cc."""
    pkg.ops.load_library(built / "surface.so")
    return pkg.ops.surface

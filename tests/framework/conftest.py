# SPDX-License-Identifier: Apache-2.0
"""Libraries of ops, each compiled once in a run of the tests, whoever wants it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import pkg
from libraries import compile_all, library

SOURCES = Path(__file__).with_name("sources")
Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """A function of a file, of sources/ or absolute, and options: the library's path.

    The processes of a run share the libraries.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / "framework_libraries"
    folder.mkdir(exist_ok=True)

    def compile_one(file: str | Path, *options: str) -> Path:
        name = Path(file).name
        text = (SOURCES / file).read_text(encoding="utf-8")
        key = hashlib.sha256(repr((text, options)).encode()).hexdigest()[:12]
        path = folder / f"{Path(name).stem}_{key}.so"
        if path.exists():
            return path
        scratch = folder / f"{path.stem}.{os.getpid()}"
        scratch.mkdir(exist_ok=True)
        source = scratch / name
        source.write_text(text, encoding="utf-8")
        compat = Path(pkg.sysconfig.get_include()) / "compat"
        os.replace(library(source, f"-I{compat / 'tf1'}", *options), path)
        return path

    return compile_one


@pytest.fixture(scope="session")
def compiled_all(compiled: Compile) -> Callable[..., list[Path]]:
    """The same for several (name, options...), on every core."""
    return lambda *wanted: compile_all(lambda each: compiled(*each), wanted)

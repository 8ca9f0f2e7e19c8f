# SPDX-License-Identifier: Apache-2.0
"""Compiling libraries of ops: one call of the compiler, with the flags of sysconfig.

For tests and programs that build what they load.  A package that ships a library has a
build of its own, which takes the flags from ``python -m pkg --cflags --ldflags``.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence

from .sysconfig import get_compile_flags, get_link_flags

__all__ = ["custom_op_library"]

Path = str | os.PathLike[str]


def _newest(sources: Sequence[Path]) -> float:
    return max(os.stat(source).st_mtime for source in sources)


def custom_op_library(
    name: str, srcs: Sequence[Path], folder: Path = ".", *, style: str = "",
    compile_flags: Sequence[str] = (), link_flags: Sequence[str] = (),
    force: bool = False,
) -> str:  # fmt: skip
    """Compiles the sources to ``folder/name.so``; returns its path.

    srcs: C++ files.  style: see ``sysconfig.get_compile_flags``.  compile_flags,
    link_flags: come after those of pkg.sysconfig.
    Nothing is done where the library is newer than its sources, unless ``force``:
    headers and flags are not looked at.  ``CXX`` is the compiler, or g++.

    ValueError for no sources; FileNotFoundError for one that is not there, or where
    there is no compiler; RuntimeError with what the compiler said.
    """
    if not srcs:
        raise ValueError("[custom_op_library] expected C++ files, got none.")
    path = os.path.join(os.fspath(folder), f"{name.removesuffix('.so')}.so")
    newest = _newest(srcs)
    if not force and os.path.exists(path) and os.stat(path).st_mtime > newest:
        return path
    compiler = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    # A library that a process has open must not be written into: the new one takes its
    # place when it is whole.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path) or ".") as scratch:
        made = os.path.join(scratch, os.path.basename(path))
        command = [
            *compiler, *get_compile_flags(style), "-O2", "-fPIC", "-shared",
            *compile_flags, *[os.fspath(source) for source in srcs], "-o", made,
            *get_link_flags(), *link_flags,
        ]  # fmt: skip
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise RuntimeError(
                f"[custom_op_library] {shlex.join(command)} ended with "
                f"{done.returncode}:\n{done.stdout}"
            )
        os.replace(made, path)
    return path

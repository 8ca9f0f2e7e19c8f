# SPDX-License-Identifier: Apache-2.0
"""How the tests compile modules of the kit and pybind11's twins of them, whose headers
are read once."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from paths import ROOT

sys.path.insert(0, str(ROOT / "swig"))

from kit.build import options  # noqa: E402

KIT = ROOT / "swig" / "kit"
# What is tested is the border, not how fast it is.
QUICK = "-O0"
FLAGS = ["-std=c++20", QUICK, "-g0", "-fPIC", "-pthread", "-fvisibility=hidden"]
FLAGS += ["-Wall", "-Wextra", "-Werror"]
UNUSED = 2 * 3600  # seconds after which what was made of headers goes
# What nearly every twin includes.
HEADERS = ["pybind11.h", "stl.h", "functional.h", "operators.h"]
# What every wrapper of the kit includes, in this order, before any header of a user.
KIT_INTERFACES = ["swigkit/errors.i", "swigkit/values.i", "swigkit.i"]


def twin_command() -> list[str]:
    """The compiler and its flags, which has read HEADERS already."""
    import pybind11

    compiler = shlex.split(os.environ.get("CXX", "g++"))
    command = [*compiler, *FLAGS]
    command += options.memory_flags(options.compiler_version(compiler))
    command += ["-isystem", pybind11.get_include()]
    command += ["-isystem", sysconfig.get_path("include")]
    lines = [f"#include <pybind11/{name}>" for name in HEADERS]
    return [*command, *precompiled(command, lines, [pybind11.__version__])]


@functools.cache
def kit_environment() -> dict[str, str]:
    """By which what the kit's command wraps with QUICK has read its headers already."""
    folder = KIT / "include"
    headers = [folder / "swigkit" / "iteration.h"]  # by step.py
    for name in KIT_INTERFACES:
        text = (folder / name).read_text(encoding="utf-8")
        headers += [folder / each for each in re.findall('#include "(.*)"', text)]
    command = [*options.compiler(), *options.COMPILE_FLAGS, QUICK, "-w"]
    command += [*(f"-I{path}" for path in options.includes())]
    command += ["-isystem", sysconfig.get_path("include")]
    lines = ["#define PY_SSIZE_T_CLEAN", "#include <Python.h>"]
    lines += [f'#include "{path}"' for path in headers]
    read = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.h"))]
    flags = precompiled(command, lines, read)
    return {"CXXFLAGS": f"{shlex.join(flags)} {os.environ.get('CXXFLAGS', '')}"}


class BuildError(Exception):
    """A command failed; the text is what it said."""


failed: dict[str, str] = {}  # by folder: no test tries again what another one has


def precompiled(command: list[str], lines: list[str], read: list[str]) -> list[str]:
    """Flags by which the command has read these lines already; `read` is what tells
    whether they mean the same as when they were read.  None for Clang, which ends where
    a header is newer than what it made of it."""
    version = _said([*command, "--version"])
    if "clang" in version:
        return []
    text = "\n".join(lines) + "\n"
    # No compiler takes what another one made, which -Werror would end.
    known = repr((command, version, sys.version, text, read))
    name = hashlib.sha256(known.encode()).hexdigest()[:12]
    around = ROOT / "build" / "kit"
    folder = around / f"pch-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    header, made = folder / "read.h", folder / "read.h.gch"
    with open(around / "pch.lock", "w") as lock:  # two test runs take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.mkdir(exist_ok=True)
        os.utime(folder)
        _drop_unused(around)
        if not made.exists():
            if str(folder) in failed:
                raise BuildError(failed[str(folder)])
            header.write_text(text)
            begun = ["-x", "c++-header", str(header), "-o", str(folder / "begun.gch")]
            try:
                _said([*command, *begun])
            except BuildError as error:
                failed[str(folder)] = str(error)
                raise
            (folder / "begun.gch").rename(made)
    return ["-Winvalid-pch", "-include", str(header)]


def _drop_unused(around: Path) -> None:
    """Each is more than 100 MB, and each edit of the kit's headers makes another one.
    One that was asked for not long ago may be used by a test run still."""
    for old in around.glob("pch-*"):
        if old.stat().st_mtime < time.time() - UNUSED:
            shutil.rmtree(old)


def _said(command: list[str]) -> str:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}")
    return done.stdout

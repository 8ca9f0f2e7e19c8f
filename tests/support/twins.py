# SPDX-License-Identifier: Apache-2.0
"""How the tests compile pybind11's twins of modules, and headers that are read once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import subprocess
import sysconfig

from paths import ROOT

# What is tested is the border, not how fast it is.
QUICK = "-O0"
FLAGS = ["-std=c++20", QUICK, "-g0", "-fPIC", "-pthread", "-fvisibility=hidden"]
FLAGS += ["-Wall", "-Wextra", "-Werror"]
# What nearly every twin includes.
HEADERS = ["pybind11.h", "stl.h", "functional.h", "operators.h"]


def twin_command() -> list[str]:
    """The compiler and its flags, which has read HEADERS already."""
    import pybind11

    command = [*shlex.split(os.environ.get("CXX", "g++")), *FLAGS]
    command += ["-isystem", pybind11.get_include()]
    command += ["-isystem", sysconfig.get_path("include")]
    lines = [f"#include <pybind11/{name}>" for name in HEADERS]
    return [*command, *precompiled(command, lines, [pybind11.__version__])]


def precompiled(command: list[str], lines: list[str], read: list[str]) -> list[str]:
    """Flags by which the command has read these lines already; `read` is what tells
    whether they mean the same as when they were read."""
    text = "\n".join(lines) + "\n"
    # No compiler takes what another one made, which -Werror would end.
    version = subprocess.check_output([*command, "--version"], text=True)
    known = repr((command, version, text, read))
    name = hashlib.sha256(known.encode()).hexdigest()[:12]
    folder = ROOT / "build" / "kit" / f"pch-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    header, made = folder / "read.h", folder / "read.h.gch"
    with open(folder / "lock", "w") as lock:  # two test runs take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            header.write_text(text)
            begun = ["-x", "c++-header", str(header), "-o", str(folder / "begun.gch")]
            subprocess.run([*command, *begun], check=True)
            (folder / "begun.gch").rename(made)
    return ["-Winvalid-pch", "-include", str(header)]

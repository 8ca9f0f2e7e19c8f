# SPDX-License-Identifier: Apache-2.0
"""SWIG, its options, and the compiler's: one place for wrap.py, setuptools and CMake.

pkg's own build (swig/build/toolchain.py) finds SWIG and asks the compiler's version
here as well.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

from .incremental import BuildError

# The one release that the kit is written for: the step after SWIG reads its output.
# pyproject.toml has it as well, for pip; tests/house/test_build.py compares them.
SWIG_VERSION = "4.5.1"
KIT = Path(__file__).resolve().parents[1]
# C++20 is what the kit's headers are written in; CXXFLAGS may ask for a later one.
COMPILE_FLAGS = ["-std=c++20", "-fPIC", "-fvisibility=hidden"]
LINK_FLAGS = ["-shared"]
# For SWIG's output only: nobody can mend what a warning of it is about.
GENERATED_FLAGS = ["-w"]
EXTENSION_SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))


def includes() -> list[str]:
    """The folders of swigkit.i and of the kit's C++ headers."""
    return [str(KIT / "include")]


def cmake_folder() -> str:
    """The folder of SwigKit.cmake."""
    return str(KIT / "cmake")


def flags() -> list[str]:
    """SWIG's options; `-interface NAME`, the module's name, comes after them."""
    # C++'s own __cplusplus, by which headers choose.
    options = ["-python", "-c++", "-std=c++20", "-noproxy", "-doxygen"]
    if sys.platform == "linux" and struct.calcsize("l") == 8:
        options.append("-DSWIGWORDSIZE64")  # int64_t is long, as SWIG must know
    return [*options, *(f"-I{folder}" for folder in includes())]


def find_swig() -> tuple[str, str]:
    """The program and its version: of the PyPI package `swig`, else on the PATH."""
    found = []
    try:
        version = importlib.metadata.version("swig")
        if version == SWIG_VERSION:
            # Importing it sets SWIG_LIB, which its program needs and no other.
            package = importlib.import_module("swig")
            return os.path.join(package.BIN_DIR, "swig"), version
        found.append((version, "the PyPI package"))
    except (ImportError, AttributeError):
        pass  # there is none: a folder named swig/ has no BIN_DIR
    on_path = shutil.which("swig")
    if on_path:
        version = _swig_version(on_path)
        if version == SWIG_VERSION:
            return on_path, version
        found.append((version, on_path))
    got = ", ".join(f"{version} ({program})" for version, program in found) or "none"
    raise BuildError(
        f"expected SWIG {SWIG_VERSION}, got {got}. "
        f"Run: python -m pip install swig=={SWIG_VERSION}"
    )


def _swig_version(program: str) -> str:
    try:
        text = subprocess.run([program, "-version"], capture_output=True, text=True)
    except OSError as err:
        return f"no answer: {err.strerror}"
    found = re.search(r"^SWIG Version (\S+)", text.stdout, re.MULTILINE)
    return found[1] if found else "no known version"


def compiler(command: str | None = None) -> list[str]:
    """The C++ compiler: what is asked for, else CXX, else g++ or clang++."""
    chosen = command or os.environ.get("CXX")
    if chosen:
        return shlex.split(chosen)
    return ["g++" if shutil.which("g++") or not shutil.which("clang++") else "clang++"]


def compiler_version(cxx: list[str]) -> str:
    """The first line that it says of itself; BuildError when it does not run."""
    try:
        out = subprocess.run(
            [*cxx, "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as err:
        raise BuildError(
            f"no working C++ compiler: {shlex.join(cxx)}: {err}. "
            "Install g++ 11 or later, or set CXX."
        ) from None
    return out.splitlines()[0]


def memory_flags(version: str) -> list[str]:
    """For a compiler of this version: GCC looks for memory to use again from 512 MB on.

    By itself it begins at 128, and takes a tenth longer; a large source then needs a
    seventh more in all.
    """
    return [] if "clang" in version else ["--param=ggc-min-heapsize=524288"]

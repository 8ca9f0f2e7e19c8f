# SPDX-License-Identifier: Apache-2.0
"""Op libraries compiled for a test, and Python programs that load them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

import pkg
import pkg.sysconfig
import turns
from paths import ROOT

T, R = TypeVar("T"), TypeVar("R")
GCC = shutil.which("gcc") or shutil.which("cc")
STRICT_C = "-std=c11 -pedantic -Wall -Wextra -Werror".split()
# For sources in PyTorch's style, whose headers must give no warnings.
TORCH_STYLE = (
    f"-I{pkg.sysconfig.get_compat_include('torch')}",
    f"-I{sysconfig.get_path('include')}",
    *("-Wall", "-Wextra", "-Werror"),
)
OP_EXAMPLES = ROOT / "docs" / "examples" / "ops"
needs_c = pytest.mark.skipif(GCC is None, reason="neither gcc nor cc is on the PATH")


def op_examples(style: str) -> list[Path]:
    """The examples of ops whose sources include headers of "torch" or "tensorflow"."""
    include = re.compile(f'#include [<"]{style}/')
    sources = sorted(OP_EXAMPLES.glob("*.cc"))
    return [p for p in sources if include.search(p.read_text(encoding="utf-8"))]


def precompiled(text: str, *command: str) -> list[str]:
    """Flags by which this command of g++ has read what this text begins with.

    Half of what a small source takes; docs' pages are compiled without.
    """
    read = "dispatcher/library.h"
    if '#include "tensorflow/' in text:
        read = "tensorflow/core/framework/op_kernel.h"
    with turns.kept("pch", read, *command) as folder:
        header = folder / "core.h"
        made = folder / "core.h.gch"
        if not made.exists():
            header.write_text(f'#include "{read}"\n', encoding="utf-8")
            begun = folder / "begun.gch"
            name = ["-x", "c++-header", str(header), "-o", str(begun)]
            subprocess.run([*command, *name], check=True)
            begun.rename(made)
    return ["-Winvalid-pch", "-include", str(header)]


def compiled(
    source: Path, *options: str, name: str = ""
) -> subprocess.CompletedProcess[str]:
    """The compiler's outcome for NAME.so, or that of the source's name, beside it."""
    headers = sorted(source.parent.glob("*.h"))
    read = [path.read_text(encoding="utf-8") for path in (source, *headers)]
    if source.suffix == ".c":
        command = [GCC or "cc", *STRICT_C, f"-I{pkg.sysconfig.get_include()}"]
    else:
        # Nothing here is for speed, and -O0 compiles twice as fast.
        command = ["g++", *pkg.sysconfig.get_compile_flags(), "-fPIC", "-O0"]
        if not any(option.startswith(("-D", "-std")) for option in options):
            folders = [option for option in options if option.startswith("-I")]
            command += precompiled("\n".join(read), *command, *folders)
    output = source.parent / f"{name or source.stem}.so"
    command += ["-fPIC", "-shared", *options, source.name, "-o", str(output)]
    command += pkg.sysconfig.get_link_flags()
    # The suite, which runs once for each binding, compiles what is the same once.
    words = [word for word in command if word != str(output)]
    with turns.kept("library", *words, *read) as folder:
        made, said = folder / "made.so", folder / "said.txt"
        if made.exists():
            shutil.copyfile(made, output)
            return subprocess.CompletedProcess(command, 0, said.read_text())
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=source.parent,
            timeout=300,
        )
        if done.returncode == 0:
            said.write_text(done.stdout)
            shutil.copyfile(output, made)
    return done


def library(source: Path, *options: str, name: str = "") -> Path:
    """The same for what must compile; returns the library."""
    done = compiled(source, *options, name=name)
    assert done.returncode == 0, done.stdout[-4000:]
    return source.with_name(f"{name or source.stem}.so")


def libraries(folder: Path, sources: dict[str, str], *options: str) -> Path:
    """All these {file name: text} as libraries in the folder, which is returned."""
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    compile_all(
        lambda source: library(source, *options), [folder / name for name in sources]
    )
    return folder


def compile_all(compile_one: Callable[[T], R], sources: Iterable[T]) -> list[R]:
    """map() as a list, on every core: a compiler takes seconds and one core."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(compile_one, sources))


def output_of(code: str, folder: Path) -> str:
    """What a Python program prints in that folder; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(pkg.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout

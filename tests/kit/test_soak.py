# SPDX-License-Identifier: Apache-2.0
"""Nothing grows however often it is called: see soak.py, which calls more."""

import os
import shutil
import subprocess
import sys
import sysconfig
import types

import pytest
from kit_modules import HERE
from soak import SANITIZERS, THEMES, Soak

from twins import options

CALLS = 500
REPEATS = 7  # of each of nine ways to end, more than sixty in all


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_grows(theme):
    """In a process of its own: what other tests have left is not this one's."""
    command = [sys.executable, str(HERE / "soak.py"), "--calls", str(CALLS), theme]
    command += ["--seconds", "2"]
    done = subprocess.run(
        command,
        env={**os.environ, "KIT_BUILD": "kit"},  # those of the other tests
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert ", 0 grow\n" in done.stdout


STUB = """
class Thing:
    def __init__(self, value: int) -> None: ...
    def kept(self, other: Thing) -> None: ...
def blocks(value: int = 0) -> None: ...
def failing(value: str) -> None: ...
def clean(value: list[int]) -> list[int]: ...
"""
CODE = """
store = []
class Thing:
    def __init__(self, value):
        self.value = int(value)
    def kept(self, other):
        store.append(type(other))
def blocks(value=0):
    store.append(object())
def failing(value):
    try: value + ""
    except TypeError as error: store.append(str(error)); raise
def clean(value):
    return list(value)
"""


def test_what_grows_is_seen():
    """By blocks, by references of a class, and where a call fails."""
    module = types.ModuleType("leaking")
    exec(CODE, vars(module))
    run = Soak("leaking", module, STUB, seconds=10)
    grown = [fault for one in run.constructs for fault in run.construct(one, 2000)[1]]
    names = {fault.split()[0].partition(".")[2] for fault in grown}
    assert names == {"blocks", "failing", "Thing.kept"}, grown


@pytest.mark.parametrize("end", ["main", "exit", "error"])
@pytest.mark.parametrize("which", ["virtual", "callback", "both"])
def test_foreign_threads_while_the_interpreter_ends(end, which):
    """Ten threads of C++ call Python without pause; nothing stops them.  Two calls come
    when Python has ended: one fails, and that of a thread sleeps with the thread."""
    command = [sys.executable, str(HERE / "soak_threads.py"), which, end]
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    for _ in range(REPEATS):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=environment
        )
        status = 3 if end == "error" else 0
        assert (done.returncode, done.stderr) == (status, "")
        assert done.stdout == "Python has ended\n"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_what_has_ended_is_not_used_again_under_the_sanitizer(compiler, tmp_path):
    """Or it would not see who uses it still."""
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / "main.cc"
    for flags, reuses in (([], "true"), ([SANITIZERS], "false")):
        source.write_text(
            f'#include "swigkit/ref.h"\nstatic_assert(swigkit::kReuses == {reuses});\n'
        )
        command = [compiler, "-std=c++20", "-fsyntax-only", *flags, str(source)]
        command += [f"-I{path}" for path in options.includes()]
        command += ["-isystem", sysconfig.get_path("include")]
        subprocess.run(command, check=True)

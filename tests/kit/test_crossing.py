# SPDX-License-Identifier: Apache-2.0
"""Every type in every place: what crosses is the same on the other side, and what is no
value is refused with a precise error.  crossing.py generates the C++."""

import fcntl
import gc
import importlib.util
import os
import subprocess
import sys

import pytest
from crossing import KINDS, MORE_WAYS, WAYS, header, interface
from kit_modules import ROOT, SUFFIX

from twins import kit_environment

REFUSALS = (TypeError, ValueError, OverflowError)


@pytest.fixture(scope="module")
def folder():
    """Where the module is, which is built when that is needed."""
    made = ROOT / "build" / "kit" / f"crossing-{SUFFIX.split('.')[1]}"
    made.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, ROOT / "swig" / "kit", "wrap", "crossing.i", "-O0"]
    env = {**os.environ, **kit_environment()}
    with open(made / "lock", "w") as lock:  # two test runs take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, text in (("crossing.h", header()), ("crossing.i", interface())):
            path = made / name
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        done = subprocess.run(
            command, cwd=made, capture_output=True, text=True, env=env
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return made


@pytest.fixture(scope="module")
def m(folder):
    spec = importlib.util.spec_from_file_location(
        "crossing", folder / f"crossing{SUFFIX}"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(got, value):
    """Equal, and of one type; callables by what they do, C++'s objects by their x."""
    if isinstance(value, (list, tuple)):
        pairs = zip(got, value, strict=True)
        return type(got) is type(value) and all(same(a, b) for a, b in pairs)
    if callable(value):
        return got(3) == value(3)
    if hasattr(value, "x"):
        return type(got) is type(value) and got.x == value.x
    return type(got) is type(value) and got == value


@pytest.mark.parametrize("way", [*WAYS, *MORE_WAYS])
def test_values_come_back(m, way):
    cross = {**WAYS, **MORE_WAYS}[way]
    for name, kind in KINDS.items():
        for value in kind.values(m):
            got = cross(m, name, value)
            assert same(got, value), (name, value, got)


@pytest.mark.parametrize("way", list(WAYS))
def test_what_is_no_value_is_refused(m, way):
    """With an error that says what was expected; all is usable afterwards."""
    for name, kind in KINDS.items():
        for wrong in kind.wrong:
            with pytest.raises(REFUSALS) as info:
                WAYS[way](m, name, wrong)
                pytest.fail(f"{name} took {wrong!r}")
            assert "expected" in str(info.value) or "overload" in str(info.value)
        good = kind.values(m)[0]
        assert same(WAYS[way](m, name, good), good)


def test_nothing_grows(m):
    """References to what crosses, in every place."""
    for name in ("point", "shared", "ints", "text", "mode"):
        value = KINDS[name].values(m)[-1 if name == "text" else 0]
        for way, cross in {**WAYS, **MORE_WAYS}.items():
            if way in ("static", "variable"):  # keeps the last
                continue
            cross(m, name, value)
            gc.collect()  # classes that the way has made
            before = sys.getrefcount(value)
            for _ in range(20):
                cross(m, name, value)
            gc.collect()
            assert sys.getrefcount(value) <= before + 1, (name, way)


def test_the_stub_is_strict(folder):
    pytest.importorskip("mypy")
    command = ["-m", "mypy", "--strict", "--config-file=", "--cache-dir", os.devnull]
    done = subprocess.run(
        [sys.executable, *command, "crossing.pyi"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr

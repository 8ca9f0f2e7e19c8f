# SPDX-License-Identifier: Apache-2.0
"""python -m pkg new-op: a folder whose test passes at once, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pkg
from paths import ROOT


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Status and output of Python in the folder."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
             "PYTEST_ADDOPTS": ""},
        timeout=300,
    )
    return done.returncode, done.stdout


STYLES = [
    style
    for style, folder in (("pkg", "."), ("tf", "compat/tf1"), ("torch", "compat/torch"))
    if (Path(pkg.sysconfig.get_include()) / folder).exists()
]


@pytest.mark.parametrize("style", STYLES)
def test_its_test_passes_at_once(tmp_path: Path, style: str) -> None:
    """And the files are what the linter wants."""
    name = f"scaled_{style}"
    status, out = run(tmp_path, "-m", "pkg", "new-op", name, "--style", style)
    assert status == 0, out
    folder = tmp_path / name
    files = {"README.md", f"{name}.cc", f"{name}_ops.py", f"test_{name}.py"}
    assert {path.name for path in folder.iterdir()} == files
    assert f"next: cd ./{name}" in out
    assert "@" not in (folder / f"{name}.cc").read_text(encoding="utf-8")
    status, out = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert status == 0 and "11 passed" in out, out
    rules = ["--select", "B,E,F,UP,W", "--isolated", "--line-length", "88"]
    subprocess.run(["ruff", "check", "-q", *rules, folder], check=True)
    # What is newer than its source is not compiled again.
    library = folder / f"{name}.so"
    when = library.stat().st_mtime_ns
    assert pkg.build.custom_op_library(name, [folder / f"{name}.cc"], folder)
    assert library.stat().st_mtime_ns == when


@pytest.mark.parametrize(
    "name,text",
    [
        ("ZeroOut", "expected a name of small letters"),
        ("a__b", "expected a name of small letters"),
        ("class", "expected a name of small letters"),
        ("relu", "'relu' is a name of pkg's own"),
        ("print", "has in Python, which is 'print_'"),
        ("taken", "cannot make ./taken: File exists"),
    ],
)
def test_names_that_are_refused(tmp_path: Path, name: str, text: str) -> None:
    """One line, status 2, and nothing is written."""
    (tmp_path / "taken").mkdir()
    status, out = run(tmp_path, "-m", "pkg", "new-op", name)
    assert status == 2 and text in out and out.count("\n") == 1, out
    assert [path.name for path in tmp_path.rglob("*")] == ["taken"]


def test_what_the_compiler_says(tmp_path: Path) -> None:
    """It is the error; there is no library, and none is left half-written."""
    source = tmp_path / "bad.cc"
    source.write_text("int f() { return missing; }")
    with pytest.raises(RuntimeError, match=r"g\+\+.*bad.cc(.|\n)*missing"):
        pkg.build.custom_op_library("bad", [source], tmp_path)
    with pytest.raises(ValueError, match="expected C\\+\\+ files"):
        pkg.build.custom_op_library("bad", [], tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere.cc"):
        pkg.build.custom_op_library("bad", [tmp_path / "nowhere.cc"], tmp_path)
    with pytest.raises(ValueError, match="expected one of tf1, torch, got 'jax'"):
        pkg.sysconfig.get_compile_flags("jax")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.cc"]

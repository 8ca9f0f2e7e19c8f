# SPDX-License-Identifier: Apache-2.0
"""mypy --strict on the package, on users' programs, on the pages' examples."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pages import PAGES, blocks_of
from paths import ROOT, TESTS
from pkg._binding import core

sys.path.append(str(TESTS / "walkthrough"))
import stages  # noqa: E402

pytestmark = pytest.mark.skipif(
    core.__name__ != "pkg._pywrap_core", reason="the stub is that of the SWIG binding"
)


def mypy(*arguments: object) -> str:
    """What it says; AssertionError with that when it finds an error."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "MYPYPATH": str(stages.folder_of("kit")),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def test_the_package_and_users_programs_are_strict() -> None:
    """pkg/ and tests/typing: as pyproject.toml lists."""
    assert "no issues" in mypy("mypy")


def test_the_users_program_runs() -> None:
    """What is checked above is no dead text."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "tests/typing/example.py"]
    subprocess.run(program, cwd=ROOT, env=env, check=True, timeout=120)


def test_a_users_mistakes_are_found(tmp_path: Path) -> None:
    """The types say something: not everything is Any."""
    wrong = [
        "import pkg",
        "n: str = pkg.tensor(1).ndim",
        "pkg.tensor(1).backward(retain_graph='yes')",
        "pkg.add(pkg.ones(2), '1')",
        "pkg.ones(2).sum(dim='0')",
        "pkg.ones(2).reshpae(2)",
        "pkg.tensr(2)",
        "values: int = pkg.ones(2).max(0).values",
        "pair: int = pkg.max(pkg.ones(2), pkg.ones(2))",
    ]
    program = tmp_path / "wrong.py"
    program.write_text("\n".join(wrong), encoding="utf-8")
    with pytest.raises(AssertionError) as caught:
        mypy("mypy", program)
    for number in range(2, len(wrong) + 1):
        assert f"wrong.py:{number}: error: " in str(caught.value), wrong[number - 1]


def examples(page: Path) -> str:
    """The page's Python as one program, without what is there to raise."""
    parts = []
    for block in blocks_of(page):
        if block.language == "python" and not block.mark:
            parser = doctest.DocTestParser()
            found = parser.get_examples(block.text) if ">>> " in block.text else []
            parts += [e.source for e in found if e.exc_msg is None]
            parts += [] if found else [block.text]
    return "".join(parts)


def test_examples_of_the_pages_are_strict(tmp_path: Path) -> None:
    """But for the functions in them, which readers need not annotate, nor Datasets."""
    options = ["--allow-untyped-defs", "--allow-untyped-calls", "--allow-any-generics"]
    options += ["--disable-error-code=import-not-found"]  # what a page's commands write
    for i, page in enumerate(PAGES):
        text = examples(page)
        (tmp_path / f"page{i}.py").write_text(
            f"# {page.name}\n{text}", encoding="utf-8"
        )
    for name in stages.NAMES:
        stages.build(name, "kit")  # the walkthrough's examples read its stub
    files = sorted(tmp_path.glob("page*.py"))
    assert sum("import pkg" in file.read_text() for file in files) > 5
    assert "no issues" in mypy("mypy", *options, *files)


def test_stubtest_passes_on_the_stub() -> None:
    """It says what the module has, no more and no less."""
    mypy("mypy.stubtest", "--ignore-disjoint-bases", "pkg._pywrap_core")

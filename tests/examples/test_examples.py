# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/examples, the three bindings of each library, what they cost."""

from __future__ import annotations

import subprocess
import sys

import pytest
from example_modules import BINDINGS, EXAMPLES_BY_NAME, environment, folder_or_skip
from line_counts import PAGE, page_with_table, written

EXAMPLES = list(EXAMPLES_BY_NAME.values())
each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
# Python's words for what an object is, which say nothing of the library.
OPERATORS = {"__len__", "__getitem__", "__setitem__", "__bool__", "__eq__"}
LIST = """
import sys, NAME as module, enum
def names(thing, prefix=""):
    for name, value in vars(thing).items():
        if name.startswith("_") and name not in OPERATORS: continue
        if name == "cvar": continue  # SWIG's own, for global variables
        yield prefix + name
        if isinstance(value, type) and not issubclass(value, enum.Enum):
            yield from names(value, prefix + name + ".")
        elif isinstance(value, type):
            yield from (f"{prefix}{name}.{each.name}={int(each)}" for each in value)
print("\\n".join(sorted(set(names(module)))))
"""


def run(folder, *command):
    """Output of a child that finds the module."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@each_example
def test_program_runs(example, binding):
    """The same program on each binding; it says nothing, nor does the binding."""
    folder = folder_or_skip(example.name, binding)
    assert run(folder, "-X", "dev", example.uses) == ""


@each_example
def test_mypy_accepts_program_and_stub(example):
    """By the stub that the kit wrote; twins have none."""
    pytest.importorskip("mypy")
    folder = folder_or_skip(example.name, "kit")
    options = ["--strict", "--no-incremental", "--cache-dir", "/dev/null"]
    run(folder, "-m", "mypy", *options, f"{example.name}.pyi", example.uses)
    stub = (folder / f"{example.name}.pyi").read_text(encoding="utf-8")
    assert "-> typing.Any" not in stub and ": typing.Any" not in stub


@each_example
@pytest.mark.parametrize("twin", [each for each in BINDINGS if each != "kit"])
def test_twins_offer_the_same(example, twin):
    """Or the lines of one and of the other could not be compared."""
    text = LIST.replace("NAME", example.name).replace("OPERATORS", repr(OPERATORS))
    ours, theirs = (
        run(folder_or_skip(example.name, binding), "-c", text).splitlines()
        for binding in ("kit", twin)
    )
    assert len(ours) > 50 and ours == theirs


def test_lines_on_the_page():
    """`python tests/examples/line_counts.py --write` counts them again."""
    assert PAGE.read_text(encoding="utf-8") == page_with_table()


@each_example
def test_the_kit_takes_fewer_lines(example):
    """Than either of the others."""
    count = {binding: len(written(example.source(binding))) for binding in BINDINGS}
    assert count["kit"] < min(count["pybind11"], count["nanobind"])

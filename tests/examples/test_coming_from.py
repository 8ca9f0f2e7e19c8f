# SPDX-License-Identifier: Apache-2.0
"""docs/coming_from.md: its pybind11 lines do what its interface does, and so would
those of nanobind, which the page only names.

The kit's module is built and used by tests/house/test_docs.py, as each page's code is.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from example_modules import HERE, BuildError, compile_module, environment

from pages import blocks_of
from paths import ROOT

PAGE = ROOT / "docs" / "coming_from.md"


@pytest.fixture
def folder(tmp_path):
    """With the files of the page."""
    for block in blocks_of(PAGE):
        if block.mark.startswith("file: "):
            path = tmp_path / block.mark.removeprefix("file: ")
            path.write_text(block.text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("binding", ["pybind11", "nanobind"])
def test_twin_passes_the_program_of_the_page(binding, folder):
    """pybind11's has the lines that the page quotes; test_docs.py compares them."""
    pytest.importorskip(binding)
    try:
        compile_module("shop", binding, [f"-I{folder}"], folder)
    except BuildError as error:
        pytest.fail(str(error), pytrace=False)
    done = subprocess.run(
        [sys.executable, "use.py"],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # nanobind says at exit what lives: the till, in C++, holds an object of Python.
    assert done.returncode == 0, done.stdout


def test_every_line_of_the_twin_is_on_the_page():
    """Or it would do more than the page says."""
    quoted = [b.text for b in blocks_of(PAGE) if b.mark.startswith("from: ")]
    source = (HERE / "shop_pybind11.cc").read_text(encoding="utf-8")
    for text in quoted:
        source = source.replace(text, "", 1)
    left = [line for line in source.splitlines() if line.startswith(" ")]
    assert len(quoted) > 6 and not left

# SPDX-License-Identifier: Apache-2.0
"""docs/ops.md, the page of all that there is, against the registry and the modules."""

from __future__ import annotations

import difflib
import importlib
import re
import sys

import pytest

import pkg
from paths import ROOT
from pkg._binding import core

sys.path.insert(0, str(ROOT / "docs" / "programs"))

import ops_page  # noqa: E402
import torch_gaps  # noqa: E402

PAGE = ops_page.PAGE.read_text(encoding="utf-8")
HOMES = {
    "Modules": "pkg",
    "Dtypes": "pkg",
    "Functions of `torch`": "pkg",
    "`nn`": "pkg.nn",
    "`nn.functional`": "pkg.nn.functional",
    "`nn.init`": "pkg.nn.init",
    "`nn.utils`": "pkg.nn.utils",
    "`optim`": "pkg.optim",
    "`optim.lr_scheduler`": "pkg.optim.lr_scheduler",
    "`linalg`": "pkg.linalg",
    "`autograd`": "pkg.autograd",
    "`utils.data`": "pkg.utils.data",
}


def without_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where PyTorch is not installed."""
    monkeypatch.setattr(torch_gaps.importlib.util, "find_spec", lambda name: None)


@pytest.mark.skipif(
    core.__name__ != "pkg._pywrap_core",
    reason="the page is written by SWIG's module: pybind11's has no signatures",
)
def test_the_page_is_up_to_date(monkeypatch):
    """The part about PyTorch is compared below: it depends on what is installed."""
    without_gaps(monkeypatch)
    fresh = ops_page.page()
    changes = difflib.unified_diff(PAGE.split("\n"), fresh.split("\n"), n=0)
    assert fresh == PAGE, "python docs/programs/ops_page.py\n" + "\n".join(changes)


def test_every_public_op_has_a_row():
    """And every in-place form a place in one."""
    rows = re.findall(r"^\| `(\w+)(?:\.\w+)?\(", PAGE, re.MULTILINE)
    forms = re.findall(r"\| `(\w+_)` \|", PAGE)
    assert {name for name, _ in pkg.ops.functions()} <= {*rows, *forms}


def gaps() -> dict[str, list[str]]:
    """What the page says is missing, by module."""
    part = torch_gaps.PART.search(PAGE)[1]
    found = re.findall(r"\*\*(.+?)\*\*: (.*?)\.\n\n?", part, re.DOTALL)
    return {title: re.findall(r"`(\w+)`", names) for title, names in found}


def test_what_is_called_missing_is_missing():
    """A name that has come leaves the list."""
    listed = gaps()
    assert set(listed) == {*HOMES, "Methods of `Tensor`"}
    for title, module in HOMES.items():
        home = importlib.import_module(module)
        assert [n for n in listed[title] if hasattr(home, n)] == [], title
    methods = listed["Methods of `Tensor`"]
    assert [n for n in methods if hasattr(pkg.Tensor, n)] == []
    assert {"LSTM", "Conv1d"} - set(dir(pkg.nn)) <= set(listed["`nn`"])


def test_the_list_of_gaps_is_that_of_the_installed_pytorch():
    """Of the release that the page names, others have other names."""
    torch = pytest.importorskip("torch")
    version = torch.__version__.partition("+")[0]
    if f"PyTorch {version} " not in PAGE:
        pytest.skip(f"the page is about another release than {version}")
    assert torch_gaps.text("") in PAGE


def test_without_pytorch_the_list_stays(monkeypatch):
    without_gaps(monkeypatch)
    assert torch_gaps.text(PAGE) in PAGE
    assert "PyTorch was not installed" in torch_gaps.text("")


def test_texts_of_the_page():
    """A first sentence, however the docstring is laid out; names for functions."""
    doc = "f(x, /)\n--\n\nSums ``x``.  And more.\n\nAt length."
    assert ops_page.first_sentence(doc) == "Sums `x`."
    assert ops_page.first_sentence("One: two.\nThree: it.") == "One: two."
    assert ops_page.first_sentence(None) == ""
    assert ops_page.table(["a"], [["b|c"]]) == "| a |\n| --- |\n| b\\|c |\n"
    assert ops_page.call("f", lambda self, x, key=len: x) == "f(x, key=len)"
    assert ops_page.call("Wrong", ValueError) == "Wrong"

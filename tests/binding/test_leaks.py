# SPDX-License-Identifier: Apache-2.0
"""Nothing grows however often a slot, a function or an op is called (see leaks.py)."""

import ctypes
import os
import sys

import pytest

import leaks
import pkg
from leak_calls import BORDER, EXEMPT, NOT_ON_PYBIND11
from paths import TESTS

sys.path.insert(0, str(TESTS / "border"))

from build import load as load_border  # noqa: E402

CALLS = 200
PYBIND = os.environ.get("PKG_BINDING") == "pybind11"

NAMES = leaks.scope()
WATCHED = leaks.lasting(NAMES)
KINDS = leaks.kinds(NAMES)


@pytest.fixture
def nothing_is_left():
    """Not here: the calls keep some of their results, of which growth() tells."""


@pytest.mark.skipif(PYBIND, reason="test_binding_contract.py compares the names")
def test_nothing_is_forgotten():
    """Every function, member of a class and op of the module is called, or exempt."""
    required = leaks.required()
    assert len(required) > 500
    assert required - set(KINDS) == set()
    assert set(EXEMPT) & set(KINDS) == set()


@pytest.mark.parametrize("name", KINDS)
def test_call_is_flat(name):
    if PYBIND and name in NOT_ON_PYBIND11:
        pytest.skip(NOT_ON_PYBIND11[name])
    assert leaks.growth(KINDS[name], CALLS, WATCHED) == {}


BORDER_LINES = dict(line.split(": ", 1) for line in BORDER.strip().splitlines())


@pytest.mark.parametrize("name", BORDER_LINES)
def test_border_call_is_flat(name):
    """Each type that crosses the border, in the module of test_border.py."""
    names = {**NAMES, "border": load_border()}
    assert leaks.growth(leaks.compiled(BORDER_LINES[name], names), CALLS, WATCHED) == {}


_kept = []


@pytest.mark.parametrize(
    "leak, found",
    [
        (lambda: _kept.append(object()), "blocks of Python"),
        (lambda: _kept.append(WATCHED["None"]), "references to None"),
        (lambda: _kept.append(pkg.ones(1)), "tensors"),
        (lambda: _kept.append((NAMES["leaf"] * 2).grad_fn), "nodes"),
        (lambda: ctypes.CDLL(None).malloc(24), "bytes of malloc"),
    ],
)
def test_a_leak_would_be_found(leak, found):
    """None is immortal from Python 3.12 on: its count never moves."""
    if found.endswith("None") and leaks.sys.version_info >= (3, 12):
        pytest.skip("None is immortal")
    try:
        assert found in leaks.growth(leaks.repeated(leak), CALLS, WATCHED)
    finally:
        _kept.clear()

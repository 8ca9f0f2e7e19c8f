# SPDX-License-Identifier: Apache-2.0
"""Each test runs on the module of its NAME by the kit, by pybind11 and by nanobind."""

from __future__ import annotations

import importlib.util
import shutil
import sys

import pytest
from example_modules import BINDINGS, SUFFIX, Missing, build


def folder_or_skip(name, binding):
    """Where the module lies; skips when what it needs is not installed."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    found = build(name, binding)
    if isinstance(found, Missing):
        pytest.skip(str(found))
    if isinstance(found, Exception):
        pytest.fail(str(found), pytrace=False)
    return found


@pytest.fixture(params=BINDINGS)
def binding(request):
    """Which of the three."""
    return request.param


@pytest.fixture
def kit(binding):
    """Whether it is the kit."""
    return binding == "kit"


_modules = {}


@pytest.fixture
def m(request, binding, monkeypatch):
    """The module, under its own name for as long as the test runs."""
    name = request.module.NAME
    folder = folder_or_skip(name, binding)
    module = _modules.get((name, binding))
    if module is None:
        path = folder / f"{name}{SUFFIX}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        _modules[name, binding] = module
    monkeypatch.setitem(sys.modules, name, module)
    return module

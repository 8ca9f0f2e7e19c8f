# SPDX-License-Identifier: Apache-2.0
"""Each test runs on the module of its NAME by the kit, by pybind11 and by nanobind."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from example_modules import BINDINGS, SUFFIX, folder_or_skip


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

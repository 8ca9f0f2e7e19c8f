# SPDX-License-Identifier: Apache-2.0
"""Each test of this folder runs on the module of its THEME twice: by pybind11 and by
the kit.  What both must do is asserted for both; what only the kit does says so."""

from __future__ import annotations

import sys

import pytest
from kit_modules import BINDINGS, BuildError, is_there, load


class Refuses:
    """A call that fails.  The kit's text is compared, pybind11's own wording is not.

    `pybind11` is the class of its error where it has another one.
    """

    def __init__(self, kit, text, error, pybind11):
        self.text = text if kit else None
        self.error = error if kit else pybind11 or error

    def __enter__(self):
        self.raises = pytest.raises(self.error)
        self.info = self.raises.__enter__()

    def __exit__(self, *exception):
        swallowed = self.raises.__exit__(*exception)
        if self.text is not None:
            assert str(self.info.value) == self.text
        return swallowed


@pytest.fixture(params=BINDINGS)
def binding(request):
    """Which of the two."""
    if not is_there(request.param):
        pytest.skip("the kit's command `python -m pkg wrap` is not there yet")
    return request.param


@pytest.fixture
def kit(binding):
    """Whether it is the kit."""
    return binding == "kit"


@pytest.fixture
def m(request, binding, monkeypatch):
    """The module, under its own name for as long as the test runs."""
    theme = request.module.THEME
    module = load(theme, binding)
    if isinstance(module, BuildError):
        said = str(module)
        module.args = (f"{theme} was not built, see the first test",)
        pytest.fail(said, pytrace=False)
    monkeypatch.setitem(sys.modules, theme, module)
    return module


@pytest.fixture
def refuses(kit):
    """`with refuses("text"): ...`, see Refuses."""

    def refuses(text=None, error=TypeError, pybind11=None):
        return Refuses(kit, text, error, pybind11)

    return refuses

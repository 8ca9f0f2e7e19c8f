# SPDX-License-Identifier: Apache-2.0
"""The one place that imports the binding; others say `from ._binding import core`.

``PKG_BINDING`` chooses it: ``swig`` (the default) is ``pkg._pywrap_core``; ``pybind11``
is ``_pybind_core`` in the folder ``PKG_BINDING_PATH``, built by tests/bindings/.
With ``PKG_TRACE=calls`` it says what is called.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["core"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load() -> ModuleType:
    choice = os.environ.get("PKG_BINDING") or "swig"
    if choice == "swig":
        return _checked(_import(f"{__package__}._pywrap_core", _HERE, _remedy()))
    if choice == "pybind11":
        folder = os.path.abspath(os.environ.get("PKG_BINDING_PATH") or ".")
        remedy = "Build tests/bindings/ and set PKG_BINDING_PATH to its output folder."
        sys.path.insert(0, folder)
        try:
            return _checked(_import("_pybind_core", folder, remedy))
        finally:
            sys.path.remove(folder)
    raise ImportError(
        f"[pkg] expected 'swig' or 'pybind11', got {choice!r} (PKG_BINDING={choice}). "
        "Unset PKG_BINDING to use the default."
    )


def _traced(core: ModuleType) -> ModuleType:
    """The binding, which says its calls when PKG_TRACE asks for that."""
    wanted = os.environ.get("PKG_TRACE")
    if not wanted:
        return core
    if wanted != "calls":
        raise ImportError(
            f"[pkg] expected 'calls', got {wanted!r} (PKG_TRACE={wanted}). "
            "Unset PKG_TRACE to trace nothing."
        )
    from ._trace import trace

    trace(core)
    return core


def _checked(core: ModuleType) -> ModuleType:
    """The binding; ImportError when it does not run what PKG_ISA asks for."""
    wanted, runs = os.environ.get("PKG_ISA"), core.isa_name()
    if wanted and wanted != runs:  # the core took the best there is
        raise ImportError(
            "[pkg] expected 'baseline', 'v3' or 'v4', of which this CPU has all up to "
            f"{runs!r}, got {wanted!r} (PKG_ISA={wanted}). "
            "Unset PKG_ISA to use the best."
        )
    return core


def _import(name: str, folder: str, remedy: str) -> ModuleType:
    try:
        __import__(name)
    except ImportError as err:
        from importlib.machinery import EXTENSION_SUFFIXES

        stem = name.rpartition(".")[2]
        path = os.path.join(folder, stem + EXTENSION_SUFFIXES[0])
        reason = str(err) if os.path.exists(path) else _why_missing(folder, stem)
        raise ImportError(
            f"[pkg] cannot load the extension {path}: {reason}. {remedy}",
            name=name,
            path=path,
        ) from err
    return sys.modules[name]


def _why_missing(folder: str, stem: str) -> str:
    """Often the extension is there, but built for another Python."""
    if not os.path.isdir(folder):
        return "no such folder"
    names = sorted(os.listdir(folder))
    others = [n for n in names if n.startswith(stem + ".") and n.endswith(".so")]
    if others:
        return f"no such file, only {', '.join(others)} for another Python"
    return "no such file"


def _remedy() -> str:
    root = os.path.dirname(_HERE)
    if os.path.exists(os.path.join(root, "setup.py")):
        return f"Run `python setup.py build_ext` in {root}, with this Python."
    return (
        "Install pkg again from its source folder, with this Python: "
        "`python -m pip install --force-reinstall --no-deps .`"
    )


if TYPE_CHECKING:
    import pkg._pywrap_core as core
else:
    core = _traced(_load())

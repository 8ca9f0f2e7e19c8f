# SPDX-License-Identifier: Apache-2.0
"""The one place that imports the binding: every other module says `from ._binding import core`.

``PKG_BINDING`` chooses it: ``swig`` (the default) is ``pkg._pywrap_core``; ``pybind11`` is
``_pybind_core`` in the folder ``PKG_BINDING_PATH``, built by tests/bindings/.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from typing import Any

__all__ = ["core"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]


def _load() -> Any:
    choice = os.environ.get("PKG_BINDING") or "swig"
    if choice == "swig":
        path = os.path.join(_HERE, "_pywrap_core" + _SUFFIX)
        return _import("pkg._pywrap_core", path, _remedy())
    if choice == "pybind11":
        folder = os.environ.get("PKG_BINDING_PATH", "")
        path = os.path.join(folder, "_pybind_core" + _SUFFIX)
        remedy = "Build tests/bindings/ and set PKG_BINDING_PATH to its output folder."
        sys.path.insert(0, folder)
        try:
            return _import("_pybind_core", path, remedy)
        finally:
            sys.path.remove(folder)
    raise ImportError(
        f"[pkg] expected 'swig' or 'pybind11', got {choice!r} (PKG_BINDING={choice}). "
        "Unset PKG_BINDING to use the default."
    )


def _import(name: str, path: str, remedy: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as err:
        reason = str(err) if os.path.exists(path) else _missing(path)
        raise ImportError(
            f"[pkg] cannot load the extension {path}: {reason}. {remedy}",
            name=name,
            path=path,
        ) from err


def _missing(path: str) -> str:
    """Why there is no such file: often it was built for another Python."""
    folder, wanted = os.path.split(path)
    stem = wanted[: -len(_SUFFIX)]
    try:
        names = sorted(os.listdir(folder or "."))
    except OSError as err:
        return f"no such file ({err.strerror}: {folder!r})"
    others = [n for n in names if n.startswith(stem + ".") and n.endswith(".so")]
    if others:
        return f"no such file, but {', '.join(others)} for another Python"
    return "no such file"


def _remedy() -> str:
    root = os.path.dirname(_HERE)
    if os.path.exists(os.path.join(root, "setup.py")):
        return f"Run `python setup.py build_ext` in {root}, with this Python."
    return "Run `python -m pip install --force-reinstall --no-deps pkg`, with this Python."


core = _load()

# SPDX-License-Identifier: Apache-2.0
"""Every registered op as a function; those that start with `self` also as methods.

The registry in C++ is the only list, and this module alone makes names of it: at
import, and again after ``load_library``.  Ops of pkg itself are ``pkg.ops.add``; those
of another namespace ``pkg.ops.<namespace>.<op>``.  docs/ops.md is the list to read.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._binding import core
from .tensor import Tensor

__all__ = ["export_to", "functions", "load_library", "load_library_of"]

# `pkg.float` and the like are dtypes, these conversions methods only; pkg/functional.py
# has the others with the arguments that PyTorch's have besides.
NOT_EXPORTED = (
    "float", "bool", "int", "long", "double", "half", "bfloat16", "nonzero", "normal",
    "tensordot",
)

if TYPE_CHECKING:
    from ._op_types import *  # noqa: F403

    # Ops of libraries, and the namespaces of such.
    def __getattr__(name: str) -> Any: ...


_functions: dict[str, core.Operator] = {}
_namespaces: dict[str, ModuleType] = {}
_exports: list[dict[str, Any]] = []
_loaded: set[str] = set()  # identities of libraries whose ops are shown
_refused: set[str] = set()  # names that clash: told once


def functions() -> list[tuple[str, core.Operator]]:
    """(name, op) of every public op of pkg itself."""
    return [(n, op) for n, op in _functions.items() if not n.startswith("_")]


def export_to(module: dict[str, Any]) -> None:
    """Put the public functions into a module's globals, now and when others come."""
    _exports.append(module)
    module.update((n, op) for n, op in functions() if n not in NOT_EXPORTED)


def load_library(path: str | os.PathLike[str]) -> None:
    """Load a shared library of ops, which register themselves as it is opened.

    path: a .so compiled with the flags of ``pkg.sysconfig``; docs/add_an_op.md shows
    one.
    Its ops appear as ``pkg.ops.<namespace>.<op>``, those of namespace pkg also as
    ``pkg.<op>`` and as Tensor methods.  Loading it again does nothing.  ImportError
    when it cannot be opened; RuntimeError with the path when its registration fails,
    after which none of its ops is registered.
    """
    load_library_of(path)


def load_library_of(path: str | os.PathLike[str]) -> str:
    """The same; returns the library's identity, which those with the same contents have
    in common."""
    name = os.fspath(path)
    identity = core.load_library(os.path.abspath(name))
    if identity in _loaded:
        return identity
    clashes = _read_registry()
    _loaded.add(identity)
    if clashes:
        raise RuntimeError(
            f"[load_library] {name}: expected names that pkg does not use, got "
            f"{', '.join(clashes)}. The library's other ops are there; choose another "
            "name for these or their namespace."
        )
    return identity


def _read_registry() -> list[str]:
    # Shows what is new; returns what cannot be shown, each name once.
    clashes = []
    for namespace in core.operator_namespaces():
        names = core.operator_names(namespace)
        if namespace not in ("pkg", *_namespaces) and not _is_free(namespace):
            clashes.append(f"the namespace {namespace!r}")
            continue
        known = _functions if namespace == "pkg" else _module_of(namespace).__dict__
        for name in names:
            op = core.Operator(name, namespace)
            if name in known and known[name].schemas == op.schemas:
                continue
            if namespace != "pkg":
                known[name] = op
            elif name in known or _is_free(name):
                _show(name, op)
            else:
                clashes.append(f"the op {name!r}")
    fresh = [clash for clash in clashes if clash not in _refused]
    _refused.update(clashes)
    return fresh


def _is_free(name: str) -> bool:
    # Not what this module, or one that shows the ops, has for something else, perhaps
    # from its first use on.
    for shown in (globals(), *_exports):  # a loop, as `any` is an op here
        taken = getattr(sys.modules[shown["__name__"]], name, None)
        if taken is not None and not isinstance(taken, core.Operator):
            return name in NOT_EXPORTED
    return True


def _show(name: str, op: core.Operator) -> None:
    globals()[name] = _functions[name] = op
    public = not name.startswith("_")
    if public and op.is_method:
        taken = getattr(Tensor, name, None)
        if taken is None or isinstance(taken, core.Operator):
            setattr(Tensor, name, op)
    if public and name not in NOT_EXPORTED:
        for module in _exports:
            module[name] = op


def _module_of(namespace: str) -> ModuleType:
    if namespace not in _namespaces:
        doc = f"Ops of the namespace {namespace}."
        _namespaces[namespace] = ModuleType(f"{__name__}.{namespace}", doc)
        globals()[namespace] = _namespaces[namespace]
    return _namespaces[namespace]


_read_registry()

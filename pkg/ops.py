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

__all__ = [
    "check_namespace", "export_to", "functions", "load_library", "load_library_of",
]  # fmt: skip

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
_refused: dict[str, str] = {}  # ops that are not shown, "os::f", and what clashes


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
    after which none of its ops is registered.  RuntimeError, each time, when pkg uses
    the name of an op of it or of their namespace for something else: such ops are
    registered, but not shown.
    """
    load_library_of(path)


def load_library_of(path: str | os.PathLike[str]) -> str:
    """The same; returns the library's identity, which those with the same contents have
    in common."""
    name = os.fspath(path)
    if isinstance(name, str):
        name.encode()  # UnicodeEncodeError for what is no text, on either binding
    identity = core.load_library(os.path.abspath(name))
    if identity not in _loaded:
        _read_registry()
        _loaded.add(identity)
    plain = [op.partition(".")[0] for op in core.library_ops(identity)]
    clashes = list(dict.fromkeys(_refused[op] for op in plain if op in _refused))
    if clashes:
        raise RuntimeError(
            f"[load_library] {name}: expected names that pkg does not use, got "
            f"{', '.join(clashes)}. The library's other ops are there; choose another "
            "name for these or their namespace."
        )
    return identity


def check_namespace(namespace: str) -> None:
    """RuntimeError for one whose ops could not be shown, as pkg.ops has its name for
    something else: to be asked before an op of it is defined."""
    if not _is_shown(namespace):
        raise RuntimeError(
            "expected a namespace whose name pkg does not use, got "
            f"{namespace!r}. Choose another name."
        )


def _is_shown(namespace: str) -> bool:
    return namespace in ("pkg", *_namespaces) or _is_free(namespace)


def _read_registry() -> list[str]:
    # Shows what is new; returns what clashes among it, and is not shown.
    fresh: dict[str, str] = {}
    for namespace in core.operator_namespaces():
        names = core.operator_names(namespace)
        if not _is_shown(namespace):
            for name in names:
                fresh[f"{namespace}::{name}"] = f"the namespace {namespace!r}"
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
                fresh[f"pkg::{name}"] = f"the op {name!r}"
    fresh = {op: words for op, words in fresh.items() if op not in _refused}
    _refused.update(fresh)
    return list(dict.fromkeys(fresh.values()))


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

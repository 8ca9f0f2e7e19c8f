# SPDX-License-Identifier: Apache-2.0
"""Every registered op as a function; those that start with `self` also as methods.

The registry in C++ is the only list, and this module alone makes names of it: at
import, and again after ``load_library``.  Ops of pkg itself are ``pkg.ops.add``; those
of another namespace ``pkg.ops.<namespace>.<op>``.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable

from ._binding import core
from .tensor import Tensor

__all__ = ["export_to", "functions", "load_library"]

# `pkg.float` and the like are dtypes, these conversions methods only; pkg/functional.py
# has the others with the arguments that PyTorch's have besides.
NOT_EXPORTED = (
    "float", "bool", "int", "long", "double", "half", "bfloat16", "nonzero", "normal",
)

if TYPE_CHECKING:
    from ._op_types import *  # noqa: F403

    # Ops of libraries, and the namespaces of such.
    def __getattr__(name: str) -> Any: ...


_functions: dict[str, core.Operator] = {}
_namespaces: dict[str, ModuleType] = {}
_exports: list[dict[str, object]] = []


def functions() -> list[tuple[str, core.Operator]]:
    """(name, op) of every public op of pkg itself."""
    return [(n, op) for n, op in _functions.items() if not n.startswith("_")]


def export_to(module: dict[str, object]) -> None:
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
    core.load_library(os.path.abspath(os.fspath(path)))
    _read_registry()


def _read_registry() -> None:
    for namespace in core.operator_namespaces():
        known: dict[str, Any] = _functions
        show: Callable[[str, Any], None] = _show
        if namespace != "pkg":
            known = _module_of(namespace).__dict__
            show = known.__setitem__
        for name in core.operator_names(namespace):
            op = core.Operator(name, namespace)
            if name not in known or known[name].schemas != op.schemas:
                show(name, op)


def _show(name: str, op: core.Operator) -> None:
    _place(name, op, name in _functions)
    _functions[name] = op
    public = not name.startswith("_")
    if public and op.is_method:
        taken = Tensor.__dict__.get(name)
        if taken is None or isinstance(taken, core.Operator):
            setattr(Tensor, name, op)
    if public and name not in NOT_EXPORTED:
        for module in _exports:
            module[name] = op


def _module_of(namespace: str) -> ModuleType:
    if namespace not in _namespaces:
        doc = f"Ops of the namespace {namespace}."
        module = ModuleType(f"{__name__}.{namespace}", doc)
        _place(namespace, module, False)
        _namespaces[namespace] = module
    return _namespaces[namespace]


def _place(name: str, value: object, replace: bool) -> None:
    # An attribute of this module; what stands there may be something else's name.
    if name in globals() and not replace:
        raise RuntimeError(
            f"[ops] expected a name that pkg.ops does not use, got {name!r}. "
            "Choose another name for the op or its namespace."
        )
    globals()[name] = value


_read_registry()

# SPDX-License-Identifier: Apache-2.0
"""Declaring ops by schema, giving them kernels, and saying what is registered."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import ops
from .._binding import core
from .gradients import autograd_kernel

_FOLDER = os.path.dirname(os.path.abspath(__file__))
# The keys of a device; those of devices that this build has not are accepted, and the
# kernels never called.
DEVICE_KEYS = {"cpu": "CPU", "meta": "Meta"}
ABSENT_DEVICES = ("cuda", "xpu", "mps", "hip", "xla")
# All that a call can go to, highest first, as a table of a call shows them.
KEYS = tuple(row[0] for row in core.dispatch_table("pkg::add"))


def here() -> str:
    """ "file:line" of the caller, who is outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""


def name_of(op: Any) -> str:
    """ "ns::op" or "ns::op.overload", of a name, an op or what custom_op made."""
    if isinstance(op, str):
        if op.count("::") != 1:
            raise ValueError(f"expected a name such as 'mine::op', got {op!r}.")
        return op.removesuffix(".default")
    op = getattr(op, "_opoverload", op)
    if not isinstance(op, core.Operator):
        raise TypeError(
            f"expected an op, such as pkg.ops.mine.op, or its name, got {op!r}."
        )
    return str(op._schema).split("(")[0]


def overload(name: str) -> Any:
    """The callable of one overload, by its name."""
    namespace, _, rest = name.partition("::")
    plain, _, which = rest.partition(".")
    return getattr(core.Operator(plain, namespace), which or "default")


def check_namespace(namespace: str) -> None:
    """RuntimeError for one that pkg has something else for."""
    if not ops._is_shown(namespace):
        raise RuntimeError(
            f"[library] expected names that pkg does not use, got the namespace "
            f"{namespace!r}."
        )


def show() -> None:
    """Lets pkg.ops have what is new."""
    clashes = ops._read_registry()
    if clashes:
        raise RuntimeError(
            f"[library] expected names that pkg does not use, got {', '.join(clashes)}."
        )


def devices_of(
    device_types: str | tuple[str, ...] | list[str] | None,
) -> tuple[str, ...] | None:
    """The devices as a tuple, None being all; ValueError for one that there is not."""
    if device_types is None:
        return None
    devices = (device_types,) if isinstance(device_types, str) else tuple(device_types)
    if unknown := {*devices} - {*DEVICE_KEYS, *ABSENT_DEVICES}:
        raise ValueError(
            f"[register_kernel] expected device types among {sorted(DEVICE_KEYS)}, got "
            f"{sorted(unknown)}."
        )
    return devices


def register_kernel(
    op: Any,
    device_types: str | tuple[str, ...] | list[str] | None,
    func: Callable[..., Any] | None = None,
    /,
) -> Any:
    """Give an op a kernel for these devices; also as a decorator.

    op: "ns::op", an op or what ``custom_op`` made.  device_types: "cpu", "meta", names
    of devices that this build has not (their kernels are never called), or None for
    all.  The kernel gets the arguments as the schema has them, those behind its * by
    keyword, and runs while the call lasts, with the GIL; what it raises comes out of
    the call.  ValueError for another device, OpLookupError for an op that is not there.
    """
    devices = devices_of(device_types)
    name = name_of(op)
    where = here()

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if devices is None:
            core._set_kernel(name, "CompositeExplicitAutograd", function, where)
        for device in devices or ():
            if device in DEVICE_KEYS:
                core._set_kernel(name, DEVICE_KEYS[device], function, where)
        return function

    return register if func is None else register(func)


def register_fake(op: Any, func: Callable[..., Any] | None = None, /) -> Any:
    """Give an op its fake kernel: results without data, from tensors without data.

    It says the shapes and dtypes of the results, as ``pkg.empty_like(x)`` does, so that
    the op can run on the meta device, be scheduled and be a step of a compiled graph.
    Also as a decorator.  OpLookupError for an op that is not there.
    """
    name, where = name_of(op), here()

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        core._set_kernel(name, "Meta", function, where)
        return function

    return register if func is None else register(func)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
) -> None:
    """Give an op a gradient.

    ``backward(ctx, *grads)`` gets a gradient for each result (one list, if the op
    returns a list) and returns one for each argument, None where there is none; for a
    list of tensors a list.  ``setup_context(ctx, inputs, output)`` runs after forward
    and keeps what backward needs: ``ctx.save_for_backward(...)``, or attributes.  With
    arguments by keyword only it also gets ``keyword_only_inputs``.  RuntimeError for an
    op that writes to its arguments, NotImplementedError for one with a tensor by
    keyword only.
    """
    name, where = name_of(op), here()
    target = overload(name)
    if "!)" in target._schema:
        raise RuntimeError(
            f"[register_autograd] expected an op that writes to no argument, got "
            f"{target._schema}."
        )
    kernel = autograd_kernel(target, backward, setup_context)
    core._set_kernel(name, "Autograd", kernel, where)


class Library:
    """Ops of one namespace, declared by schema.

    kind: "DEF" declares all ops of the namespace, once in the process (RuntimeError
    with both places otherwise); "FRAGMENT" adds to one; "IMPL" gives kernels only.
    dispatch_key: of ``impl`` where that says none.  What is registered stays.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(
                f"[Library] expected DEF, IMPL or FRAGMENT as its kind, got {kind!r}."
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        if kind == "DEF":
            core.claim_namespace(ns, here())

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an op, "name(Tensor x) -> Tensor"; return its name.

        ValueError for a schema that does not parse, RuntimeError for a name that is
        taken and in a library of kind IMPL.  alias_analysis and tags mean nothing here.
        """
        if self.kind == "IMPL":
            raise RuntimeError(
                f"[define] expected a library of kind DEF or FRAGMENT, got IMPL "
                f"({schema})."
            )
        check_namespace(self.ns)
        name = core.define_op(self.ns, schema, "", here())
        show()
        return name.partition("::")[2]

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = ""
    ) -> None:
        """Give an op a kernel at a key: CPU, Meta, Autograd, CompositeImplicitAutograd
        (it calls other ops, whose gradients are its own) or CompositeExplicitAutograd.

        Without one: the library's, or CompositeImplicitAutograd.  ValueError "could not
        parse dispatch key" for another, OpLookupError for an op that is not declared.
        A second kernel at a key replaces the first, with a RuntimeWarning; the first
        stays in memory, as a call on another thread may be in it.
        """
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = name_of(f"{self.ns}::{op_name}" if isinstance(op_name, str) else op_name)
        composite = key == "CompositeImplicitAutograd"
        places = ("CPU",) if key.startswith("Composite") else (key,)
        for row_key, what, where in core.dispatch_table(name):
            if row_key in places and what == ("composite" if composite else "kernel"):
                warnings.warn(
                    f"{name} has a kernel at {key} already, registered at {where}; the "
                    f"one from {here()} takes its place.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        core._set_kernel(name, key, fn, here())


def registrations(dispatch_key: str | None = None) -> list[str]:
    """Names of the ops with a kernel of their own at a key, or at any; sorted.

    ValueError "could not parse dispatch key" for a name that is none.
    """
    if dispatch_key is not None and dispatch_key not in KEYS:
        raise ValueError(f"could not parse dispatch key: {dispatch_key}")
    found = set()
    for namespace in core.operator_namespaces():
        for name in core.operator_names(namespace):
            for record in core.Operator(name, namespace).records:
                keys = record["dispatch_keys"]
                if dispatch_key in keys or (dispatch_key is None and keys):
                    found.add(f"{namespace}::{record['schema'].split('(')[0]}")
    return sorted(found)


def dump_dispatch_table(op: Any) -> str:
    """What a call of an op runs at each key, and where that was registered, as text.

    "kernel" is the op's own, "composite" one that calls other ops, "fallback" that of
    all ops; a call passes what "falls through" or is "off", and fails at "nothing".
    """
    name = name_of(op)
    rows = core.dispatch_table(name)
    width = max(len(what) for _, what, _ in rows)
    lines = [f"{key:<9} {what:<{width}} {where}".rstrip() for key, what, where in rows]
    return "\n".join([overload(name)._schema, *lines])

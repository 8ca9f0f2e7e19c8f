# SPDX-License-Identifier: Apache-2.0
"""Ops of libraries in TensorFlow's style: modules of wrappers, and gradients by name.

docs/your_own_op.md is the guide.
"""

from __future__ import annotations

from typing import Any

from .._binding import core as _core
from ..graph import Symbol as _Symbol, get_default_graph as _get_default_graph
from ..graph.gradient_registry import (
    NoGradient as NoGradient,
    NotDifferentiable as NotDifferentiable,
    RegisterGradient as RegisterGradient,
)
from ..tensor import Tensor as Tensor
from .applying import (
    Applied as Applied,
    Style as Style,
    apply_op as apply_op,
    check as _check,
)
from .checking import (
    GradientError as GradientError,
    check_gradient as check_gradient,
)
from .direct import direct as direct
from .generating import module_stub as module_stub, module_text as module_text
from .loading import load_op_library as load_op_library
from .structures import structured as _structured

__all__ = [
    "GradientError", "NoGradient", "NotDifferentiable", "RegisterGradient",
    "check_gradient", "load_op_library", "module_stub", "module_text",
]  # fmt: skip


def raw_op(qualified: str) -> _core.Operator:
    """The op of a name such as "tf::ZeroOut", for generated wrappers."""
    space, _, name = qualified.partition("::")
    return _core.Operator(name, space)


def _apply_op_helper(
    op_type_name: str, name: str | None = None, **keywords: Any
) -> Applied:
    """Calls an op by its name: see ``applying.apply_op``."""
    return apply_op(op_type_name, name, keywords)


def apply(op_type: str, operation_name: Any, /, **keywords: Any) -> Any:
    """The outputs of a call, as a wrapper gives them.

    operation_name: None, or the error with which the op has refused it: ``direct``.
    """
    if isinstance(operation_name, Exception):
        return refused(operation_name, op_type, **keywords)
    return _structured(apply_op(op_type, operation_name, keywords))


def refused(error: Exception, op_type: str, /, **keywords: Any) -> Any:
    """What a wrapper does when its op has refused a call of plain tensors.

    A call whose only fault is that a gradient was wanted is recorded, and one that asks
    for a default by None is made with it; a wrong one says what is wrong in the words
    of the definition; else the error is what the kernel said.
    """
    if isinstance(error, NotImplementedError) and "no gradient formula" in str(error):
        return apply(op_type, None, **keywords)
    _check(op_type, keywords)
    if any(value is None for value in keywords.values()):
        return apply(op_type, None, **keywords)
    raise error


def named(name: str, op: Any, args: Any, options: Any) -> Any:
    """A call of an op that is an operation of this name, where a graph is made."""
    everything = [*args, *options.values()]
    flat = [x for v in everything for x in (v if isinstance(v, (list, tuple)) else [v])]
    symbol = next((x for x in flat if isinstance(x, _Symbol)), None)
    if symbol is None:
        return op(*args, **options)
    graph = _get_default_graph() if _get_default_graph().is_body else symbol.graph
    with graph.as_default():
        return graph.record(name, op, *args, **options)

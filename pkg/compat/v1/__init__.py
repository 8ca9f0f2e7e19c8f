# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's names over pkg.graph: ``import pkg.compat.v1 as tf``.

What is here behaves as TensorFlow 1 documents it; what is not here is an
AttributeError.  Values are NumPy arrays, Python's floats are float32, its ints int32.
"""

from __future__ import annotations

import builtins
from typing import Any

from ..._binding import core as _core
from ...graph import (
    Graph as Graph,
    Operation as Operation,
    Symbol as Tensor,  # noqa: F401
    TensorShape as TensorShape,
    control_dependencies as control_dependencies,
    errors as errors,
    get_default_graph as get_default_graph,
    get_default_session as get_default_session,
    gradients as _gradients,
    group as _group,
    placeholder as _placeholder,
    reset_default_graph as reset_default_graph,
    shape as _shape,
)
from ...random import manual_seed as _manual_seed
from . import nn as nn, train as train
from .client import (
    ConfigProto as ConfigProto,
    InteractiveSession as InteractiveSession,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
    Session as Session,
)
from .control_flow import *  # noqa: F403
from .convert import as_values as _as_values, convert_to_tensor as convert_to_tensor
from .math import *  # noqa: F403
from .math import identity as identity
from .variables import *  # noqa: F403

OpError = errors.OpError

float16, float32, float64 = _core.float16, _core.float32, _core.float64
bfloat16 = _core.bfloat16
int8, int32, int64 = _core.int8, _core.int32, _core.int64
uint8, bool = _core.uint8, _core.bool  # noqa: A001
double = float64


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A symbol that is fed; sizes of None, or a shape of None, are not known."""
    return _placeholder(dtype, shape, name or "Placeholder")


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:  # noqa: A002
    """A symbol that has this value where nothing is fed."""
    value = _as_values(input)
    return _placeholder(value.dtype, shape, name or "PlaceholderWithDefault", value)


def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const"
) -> Any:
    """A symbol of this value; with a shape, repeated where it is one number."""
    values = _as_values(value, dtype)
    if shape is not None:
        values = values.expand(shape) if values.numel() == 1 else values.reshape(shape)
    return convert_to_tensor(values.contiguous(), name=name)


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing."""
    return _group(name=name or "NoOp")


def group(*inputs: Any, name: str | None = None) -> Operation:
    """An operation that runs all of these."""
    flat: list[Any] = []
    for item in inputs:
        several = isinstance(item, (list, builtins.tuple))
        flat.extend(item if several else [item])
    return _group(*flat, name=name or "group_deps")


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> Any:  # noqa: A001
    """The tensors, each of which is there when all are."""
    given = [None if t is None else convert_to_tensor(t) for t in tensors]
    there = [t for t in given if t is not None]
    with control_dependencies([*there, *(control_inputs or ())]):
        return [None if t is None else identity(t) for t in given]


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str | None = None,
    stop_gradients: Any = None, **_: Any,
) -> list[Any]:  # fmt: skip
    """Gradients of the sum of ys with respect to each of xs; None: not connected."""
    if stop_gradients is not None:
        raise NotImplementedError(
            "[gradients] stop_gradients: use stop_gradient() where the values are made."
        )
    return _gradients(ys, xs, grad_ys, name)


def name_scope(
    name: str | None, default_name: str | None = None, values: Any = None
) -> Any:
    """A context in which names begin with the name."""
    return get_default_graph().name_scope(name if name is not None else default_name)


def device(name: Any) -> Any:
    """A context in which operations get this device; all run on the CPU."""
    return get_default_graph().device(name)


def set_random_seed(seed: int) -> None:
    """The seed of all random numbers of the process."""
    _manual_seed(seed)


def shape(input: Any, name: str | None = None, out_type: Any = int32) -> Any:  # noqa: A002
    """The shape as a tensor, also where it is not known before the run."""
    symbol = convert_to_tensor(input)
    if not symbol.shape.is_fully_defined():
        return get_default_graph().record(name or "Shape", _shape, symbol).to(out_type)
    return constant(symbol.shape.as_list(), out_type, name=name or "Shape")


def disable_v2_behavior() -> None:
    """Nothing: this is version 1's behaviour."""


disable_eager_execution = disable_v2_behavior

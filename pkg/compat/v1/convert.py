# SPDX-License-Identifier: Apache-2.0
"""Values as TensorFlow 1 reads them, and functions of ops that become operations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import graph as pg, ops
from ..._binding import core
from ...graph import Symbol, get_default_graph
from ...tensor import Tensor


def as_values(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of the value; Python's floats are float32 and its ints int32."""
    if isinstance(value, Tensor):
        return value if dtype is None else value.to(dtype)
    array = np.asarray(value)
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        dtype = {"f": core.float32, "i": core.int32}.get(array.dtype.kind)
    return core.tensor(array, dtype=dtype)


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """The symbol itself, or a constant of the value."""
    if isinstance(value, Symbol):
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype} for Tensor with dtype "
                f"{value.dtype}: {value!r}"
            )
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(v, Symbol) for v in value):
        parts = [convert_to_tensor(part, dtype) for part in value]
        return get_default_graph().record(name, ops.stack, parts)
    return pg.constant(as_values(value, dtype), name=name)


def as_operand(value: Any) -> Any:
    """Arrays and lists of numbers as tensors; what ops take as it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return as_values(value)
    return value


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ops whose calls become operations, with ``name=`` for the first."""

    @functools.wraps(function)
    def call(*args: Any, name: str | None = None, **options: Any) -> Any:
        given = [as_operand(arg) for arg in args]
        named = {key: as_operand(value) for key, value in options.items()}
        graph = next(
            (a.graph for a in [*given, *named.values()] if isinstance(a, Symbol)),
            None,
        )
        graph = graph or get_default_graph()
        return graph.record(name, function, *given, **named)

    return call


def first(value: Any) -> Any:
    """The operand that an op needs as a tensor: lists and numbers become one."""
    return value if isinstance(value, Tensor) else as_values(value)


def other(value: Any) -> Any:
    """A further operand: lists become a tensor; a number has the first one's dtype."""
    return as_values(value) if isinstance(value, (list, tuple)) else value


def rank_of(function: str, x: Any) -> int:
    """How many dimensions the tensor has; ValueError where that is not known."""
    if x.ndim is None:
        raise ValueError(
            f"[{function}] expected a tensor whose number of dimensions is known, got "
            f"{x!r}."
        )
    return int(x.ndim)

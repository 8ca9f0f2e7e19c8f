# SPDX-License-Identifier: Apache-2.0
"""Placeholders, groups, scopes and seeds of TensorFlow 1's default graph."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ... import graph as pg
from ...graph.building import outside
from ...random import manual_seed
from .conversions import SparseTensor
from .convert import as_values, convert_to_tensor
from .dtypes import core_dtype, int64
from .elements import get_default_graph
from .exporting import exported
from .math import identity
from .shapes import TensorShape


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor that is fed; sizes of None, or a shape of None, are not known."""
    graph = get_default_graph()
    name = "Placeholder" if name is None else name
    _check(graph, name)
    with graph.as_default():
        return pg.placeholder(core_dtype(dtype), TensorShape(shape), name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:  # noqa: A002
    """A tensor that has this value where nothing is fed."""
    graph = get_default_graph()
    name = "PlaceholderWithDefault" if name is None else name
    _check(graph, name)
    value = as_values(input)
    with graph.as_default():
        return pg.placeholder(value.dtype, TensorShape(shape), name, value)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A SparseTensor that is fed; a shape whose sizes are all known is none of the
    parts to feed."""
    base = "Placeholder" if name is None else name
    rank = None if shape is None else len(shape)
    known = shape is not None and TensorShape(shape).is_fully_defined()
    sizes = TensorShape(shape).as_list() if known else None
    return SparseTensor(
        placeholder(int64, [None, rank], f"{base}/indices"),
        placeholder(dtype, [None], f"{base}/values"),
        placeholder(int64, [rank], f"{base}/shape")
        if sizes is None
        else convert_to_tensor(sizes, int64, f"{base}/shape"),
    )


def _check(graph: Any, name: str | None) -> None:
    if hasattr(graph, "check"):
        graph.check(name)


def control_dependencies(control_inputs: Any) -> Any:
    """Graph.control_dependencies of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> Any:
    """Graph.device of the default graph; all operations run on the CPU."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Graph.colocate_with of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


@contextmanager
def container(container_name: str) -> Iterator[str]:
    """A context; a session has its variables to itself, whatever container they are
    in."""
    yield container_name


@contextmanager
def init_scope() -> Iterator[None]:
    """A context whose operations belong to the whole graph, also in a part of a loop or
    choice, and wait for nothing."""
    if not get_default_graph().is_body:
        with control_dependencies(None):
            yield
        return
    with outside():
        yield


def no_op(name: str | None = None) -> pg.Operation:
    """An operation that does nothing."""
    graph = get_default_graph()
    _check(graph, name)
    with graph.as_default():
        return pg.group(name="NoOp" if name is None else name)


def group(*inputs: Any, name: str | None = None) -> pg.Operation:
    """An operation that runs all of these."""
    flat: list[Any] = []
    for item in inputs:
        several = isinstance(item, (list, builtins.tuple))
        flat.extend(item if several else [item])
    for item in flat:
        if not hasattr(item, "graph"):
            raise TypeError(
                "Expected tf.group() expected Tensor or Operation, but got "
                f"{type(item).__name__}: {item!r}"
            )
    graph = get_default_graph()
    if flat and not graph.is_body:
        graph = flat[0].graph
    _check(graph, name)
    with graph.as_default():
        return pg.group(*flat, name="group_deps" if name is None else name)


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> Any:  # noqa: A001
    """The tensors, each of which is there when all are."""
    given = [None if t is None else convert_to_tensor(t) for t in tensors]
    there = [t for t in given if t is not None]
    if not there:
        raise ValueError(f"Must have at least one Tensor: {tensors}")
    with control_dependencies([*there, *(control_inputs or ())]):
        return [None if t is None else identity(t) for t in given]


def set_random_seed(seed: int) -> None:
    """The seed of the default graph, and of all random numbers of the process."""
    get_default_graph().seed = seed
    manual_seed(seed)


def disable_v2_behavior() -> None:
    """Nothing: this is version 1's behaviour."""


disable_eager_execution = disable_v2_behavior
if not TYPE_CHECKING:
    __all__ = exported(globals())

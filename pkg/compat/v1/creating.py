# SPDX-License-Identifier: Apache-2.0
"""The variables of a graph by name, which are made where they are asked for first."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ...graph import Symbol
from ...graph.building import outside
from .collections import GraphKeys
from .convert import convert_to_tensor
from .dtypes import as_dtype, float32
from .elements import get_default_graph
from .initializers import glorot_uniform_initializer, zeros_initializer
from .shapes import TensorShape
from .variables import Variable

__all__ = ["Store", "Wanted", "store", "takes"]


class Wanted(NamedTuple):
    """What get_variable() is asked for, with what the scope adds to it."""

    name: str  # with the scope's
    shape: Any
    dtype: Any
    initializer: Any
    regularizer: Any
    reuse: Any  # None: what is there, or a new one
    trainable: Any
    collections: Any
    validate_shape: bool
    constraint: Any


class Store:
    """The variables of a graph by name, and what its threads have entered."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.here = threading.local()

    def get(self, wanted: Wanted, custom_getter: Any, **ignored: Any) -> Any:
        """The variable, or what the getter of the program makes of it.

        ignored: what a getter is told of, and what counts for nothing here.
        """
        if custom_getter is None:
            return self._found(wanted)
        if not callable(custom_getter):
            raise ValueError(
                f"Passed a custom_getter which is not callable: {custom_getter!r}"
            )
        told = {**wanted._asdict(), **ignored}
        if not takes(custom_getter, "constraint"):
            del told["constraint"]
        with get_default_graph().name_scope(None):
            return custom_getter(getter=self._true_getter, **told)

    def _true_getter(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
        regularizer: Any = None, reuse: Any = None, trainable: Any = None,
        collections: Any = None, caching_device: Any = None, partitioner: Any = None,
        validate_shape: bool = True, use_resource: Any = None, constraint: Any = None,
        synchronization: Any = None, aggregation: Any = None,
    ) -> Any:  # fmt: skip
        # What a getter of the program may call, by position too.
        if partitioner is not None:
            raise NotImplementedError(
                f"[get_variable] expected no partitioner for {name}: variables are "
                "made in one piece."
            )
        constant = initializer is not None and (
            isinstance(initializer, Symbol) or not callable(initializer)
        )
        if dtype is None and not constant and name not in self.variables:
            dtype = float32
        return self._found(Wanted(
            name, shape, dtype, initializer, regularizer, reuse, trainable, collections,
            validate_shape, constraint,
        ))  # fmt: skip

    def _found(self, wanted: Wanted) -> Any:
        name, found = wanted.name, self.variables.get(wanted.name)
        if found is None:
            if wanted.reuse is True:
                raise ValueError(
                    f"Variable {name} does not exist, or was not created with "
                    "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
                    "VarScope?"
                )
            found = self.variables[name] = _made(wanted)
            _regularize(wanted, found)
            return found
        if wanted.reuse is not None and not wanted.reuse:
            site = found.op.call_site
            where = f" Originally defined at: {site}" if site else ""
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set "
                f"reuse=True or reuse=tf.AUTO_REUSE in VarScope?{where}"
            )
        shape, dtype = wanted.shape, wanted.dtype
        if shape is not None and not found.shape.is_compatible_with(shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape "
                f"{TensorShape(shape)} and found shape {found.shape}."
            )
        if dtype is not None and found.dtype != as_dtype(dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype "
                f"{as_dtype(dtype).name} and found dtype {found.dtype.name}."
            )
        return found


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function may be given a keyword argument of this name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # it does not say
        return True
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def store() -> Store:
    """That of the default graph; of a part of a loop or choice, that of the whole."""
    graph = get_default_graph()
    whole = graph._whole() if graph.is_body else graph
    found: Store = whole.__dict__.setdefault("_store", Store())
    return found


def _made(wanted: Wanted) -> Any:
    graph = get_default_graph()
    if graph.is_body:
        with outside():
            return _made(wanted)
    with graph.as_default(), graph.name_scope(None):
        return Variable(
            _initial(wanted),
            trainable=True if wanted.trainable is None else wanted.trainable,
            collections=wanted.collections,
            validate_shape=wanted.validate_shape,
            name=wanted.name,
            dtype=wanted.dtype,
            constraint=wanted.constraint,
        )


def _initial(wanted: Wanted) -> Any:
    # A value, or a function that gives one.
    name, initializer = wanted.name, wanted.initializer
    if initializer is not None and (
        isinstance(initializer, Symbol) or not callable(initializer)
    ):
        begin = convert_to_tensor(initializer, name="initial_value")
        if wanted.dtype is not None and begin.dtype != as_dtype(wanted.dtype):
            if isinstance(initializer, Symbol) or hasattr(initializer, "dtype"):
                raise ValueError(
                    f"Initializer type '{begin.dtype.name}' and explicit dtype "
                    f"'{as_dtype(wanted.dtype).name}' don't match."
                )
            begin = _of_dtype(initializer, wanted.dtype, begin)
        if wanted.shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return begin
    sizes = TensorShape(wanted.shape)
    if initializer is not None and wanted.shape is None:
        made = initializer() if isinstance(initializer, type) else initializer
        if not takes(made, "shape"):
            return made
        raise ValueError(
            "The initializer passed is not valid. Shape of a new variable "
            f"({name}) must be fully defined, but instead was <unknown>."
        )
    if not sizes.is_fully_defined():
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was "
            f"{sizes}."
        )
    kind = as_dtype(wanted.dtype)
    if initializer is None:
        floating = kind.is_floating
        initializer = (
            glorot_uniform_initializer() if floating else zeros_initializer()
        )
    elif isinstance(initializer, type):
        initializer = initializer()
    make, dims = initializer, sizes.as_list()
    return lambda: make(dims, dtype=kind)


def _of_dtype(value: Any, dtype: Any, found: Any) -> Any:
    try:
        return convert_to_tensor(value, dtype, name="initial_value")
    except TypeError:
        raise ValueError(
            f"Initializer type '{found.dtype.name}' and explicit dtype "
            f"'{as_dtype(dtype).name}' don't match."
        ) from None


def _regularize(wanted: Wanted, variable: Any) -> None:
    if wanted.regularizer is None:
        return
    graph = variable.graph
    with outside(), graph.name_scope(f"{wanted.name}/Regularizer/"):
        loss = wanted.regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

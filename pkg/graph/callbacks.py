# SPDX-License-Identifier: Apache-2.0
"""Python functions of arrays as operations of a graph."""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .._binding import core
from ..tensor import Tensor
from . import errors
from .building import get_default_graph
from .functions import constant
from .symbols import Symbol

__all__ = ["py_func"]

# What an exception of the function becomes; of others, an UnknownError.
_KINDS = {
    ValueError: "InvalidArgumentError",
    TypeError: "InvalidArgumentError",
    StopIteration: "OutOfRangeError",
    MemoryError: "ResourceExhaustedError",
    NotImplementedError: "UnimplementedError",
}


def _error(error: Exception) -> errors.OpError:
    name = next((n for k, n in _KINDS.items() if isinstance(error, k)), "UnknownError")
    text = f"{type(error).__name__}: {error}\n" + traceback.format_exc()
    made: errors.OpError = getattr(errors, name)(None, None, text)
    return made


def _results(values: Any, dtypes: list[Any], token: str) -> list[Any]:
    if values is None:
        values = []
    elif not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) != len(dtypes):
        raise errors.InvalidArgumentError(  # type: ignore[attr-defined]
            None, None, f"{token} returns {len(values)} values, but expects to see "
            f"{len(dtypes)} values.",
        )  # fmt: skip
    return [_result(value, dtypes[i], i, token) for i, value in enumerate(values)]


def _result(value: Any, dtype: Any, place: int, token: str) -> Any:
    if isinstance(value, Tensor):
        value = value.numpy()
    array = np.array(value)  # a copy: the function may keep what it gave
    if array.dtype.kind not in "biuf":
        sort = f"object type {type(value).__name__}"
        if isinstance(value, np.ndarray):
            sort = f"numpy type {array.dtype.name}"
        raise errors.UnimplementedError(  # type: ignore[attr-defined]
            None, None, f"Unsupported {sort}"
        )
    if dtype == core.bfloat16:
        return core.tensor(array, dtype=dtype)
    wanted = np.dtype(dtype.name)
    if array.dtype != wanted:
        names = {"float64": "double", "float32": "float"}
        found = names.get(array.dtype.name, array.dtype.name)
        raise errors.InvalidArgumentError(  # type: ignore[attr-defined]
            None, None, f"{place}-th value returned by {token} is {found}, but expects "
            f"{names.get(wanted.name, wanted.name)}",
        )  # fmt: skip
    return core.tensor(array)


class _Function:
    """What the graph keeps of a function; C++ refers to it weakly, as the function may
    refer to the graph, and such a circle is one that Python must be able to see."""

    def __init__(self, func: Callable[..., Any], dtypes: list[Any]) -> None:
        self.func = func
        self.dtypes = dtypes
        self.token = getattr(func, "__name__", type(func).__name__)

    def __call__(self, tensors: list[Any]) -> list[Any]:
        arrays = [tensor.numpy().copy() for tensor in tensors]
        try:
            values = self.func(*(a if a.ndim else a[()] for a in arrays))
        except core.CancelledError:
            raise  # the run was stopped while the function called ops
        except Exception as error:
            raise _error(error) from error
        return _results(values, self.dtypes, self.token)


def _weakly(function: _Function) -> Callable[[list[Any]], list[Any]]:
    found = weakref.ref(function)

    def call(tensors: list[Any]) -> list[Any]:
        function = found()
        if function is None:
            raise RuntimeError("The graph of this function is gone.")
        return function(tensors)

    return call


def py_func(
    func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None
) -> Any:
    """A Python function as an operation, called in every run that needs it.

    func: takes an array for each input, which it may keep but must not change, and
    gives a value for each dtype.
    inp: a list of symbols or values.
    Tout: a dtype, then a symbol is the result, or a list of dtypes, then a list is; of
    no dtype, the operation.  Shapes are not known before it runs.

    No gradient flows through.  What it raises becomes an OpError of the run.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r}.")
    graph = get_default_graph()
    dtypes = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]
    symbols = [v if isinstance(v, Symbol) else constant(v) for v in inp]
    symbols = [graph.as_graph_element(symbol) for symbol in symbols]
    function = _Function(func, dtypes)
    graph._whole()._functions.append(function)
    handle = graph._handle.function(
        name or "PyFunc", _weakly(function), symbols, dtypes
    )
    op = graph._operation(handle)
    if not dtypes:
        return op
    return op.outputs if isinstance(Tout, (list, tuple)) else op.outputs[0]

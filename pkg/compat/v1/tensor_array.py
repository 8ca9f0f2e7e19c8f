# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's arrays of tensors, which loops write and read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from . import arrays, math, sizes
from .bounds import not_from_the_end, of_first_size
from .control import control_dependencies, no_op
from .convert import constant, convert_to_tensor
from .dtypes import DType, as_dtype, core_dtype, int32
from .elements import get_default_graph
from .record import recorded
from .shapes import TensorShape, as_shape

__all__ = ["TensorArray", "check_inferred"]


def check_inferred(what: str, infer_shape: bool) -> None:
    """NotImplementedError for elements of several shapes."""
    if not infer_shape:
        raise NotImplementedError(
            f"[{what}] expected infer_shape=True: all elements have one shape."
        )


def _zeros(size: Any, row: Any) -> Any:
    # size x n, like a row of 1 x n.
    zeros = ops.zeros_like(row)
    if isinstance(size, int):
        return ops.expand(zeros, [size, -1])
    return ops.reshape(sizes.zeros_of([size], dtype_of(row)), [-1, 1]) + zeros


def _row_like(rows: Any) -> Any:
    # 1 x n of zeros, of m x n, where m may be 0.
    zeros = ops.zeros_like(rows, dtype=core.float32)
    return ops.sum(zeros, 0, keepdim=True).to(dtype_of(rows))


def _rows(flow: Any, size: Any, row: Any) -> Any:
    # What was written as size x n: zeros where there is nothing yet, of which flow has
    # no elements before the first element was written, as n is not known then.
    zeros = _zeros(size, row)
    flat = ops.reshape(zeros, [-1])
    places = ops.cumsum(ops.ones_like(flat, dtype=core.int64), 0) - 1
    return ops.reshape_as(ops.index_select(ops.cat([flow, flat]), 0, places), zeros)


def _place(index: Any) -> Any:
    if isinstance(index, Symbol):
        return not_from_the_end(ops.reshape(index, [-1]).to(core.int64))
    return not_from_the_end(core.tensor(np.asarray(index, "int64").reshape(-1)))


@recorded("TensorArrayMarks", scope=True)
def _marked(marks: Any, size: Any, index: Any) -> Any:
    # marks, as many as size, with those of the places set, which must not be before;
    # index: None for all of them.
    if isinstance(size, Symbol):
        grown = sizes.zeros_of([size], core.bool)
        places = ops.cumsum(ops.ones_like(marks, dtype=core.int64), 0) - 1
        marks = ops.index_copy(grown, 0, places, marks)
    if index is None:
        index = ops.cumsum(ops.ones_like(marks, dtype=core.int64), 0) - 1
    elif not isinstance(index, Symbol):
        index = core.tensor(np.asarray(index, "int64"))
    return ops._mark_written(marks, ops.reshape(index, [-1]).to(core.int64))


@recorded("TensorArrayWrite", scope=True)
def _write(flow: Any, size: Any, index: Any, values: Any, full: Any) -> Any:
    # values: a row for each index.  full: how many elements flow has, if that is known.
    width = values.shape[-1]
    width = getattr(width, "value", width)
    if full is not None and width and full % width == 0 and isinstance(size, int):
        rows = ops.reshape(flow, [size, width])
    else:
        rows = _rows(flow, size, _row_like(values))
    return ops.reshape(ops.index_copy(rows, 0, _place(index), values), [-1])


@recorded("TensorArrayRead", scope=True)
def _read(flow: Any, size: Any, index: Any, width: Any, shape: list[int]) -> Any:
    # width: how many elements each tensor has, or None.
    if index is None:
        return ops.reshape(flow, shape)
    if width and isinstance(index, Symbol) and get_default_graph().is_body:
        # Of flow itself, and not of rows that each turn has anew: so the gradients of
        # all turns are added to one tensor (see running_total.h).
        places = ops.unsqueeze(_place(index) * width, 1)
        places = ops.reshape(places + core.tensor(np.arange(width)), [-1])
        return ops.reshape(ops.index_select(flow, 0, places), shape)
    if width:
        rows = ops.reshape(flow, [-1, width])
    elif isinstance(size, int):
        rows = ops.reshape(flow, [size, -1])
    else:
        rows = ops.reshape_as(flow, _zeros(size, ops.reshape(flow, [1, -1])))
    return ops.reshape(ops.index_select(rows, 0, _place(index)), shape)


class _Pending(NamedTuple):
    """A write to an array that has not become operations."""

    array: TensorArray
    index: Any
    row: Any
    name: str


class TensorArray:
    """So many tensors of one dtype and shape, by number.

    write(), unstack(), scatter() and split() give a new array, which has what this one
    has; use that one from there on.  What was never written is zeros.  A run refuses
    places below 0 and behind the end, and to write to one twice.  With ``dynamic_size``
    it grows.  element_shape: that of each tensor; else that of the first one counts,
    and must be known where something is read.

    A loop whose body does nothing but write to one place of an array in each turn
    collects what it writes, and puts it there at the end: see collecting.py.
    """

    _pending: _Pending | None = None  # what flow will have, once somebody asks
    _entered = False  # it stands for the array that a turn of a loop begins with
    _asked = False  # somebody has asked for its flow

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: bool | None = None,
        clear_after_read: bool | None = None, tensor_array_name: str | None = None,
        handle: Any = None, flow: Any = None, infer_shape: bool = True,
        element_shape: Any = None, colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if handle is not None:
            raise NotImplementedError("[TensorArray] there are no handles: use flow.")
        check_inferred("TensorArray", infer_shape)
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        self._dtype: DType = as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        if isinstance(size, Symbol) or self._dynamic:
            self._size: Any = convert_to_tensor(size, int32, name="size")
        else:
            self._size = int(size)
        self._element = as_shape(element_shape)
        self._flow = self._empty(name or "TensorArray") if flow is None else flow
        self._marks = self._no_marks()

    @property
    def flow(self) -> Any:
        """The tensor that has all that was written."""
        self._asked = True
        if self._flow is None and self._pending is not None:
            base, self._pending = self._pending, None
            self._flow, self._marks = base.array._with(base.index, base.row, self._size,
                                                       base.name)  # fmt: skip
        return self._flow

    def _only_write_to(self, array: Any) -> _Pending | None:
        """The write that makes this of the other one, if neither was looked into."""
        write = self._pending
        if write is None or write.array is not array or array._asked:
            return None
        return write

    def _no_marks(self) -> Any:
        # What says of each place whether it was written.
        if isinstance(self._size, Symbol):
            return constant(np.zeros(0, bool), name="marks")
        return sizes.filled([self._size], 0, core.bool)

    def _empty(self, name: str) -> Any:
        known = self._element.num_elements()
        if known is None or isinstance(self._size, Symbol):
            return constant(np.zeros(0), self._dtype, name=name)
        return arrays.reshape(
            sizes.filled([self._size * known], 0, core_dtype(self._dtype)), [-1],
            name=name
        )

    dtype = property(lambda self: self._dtype, doc="That of its tensors.")
    element_shape = property(lambda self: self._element, doc="That of each tensor.")
    dynamic_size = property(lambda self: self._dynamic, doc="Whether it grows.")
    graph = property(lambda self: self.flow.graph, doc="The graph that it belongs to.")

    # What loops and choices carry: see composites.py.
    def _parts(self) -> list[Any]:
        flow = self.flow  # which makes the marks
        return [flow, self._marks, *[self._size] * isinstance(self._size, Symbol)]

    def _of(self, parts: list[Any]) -> TensorArray:
        flow, marks, *size = parts
        return self._like(flow, size[0] if size else self._size, marks)

    def _part_shapes(self, shape: Any) -> list[TensorShape]:
        if not isinstance(self._size, Symbol):
            return [TensorShape([None]), TensorShape([self._size])]
        return [TensorShape([None]), TensorShape([None]), TensorShape([])]

    def _like(
        self, flow: Any, size: Any, marks: Any, element: Any = None
    ) -> TensorArray:
        made = TensorArray.__new__(TensorArray)
        made._dtype, made._dynamic, made._size = self._dtype, self._dynamic, size
        made._element = self._element if element is None else element
        made._flow, made._marks = flow, marks
        return made

    def _with(self, index: Any, rows: Any, size: Any, name: str) -> tuple[Any, Any]:
        # Flow and marks with a row for each index, once it is known that they may be.
        marks = _marked(self._marks, size, index)
        with control_dependencies([marks]):
            full = self.flow.shape.num_elements() or None
            return _write(self.flow, size, index, rows, full, name=name), marks

    def _value(self, value: Any, dims: int) -> tuple[Any, TensorShape]:
        # A tensor, and the shape of the elements in it, which stand behind dims sizes.
        value = convert_to_tensor(
            value, None if isinstance(value, Symbol) else self._dtype, name="value"
        )
        if value.dtype != self._dtype:
            raise ValueError(
                f"TensorArray dtype is {self._dtype.name}, but the value has dtype "
                f"{value.dtype.name}: {value}."
            )
        shape = value.shape[dims:]
        if not self._element.is_compatible_with(shape):
            raise ValueError(
                f"Inconsistent shapes: saw {shape} but expected {self._element} (and "
                "infer_shape=True)"
            )
        return value, self._element.merge_with(shape)

    def _shape(self, *before: int) -> list[int]:
        # The shape of what is read, with one size that is not known at most.
        if self._element.ndims is None:
            raise ValueError(
                "[TensorArray] expected elements whose shape is known, got an array "
                "that nothing was written to yet. Give it an element_shape."
            )
        made = [-1 if n is None else n for n in [*before, *self._element.as_list()]]
        if made.count(-1) > 1:
            raise ValueError(
                f"[TensorArray] expected one unknown size at most, got {made}. Give "
                "the array an element_shape."
            )
        return made

    def _known_size(self) -> int:
        return -1 if isinstance(self._size, Symbol) else self._size

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with this tensor at a place."""
        value, element = self._value(value, 0)
        size = self._size
        if self._dynamic:
            size = math.maximum(size, math.to_int32(index) + 1)
        row = arrays.reshape(value, [1, element.num_elements() or -1])
        name = name or "TensorArrayWrite"
        if self._entered and not self._asked:
            made = self._like(None, size, None, element)
            made._pending = _Pending(self, index, row, name)
            return made
        flow, marks = self._with(index, row, size, name)
        return self._like(flow, size, marks, element)

    def read(self, index: Any, name: str | None = None) -> Any:
        """The tensor at a place."""
        return self._taken(index, self._shape(), name or "TensorArrayRead")

    def _taken(self, index: Any, shape: list[int], name: str) -> Any:
        width = self._element.num_elements()
        return _read(self.flow, self._size, index, width, shape, name=name)

    def stack(self, name: str | None = None) -> Any:
        """All of them as one tensor, along a new first dimension."""
        shape = self._shape(self._known_size())
        return self._taken(None, shape, name or "TensorArrayStack")

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Those of these numbers as one tensor."""
        count = convert_to_tensor(indices).shape.num_elements()
        shape = self._shape(-1 if count is None else count)
        return self._taken(indices, shape, name or "TensorArrayGather")

    def concat(self, name: str | None = None) -> Any:
        """All of them along their first dimension."""
        if self._element.ndims == 0:
            raise ValueError("[TensorArray] concat expected tensors with dimensions.")
        stacked = self.stack(name)
        rest = self._element.as_list()[1:]
        return arrays.reshape(stacked, [-1, *rest])

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the parts of a tensor along its first dimension."""
        value, element = self._value(value, 1)
        size, count = self._size, value.shape.as_list()[0]
        if self._dynamic:
            size = convert_to_tensor(sizes.size_along(value, 0))
        elif count is None or isinstance(size, Symbol):
            value = of_first_size(value, size)
        elif count is not None and count != size:
            raise ValueError(
                f"TensorArray's size is not equal to the first dimension of the value: "
                f"{size} and {count}."
            )
        marks = _marked(self._marks, size, None)
        with control_dependencies([marks]):
            flow = arrays.reshape(value, [-1], name=name or "TensorArrayUnstack")
        return self._like(flow, size, marks, element)

    def scatter(
        self, indices: Any, value: Any, name: str | None = None
    ) -> TensorArray:
        """The array with the parts of a tensor at these places."""
        value, element = self._value(value, 1)
        size = self._size
        if self._dynamic:
            size = math.maximum(size, _greatest(indices) + 1)
        count = convert_to_tensor(indices).shape.num_elements()
        rows = arrays.reshape(value, [-1 if count is None else count,
                                      element.num_elements() or -1])  # fmt: skip
        flow, marks = self._with(indices, rows, size, name or "TensorArrayScatter")
        return self._like(flow, size, marks, element)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """An array of parts of a tensor, of one length."""
        known = not isinstance(lengths, Symbol)
        counts = {int(n) for n in np.asarray(lengths).ravel()} if known else ()
        if len(counts) != 1:
            raise NotImplementedError(
                f"[TensorArray] split expected parts of one length, got {lengths}."
            )
        value = convert_to_tensor(value, self._dtype)
        parts = [-1, *counts, *value.shape.as_list()[1:]]
        return self.unstack(arrays.reshape(value, parts), name)

    def size(self, name: str | None = None) -> Any:
        """How many tensors there are."""
        return convert_to_tensor(self._size, int32, name=name or "TensorArraySize")

    def identity(self) -> TensorArray:
        """The same, behind what the operations here wait for."""
        return self._like(math.identity(self.flow), self._size, self._marks)

    def close(self, name: str | None = None) -> Any:
        """An operation that does nothing: memory goes when nothing needs it."""
        return no_op(name)

    def __repr__(self) -> str:
        """Size, dtype and shape of its tensors."""
        return (
            f"<tf.TensorArray size={self._size} dtype={self._dtype.name} "
            f"element_shape={self._element}>"
        )


def _greatest(indices: Any) -> Any:
    from .reduce import reduce_max

    return reduce_max(math.to_int32(indices))

# SPDX-License-Identifier: Apache-2.0
"""Objects that stand for several tensors: what a session fetches and feeds for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ... import ops
from ..._binding import core
from ...graph.defaults import session_for
from .convert import convert_to_tensor
from .dtypes import core_dtype
from .elements import Tensor
from .shapes import TensorShape
from .sizes import constant_of, zeros_of

__all__ = [
    "IndexedSlices", "IndexedSlicesValue", "SparseTensor", "SparseTensorValue",
    "conversion_of", "register_session_run_conversion_functions",
]  # fmt: skip


class Conversion(NamedTuple):
    """What a session does with objects of a class."""

    fetch: Callable[[Any], tuple[list[Any], Callable[[list[Any]], Any]]]
    feed: Callable[[Any, Any], list[tuple[Any, Any]]] | None
    feed_list: Callable[[Any], list[Any]] | None


_conversions: dict[type, Conversion] = {}


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Any,
    feed_function: Any = None,
    feed_function_for_partial_run: Any = None,
) -> None:
    """Lets sessions take objects of a class.

    fetch_function: of an object, the tensors to fetch and a function of their values;
    feed_function: of an object and what is fed for it, pairs of a tensor and its value.
    ValueError if the class is registered already.
    """
    for known in _conversions:
        if issubclass(tensor_type, known):
            raise ValueError(f"{tensor_type} has already been registered.")
    _conversions[tensor_type] = Conversion(
        fetch_function, feed_function, feed_function_for_partial_run
    )


def conversion_of(value: Any) -> Conversion | None:
    """What was registered for the object's class, or for one that it derives from."""
    for kind in type(value).__mro__:
        found = _conversions.get(kind)
        if found is not None:
            return found
    return None


class SparseTensorValue(NamedTuple):
    """The arrays of a SparseTensor."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor:
    """A tensor that is zero but for some elements: their places and values."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = convert_to_tensor(indices, name="indices")
        self.values = convert_to_tensor(values, name="values")
        self.dense_shape = convert_to_tensor(dense_shape, name="shape")

    dtype = property(lambda self: self.values.dtype, doc="That of the values.")
    graph = property(lambda self: self.values.graph, doc="The graph of its parts.")
    op = property(lambda self: self.values.op, doc="What gives the values.")

    def _parts(self) -> list[Tensor]:
        return [self.indices, self.values, self.dense_shape]

    def _of(self, parts: list[Any]) -> SparseTensor:
        return SparseTensor(*parts)

    def _part_shapes(self, shape: Any) -> list[TensorShape]:
        rank = TensorShape(shape).ndims
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]

    @property
    def shape(self) -> TensorShape:
        """What is known of the sizes of the whole."""
        sizes = constant_of(self.dense_shape)
        if sizes is not None:
            return TensorShape(sizes.tolist())
        rank = self.dense_shape.shape.num_elements()
        return TensorShape(None if rank is None else [None] * rank)

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its arrays, from a run of the session, or of the default one."""
        return session_for("eval", self.values, session).run(self, feed_dict)

    def __repr__(self) -> str:
        """Its parts."""
        parts = ", ".join(map(str, self._parts()))
        return f"SparseTensor({parts})"


class IndexedSlicesValue(NamedTuple):
    """The arrays of IndexedSlices."""

    values: Any
    indices: Any
    dense_shape: Any


class IndexedSlices:
    """Rows of a tensor that is zero but for these, and their numbers."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values, self.indices = values, indices
        self.dense_shape = dense_shape

    dtype = property(lambda self: self.values.dtype, doc="That of the rows.")
    graph = property(lambda self: self.values.graph, doc="The graph of its parts.")
    op = property(lambda self: self.values.op, doc="What gives the rows.")

    def _parts(self) -> list[Any]:
        last = [] if self.dense_shape is None else [self.dense_shape]
        return [self.values, self.indices, *last]

    def _of(self, parts: list[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def _part_shapes(self, shape: Any) -> list[TensorShape]:
        shape = TensorShape(shape)
        rank = [] if self.dense_shape is None else [TensorShape([shape.ndims])]
        return [shape, TensorShape(shape[:1]), *rank]

    def __neg__(self) -> IndexedSlices:
        """The same rows with the other sign."""
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def _as_tensor(self) -> Any:
        # Rows of one number are added up.
        if self.dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices without dense_shape: "
                f"{self!r}"
            )
        graph, rows = self.values.graph, self.indices

        def dense() -> Any:
            zeros = zeros_of(self.dense_shape, core_dtype(self.values.dtype))
            return ops.index_add(zeros, 0, rows.to(core.int64), self.values)

        return graph.record("ToDense", dense)

    def __repr__(self) -> str:
        """Its parts."""
        return f"IndexedSlices({', '.join(map(str, self._parts()))})"


def _feed_parts(whole: Any, value: Any) -> list[tuple[Any, Any]]:
    return list(zip(whole._parts(), value))


register_session_run_conversion_functions(
    SparseTensor,
    lambda whole: (whole._parts(), lambda values: SparseTensorValue(*values)),
    _feed_parts,
    lambda whole: whole._parts(),
)
register_session_run_conversion_functions(
    IndexedSlices,
    lambda whole: (
        whole._parts(),
        lambda values: IndexedSlicesValue(*values, *[None] * (3 - len(values))),
    ),
    _feed_parts,
    lambda whole: whole._parts(),
)

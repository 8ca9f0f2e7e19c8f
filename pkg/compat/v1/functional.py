# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's loops over the parts of tensors along their first dimension."""

from __future__ import annotations

from typing import Any

from ...graph.structures import flatten, pack
from . import sizes
from .bounds import of_first_size
from .composites import check_alike
from .control_flow import while_loop
from .convert import convert_to_tensor
from .dtypes import int32
from .elements import get_default_graph
from .tensor_array import TensorArray, check_inferred

__all__ = ["foldl", "foldr", "map_fn", "scan"]


class _Elements:
    """A structure of tensors, whose parts a loop takes one after the other."""

    def __init__(self, what: str, function: Any, elems: Any) -> None:
        if not callable(function):
            raise TypeError("fn must be callable.")
        self.what, self.structure = what, elems
        self.tensors = [convert_to_tensor(e, name="elem") for e in flatten(elems)]
        if not self.tensors:
            raise ValueError(
                f"[{what}] expected elems to have a tensor at least, got {elems!r}."
            )
        for tensor in self.tensors:
            if tensor.ndim is None:
                raise NotImplementedError(
                    f"[{what}] expected elems whose number of dimensions is known, "
                    f"got {tensor}. Give them a shape with set_shape()."
                )
            if tensor.ndim == 0:
                raise ValueError(
                    f"elems must be a 1+ dimensional Tensor, not a scalar: {tensor}"
                )
        known = [tensor.shape[0].value for tensor in self.tensors]
        counts = {n for n in known if n is not None}
        if len(counts) > 1:
            raise ValueError(
                f"elements in elems must have one first dimension, got {known}"
            )
        at = next((i for i, n in enumerate(known) if n is not None), 0)
        self.known = known[at]
        self.count = (
            sizes.size_along(self.tensors[at], 0) if self.known is None else self.known
        )
        self.n = convert_to_tensor(self.count, int32, name="n")
        self.tensors[:] = [
            tensor if i == at else of_first_size(tensor, self.count)
            for i, tensor in enumerate(self.tensors)
        ]

    def at(self, place: Any) -> Any:
        """The part at a place, in the structure."""
        return pack(self.structure, [tensor[place] for tensor in self.tensors])

    def arrays(self, dtypes: list[Any], shapes: list[Any]) -> list[TensorArray]:
        """An array for each result, with a place for each part."""
        return [
            TensorArray(dtype, self.count, element_shape=shape)
            for dtype, shape in zip(dtypes, shapes)
        ]

    def stacked(self, arrays: list[TensorArray]) -> list[Any]:
        """What the arrays have, with their number as the first size."""
        for array in arrays:
            shape = array.element_shape
            if shape.ndims is None or shape.as_list().count(None) > (
                self.known is not None
            ):
                raise NotImplementedError(
                    f"[{self.what}] expected fn to give tensors whose shape is known, "
                    f"got {shape}. Give them, or elems, a shape with set_shape()."
                )
        made = [array.stack() for array in arrays]
        for tensor, array in zip(made, arrays):
            tensor.set_shape([self.known, *array.element_shape.as_list()])
        return made


def _values(result: Any, like: Any, dtypes: list[Any]) -> list[Any]:
    check_alike(like, result, "")
    return [
        convert_to_tensor(value, dtype) for value, dtype in zip(flatten(result), dtypes)
    ]


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """What fn gives for each part of elems, as one tensor.

    dtype: the dtypes of what it gives, in the same structure; without it, those of
    elems. TypeError and ValueError where functions, structures or shapes do not fit.
    """
    check_inferred("map_fn", infer_shape)
    with get_default_graph().name_scope(name or "map"):
        elements = _Elements("map_fn", fn, elems)
        if dtype is None:
            dtype = pack(elems, [tensor.dtype for tensor in elements.tensors])
        kinds = flatten(dtype)

        def turn(place: Any, arrays: Any) -> Any:
            values = _values(fn(elements.at(place)), dtype, kinds)
            return place + 1, [a.write(place, v) for a, v in zip(arrays, values)]

        begin = elements.arrays(kinds, [None] * len(kinds))
        _, arrays = while_loop(
            lambda place, _: place < elements.n, turn, (0, begin),
            parallel_iterations=parallel_iterations, back_prop=back_prop,
        )  # fmt: skip
        return pack(dtype, elements.stacked(arrays))


def _fold(
    fn: Any, elems: Any, initializer: Any, name: str, backward: bool,
    parallel_iterations: int, back_prop: bool,
) -> Any:  # fmt: skip
    with get_default_graph().name_scope(name):
        elements = _Elements("foldr" if backward else "foldl", fn, elems)
        first, begin = 0, initializer
        if initializer is None:
            first, begin = 1, elements.at(elements.n - 1 if backward else 0)
        given = pack(begin, [convert_to_tensor(v) for v in flatten(begin)])
        kinds = [value.dtype for value in flatten(given)]

        def turn(step: Any, value: Any) -> Any:
            place = elements.n - 1 - step if backward else step
            result = fn(value, elements.at(place))
            return step + 1, pack(begin, _values(result, begin, kinds))

        return while_loop(
            lambda step, _: step < elements.n, turn, (first, given),
            parallel_iterations=parallel_iterations, back_prop=back_prop,
        )[1]  # fmt: skip


def foldl(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """fn(...fn(fn(initializer, first part), second part)..., last part).

    Without an initializer it begins with the first part.
    """
    return _fold(
        fn, elems, initializer, name or "foldl", False, parallel_iterations, back_prop
    )


def foldr(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The same from the last part to the first."""
    return _fold(
        fn, elems, initializer, name or "foldr", True, parallel_iterations, back_prop
    )


def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Every value of foldl() as one tensor; with ``reverse`` from the last part on."""
    check_inferred("scan", infer_shape)
    with get_default_graph().name_scope(name or "scan"):
        elements = _Elements("scan", fn, elems)

        def place_of(step: Any) -> Any:
            return elements.n - 1 - step if reverse else step

        first, begin = 0, initializer
        if initializer is None:
            first, begin = 1, elements.at(elements.n - 1 if reverse else 0)
        given = [convert_to_tensor(value) for value in flatten(begin)]
        kinds = [value.dtype for value in given]
        shapes = [value.shape for value in given]
        arrays = elements.arrays(
            kinds, [s if s.is_fully_defined() else None for s in shapes]
        )
        if initializer is None:
            arrays = [a.write(place_of(0), v) for a, v in zip(arrays, given)]

        def turn(step: Any, values: Any, arrays: Any) -> Any:
            place = place_of(step)
            made = _values(
                fn(pack(begin, values), elements.at(place)), begin, kinds
            )
            return step + 1, made, [a.write(place, v) for a, v in zip(arrays, made)]

        arrays = while_loop(
            lambda step, *_: step < elements.n, turn, (first, given, arrays),
            parallel_iterations=parallel_iterations, back_prop=back_prop,
        )[2]  # fmt: skip
        return pack(begin, elements.stacked(arrays))

# SPDX-License-Identifier: Apache-2.0
"""Loops that write to one place of a TensorArray in each turn.

To write is to make another array, so that n turns would copy n arrays.  Where the body
gives an array back as it took it, but for one write, and nothing else asks for what is
in it, the loop collects what was written, and it goes into the array at once at the
end.
"""

from __future__ import annotations

from typing import Any

from ... import graph as pg
from ...graph.structures import flatten, pack
from . import math
from .composites import joined
from .convert import convert_to_tensor
from .dtypes import int64
from .tensor_array import TensorArray

__all__ = ["Arrays"]


class Arrays:
    """The TensorArrays among the variables of a loop."""

    def __init__(self, loop_vars: Any) -> None:
        self._vars = loop_vars
        self._asked: set[int] = set()  # of which the condition reads something
        self._taken: list[Any] = []  # the variables at the beginning of a turn
        self._written: list[int] = []  # which of them are collected

    def before(self, values: Any) -> Any:
        """The variables, for the body, which may write to arrays later."""
        made = joined(self._vars, values)
        self._taken = flatten(made)
        for place, leaf in enumerate(self._taken):
            if isinstance(leaf, TensorArray):
                leaf._entered = place not in self._asked
        return made

    def condition(self, function: Any, values: Any) -> Any:
        """What the condition gives; whether it reads arrays is noted."""
        given = joined(self._vars, values)
        made = function(*given)
        for place, leaf in enumerate(flatten(given)):
            if isinstance(leaf, TensorArray) and leaf._asked:
                self._asked.add(place)
        return made

    def after(self, result: Any) -> tuple[Any, list[Any]]:
        """What the body gave, with arrays that only wait for a write as they were, and
        the places and tensors that are collected."""
        leaves, pieces = flatten(result), []
        for place, (taken, leaf) in enumerate(zip(self._taken, leaves)):
            if not isinstance(leaf, TensorArray):
                continue
            write = leaf._only_write_to(taken)
            if write is not None:
                pieces += [_place(write.index), write.row]
                leaves[place] = leaf._like(
                    taken._flow, leaf._size, taken._marks, leaf._element
                )
                self._written.append(place)
        return pack(result, leaves), pieces

    def filled(self, result: Any, collected: list[Any]) -> Any:
        """The variables at the end, with what was collected in their arrays."""
        leaves = flatten(result)
        for place, index, rows in zip(
            self._written, collected[0::2], collected[1::2]
        ):
            array = leaves[place]
            flow, marks = array._with(
                index, rows[:, 0], array._size, "TensorArrayCollected"
            )
            leaves[place] = array._like(flow, array._size, marks)
        return pack(result, leaves)


def _place(index: Any) -> Any:
    if not isinstance(index, pg.Symbol):
        return convert_to_tensor(index, int64)
    return math.cast(index, int64)


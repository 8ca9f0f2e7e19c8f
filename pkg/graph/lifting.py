# SPDX-License-Identifier: Apache-2.0
"""Tensors from outside of a function that are inputs of its graph.

A tensor that is bound anew between two calls, in a cell of the function's closure or as
a global name, would be another graph at each call.  Once it is seen that a place got
another tensor of the same dtype and number of dimensions, the place counts as an input.
The graph is made of a copy of the function that finds a symbol there, so that nobody
else sees one; so only places that the function's own code reads, and no other function
that it may call.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable
from typing import Any

from ..tensor import Tensor
from .places import MISSING
from .reads import reads

__all__ = ["Lifted", "value_at", "with_values"]

#: The number of a place's dict in guards.py, and its key there.
Place = tuple[int, Any]


def _plain(function: Any) -> Any:
    return function.__func__ if type(function) is types.MethodType else function


def _own_places(function: types.FunctionType) -> set[Place]:
    # What its code, and that of the functions within, reads and does not assign to.
    found = reads(function.__code__)
    names = function.__code__.co_freevars
    cells = {
        (0, id(cell))
        for name, cell in zip(names, function.__closure__ or ())
        if name not in found.stored_cells
    }
    space = id(function.__globals__)
    return cells | {(1, (space, name)) for name in found.names - found.stored}


def value_at(place: Place, there: Any) -> Any:
    """What is at a place now."""
    if place[0] == 1:
        return there[0].get(there[1], MISSING)
    try:
        return there[0].cell_contents
    except ValueError:  # nothing was assigned yet
        return MISSING


class Lifted:
    """The places of a function that are inputs, and those that may become ones."""

    def __init__(self, function: Any) -> None:
        self._function = _plain(function)
        self._own: set[Place] = set()
        self._never: set[Place] = set()  # where the function does more than call ops
        # What was there when a graph was made: the tensor, its dtype and dimensions.
        self._last: dict[Place, tuple[Any, Any, int]] = {}
        self.places: dict[Place, Any] = {}

    def look(self, functions: Iterable[Any]) -> None:
        """functions: all that the function may call, as far as is known."""
        if type(self._function) is not types.FunctionType:
            return
        own = _own_places(self._function)
        for other in functions:
            if other is not self._function:
                own -= _own_places(other)
        self._own = own

    def find(self, places: Iterable[tuple[Place, Any]]) -> bool:
        """Whether there are new ones: places whose tensor is another one now."""
        fresh = {}
        for place, there in places:
            before = self._last.get(place)
            value = value_at(place, there)
            if before is None or type(value) is not Tensor or place in self._never:
                continue
            kind = value.dtype, value.ndim
            if place in self._own and before[0]() is not value and before[1:] == kind:
                fresh[place] = there
        self.places |= fresh
        return bool(fresh)

    def note(self, places: Iterable[tuple[Place, Any]]) -> None:
        """A graph is made of what is there now."""
        for place, there in places:
            value = value_at(place, there)
            if type(value) is Tensor:
                self._last[place] = weakref.ref(value), value.dtype, value.ndim

    def drop(self) -> None:
        """The function cannot be traced with symbols there: none is an input."""
        self._never |= set(self.places)
        self.places = {}


def with_values(function: Any, values: dict[Place, Any]) -> Any:
    """The function, which finds other values at places that its own code reads."""
    plain = _plain(function)
    space = plain.__globals__
    cells = tuple(
        types.CellType(values[0, id(cell)]) if (0, id(cell)) in values else cell
        for cell in plain.__closure__ or ()
    )
    names = {place[1][1]: v for place, v in values.items() if place[0] == 1}
    made = types.FunctionType(
        plain.__code__,
        {**space, **names} if names else space,
        plain.__name__,
        plain.__defaults__,
        cells,
    )
    made.__kwdefaults__ = plain.__kwdefaults__
    made.__dict__.update(plain.__dict__)
    if type(function) is types.MethodType:
        return types.MethodType(made, function.__self__)
    return made

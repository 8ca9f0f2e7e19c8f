# SPDX-License-Identifier: Apache-2.0
"""What a compiled function reads beside its arguments, so that a change is noticed.

The places are found by a look at the code: cells of the closure, global names, names
in other Python modules (``settings.scale``), modules of `pkg.nn` among these, and the
same of the functions that stand there.  At each call the values of all places are part
of the key by which a graph is looked up: plain values count by value, all else by
identity.

What the code itself assigns to is no place: it changes when a graph is made, which
would make another one at each call.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..tensor import Tensor

__all__ = ["Guards", "modules_of"]

_PLAIN = (type(None), bool, int, str, bytes)
_MOST_PLACES = 1000
_OURS = __name__.partition(".")[0]
_MISSING = object()


def modules_of(function: Any) -> list[Any]:
    """The modules of a module, or of the one that a method is of."""
    owner = function.__self__ if isinstance(function, types.MethodType) else function
    while (wrapped := _wrapped_by(owner)) is not None:
        owner = wrapped
    # Asked of the class: an object may have anything as an attribute.
    if isinstance(owner, Tensor) or not hasattr(type(owner), "modules"):
        return []
    return list(owner.modules())


def _wrapped_by(value: Any) -> Any:
    # The function of another compiled one, or of what functools made of it.
    attributes = getattr(value, "__dict__", None)
    return attributes.get("__wrapped__") if isinstance(attributes, dict) else None


def _is_ours(value: Any) -> bool:
    if not isinstance(value, (types.FunctionType, types.ModuleType, type)):
        return False
    name = getattr(value, "__module__", None) or getattr(value, "__name__", "")
    return str(name).partition(".")[0] == _OURS


def _token(value: Any, kept: list[Any] | None) -> Any:
    """What a value counts as in a key; what counts by identity is kept."""
    if isinstance(value, float):
        return type(value), value.hex()
    if isinstance(value, _PLAIN):
        return type(value), value
    if type(value) is tuple:
        return tuple, *(_token(item, kept) for item in value)
    if kept is not None:
        kept.append(value)  # its number stays its own
    return id(value)


class _Reads:
    """The names that a function's code reads from outside of it."""

    def __init__(self, code: types.CodeType) -> None:
        self.names: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()  # "settings", "scale"
        self.stored: set[str] = set()  # names that it assigns to
        self.stored_attributes: set[str] = set()
        self._look(code, set())

    def _look(self, code: types.CodeType, own: set[str]) -> None:
        # own: variables of the functions around this code, which are within the whole.
        last = None
        for step in dis.get_instructions(code):
            name, argument = step.opname, step.argval
            if name == "LOAD_GLOBAL":
                self.names.add(argument)
                last = argument
                continue
            if name in ("LOAD_ATTR", "LOAD_METHOD") and last is not None:
                self.attributes.add((last, argument))
            elif name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.stored.add(argument)
            elif name in ("STORE_DEREF", "DELETE_DEREF"):
                if argument in code.co_freevars and argument not in own:
                    self.stored.add(argument)
            elif name == "STORE_ATTR":
                self.stored_attributes.add(argument)
            last = None
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._look(constant, own | set(code.co_cellvars))


_reads = functools.lru_cache(maxsize=4096)(_Reads)


class Guards:
    """The places that a function reads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._cells: dict[int, Any] = {}
        self._names: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
        self._modules: dict[int, Any] = {}
        self._stored: set[str] = set()  # attributes that methods assign to
        self._looked = False

    def look(self) -> bool:
        """Finds the places; whether there are any that were not known."""
        before = self._count()
        waiting, seen = [self._function], {}
        # A loop, as functions may stand behind each other in any number.
        while waiting and len(seen) < _MOST_PLACES:
            value = waiting.pop()
            if id(value) not in seen:
                seen[id(value)] = value
                waiting += self._behind(value)
        first, self._looked = not self._looked, True
        return first or self._count() != before

    @property
    def full(self) -> bool:
        """Whether so many places were found over time that it is better forgotten."""
        return sum(self._count()) > 4 * _MOST_PLACES

    def _count(self) -> tuple[int, ...]:
        parts = (self._cells, self._names, self._modules, self._stored)
        return tuple(map(len, parts))

    def _behind(self, value: Any) -> Iterator[Any]:
        """What to look at next, as the value leads there."""
        if isinstance(value, functools.partial):
            yield from (value.func, *value.args, *value.keywords.values())
            return
        if isinstance(value, (staticmethod, classmethod, types.MethodType)):
            yield value.__func__
        if isinstance(value, types.FunctionType):
            if not _is_ours(value):
                yield from self._of_function(value)
            return
        if isinstance(value, (type, types.ModuleType, Tensor)):
            return
        if (wrapped := _wrapped_by(value)) is not None:
            yield wrapped
        modules = modules_of(value)
        for module in modules:
            self._modules[id(module)] = module
            yield from _methods(type(module))
        if not modules and callable(value):
            yield from _methods(type(value))

    def _of_function(self, function: types.FunctionType) -> Iterator[Any]:
        reads = _reads(function.__code__)
        if function.__name__ != "__init__":
            self._stored |= reads.stored_attributes
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or ()):
            if name not in reads.stored:
                self._cells[id(cell)] = cell
            yield _of_cell(cell)
        space = function.__globals__
        for name in sorted(reads.names - reads.stored):
            if name in space or not hasattr(builtins, name):
                if not _is_ours(space.get(name)):
                    self._names[id(space), name] = space, name
                yield space.get(name)
        for name, attribute in sorted(reads.attributes):
            module = space.get(name)
            if isinstance(module, types.ModuleType) and not _is_ours(module):
                space_there = vars(module)
                self._names[id(space_there), attribute] = space_there, attribute
                yield space_there.get(attribute)

    def key(self, kept: list[Any] | None = None) -> list[Any]:
        """The values now; ``kept`` gets what counts by identity."""
        key: list[Any] = list(self._count())
        key += [_token(_of_cell(cell), kept) for cell in self._cells.values()]
        for space, name in self._names.values():
            key.append(_token(space.get(name, _MISSING), kept))
        for module in self._modules.values():
            for part in (module._parameters, module._buffers, module._modules):
                key += map(id, part.values())
                if kept is not None:
                    kept += part.values()
            for name, value in module.__dict__.items():
                if isinstance(value, (*_PLAIN, float)) and name not in self._stored:
                    key += (name, _token(value, None))
        return key


def _of_cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return _MISSING


def _methods(kind: type) -> Iterator[Any]:
    # Of the classes of the program: ours are the same for everybody.
    for base in kind.__mro__:
        if base is not object and not _is_ours(base):
            for value in vars(base).values():
                if isinstance(value, property):
                    yield value.fget
                elif isinstance(
                    value, (types.FunctionType, staticmethod, classmethod)
                ):
                    yield value

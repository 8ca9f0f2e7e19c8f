# SPDX-License-Identifier: Apache-2.0
"""The places outside of a function that its code may read, found by a walk.

The walk goes from the function to what its code names: globals, cells of the closure,
attributes of Python modules and classes, modules of `pkg.nn` and methods that are
named, and to the code of all these.  Nothing is asked of an object but its type and its
``__dict__``, as attributes may run any code.
"""

from __future__ import annotations

import builtins
import collections
import functools
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ..nn import Module
from ..tensor import Tensor
from .reads import Reads, reads

__all__ = ["MISSING", "PARTS", "Places", "dict_of", "in_class", "modules_of"]

MISSING = object()
# What a module has in its __dict__ beside attributes.
PARTS = (
    "_parameters", "_buffers", "_modules", "_forward_pre_hooks", "_forward_hooks",
)  # fmt: skip
_MOST_VALUES = 1000
_OURS = __name__.partition(".")[0]
_OTHERS = {"builtins", "numpy"}  # whose code is not looked at
_LIBRARY = os.path.dirname(os.__file__) + os.sep  # nor Python's own, by its files
# Python calls them where no name stands; what makes an object is not among them.
_IMPLICIT = frozenset({
    "forward", "__call__", "__getattr__", "__getattribute__", "__getitem__", "__iter__",
    "__len__", "__bool__", "__contains__", "__enter__", "__exit__", "__get__",
    "__next__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__",
    "__truediv__", "__rtruediv__", "__matmul__", "__rmatmul__", "__neg__", "__pow__",
    "__eq__", "__lt__", "__gt__", "__le__", "__ge__", "__int__", "__float__",
    "__index__", "__setattr__", "__setitem__",
})  # fmt: skip
_RUN = ("__call__", "__getitem__", "__iter__", "__len__")  # in layers of ours
_MAKING = ("__init__", "__new__", "__post_init__")
_LEAD_NOWHERE = frozenset({
    type(None), bool, int, float, str, bytes, tuple, list, dict, set, Tensor,
})  # fmt: skip
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


def _is(value: Any, *kinds: type) -> bool:
    # isinstance asks the value for its __class__, which may be code that fails.
    return issubclass(type(value), kinds)


def dict_of(value: Any) -> dict[str, Any]:
    """The attributes of an object itself, without asking its class for them."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception:  # without one, or a property that fails
        return {}
    return found if type(found) is dict else {}


def modules_of(function: Any) -> list[Any]:
    """The modules of a module, or of the one that a method is of."""
    owner = function.__self__ if _is(function, types.MethodType) else function
    while (wrapped := _wrapped_by(owner)) is not None:
        owner = wrapped
    return list(Module.modules(owner)) if _is_module(owner) else []


def _is_module(value: Any) -> bool:
    return _is(value, Module) and dict_of(value).keys() >= set(PARTS)


def _wrapped_by(value: Any) -> Any:
    # The function of another compiled one, or of what functools made of it.
    return None if _is(value, type) else dict_of(value).get("__wrapped__")


def _home(value: Any) -> str:
    """The package that a function, class or Python module is of."""
    if _is(value, types.FunctionType):
        name = value.__module__
    elif _is(value, types.ModuleType):
        name = dict_of(value).get("__name__")
    else:
        name = type.__getattribute__(value, "__module__")
    return name.partition(".")[0] if type(name) is str else ""


def _in_library(code: types.CodeType) -> bool:
    # Not by the name of the module, which a module of the program may have, too.
    file = code.co_filename
    if file.startswith("<frozen "):
        return True
    return file.startswith(_LIBRARY) and "-packages" not in file[len(_LIBRARY) :]


def in_class(kind: type, name: str) -> Any:
    """What stands in a class or the first of its bases that has it, unasked."""
    for base in type.__getattribute__(kind, "__mro__"):
        space = type.__getattribute__(base, "__dict__")
        if name in space:
            return space[name]
    return MISSING


class Places:
    """What the walk from some values finds; each dict is by identity."""

    def __init__(self, starts: Iterable[Any], others: Iterable[Any] = ()) -> None:
        self.cells: dict[int, tuple[Any, str]] = {}
        self.names: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
        self.of_classes: dict[tuple[int, str], tuple[type, str]] = {}
        self.functions: dict[int, types.FunctionType] = {}  # with defaults
        self.modules: dict[int, Any] = {}
        self.attributes: set[str] = set()  # named anywhere
        self._stored_attributes: set[str] = set()
        self._stored: set[tuple[int, str]] = set()
        self._stored_cells: set[int] = set()
        self._kinds: dict[int, type] = {}
        self._done: dict[int, set[str]] = {}
        self._seen: dict[int, Any] = {}
        self._waiting = collections.deque(starts)
        for other in others:  # among the arguments: their values are none of a place
            for module in modules_of(other):
                self._kinds[id(type(module))] = type(module)
            self._waiting += [] if _is_module(other) else [other]
        self._walk()
        for module in self.modules.values():
            space = dict_of(module)
            self.names[id(space), "training"] = space, "training"

    def _walk(self) -> None:
        # Breadth first, as what is near matters if there is too much.
        while self._waiting and len(self._seen) < _MOST_VALUES:
            value = self._waiting.popleft()
            if self._is_new(value):
                self._seen[id(value)] = value
                self._waiting += self._behind(value)
            if not self._waiting:
                self._waiting += self._named()

    def _is_new(self, value: Any) -> bool:
        return type(value) not in _LEAD_NOWHERE and id(value) not in self._seen

    def assigned(self) -> set[tuple[int, Any]]:
        """The places that the code may assign to, as numbers of dicts and keys."""
        found: set[tuple[int, Any]] = {(0, number) for number in self._stored_cells}
        for number, places in ((1, self.names), (2, self.of_classes)):
            for key in places:
                if key[1] in self._stored_attributes or key in self._stored:
                    found.add((number, key))
        return found

    def _named(self) -> Iterator[Any]:
        """What the names that are known by now are in the classes and modules."""
        names = self.attributes | _IMPLICIT
        for number, kind in list(self._kinds.items()):
            for name in sorted(names - self._done.setdefault(number, set())):
                self._done[number].add(name)
                yield from self._in_class(kind, name)
        for module in list(self.modules.values()):
            space, kind = dict_of(module), type(module)
            for name in sorted(self.attributes.difference(PARTS)):
                if name.startswith("__"):
                    continue  # Python's and not the program's
                if name in space or _stands(kind, name):
                    self.names[id(space), name] = space, name
                    if self._is_new(value := space.get(name)):
                        yield value

    def _in_class(self, kind: type, name: str) -> Iterator[Any]:
        for base in type.__getattribute__(kind, "__mro__"):
            space = type.__getattribute__(base, "__dict__")
            if base is not object and name in space:
                if _home(base) != _OURS:
                    self.of_classes[id(kind), name] = kind, name
                if _home(base) != _OURS or name in _RUN or name[:2] != "__":
                    yield space[name]

    def _behind(self, value: Any) -> Iterator[Any]:
        """What to look at next, as the value leads there."""
        if _is(value, functools.partial):
            yield from (value.func, *value.args, *value.keywords.values())
        elif _is(value, types.MethodType):
            yield from (value.__func__, value.__self__)
        elif _is(value, staticmethod, classmethod):
            yield value.__func__
        elif _is(value, property):
            yield value.fget
        elif _is(value, functools.cached_property, functools.partialmethod):
            yield value.func
        elif _is(value, types.FunctionType):
            if (wrapped := _wrapped_by(value)) is not None:
                yield wrapped
            yield from self._of_function(value)
        elif _is(value, type):
            if _home(value) not in (_OURS, *_OTHERS):
                self._kinds[id(value)] = value
                yield from (in_class(value, name) for name in _MAKING)
        elif not _is(value, types.ModuleType, Tensor):
            yield from self._of_object(value)

    def _of_object(self, value: Any) -> Iterator[Any]:
        if (wrapped := _wrapped_by(value)) is not None:
            yield wrapped
        elif _is_module(value):
            for module in Module.modules(value):
                self.modules[id(module)] = module
                self._kinds[id(type(module))] = type(module)
                for name in _HOOKS:
                    for hook, _ in list(dict_of(module).get(name, {}).values()):
                        yield hook
        elif _home(type(value)) not in (_OURS, *_OTHERS):
            self._kinds[id(type(value))] = type(value)

    def _of_function(self, function: types.FunctionType) -> Iterator[Any]:
        found = reads(function.__code__)
        if _home(function) in _OTHERS or _in_library(function.__code__):
            return
        if _home(function) == _OURS:
            # Layers read their attributes; behind them all is the same for everybody.
            self.attributes |= found.attributes
            return
        self.attributes |= found.attributes
        if function.__name__ not in _MAKING:
            self._stored_attributes |= found.stored_attributes
        if function.__defaults__ or function.__kwdefaults__:
            self.functions[id(function)] = function
            yield from function.__defaults__ or ()
            yield from (function.__kwdefaults__ or {}).values()
        values = [*self._outside(function, found), *_imported(function, found)]
        yield from values
        yield from self._attributes_of(values, found)

    def _outside(self, function: types.FunctionType, found: Reads) -> Iterator[Any]:
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or ()):
            if name in found.stored_cells:
                self._stored_cells.add(id(cell))
            self.cells[id(cell)] = cell, name
            try:
                yield cell.cell_contents
            except ValueError:  # nothing was assigned yet
                continue
        space = function.__globals__
        self._stored |= {(id(space), name) for name in found.stored}
        for name in sorted(found.names):
            if name in space or not hasattr(builtins, name):
                value = space.get(name, MISSING)
                if not (_is(value, types.ModuleType) and _home(value) == _OURS):
                    self.names[id(space), name] = space, name
                yield value

    def _attributes_of(self, values: list[Any], found: Reads) -> Iterator[Any]:
        """What the function's names are in Python modules and classes that it sees."""
        waiting, seen = list(values), set()
        while waiting:
            value = waiting.pop()
            if id(value) in seen or not _is(value, types.ModuleType, type):
                continue
            seen.add(id(value))
            if _home(value) == _OURS or (_is(value, type) and _home(value) in _OTHERS):
                continue
            for name in sorted(found.attributes):
                if _is(value, type):
                    there = in_class(value, name)
                    if there is not MISSING:
                        self.of_classes[id(value), name] = value, name
                elif (there := dict_of(value).get(name, MISSING)) is not MISSING:
                    space = dict_of(value)
                    self.names[id(space), name] = space, name
                if there is not MISSING:
                    waiting.append(there)
                    yield there


def _stands(kind: type, name: str) -> bool:
    # A method of ours is hidden by an attribute of that name in no program.
    value = in_class(kind, name)
    return value is not MISSING and not (
        _is(value, types.FunctionType) and _home(value) == _OURS
    )


def _imported(function: types.FunctionType, found: Reads) -> Iterator[Any]:
    """The Python modules of import statements within, as far as they are there."""
    package = function.__globals__.get("__package__")
    parts = package.split(".") if type(package) is str and package else []
    above = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    for name in sorted(found.imports):
        first = name.split(".")
        for end in range(1, len(first) + 1):
            yield sys.modules.get(".".join(first[:end]))
        for base in above:  # a relative one may mean any of these
            yield sys.modules.get(f"{base}.{name}" if name else base)

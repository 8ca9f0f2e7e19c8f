# SPDX-License-Identifier: Apache-2.0
"""What a compiled function reads beside its arguments, so that a change is noticed.

The places are found by a look at the code (places.py).  At each call the values of all
places are part of the key by which a graph is looked up: plain values count by value,
all else by identity.

What the code itself changes when a graph is made would make another one at each call,
so such a place is dropped when a trace has changed it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .places import MISSING, PARTS, Places, dict_of, in_class, modules_of

__all__ = ["Guards", "modules_of"]

_PLAIN = frozenset({type(None), bool, int, str, bytes})


def _token(value: Any, kept: list[Any] | None) -> Any:
    """What a value counts as in a key; what counts by identity is kept."""
    kind = type(value)
    if kind in _PLAIN:  # exactly: a subclass may be equal to anything
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is tuple:
        return kind, *[_token(item, kept) for item in value]
    if kept is not None:
        kept.append(value)  # its number stays its own
    return id(value)


def _parts(space: dict[str, Any], kept: list[Any] | None) -> list[Any]:
    # What hangs on a module, by identity.
    key = []
    for part in PARTS:
        values = tuple(space[part].values())
        key.append(tuple(map(id, values)))
        if kept is not None:
            kept += values
    return key


class _Found(NamedTuple):
    """The places that a key is made of; never changed, so that threads may read it."""

    number: int
    cells: tuple[Any, ...]
    names: tuple[tuple[dict[str, Any], str], ...]
    of_classes: tuple[tuple[type, str], ...]
    functions: tuple[Any, ...]
    parts: tuple[dict[str, Any], ...]  # of modules: their __dict__
    attributes: tuple[str, ...]  # that count in modules among the arguments
    words: tuple[str, ...]  # for each value of a key behind its number


class Guards:
    """The places that a function reads.

    ``look`` is called by one thread at a time, ``key`` and ``of_module`` by any.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._places: list[dict[Any, Any]] = [{}, {}, {}, {}, {}]
        self._assigned: set[Any] = set()  # places that the code may assign to
        self._own: set[str] = set()  # attributes of arguments that traces change
        self._moving: dict[Any, int] = {}  # places that traces changed, and how often
        self._dropped: dict[Any, Any] = {}
        self._found = _Found(0, (), (), (), (), (), (), ())

    def look(self, others: Iterable[Any] = ()) -> bool:
        """Finds the places; whether they are others than before."""
        new = Places([self._function], others)
        found: list[dict[Any, Any]] = [new.cells, new.names, new.of_classes]
        found += [new.functions, new.modules]
        # Those of before stay, so that values may come and go; but not without end.
        merged = [before | now for before, now in zip(self._places, found)]
        if sum(map(len, merged)) > 2 * sum(map(len, found)) + 64:
            merged, self._assigned = found, set()
            for known in (self._moving, self._dropped):
                for place in [p for p in known if p[1] not in found[p[0]]]:
                    del known[place]
        for number, key in self._dropped:
            merged[number].pop(key, None)
        attributes = tuple(sorted(new.attributes - self._own - set(PARTS)))
        self._assigned |= new.assigned()
        same = [list(now) == list(old) for now, old in zip(merged, self._places)]
        if self._found.number and all(same) and attributes == self._found.attributes:
            return False
        self._places = merged
        self._swap(attributes)
        return True

    def modules(self) -> list[Any]:
        """The modules of `pkg.nn` among the places."""
        return list(self._places[4].values())

    def _swap(self, attributes: tuple[str, ...]) -> None:
        cells, names, of_classes, functions, modules = self._places
        words = [
            f"variable '{name}' of a function around" for _, name in cells.values()
        ]
        for space, name in names.values():
            words.append(f"'{name}' in {_space_word(space)}")
        for kind, name in of_classes.values():
            words.append(f"'{type.__getattribute__(kind, '__name__')}.{name}'")
        words += [f"defaults of {f.__qualname__}" for f in functions.values()]
        self._found = _Found(
            self._found.number + 1,
            tuple(cell for cell, _ in cells.values()),
            tuple(names.values()),
            tuple(of_classes.values()),
            tuple(functions.values()),
            tuple(dict_of(module) for module in modules.values()),
            attributes,
            tuple(words),
        )

    def key(self, kept: list[Any] | None = None) -> list[Any]:
        """The values now; ``kept`` gets what counts by identity."""
        found = self._found
        key: list[Any] = [found.number]
        for cell in found.cells:
            try:
                key.append(_token(cell.cell_contents, kept))
            except ValueError:  # nothing was assigned yet
                key.append(id(MISSING))
        for space, name in found.names:
            key.append(_token(space.get(name, MISSING), kept))
        for kind, name in found.of_classes:
            key.append(_token(in_class(kind, name), kept))
        for function in found.functions:
            named = function.__kwdefaults__ or {}
            defaults = (function.__defaults__, *named, *named.values())
            key.append(_token(defaults, kept))
        for space in found.parts:
            key += _parts(space, kept)
        return key

    def of_module(self, module: Any, kept: list[Any] | None = None) -> list[Any]:
        """The same of a module among the arguments."""
        space = dict_of(module)
        names = [name for name in self._found.attributes if name in space]
        key = [space.get("training"), *names]
        key += [_token(space[name], kept) for name in names]
        return key + _parts(space, kept)

    def values(self, modules: Iterable[Any]) -> tuple[list[Any], list[Any]]:
        """What a trace may change: the key, and attributes of modules."""
        counted = self._found.attributes
        spaces = [dict_of(module) for module in modules]
        return self.key(), [
            (name, _token(space.get(name, MISSING), None))
            for space in spaces
            for name in counted
        ]

    def changed(self, before: list[Any], now: list[Any]) -> list[str] | None:
        """Words for what differs in two keys; None for keys of other places."""
        if len(before) != len(now) or before[0] != now[0]:
            return None
        words = [*self._found.words]
        words += ["parameters, buffers or hooks of a module"] * (len(now) - len(words))
        pairs = zip(words, before[1:], now[1:])
        return [word for word, old, new in pairs if old != new]

    def drop_changed(self, before: Any, modules: Iterable[Any]) -> bool:
        """Drops the places that a trace has changed; whether there are any.

        before: the values before the trace.  What no instruction assigns to, as far as
        is seen, may be a value that is made when it is first asked for; where two
        traces have changed it, it is a counter, and dropped with a warning.
        """
        now, found = self.values(modules), self._found
        own = {old[0] for old, new in zip(before[1], now[1]) if old != new}
        order = [(n, key) for n in range(4) for key in self._places[n]]
        words = []
        for at, place in enumerate(order):
            if before[0][at + 1] != now[0][at + 1]:
                self._moving[place] = self._moving.get(place, 0) + 1
                if place in self._assigned:
                    words.append("")
                elif self._moving[place] >= 2:
                    words.append(found.words[at])
                else:
                    continue
                # Kept, so that the number in the key is of no other one.
                self._dropped[place] = self._places[place[0]].pop(place[1])
        if own or words:
            self._own |= own
            self._swap(tuple(n for n in found.attributes if n not in own))
        for word in filter(None, words):
            warnings.warn(
                f"[compile] {word} is changed by the function itself each time that it "
                "is traced, so its changes are not noticed any more. Do that outside "
                "of the function, or pass the value as an argument.",
                RuntimeWarning,
                stacklevel=4,
            )
        return bool(own or words)


def _space_word(space: dict[str, Any]) -> str:
    name = space.get("__name__")
    return f"module {name}" if type(name) is str else "a module of pkg.nn"

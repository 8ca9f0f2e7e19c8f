# SPDX-License-Identifier: Apache-2.0
"""Nested lists, tuples, named tuples and dicts as flat lists of what they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["flatten", "kind_of", "outline", "pack", "words_of_kind"]


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in _sorted(value)]
    return None


def _sorted(keys: Iterable[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:  # of several types
        return sorted(keys, key=lambda key: (type(key).__qualname__, repr(key)))


def flatten(value: Any) -> list[Any]:
    """What it holds, from the first to the last; of dicts in the order of the keys."""
    parts = _parts(value)
    if parts is None:
        return [value]
    return [leaf for part in parts for leaf in flatten(part)]


def outline(value: Any) -> Any:
    """The same for all values of one structure; a list is what a tuple is."""
    parts = _parts(value)
    if parts is None:
        return "."
    keys = _sorted(value) if isinstance(value, Mapping) else None
    return keys, [outline(part) for part in parts]


def kind_of(value: Any) -> Any:
    """The same for all values that code sees as of one structure: types, and keys with
    their types and their order."""
    if isinstance(value, Mapping):
        entries = [(type(key), key, kind_of(part)) for key, part in value.items()]
        if isinstance(value, defaultdict):
            entries.append((defaultdict, value.default_factory, None))
        return (type(value), *entries)
    if isinstance(value, (list, tuple)):
        return (type(value), *(kind_of(part) for part in value))
    return None


def words_of_kind(kind: Any) -> str:
    """Such a kind of [args, kwargs] for a reader, with a dot for each value."""
    if kind is None:
        return "."
    of, *parts = kind
    if issubclass(of, Mapping):
        entries = (f"{key!r}: {words_of_kind(part)}" for _, key, part in parts)
        return f"{'' if of is dict else of.__name__}{{{', '.join(entries)}}}"
    words = ", ".join(map(words_of_kind, parts))
    return f"[{words}]" if issubclass(of, list) else f"({words})"


def pack(structure: Any, leaves: Iterable[Any]) -> Any:
    """A value of this structure that holds the leaves."""
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        made = {key: _pack(structure[key], leaves) for key in _sorted(structure)}
        ordered = {key: made[key] for key in structure}
        kind: Any = type(structure)
        if isinstance(structure, defaultdict):
            return kind(structure.default_factory, ordered)
        return ordered if kind is dict else kind(ordered)
    if isinstance(structure, (list, tuple)):
        parts = [_pack(part, leaves) for part in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*parts)
        return type(structure)(parts)
    return next(leaves)

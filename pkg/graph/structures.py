# SPDX-License-Identifier: Apache-2.0
"""Nested lists, tuples, named tuples and dicts as flat lists of what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["flatten", "outline", "pack"]


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return None


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
    keys = sorted(value) if isinstance(value, Mapping) else None
    return keys, [outline(part) for part in parts]


def pack(structure: Any, leaves: Iterable[Any]) -> Any:
    """A value of this structure that holds the leaves."""
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        made = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        ordered = {key: made[key] for key in structure}
        kind: Any = type(structure)
        return ordered if kind is dict else kind(ordered)
    if isinstance(structure, (list, tuple)):
        parts = [_pack(part, leaves) for part in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*parts)
        return type(structure)(parts)
    return next(leaves)

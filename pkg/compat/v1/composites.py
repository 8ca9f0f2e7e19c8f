# SPDX-License-Identifier: Apache-2.0
"""Structures of values, of which some are several tensors: a SparseTensor, a
TensorArray.

Such a value has ``_parts()``, its tensors, and ``_of(parts)``, the same of other
tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...graph.structures import flatten, outline, pack
from .shapes import as_shape

__all__ = ["check_alike", "joined", "parts_of", "shapes_of", "spread"]


def parts_of(value: Any) -> list[Any] | None:
    """The tensors of a value that is several; None of any other."""
    found = getattr(value, "_parts", None)
    return None if found is None else list(found())


def spread(structure: Any, convert: Callable[[Any], Any]) -> list[Any]:
    """All tensors of a structure, from the first to the last."""
    made: list[Any] = []
    for leaf in flatten(structure):
        parts = parts_of(leaf)
        made += [convert(leaf)] if parts is None else map(convert, parts)
    return made


def joined(structure: Any, tensors: Iterable[Any]) -> Any:
    """The structure with other tensors, which are as many."""
    left = iter(tensors)
    return pack(structure, [_joined(leaf, left) for leaf in flatten(structure)])


def _joined(leaf: Any, left: Iterator[Any]) -> Any:
    parts = parts_of(leaf)
    if parts is None:
        return next(left)
    return leaf._of([next(left) for _ in parts])


def shapes_of(structure: Any, shapes: Any, tensors: list[Any]) -> list[Any]:
    """The shape that each tensor of a structure keeps in a loop.

    shapes: one for each value, or None: those of the tensors.  Arrays have their own.
    """
    made: list[Any] = []
    leaves = flatten(structure)
    given = [None] * len(leaves) if shapes is None else _along(structure, shapes)
    for leaf, shape in zip(leaves, given):
        parts = parts_of(leaf)
        there = tensors[len(made) : len(made) + (1 if parts is None else len(parts))]
        if parts is not None and (shapes is not None or hasattr(leaf, "flow")):
            made += leaf._part_shapes(shape)
        else:
            made += [t.shape for t in there] if shapes is None else [shape]
    return made


def _along(structure: Any, shapes: Any) -> list[Any]:
    # The shape that stands where each leaf stands.
    if isinstance(structure, Mapping):
        keys = sorted(structure)
        if not isinstance(shapes, Mapping) or sorted(shapes) != keys:
            raise ValueError(
                f"[while_loop] expected shape_invariants for {keys}, got {shapes!r}."
            )
        return [shape for key in keys for shape in _along(structure[key], shapes[key])]
    if not isinstance(structure, (list, tuple)):
        return [as_shape(shapes)]
    if not isinstance(shapes, (list, tuple)) or len(shapes) != len(structure):
        raise ValueError(
            f"[while_loop] expected {len(structure)} shape_invariants, got {shapes!r}."
        )
    return [s for part, given in zip(structure, shapes) for s in _along(part, given)]


def _kinds(structure: Any) -> list[Any]:
    found = []
    for leaf in flatten(structure):
        parts = parts_of(leaf)
        found.append(None if parts is None else (type(leaf), len(parts)))
    return found


def check_alike(first: Any, second: Any, what: str) -> None:
    """ValueError unless both are the same structure of the same sorts of values."""
    n, m = len(flatten(first)), len(flatten(second))
    if n != m:
        said = f"the same nested structure, nor the same number of elements: {n}, {m}"
    elif outline(first) != outline(second) or _kinds(first) != _kinds(second):
        said = "the same nested structure"
    else:
        return
    raise ValueError(
        f"{what}The two structures don't have {said}. First structure: {first!r}. "
        f"Second structure: {second!r}."
    )

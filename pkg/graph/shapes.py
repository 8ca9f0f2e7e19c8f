# SPDX-License-Identifier: Apache-2.0
"""Shapes that are known in part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

__all__ = ["TensorShape", "sizes_of"]


class TensorShape(tuple[Any, ...]):
    """A shape with None for unknown sizes; `ndims` is None if nothing is known."""

    ndims: int | None

    def __new__(cls, sizes: Iterable[int | None] | None) -> TensorShape:
        """A shape of these sizes; None: not even their number is known."""
        if isinstance(sizes, TensorShape) and sizes.ndims is None:
            sizes = None
        if sizes is None and cls is TensorShape:
            cls = _UnknownShape
        held = () if sizes is None else tuple(sizes)
        if cls is _UnknownShape:
            held = (None,)  # which is no size: the core refuses it
        made = super().__new__(cls, held)
        made.ndims = None if sizes is None else tuple.__len__(made)
        return made

    rank = property(lambda self: self.ndims)
    dims = property(lambda self: None if self.ndims is None else list(self))

    def as_list(self) -> list[int | None]:
        """The sizes; ValueError if their number is unknown."""
        if self.ndims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self.ndims is not None and None not in self

    def num_elements(self) -> int | None:
        """How many elements there are, or None."""
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self:
            count *= size
        return count

    def __repr__(self) -> str:
        """TensorShape([2, None]), TensorShape(None)."""
        return f"TensorShape({None if self.ndims is None else list(self)})"

    def __str__(self) -> str:
        """(2, ?), <unknown>."""
        if self.ndims is None:
            return "<unknown>"
        sizes = ", ".join("?" if size is None else str(size) for size in self)
        return f"({sizes},)" if len(self) == 1 else f"({sizes})"


class _UnknownShape(TensorShape):
    """Of which nothing is known: not that of a scalar, though a tuple of nothing."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise ValueError(
            "[shape] expected a shape of a known number of dimensions, got <unknown>, "
            "which has no length and no sizes. Hint: `ndims` is None there."
        )

    __iter__ = __len__ = __getitem__ = __contains__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = count = index = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle, which would ask for the sizes."""
        return TensorShape, (None,)

    def __bool__(self) -> bool:
        """False: nothing is known."""
        return False

    def __eq__(self, other: object) -> bool:
        """Whether the other one is unknown as well."""
        return isinstance(other, TensorShape) and other.ndims is None

    def __ne__(self, other: object) -> bool:
        """Whether something is known of the other one."""
        return not self == other

    def __hash__(self) -> int:
        """One for all."""
        return hash(_UnknownShape)


def sizes_of(shape: Any) -> list[int] | None:
    """The sizes for the core: -1 for None, None if nothing is known."""
    if shape is None or getattr(shape, "ndims", 0) is None:
        return None
    if isinstance(shape, TensorShape):
        sizes = shape.as_list()
    else:
        sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if isinstance(size, float):
            raise TypeError(f"[shape] expected whole sizes, got {size} in {sizes}.")
        if size is not None and int(size) < 0:
            raise ValueError(
                f"[shape] expected sizes from 0 on, or None, got {size} in {sizes}."
            )
    return [-1 if size is None else int(size) for size in sizes]

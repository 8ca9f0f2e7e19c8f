# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's shapes, whose sizes are objects that may be unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...graph import TensorShape as _TensorShape

__all__ = ["Dimension", "TensorShape", "as_shape"]


class Dimension:
    """A size; ``value`` is None where it is not known."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        value = value.value if isinstance(value, Dimension) else value
        if value is not None and int(value) < 0:
            raise ValueError(f"Dimension {value} must be >= 0")
        self.value: int | None = None if value is None else int(value)

    def __int__(self) -> int:
        """The size; TypeError if it is not known."""
        if self.value is None:
            raise TypeError("expected a size that is known, got Dimension(None).")
        return self.value

    __index__ = __int__

    def __eq__(self, other: object) -> Any:
        """Whether both are known and equal; None where one is not known."""
        other = getattr(other, "value", other)
        if self.value is None or other is None:
            return None
        return self.value == other

    def __ne__(self, other: object) -> Any:
        """Whether both are known and differ; None where one is not known."""
        same = self == other
        return None if same is None else not same

    def __hash__(self) -> int:
        """By value."""
        return hash(self.value)

    def _with(self, other: Any, function: Any) -> Dimension:
        other = getattr(other, "value", other)
        if self.value is None or other is None:
            return Dimension(None)
        return Dimension(function(self.value, int(other)))

    def __add__(self, other: Any) -> Dimension:
        """The sum, unknown if one is."""
        return self._with(other, int.__add__)

    def __sub__(self, other: Any) -> Dimension:
        """The difference, unknown if one is."""
        return self._with(other, int.__sub__)

    def __mul__(self, other: Any) -> Dimension:
        """The product, unknown if one is."""
        return self._with(other, int.__mul__)

    def __floordiv__(self, other: Any) -> Dimension:
        """The quotient, unknown if one is."""
        return self._with(other, int.__floordiv__)

    def __mod__(self, other: Any) -> Dimension:
        """The remainder, unknown if one is."""
        return self._with(other, int.__mod__)

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        """Dimension(3)."""
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        """3, or ?."""
        return "?" if self.value is None else str(self.value)


class TensorShape(_TensorShape):
    """A shape whose items are Dimensions."""

    def __new__(cls, dims: Any) -> TensorShape:
        """A shape of these sizes; None: not even their number is known."""
        if isinstance(dims, _TensorShape):
            dims = None if dims.ndims is None else tuple.__iter__(dims)
        elif isinstance(dims, (int, Dimension)):
            dims = [dims]
        if dims is not None:
            dims = [Dimension(dim).value for dim in dims]
        made = super().__new__(cls, dims)
        assert isinstance(made, TensorShape)
        return made

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes; None if their number is not known."""
        return None if self.ndims is None else list(self)

    def as_list(self) -> list[int | None]:
        """Plain sizes; ValueError if their number is not known."""
        if self.ndims is None:
            return super().as_list()
        return list(tuple.__iter__(self))

    def __iter__(self) -> Iterator[Dimension]:
        """Dimensions; ValueError if their number is not known."""
        if self.ndims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return map(Dimension, tuple.__iter__(self))

    def __getitem__(self, key: Any) -> Any:
        """A Dimension, or a part of the shape; all unknown if their number is."""
        if self.ndims is None:
            return TensorShape(None) if isinstance(key, slice) else Dimension(None)
        found = tuple.__getitem__(self, key)
        return TensorShape(found) if isinstance(key, slice) else Dimension(found)

    def __len__(self) -> int:
        """How many sizes there are; ValueError if that is not known."""
        if self.ndims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return self.ndims

    def __bool__(self) -> bool:
        """Whether it is known how many sizes there are."""
        return self.ndims is not None

    def __eq__(self, other: object) -> bool:
        """Whether the same is known of both."""
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return False
        return self.ndims == other.ndims and tuple.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        """Whether something else is known of the other one."""
        return not self == other

    def __hash__(self) -> int:
        """By the sizes."""
        return tuple.__hash__(self)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self.ndims is not None and None not in self.as_list()

    def num_elements(self) -> int | None:
        """How many elements there are, or None."""
        if not self.is_fully_defined():
            return None
        count = 1
        for dim in self:
            count *= int(dim)
        return count

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor can have both shapes."""
        other = as_shape(other)
        if self.ndims is None or other.ndims is None:
            return True
        return self.ndims == other.ndims and all(
            a is None or b is None or a == b
            for a, b in zip(self.as_list(), other.as_list())
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError if no tensor can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are not compatible")

    def merge_with(self, other: Any) -> TensorShape:
        """What both say together; ValueError if no tensor can have both shapes."""
        other = as_shape(other)
        self.assert_is_compatible_with(other)
        if self.ndims is None or other.ndims is None:
            return other if self.ndims is None else self
        pairs = zip(self.as_list(), other.as_list())
        return TensorShape([b if a is None else a for a, b in pairs])

    def with_rank(self, rank: int) -> TensorShape:
        """The shape, with so many sizes; ValueError if it has others."""
        return self.merge_with([None] * rank)

    def __repr__(self) -> str:
        """TensorShape([Dimension(2), Dimension(None)])."""
        return f"TensorShape({self.dims})"

    def __str__(self) -> str:
        """(2, ?), <unknown>."""
        if self.ndims is None:
            return "<unknown>"
        sizes = ", ".join(map(str, self))
        return f"({sizes},)" if len(self) == 1 else f"({sizes})"


def as_shape(shape: Any) -> TensorShape:
    """A TensorShape of what may be one, or a list of sizes."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)

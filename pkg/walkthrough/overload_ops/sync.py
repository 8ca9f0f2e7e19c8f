# SPDX-License-Identifier: Apache-2.0
"""Scalar with overloaded operators, computed at once."""

from __future__ import annotations

from typing import Any

from ..._binding import core
from .._numbers import Number, as_double
from .._protocol import Op, UnsupportedOperandError, Value

__all__ = ["Scalar", "UnsupportedOperandError"]


class Scalar(Value):
    """Scalar(x): a float64 number, held by a 0-d tensor."""

    __slots__ = ("_tensor",)
    __hash__ = None  # type: ignore[assignment]  # `v` can be written, so a key would change under its dict

    def __init__(self, x: Number) -> None:
        self._tensor = core.tensor(as_double("Scalar", "x", x), dtype=core.float64)

    @property
    def v(self) -> float:
        """The value; it can be written."""
        value: float = self._tensor.item()
        return value

    @v.setter
    def v(self, value: Number) -> None:
        self._tensor.fill_(as_double("Scalar.v", "value", value))

    @classmethod
    def _apply(cls, op: Op, *operands: Any) -> Scalar:
        result = cls.__new__(cls)
        result._tensor = op(*[x if type(x) is float else x._tensor for x in operands])
        return result

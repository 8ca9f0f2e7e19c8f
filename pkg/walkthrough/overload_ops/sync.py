# SPDX-License-Identifier: Apache-2.0
"""Scalar with overloaded operators, computed at once."""

from ..._binding import core
from .._numbers import as_double
from .._protocol import UnsupportedOperandError, Value

__all__ = ["Scalar", "UnsupportedOperandError"]


class Scalar(Value):
    """Scalar(x): a float64 number, held by a 0-d tensor."""

    __slots__ = ("_tensor",)
    __hash__ = None  # `v` can be written, so a key would change under its dict

    def __init__(self, x):
        self._tensor = core.tensor(as_double("Scalar", "x", x), dtype=core.float64)

    @property
    def v(self):
        """The value; it can be written."""
        return self._tensor.item()

    @v.setter
    def v(self, value):
        self._tensor.fill_(as_double("Scalar.v", "value", value))

    @classmethod
    def _apply(cls, op, *operands):
        result = cls.__new__(cls)
        result._tensor = op(*[x if type(x) is float else x._tensor for x in operands])
        return result

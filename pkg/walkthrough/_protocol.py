# SPDX-License-Identifier: Apache-2.0
"""Python's number protocol, once, for every Scalar of the walkthrough.

A class gives ``_apply(op, *operands)``, where each operand is a Scalar of the class or
a float, and ``v``; the operators, comparisons and conversions come from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import ops
from ._numbers import as_double

_S = TypeVar("_S", bound="Arithmetic")
Op = Callable[..., Any]  # of pkg.ops


class UnsupportedOperandError(TypeError, RuntimeError):
    """The left operand of an operator is nothing that a Scalar works with."""


def _operand(cls: type[_S], value: Any) -> _S | float | None:
    """A Scalar of the class or a float; None for what takes no part."""
    if isinstance(value, cls):
        return value
    try:
        return as_double(cls.__name__, "other", value)
    except TypeError:
        return None


def _forward(op: Op) -> Callable[[_S, Any], _S]:
    def operator(self: _S, other: Any) -> Any:
        other = _operand(type(self), other)
        if other is None:
            return NotImplemented  # the right operand gets its chance
        return self._apply(op, self, other)

    return operator


def _reflected(op: Op, sign: str) -> Callable[[_S, Any], _S]:
    def operator(self: _S, other: Any) -> _S:
        # Python asks the right operand last: nobody is left to pass the question to.
        number = _operand(type(self), other)
        if number is None:
            kind = type(other).__name__
            raise UnsupportedOperandError(f"Unsupported type for {sign}: '{kind}'")
        return self._apply(op, number, self)

    return operator


def _unary(op: Op) -> Callable[[_S], _S]:
    def operator(self: _S) -> _S:
        return self._apply(op, self)

    return operator


class Arithmetic:
    """+ - * / // % ** and unary - + abs; numbers on either side; not in place."""

    __slots__ = ()
    # NumPy leaves mixed expressions to us; arrays are refused with a clear error.
    __array_ufunc__ = None

    if TYPE_CHECKING:

        @property
        def v(self) -> float: ...
        @classmethod
        def _apply(cls: type[_S], op: Op, *operands: Any) -> _S: ...

    __add__, __radd__ = _forward(ops.add), _reflected(ops.add, "+")
    __sub__, __rsub__ = _forward(ops.sub), _reflected(ops.sub, "-")
    __mul__, __rmul__ = _forward(ops.mul), _reflected(ops.mul, "*")
    __truediv__, __rtruediv__ = _forward(ops.div), _reflected(ops.div, "/")
    __floordiv__ = _forward(ops.floor_divide)
    __rfloordiv__ = _reflected(ops.floor_divide, "//")
    __mod__, __rmod__ = _forward(ops.remainder), _reflected(ops.remainder, "%")
    __pow__, __rpow__ = _forward(ops.pow), _reflected(ops.pow, "**")
    __neg__ = _unary(ops.neg)
    __abs__ = _unary(ops.abs)

    def __pos__(self: _S) -> _S:
        """A Scalar of the same value."""
        return self._apply(ops.add, self, 0.0)

    def __float__(self) -> float:
        """The value; waits if needed."""
        return self.v

    def __int__(self) -> int:
        """The value without its fraction; waits if needed."""
        return int(self.v)

    def __bool__(self) -> bool:
        """Whether the value is not zero; waits if needed."""
        return self.v != 0.0

    def __round__(self, digits: int | None = None) -> float:
        """Python's round of the value; waits if needed."""
        return round(self.v, digits)


def _comparison(name: str) -> Callable[[Any, object], bool]:
    compare = getattr(float, name)

    def operator(self: Value, other: Any) -> Any:
        other = _operand(type(self), other)
        if other is None:
            return NotImplemented
        return compare(self.v, other if type(other) is float else other.v)

    operator.__name__ = name
    return operator


class Value(Arithmetic):
    """Compared, hashed, copied and pickled by value."""

    __slots__ = ()
    __eq__ = _comparison("__eq__")
    __ne__ = _comparison("__ne__")
    __lt__ = _comparison("__lt__")
    __le__ = _comparison("__le__")
    __gt__ = _comparison("__gt__")
    __ge__ = _comparison("__ge__")

    def __repr__(self) -> str:
        """The shortest text that reads back; waits if needed."""
        return f"{type(self).__name__}({self.v!r})"

    def __hash__(self) -> int:
        """That of the number, as the two are equal."""
        return hash(self.v)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the value; waits if needed."""
        return type(self), (self.v,)

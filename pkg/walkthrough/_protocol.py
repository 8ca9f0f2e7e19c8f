# SPDX-License-Identifier: Apache-2.0
"""Python's number protocol, once, for every Scalar of the walkthrough.

A class gives ``_apply(op, *operands)``, where each operand is a Scalar of the class or a
float, and ``v``; the operators, comparisons and conversions come from here.
"""

from .. import ops
from ._numbers import as_double


class UnsupportedOperandError(TypeError, RuntimeError):
    """The left operand of an operator is nothing that a Scalar works with."""


def _operand(cls, value):
    """A Scalar of the class or a float; None for what takes no part."""
    if isinstance(value, cls):
        return value
    try:
        return as_double(cls.__name__, "other", value)
    except TypeError:
        return None


def _forward(op):
    def operator(self, other):
        other = _operand(type(self), other)
        if other is None:
            return NotImplemented  # the right operand gets its chance
        return self._apply(op, self, other)

    return operator


def _reflected(op, sign):
    def operator(self, other):
        # Python asks the right operand last: nobody is left to pass the question to.
        number = _operand(type(self), other)
        if number is None:
            kind = type(other).__name__
            raise UnsupportedOperandError(f"Unsupported type for {sign}: '{kind}'")
        return self._apply(op, number, self)

    return operator


def _unary(op):
    def operator(self):
        return self._apply(op, self)

    return operator


class Arithmetic:
    """+ - * / // % ** and unary - + abs, with numbers on either side; never in place."""

    __slots__ = ()
    # NumPy leaves mixed expressions to us; arrays are refused with a clear error.
    __array_ufunc__ = None

    def __pos__(self):
        """A Scalar of the same value."""
        return self._apply(ops.add, self, 0.0)

    def __float__(self):
        """The value; waits if needed."""
        return self.v

    def __int__(self):
        """The value without its fraction; waits if needed."""
        return int(self.v)

    def __bool__(self):
        """Whether the value is not zero; waits if needed."""
        return self.v != 0.0

    def __round__(self, digits=None):
        """Python's round of the value; waits if needed."""
        return round(self.v, digits)


for _name, _sign, _op in (
    ("add", "+", ops.add),
    ("sub", "-", ops.sub),
    ("mul", "*", ops.mul),
    ("truediv", "/", ops.div),
    ("floordiv", "//", ops.floor_divide),
    ("mod", "%", ops.remainder),
    ("pow", "**", ops.pow),
):
    setattr(Arithmetic, f"__{_name}__", _forward(_op))
    setattr(Arithmetic, f"__r{_name}__", _reflected(_op, _sign))
Arithmetic.__neg__ = _unary(ops.neg)
Arithmetic.__abs__ = _unary(ops.abs)


def _comparison(name):
    compare = getattr(float, name)

    def operator(self, other):
        other = _operand(type(self), other)
        if other is None:
            return NotImplemented
        return compare(self.v, other if type(other) is float else other.v)

    operator.__name__ = name
    return operator


class Value(Arithmetic):
    """Compared, hashed, copied and pickled by value."""

    __slots__ = ()

    def __repr__(self):
        """The shortest text that reads back; waits if needed."""
        return f"{type(self).__name__}({self.v!r})"

    def __hash__(self):
        """That of the number, as the two are equal."""
        return hash(self.v)

    def __reduce__(self):
        """Pickles the value; waits if needed."""
        return type(self), (self.v,)


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Value, _name, _comparison(_name))

# SPDX-License-Identifier: Apache-2.0
"""toy.h by ctypes, over the C functions of toy_c.h in libtoy_c.so beside this file."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from pathlib import Path

_lib = ctypes.CDLL(str(Path(__file__).with_name("libtoy_c.so")))
_Function = ctypes.CFUNCTYPE(c_int, c_void_p, c_double, POINTER(c_double))


def _declare(name, result, *arguments):
    function = getattr(_lib, name)
    function.restype, function.argtypes = result, arguments
    return function


_add = _declare("toy_add", c_double, c_double, c_double)
_twice = _declare("toy_twice", c_int, c_int)
_clamp = _declare("toy_clamp", c_double, c_double, c_double, c_double)
_greet = _declare("toy_greet", c_void_p, c_char_p, c_size_t, POINTER(c_size_t))
_free = _declare("toy_free", None, c_void_p)
_scaled = _declare(
    "toy_scaled", None, POINTER(c_double), c_size_t, c_double, POINTER(c_double)
)
_divide = _declare("toy_divide", c_int, c_double, c_double, POINTER(c_double))
_apply = _declare("toy_apply", c_int, _Function, c_void_p, c_double, POINTER(c_double))
_error = _declare("toy_error", c_char_p)
_new = _declare("toy_point_new", c_void_p, c_double, c_double)
_delete = _declare("toy_point_delete", None, c_void_p)
_norm2 = _declare("toy_point_norm2", c_double, c_void_p)
_dot = _declare("toy_point_dot", c_double, c_void_p, c_void_p)
_move = _declare("toy_point_move", None, c_void_p, c_double, c_double)
_plus = _declare("toy_point_add", c_void_p, c_void_p, c_void_p)
_equal = _declare("toy_point_equal", c_int, c_void_p, c_void_p)
_x = _declare("toy_point_x", c_double, c_void_p)
_y = _declare("toy_point_y", c_double, c_void_p)
_set_x = _declare("toy_point_set_x", None, c_void_p, c_double)
_set_y = _declare("toy_point_set_y", None, c_void_p, c_double)


def add(a, b):
    """Sum of two numbers."""
    return _add(a, b)


def twice(n):
    """`n` times two."""
    return _twice(n)


def clamp(value, low=0.0, high=1.0):
    """`value`, but not below `low` nor above `high`."""
    return _clamp(value, low, high)


def greet(name):
    """A greeting."""
    data, length = name.encode(), c_size_t()
    result = _greet(data, len(data), byref(length))
    try:
        return ctypes.string_at(result, length.value).decode()
    finally:
        _free(result)


def scaled(values, by):
    """Each value times `by`."""
    array = c_double * len(values)
    result = array()
    _scaled(array(*values), len(values), by, result)
    return list(result)


def divide(a, b):
    """`a` divided by `b`."""
    result = c_double()
    if _divide(a, b, byref(result)) != 0:
        raise ValueError(_error().decode())
    return result.value


def apply(f, x):
    """`f(x)`."""
    raised = None

    @_Function
    def call(_, value, out):
        nonlocal raised
        try:
            out[0] = f(value)
            return 0
        except BaseException as err:
            raised = err
            return -1

    result = c_double()
    if _apply(call, None, x, byref(result)) != 0:
        try:
            raise raised
        finally:
            raised = None  # else it would keep this frame alive
    return result.value


class Point:
    """A point of the plane."""

    __slots__ = ("__dict__", "__weakref__", "_handle")

    def __init__(self, x, y):
        self._handle = None
        self._handle = _new(x, y)

    def __del__(self, _delete=_delete):
        if getattr(self, "_handle", None) is not None:
            _delete(self._handle)

    def norm2(self):
        """Square of the distance from the origin."""
        return _norm2(self._handle)

    def dot(self, other):
        """Scalar product."""
        if not isinstance(other, Point):
            raise TypeError(f"dot() expected Point, got {type(other).__name__}")
        return _dot(self._handle, other._handle)

    def move(self, dx, dy):
        """Moves the point in place."""
        _move(self._handle, dx, dy)

    def __add__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        result = Point.__new__(Point)
        result._handle = _plus(self._handle, other._handle)
        return result

    def __eq__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return _equal(self._handle, other._handle) != 0

    @property
    def x(self):
        return _x(self._handle)

    @x.setter
    def x(self, value):
        _set_x(self._handle, value)

    @property
    def y(self):
        return _y(self._handle)

    @y.setter
    def y(self, value):
        _set_y(self._handle, value)

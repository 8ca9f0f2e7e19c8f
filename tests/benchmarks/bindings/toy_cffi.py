# SPDX-License-Identifier: Apache-2.0
"""toy.h by cffi in API mode, over the C functions of toy_c.h."""

from _toy_cffi import ffi, lib


def add(a, b):
    """Sum of two numbers."""
    return lib.toy_add(a, b)


def twice(n):
    """`n` times two."""
    return lib.toy_twice(n)


def clamp(value, low=0.0, high=1.0):
    """`value`, but not below `low` nor above `high`."""
    return lib.toy_clamp(value, low, high)


def greet(name):
    """A greeting."""
    data, length = name.encode(), ffi.new("size_t *")
    result = lib.toy_greet(data, len(data), length)
    try:
        return ffi.unpack(result, length[0]).decode()
    finally:
        lib.toy_free(result)


def scaled(values, by):
    """Each value times `by`."""
    count = len(values)
    result = ffi.new("double[]", count)
    lib.toy_scaled(ffi.new("double[]", values), count, by, result)
    return ffi.unpack(result, count)


def divide(a, b):
    """`a` divided by `b`."""
    result = ffi.new("double *")
    if lib.toy_divide(a, b, result) != 0:
        raise ValueError(ffi.string(lib.toy_error()).decode())
    return result[0]


class _Call:
    def __init__(self, function):
        self.function = function
        self.raised = None


@ffi.def_extern()
def toy_call_python(context, value, out):
    call = ffi.from_handle(context)
    try:
        out[0] = call.function(value)
        return 0
    except BaseException as err:
        call.raised = err
        return -1


def apply(f, x):
    """`f(x)`."""
    call = _Call(f)
    result = ffi.new("double *")
    if lib.toy_apply(lib.toy_call_python, ffi.new_handle(call), x, result) != 0:
        raise call.raised
    return result[0]


class Point:
    """A point of the plane."""

    __slots__ = ("__dict__", "__weakref__", "_handle")

    def __init__(self, x, y):
        self._handle = ffi.gc(lib.toy_point_new(x, y), lib.toy_point_delete)

    def norm2(self):
        """Square of the distance from the origin."""
        return lib.toy_point_norm2(self._handle)

    def dot(self, other):
        """Scalar product."""
        if not isinstance(other, Point):
            raise TypeError(f"dot() expected Point, got {type(other).__name__}")
        return lib.toy_point_dot(self._handle, other._handle)

    def move(self, dx, dy):
        """Moves the point in place."""
        lib.toy_point_move(self._handle, dx, dy)

    def __add__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        result = Point.__new__(Point)
        made = lib.toy_point_add(self._handle, other._handle)
        result._handle = ffi.gc(made, lib.toy_point_delete)
        return result

    def __eq__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return lib.toy_point_equal(self._handle, other._handle) != 0

    @property
    def x(self):
        return lib.toy_point_x(self._handle)

    @x.setter
    def x(self, value):
        lib.toy_point_set_x(self._handle, value)

    @property
    def y(self):
        return lib.toy_point_y(self._handle)

    @y.setter
    def y(self, value):
        lib.toy_point_set_y(self._handle, value)

# SPDX-License-Identifier: Apache-2.0
# toy_cython.pyx: toy.h by Cython.
# distutils: language = c++
# cython: language_level=3, embedsignature=True
from cpython.object cimport PyObject
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <functional>
    #include <Python.h>
    #include "toy.h"
    // The Python error is set, and Cython keeps the one that is set.
    struct PythonFunction {
      PyObject *callable;
      double operator()(double x) const {
        PyGILState_STATE state = PyGILState_Ensure();
        PyObject *result = PyObject_CallFunction(callable, "d", x);
        double value = result ? PyFloat_AsDouble(result) : -1.0;
        Py_XDECREF(result);
        const bool failed = value == -1.0 && PyErr_Occurred();
        PyGILState_Release(state);
        if (failed) throw std::runtime_error("Python error");
        return value;
      }
    };
    """
    cdef cppclass PythonFunction:
        PyObject *callable

cdef extern from "toy.h" namespace "toy":
    double c_add "toy::add"(double a, double b)
    int c_twice "toy::twice"(int n)
    double c_clamp "toy::clamp"(double value, double low, double high)
    string c_greet "toy::greet"(const string& name) except +
    vector[double] c_scaled "toy::scaled"(const vector[double]& v, double by) except +
    double c_divide "toy::divide"(double a, double b) except +
    double c_apply "toy::apply"(PythonFunction f, double x) except +
    cdef cppclass CPoint "toy::Point":
        CPoint(double x, double y) except +
        double norm2()
        double dot(const CPoint& other)
        void move(double dx, double dy)
        CPoint operator+(const CPoint& other)
        bint operator==(const CPoint& other)
        double x
        double y


def add(double a, double b):
    """Sum of two numbers."""
    return c_add(a, b)


def twice(int n):
    """`n` times two."""
    return c_twice(n)


def clamp(double value, double low=0.0, double high=1.0):
    """`value`, but not below `low` nor above `high`."""
    return c_clamp(value, low, high)


def greet(str name not None):
    """A greeting."""
    return c_greet(name.encode()).decode()


def scaled(vector[double] values, double by):
    """Each value times `by`."""
    return c_scaled(values, by)


def divide(double a, double b):
    """`a` divided by `b`."""
    return c_divide(a, b)


def apply(f, double x):
    """`f(x)`."""
    cdef PythonFunction function
    function.callable = <PyObject *>f
    return c_apply(function, x)


cdef class Point:
    """A point of the plane."""

    cdef CPoint *point

    def __cinit__(self, double x, double y):
        self.point = new CPoint(x, y)

    def __dealloc__(self):
        del self.point

    def norm2(self):
        """Square of the distance from the origin."""
        return self.point.norm2()

    def dot(self, Point other not None):
        """Scalar product."""
        return self.point.dot(other.point[0])

    def move(self, double dx, double dy):
        """Moves the point in place."""
        self.point.move(dx, dy)

    def __add__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        cdef Point result = Point.__new__(Point, 0.0, 0.0)
        result.point[0] = self.point[0] + (<Point>other).point[0]
        return result

    def __eq__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return self.point[0] == (<Point>other).point[0]

    @property
    def x(self):
        return self.point.x

    @x.setter
    def x(self, double value):
        self.point.x = value

    @property
    def y(self):
        return self.point.y

    @y.setter
    def y(self, double value):
        self.point.y = value

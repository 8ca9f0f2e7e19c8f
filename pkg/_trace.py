# SPDX-License-Identifier: Apache-2.0
"""``PKG_TRACE=calls``: a line on stderr for each call that goes from Python to C++.

    calls: PYTHON NAME -> WRAPPER -> C FUNCTION

docs/environment.md describes it. What the binding exports is replaced once, when it is
loaded, before any other module of pkg takes it; without the variable this module is not
loaded.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType, MethodType, ModuleType
from typing import Any

from ._symbol_table import c_functions_of, table_of

__all__ = ["trace"]

_PACKAGE = __name__.partition(".")[0]
# What the language calls by itself, or what makes and describes objects.
_LEFT_OUT = {
    *("__new__", "__init__", "__del__", "__class__", "__hash__", "__sizeof__"),
    *("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__dir__"),
    *("__buffer__", "__release_buffer__", "__class_getitem__", "__init_subclass__"),
    *("__subclasshook__", "__getstate__"),
}


def trace(core: ModuleType) -> None:
    """Replaces what the binding exports by what also says that it is called."""
    tracer = _Tracer(core)
    tensor = core.Tensor
    for name, value in list(vars(core).items()):
        if name.startswith("__") or not callable(value):
            continue
        if not isinstance(value, type):
            vars(core)[name] = tracer.traced(value, name)
        elif value is not tensor and not issubclass(value, BaseException):
            tracer.trace_class(value, value)
            if name in tracer.c_functions:
                vars(core)[name] = _Made(value, tracer)
    register = core.register_tensor_class

    @functools.wraps(register)
    def register_and_trace(cls: type) -> None:
        register(cls)  # gives the class methods of its own
        tracer.trace_class(cls, tensor)

    vars(core)["register_tensor_class"] = register_and_trace
    vars(core)["Operator"] = _operator_class(core.Operator, tracer)
    vars(core)["OpWrapper"] = _wrapper_maker(core.OpWrapper, tracer)


class _Tracer:
    """Knows what stands behind each name, and writes the lines."""

    def __init__(self, core: ModuleType) -> None:
        self.module = core.__name__
        self.c_functions = c_functions_of(core)
        self.declared = {row.name: row.signature for row in table_of(core)}

    def behind(self, entry: str) -> str:
        """The C functions of an entry, or its C++ declaration, or that of its class."""
        if entry in self.c_functions:
            return ", ".join(self.c_functions[entry])
        owner = entry.partition(".")[0]
        return self.declared.get(entry) or self.declared.get(owner) or "C++"

    def traced(self, function: Callable[..., Any], entry: str) -> Callable[..., Any]:
        """The function, with a line at each call."""
        behind = self.behind(entry)

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            self.say(entry, entry, behind)
            return function(*args, **named)

        return call

    def trace_class(self, cls: type, described: type) -> None:
        """Replaces the methods of `cls` that `described`, a class of C++, has.

        Type slots only in a class that is derived from it: its own are C's to call.
        """
        for name, value in list(vars(described).items()):
            slot = name.startswith("__")
            if name in _LEFT_OUT or name.startswith("_pybind11"):
                continue
            if not callable(value) or (slot and described is cls):
                continue
            made = self.traced(getattr(cls, name), f"{described.__name__}.{name}")
            static = isinstance(value, (staticmethod, classmethod))
            setattr(cls, name, staticmethod(made) if static else made)

    def say(self, python: str, entry: str, behind: str) -> None:
        """One line; `python` is the name where no function of pkg is around."""
        outermost = _outermost(sys._getframe(1))
        if outermost is not None:
            if outermost.f_code.co_name == "<module>":
                return  # pkg is imported
            name = outermost.f_code.co_qualname
            python = f"{outermost.f_globals['__name__']}.{name}"
        if sys.stderr is not None:  # in one piece, as threads write, too
            sys.stderr.write(f"calls: {python} -> {self.module}.{entry} -> {behind}\n")


def _outermost(frame: FrameType | None) -> FrameType | None:
    # What the program has called of pkg, by way of which it comes here.
    found = None
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != _PACKAGE and not name.startswith(f"{_PACKAGE}."):
            break
        if name != __name__:
            found = frame
        frame = frame.f_back
    return found


class _Made:
    """Stands for a class whose constructor calls a C function: to be called, for
    isinstance(), and for its static methods."""

    def __init__(self, cls: type, tracer: _Tracer) -> None:
        self._class = cls
        self._call = tracer.traced(cls, cls.__name__)
        self.__doc__ = cls.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._call(*args, **named)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._class)

    def __getattr__(self, name: str) -> Any:
        return getattr(_own(self, "_class"), name)


def _own(wrapper: Any, name: str) -> Any:
    # copy and pickle ask for attributes before there are any: that must not ask again.
    try:
        return vars(wrapper)[name]
    except KeyError:
        raise AttributeError(name) from None


def _wrapper_maker(wrapper: type, tracer: _Tracer) -> Callable[..., Any]:
    def made(function: Any, op: str, *rest: Any) -> Any:
        inner, name = wrapper(function, op, *rest), function.__qualname__

        def call(*args: Any, **named: Any) -> Any:
            tracer.say(f"{function.__module__}.{name}", "OpWrapper", op)
            return inner(*args, **named)

        return call

    return made


def _operator_class(operator: type, tracer: _Tracer) -> type:
    class Operator:
        """An op that can be called: the one of the binding, which it has."""

        def __init__(self, name: str, ns: str = "pkg", /) -> None:
            self._operator = operator(name, ns)
            self._place = name, ns
            self.__doc__ = self._operator.__doc__

        def __call__(self, *args: Any, **named: Any) -> Any:
            name, space = self._place
            tracer.say(f"{space}.{name}", "Operator", f"{space}::{name}")
            return self._operator(*args, **named)

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return self if instance is None else MethodType(self, instance)

        def __getattr__(self, name: str) -> Any:
            return getattr(_own(self, "_operator"), name)

        def __repr__(self) -> str:
            return repr(self._operator)

    Operator.__qualname__, Operator.__module__ = "Operator", operator.__module__
    return Operator

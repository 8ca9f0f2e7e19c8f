# SPDX-License-Identifier: Apache-2.0
"""Ops made of Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, overload

from .._binding import core
from . import registry
from .schemas import infer_schema


class CustomOpDef:
    """An op made of a function; calling it calls the op.  ``custom_op`` makes these."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function
        self._opoverload = registry.overload(name)
        self.__doc__ = function.__doc__
        self.__name__ = name.partition("::")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the op."""
        return self._opoverload(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._name})>"

    def register_kernel(
        self, device_types: Any, fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """As the function ``register_kernel``."""
        return registry.register_kernel(self, device_types, fn)

    def register_fake(self, fn: Callable[..., Any] | None = None, /) -> Any:
        """As the function ``register_fake``."""
        return registry.register_fake(self, fn)

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """As the function ``register_autograd``."""
        registry.register_autograd(self, backward, setup_context=setup_context)


@overload
def custom_op(
    name: str, fn: Callable[..., Any], /, *, mutates_args: str | Iterable[str],
    device_types: Any = None, schema: str | None = None,
) -> CustomOpDef: ...  # fmt: skip
@overload
def custom_op(
    name: str, fn: None = None, /, *, mutates_args: str | Iterable[str],
    device_types: Any = None, schema: str | None = None,
) -> Callable[[Callable[..., Any]], CustomOpDef]: ...  # fmt: skip
def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
) -> Any:
    """Make an op "ns::name" of a function; also as a decorator.

    A call of it is one node of a graph.

    mutates_args: the names of the arguments that it writes to, or "unknown".
    device_types: those that it is the kernel for; None: all.  schema:
    "(Tensor x) -> Tensor", else the annotations say it: see ``infer_schema``.  The
    function may not return what it was given.  ValueError for what makes no schema and
    for another device, RuntimeError for a name that is taken, TypeError for what is not
    callable; after each there is no such op.
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        if not isinstance(name, str):
            raise TypeError(
                f"[custom_op] expected a name as a str, got {type(name).__name__}."
            )
        if name.count("::") != 1:
            raise ValueError(
                f"[custom_op] expected a name such as 'mine::op', got {name!r}."
            )
        if not callable(function):
            raise TypeError(f"[custom_op] expected a callable, got {function!r}.")
        registry.devices_of(device_types)
        namespace, _, short = name.partition("::")
        registry.check_namespace(namespace)
        text = schema or infer_schema(function, mutates_args=mutates_args)
        # Objects that are called and functools.partial have no source of their own.
        code = getattr(inspect.unwrap(function), "__code__", None)
        where = f"{code.co_filename}:{code.co_firstlineno}" if code else registry.here()
        doc = (code and inspect.getdoc(function)) or ""
        made = core.define_op(namespace, f"{short}{text}", doc, where)
        registry.show()
        if device_types is None:
            # Shapes are another function's business: a kernel may need values.
            core._set_kernel(made, "CPU", function, where)
        else:
            registry.register_kernel(made, device_types, function)
        return CustomOpDef(made, function)

    return make if fn is None else make(fn)

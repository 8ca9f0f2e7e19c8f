# SPDX-License-Identifier: Apache-2.0
"""Attributes: how a Module keeps parameters, buffers and child modules apart.

The base class of Module.  Assignment sorts values into three dicts by their class; a
name keeps its kind until it is deleted.
"""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .parameter import Parameter

__all__ = ["Attributes"]


class Attributes:
    """Three dicts of registered values, which read like ordinary attributes."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        """Prepare the dicts; subclasses call this before they assign anything."""
        own = self.__dict__
        own["_parameters"], own["_buffers"], own["_modules"] = {}, {}, {}
        own["_non_persistent_buffers_set"] = set()
        own["training"] = True

    def __setattr__(self, name: str, value: Any) -> None:
        """Parameters, Modules and buffers go to their dict, the rest to the object."""
        own = self.__dict__
        if isinstance(value, (Parameter, Attributes)):
            if "_parameters" not in own:
                raise AttributeError(
                    f"cannot assign {type(value).__name__} before "
                    "Module.__init__() call"
                )
            kind = "_parameters" if isinstance(value, Parameter) else "_modules"
        else:
            kind = next((k for k in _EXPECTED if name in own.get(k, ())), "")
        if not kind:
            object.__setattr__(self, name, value)
            return
        self._check_kind(kind, name, value)
        if name not in own[kind]:
            self._forget(name)
        own[kind][name] = value

    def _check_kind(self, kind: str, name: str, value: Any) -> None:
        # A taken name keeps its kind, but a Parameter may replace a module or buffer.
        if kind == "_modules" and name in self._parameters:
            kind = "_parameters"
        accepted, what, wanted = _EXPECTED[kind]
        if value is not None and not isinstance(value, accepted):
            raise TypeError(
                f"cannot assign '{type(value).__name__}' as {what} '{name}' "
                f"({wanted} or None expected)"
            )

    def __getattr__(self, name: str) -> Any:
        """Looked up only when the object itself has no such attribute."""
        parameters = self.__dict__.get("_parameters")  # by far the most frequent kind
        if parameters is not None and name in parameters:
            return parameters[name]
        for kind in _EXPECTED:
            found = self.__dict__.get(kind)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'"
        )

    def __delattr__(self, name: str) -> None:
        """Remove an attribute of any kind."""
        if not self._forget(name):
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        """Ordinary attributes and the names of what is registered."""
        registered = (n for kind in _EXPECTED for n in self.__dict__.get(kind, ()))
        return sorted({*object.__dir__(self), *registered})

    def _forget(self, name: str) -> bool:
        self._non_persistent_buffers_set.discard(name)
        places = [self.__dict__[kind] for kind in _EXPECTED] + [self.__dict__]
        found = [place for place in places if name in place]
        for place in found:
            del place[name]
        return bool(found)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``; None keeps the place empty."""
        self._register("_parameters", name, param, "register_parameter")

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Add a tensor that is state but not trained; saved when ``persistent``."""
        self._register("_buffers", name, tensor, "register_buffer")
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Attributes | None) -> None:
        """Add a child module under ``name``; None keeps the place empty."""
        self._register("_modules", name, module, "add_module")

    register_module = add_module

    def _register(self, kind: str, name: str, value: Any, caller: str) -> None:
        if kind not in self.__dict__:
            raise AttributeError(f"cannot {caller} before Module.__init__() call")
        accepted, _, wanted = _EXPECTED[kind]
        if value is not None and not isinstance(value, accepted):
            raise TypeError(
                f"[{caller}] expected a {wanted} or None, got {type(value).__name__} "
                f"(name={name!r})."
            )
        if not isinstance(name, str):
            raise TypeError(f"[{caller}] expected a str, got {type(name).__name__}.")
        if not name or "." in name:
            raise KeyError(f"name must be non-empty and hold no '.', got {name!r}")
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")
        self.__dict__[kind][name] = value


# Per dict: the accepted class, and words for errors.
_EXPECTED: dict[str, tuple[type, str, str]] = {
    "_parameters": (Parameter, "parameter", "Parameter"),
    "_modules": (Attributes, "child module", "Module"),
    "_buffers": (Tensor, "buffer", "Tensor"),
}

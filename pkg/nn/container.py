# SPDX-License-Identifier: Apache-2.0
"""Modules made of modules: Sequential and ModuleList."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .module import Module

__all__ = ["ModuleList", "Sequential"]


class _Listed(Module):
    # What both containers share: children by position.

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._like(list(self._modules.items())[index])
        return self._modules[self._name(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def _name(self, index: int) -> str:
        count = len(self._modules)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of range (length={count})")
        return list(self._modules)[index]

    def append(self, module: Module) -> Any:
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add several modules at the end; returns the container."""
        for module in modules:
            self.append(module)
        return self

    def _like(self, items: list[tuple[str, Module]]) -> Any:
        raise NotImplementedError


class Sequential(_Listed):
    """Modules applied one after another; a dict argument names them."""

    def __init__(self, *args: Any) -> None:
        """Create it from modules, or from one dict of name to module."""
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        """Apply the modules in order."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _like(self, items: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(items))


class ModuleList(_Listed):
    """A list whose modules count as children; it has no forward of its own."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        """Create it from any modules."""
        super().__init__()
        self.extend(modules)

    def _like(self, items: list[tuple[str, Module]]) -> ModuleList:
        return ModuleList(module for _, module in items)

# SPDX-License-Identifier: Apache-2.0
"""Modules made of modules: Sequential, ModuleList and ModuleDict."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, TypeVar

from .module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]

L = TypeVar("L", bound="_Listed")


class _Listed(Module):
    # What Sequential and ModuleList share: children by position.

    def __len__(self) -> int:
        """Return the number of modules."""
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        """Yield the modules in order."""
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        """Return one module, or for a slice a container of the same class."""
        if isinstance(index, slice):
            return self._like(dict(list(self._modules.items())[index]))
        return self._modules[self._name(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        """Replace the module at a position."""
        setattr(self, self._name(index), module)

    def __delitem__(self, index: int | slice) -> None:
        """Remove modules; those behind move up and are renumbered."""
        names = list(self._modules)
        gone = names[index] if isinstance(index, slice) else [self._name(index)]
        named = any(name != str(i) for i, name in enumerate(names))
        left = [(n, m) for n, m in self._modules.items() if n not in gone]
        self._put(dict(left) if named else _numbered(m for _, m in left))

    def __iadd__(self: L, modules: Iterable[Module]) -> L:
        """Add several modules at the end."""
        return self.extend(modules)

    def __add__(self: L, modules: Iterable[Module]) -> L:
        """Return a new container with more modules at the end."""
        joined: L = self._like(_numbered([*self, *modules]))
        return joined

    def append(self: L, module: Module) -> L:
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: L, modules: Iterable[Module]) -> L:
        """Add several modules at the end; returns the container."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Add a module before the one at ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._put(_numbered(modules))

    def pop(self, index: int = -1) -> Module:
        """Remove the module at ``index`` and return it."""
        module: Module = self[index]
        del self[index]
        return module

    def _name(self, index: int) -> str:
        index, count = operator.index(index), len(self._modules)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of range (length={count})")
        return list(self._modules)[index]

    def _put(self, modules: dict[str, Module]) -> None:
        before = dict(self._modules)
        self._modules.clear()
        try:
            for name, module in modules.items():
                self.add_module(name, module)
        except BaseException:  # it is as it was
            self._modules.clear()
            self._modules.update(before)
            raise

    def _like(self, modules: dict[str, Module]) -> Any:
        raise NotImplementedError


def _numbered(modules: Iterable[Module]) -> dict[str, Module]:
    return {str(i): module for i, module in enumerate(modules)}


class Sequential(_Listed):
    """Modules applied one after another; a dict argument names them."""

    def __init__(self, *args: Any) -> None:
        """Create it from modules, or from one dict of name to module."""
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        """Apply the modules in order."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _like(self, modules: dict[str, Module]) -> Sequential:
        return type(self)(modules)


class ModuleList(_Listed):
    """A list whose modules count as children; it has no forward of its own."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        """Create it from any modules."""
        super().__init__()
        self.extend(modules or ())

    def _like(self, modules: dict[str, Module]) -> ModuleList:
        return type(self)(modules.values())

    def _child_lines(self) -> list[str]:
        # Runs of equal modules are one line, as PyTorch prints them.
        lines: list[str] = []
        texts = [repr(module).replace("\n", "\n  ") for module in self]
        first = 0
        for i, text in enumerate(texts):
            if i + 1 < len(texts) and texts[i + 1] == text:
                continue
            count = i + 1 - first
            lines.append(
                f"({i}): {text}" if count == 1 else f"({first}-{i}): {count} x {text}"
            )
            first = i + 1
        return lines


Named = Mapping[str, Module] | Iterable[tuple[str, Module]]


class ModuleDict(Module):
    """A dict whose modules count as children; it has no forward of its own."""

    def __init__(self, modules: Named | None = None) -> None:
        """Create it from a mapping, or from pairs of name and module."""
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Any:
        """Return the module of a name; KeyError when there is none."""
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        """Add or replace a module."""
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        """Remove a module."""
        del self._modules[key]

    def __len__(self) -> int:
        """Return the number of modules."""
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        """Yield the names in order of insertion."""
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        """Whether there is a module of that name."""
        return key in self._modules

    def update(self, modules: Named) -> None:
        """Add or replace several modules."""
        pairs = modules.items() if isinstance(modules, Mapping) else modules
        for name, module in pairs:
            self[name] = module

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> ValuesView[Any]:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, Any]:
        """Return pairs of name and module."""
        return self._modules.items()

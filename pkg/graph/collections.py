# SPDX-License-Identifier: Apache-2.0
"""What a graph keeps for its users: lists of anything, by name."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Collections"]


class Collections:
    """Lists by name."""

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to a list of this graph."""
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several lists; a name alone stands for one."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the list; with a scope, what has a name that matches it."""
        values = list(self._collections.get(name, ()))
        if scope is None:
            return values
        return [v for v in values if re.match(scope, getattr(v, "name", ""))]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself."""
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self) -> list[Any]:
        """Names of the lists that are not empty."""
        # A list first: other threads may add to it.
        return [name for name, values in list(self._collections.items()) if values]

    def clear_collection(self, name: Any) -> None:
        """Forgets a list."""
        self._collections.pop(name, None)

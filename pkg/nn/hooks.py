# SPDX-License-Identifier: Apache-2.0
"""RemovableHandle: what Module returns for a registered hook."""

from __future__ import annotations

import itertools
from typing import Any

__all__ = ["RemovableHandle"]

_keys = itertools.count()


class RemovableHandle:
    """Undoes the registration of a hook, also at the end of a ``with`` block."""

    def __init__(self, hooks: dict[int, Any], hook: Any, prepend: bool = False) -> None:
        """Add ``hook`` to ``hooks``, after the ones there unless ``prepend``."""
        self._hooks = hooks
        self._key = next(_keys)
        before = {} if not prepend else dict(hooks)
        if prepend:
            hooks.clear()
        hooks[self._key] = hook
        hooks.update(before)

    def remove(self) -> None:
        """Take the hook out; again is harmless."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        """Keep the hook for the length of a ``with`` block."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Remove the hook."""
        self.remove()

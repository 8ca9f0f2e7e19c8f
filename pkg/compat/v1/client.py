# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's sessions: those of pkg.graph, which give NumPy arrays."""

from __future__ import annotations

from typing import Any

from ... import graph as pg


class _Arrays:
    def _show(self, prepared: Any, results: list[Any]) -> Any:
        arrays = [t.numpy() if t.ndim else t.numpy()[()] for t in results]
        return arrays[0] if prepared.single else prepared.build(arrays)


class Session(_Arrays, pg.Session):
    """Runs parts of a graph; gives arrays and NumPy's numbers."""


class InteractiveSession(_Arrays, pg.InteractiveSession):
    """A session that is the default one until it is closed."""


class ConfigProto:
    """Accepts what TensorFlow's has, and needs nothing of it."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


class RunOptions:
    """timeout_in_ms: how long a run may take; 0: as long as it takes."""

    def __init__(self, timeout_in_ms: int = 0, **options: Any) -> None:
        self.timeout_in_ms = timeout_in_ms
        self.__dict__.update(options)


class RunMetadata:
    """What a run tells of itself: nothing yet."""

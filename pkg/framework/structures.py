# SPDX-License-Identifier: Apache-2.0
"""The outputs of a call as its wrapper gives them."""

from __future__ import annotations

from typing import Any

__all__ = ["structured"]


def structured(applied: Any) -> Any:
    """The one output, a list where the definition has a list, a tuple of several, or
    the operation, None outside of graphs, where there is none."""
    made: list[Any] = []
    rest = iter(applied.outputs)
    for count in applied.structure:
        made.append(next(rest) if count is None else [next(rest) for _ in range(count)])
    if not made:
        return applied.op if hasattr(applied.op, "graph") else None
    return made[0] if len(made) == 1 else tuple(made)

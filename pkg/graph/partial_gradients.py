# SPDX-License-Identifier: Apache-2.0
"""Gradients that stop at some symbols, as if these were constants.

The engine follows every way.  So what came through the symbols is taken away again: of
the sum over all ways from a y to x, those whose first stop is s are the gradient of y
at s, which stops itself, times all of the ways from s to x.
"""

from __future__ import annotations

from typing import Any

from .building import dtype_of
from .own_gradients import Plain

__all__ = ["stopped"]


def _place(symbol: Any) -> tuple[Any, int]:
    return symbol.op, symbol.value_index


def _reached(graph: Any, ys: list[Any], x: Any, stops: set[Any]) -> bool:
    # Whether a way leads from a y to x that no stop lies on.
    wanted, next_, seen = _place(x), list(ys), set()
    while next_:
        symbol = next_.pop()
        place = _place(symbol)
        if place == wanted:
            return True
        if place in stops or place in seen:
            continue
        seen.add(place)
        if symbol.op._handle.type() in ("While", "If"):
            # The variables that it reads are none of its inputs.
            if graph._handle.connected(symbol, x):
                return True
            continue
        next_ += symbol.op.inputs
    return False


def stopped(
    graph: Any, ys: list[Any], xs: list[Any], grad_ys: list[Any], stops: list[Any],
    plain: Plain,
) -> list[Any]:  # fmt: skip
    """The gradients, that stop at ``stops``; None where no other way leads to an x."""
    there = {_place(s): s for s in stops if dtype_of(s).is_floating_point}
    ages = {op: age for age, op in enumerate(graph.get_operations())}
    latest_first = sorted(there, key=lambda place: -ages[place[0]])
    at: dict[Any, Any] = {}  # the gradient at each stop

    def gradient(x: Any) -> Any:
        if not _reached(graph, ys, x, set(there)):
            return None
        total = plain(ys, [x], grad_ys)[0]
        own = _place(x)
        behind = [(there[p], g) for p, g in at.items() if g is not None and p != own]
        if total is None or not behind:
            return total
        symbols, grads = (list(side) for side in zip(*behind))
        too_much = plain(symbols, [x], grads)[0]
        return total if too_much is None else total - too_much

    for place in latest_first:
        at[place] = gradient(there[place])
    return [at[_place(x)] if _place(x) in at else gradient(x) for x in xs]

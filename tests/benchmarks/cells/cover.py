# SPDX-License-Identifier: Apache-2.0
"""Which public ops have cells, and why the others have none."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from fuzz.schema import schemas
from op_table import ELEMENTWISE, Row

from . import layers, making, middle, moving, picking, pointwise, products, reducing
from .recipe import FLOATS, INTS, Cell, Recipe, cells_of, recipe

FAMILIES = (pointwise, reducing, moving, picking, products, layers, making, middle)

#: Public ops without a cell.  The tests fail for an op that neither has a recipe.
WITHOUT = {
    "stop_gradient": "another tensor over the same memory: nothing is computed",
    "copy fill zero uniform normal": "PyTorch has the in-place form alone, which has "
    "cells; the other is for the graph",
    "to_dtype": "what x.to(dtype) calls; it has the cells",
}


@lru_cache(None)
def recipes() -> list[Recipe]:
    """Those of the families, and one for each other row of elementwise ops."""
    found = [made for family in FAMILIES for made in family.RECIPES]
    named = {op for made in found for op in made.ops}
    return found + [derived(row) for row in ELEMENTWISE if row.name not in named]


def derived(row: Row) -> Recipe:
    """What a new elementwise op gets by its row alone."""
    names = ("x", "y")[: row.arity]
    dtypes = FLOATS if "float32" in row.dtypes else INTS
    args = " ".join(f"{name}:RC:near" for name in names)
    return recipe("pointwise", row.name, f"T.{{op}}({', '.join(names)})", args,
                  dtypes=dtypes, grads=" ".join(names), broadcasts=True)  # fmt: skip


@lru_cache(None)
def reasons() -> dict[str, str]:
    return {op: why for ops, why in WITHOUT.items() for op in ops.split()}


def public_ops() -> list[str]:
    """Every overload that a user can call."""
    found = [s.full for overloads in schemas().values() for s in overloads]
    return [name for name in found if not name.startswith("_")]


def uncovered() -> list[str]:
    """Public ops that have neither a cell nor a reason to have none."""
    timed = {op for made in recipes() for op in made.ops}
    return [op for op in public_ops() if op not in timed and op not in reasons()]


def stale() -> list[str]:
    """Names that are no op; those of Python's own begin with "python."."""
    named = {op for made in recipes() for op in made.ops} | set(reasons())
    return sorted(n for n in named - set(public_ops()) if not n.startswith("python."))


def population(threads: tuple[int, ...], seed: str = "") -> dict[str, list[Cell]]:
    """All cells by op, no name twice; with a seed, their sizes are drawn by it."""
    found = defaultdict(dict)
    for made in recipes():
        for op in made.ops:
            found[op] |= {c.name: c for c in cells_of(made, op, threads, seed)}
    return {op: list(cells.values()) for op, cells in found.items()}

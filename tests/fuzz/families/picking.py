# SPDX-License-Identifier: Apache-2.0
"""Families of ops that pick elements, by slices and by indices."""

from __future__ import annotations

import math
from typing import Any

from fuzz.choose import Chooser
from fuzz.families.registry import Given, family
from fuzz.schema import Schema


def fits(shape: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape is no work."""
    return math.prod(shape) < 10_000


# --- Picking -------------------------------------------------------------------------


@family("select narrow slice _select_backward _slice_backward")
def _slices(c: Chooser, s: Schema) -> Given:
    shape = tuple(max(n, 1) for n in c.shape(1))
    dim = c.dim(len(shape))
    size = shape[dim]
    start = c.rng.randint(-size, size - 1)
    given: Given = {"dim": dim}
    left = list(shape)
    if "select" in s.name:
        given["index"] = start
        del left[dim]
    elif s.name == "narrow":
        given["start"], given["length"] = start, c.rng.randint(0, size - start % size)
    else:
        end, step = c.one(None, size, -1, 99, c.rng.randint(0, size)), c.one(1, 2, 3)
        given |= {"start": c.one(None, start), "end": end, "step": step}
        left[dim] = len(range(size)[given["start"] : end : step])
    if s.name.startswith("_"):
        return {**given, "grad": c.tensor(tuple(left)), "sizes": list(shape)}
    return {**given, "self": c.tensor(shape)}


@family("_diagonal_backward")
def _diagonal_backward(c: Chooser, s: Schema) -> Given:
    n, m = c.sized(), c.sized()
    offset = c.one(0, 1, -1)
    length = max(0, min(m - offset, n) if offset >= 0 else min(n + offset, m))
    given = {"grad": c.tensor((length,)), "sizes": [n, m], "offset": offset}
    return {**given, "dim1": 0, "dim2": 1}


@family("gather scatter scatter.value scatter_add _scatter take_along_dim")
def _gathers(c: Chooser, s: Schema) -> Given:
    shape = tuple(max(n, 1) for n in c.shape())
    dim, n = c.dim(len(shape)), len(shape)
    places = [c.rng.randint(0 if c.chance(0.2) else 1, m) for m in shape]
    if n and c.chance(0.5):
        places = list(shape)
    if n and (s.base in ("gather", "take_along_dim")):
        places[dim] = c.sized(0)
        if s.base == "take_along_dim":
            places = [
                p if d == dim % n else m for d, (p, m) in enumerate(zip(places, shape))
            ]
    kind = c.dtype
    index = c.index(tuple(places), shape[dim] if n else 1, "int64")
    given: Given = {"self": c.tensor(shape, kind), "dim": dim}
    given["indices" if s.param("indices") else "index"] = index
    if s.param("src"):
        grown = [p + c.one(0, 0, 1) for p in places] if c.chance(0.3) else places
        given["src"] = c.tensor(tuple(grown), kind)
        if s.base == "scatter" and c.chance(0.1):
            given["src"] = c.scalar()
    if s.base == "take_along_dim" and c.chance(0.2):
        given["dim"] = None
    return given


@family("index_select index_add index_copy index_fill _slices _slices_put")
def _indexed(c: Chooser, s: Schema) -> Given:
    least = 1 if s.name.startswith("_") else 0
    shape = tuple(max(n, 1) for n in c.shape(least))
    dim, kind = c.dim(len(shape)), c.dtype
    n = c.sized(0) if shape else 1
    own = c.tensor(shape, kind)
    given: Given = {"self": own, "dim": dim}
    lead = () if not shape and c.chance(0.5) else (n,)
    given["index"] = c.index(lead, shape[dim] if shape else 1)
    if s.param("source"):
        source = list(shape)
        if shape:
            source[dim] = n
        given["source"] = c.tensor(tuple(source), kind)
    return given


@family("index index_put _index _index_put")
def _by_tensors(c: Chooser, s: Schema) -> Given:
    shape = tuple(max(n, 1) for n in c.shape(1, 6))
    count = c.rng.randint(1, len(shape))
    common = c.shape(0, 2)
    indices: list[Any] = []
    if c.chance(0.15) and not s.name.startswith("_"):
        count = c.rng.randint(1, len(shape))
        indices = [c.bools(shape[:count])]
        rest = shape[count:]
        values = c.tensor((), c.dtype)
    else:
        for d in range(count):
            skip = c.chance(0.2) and not s.name.startswith("_")
            places = common if c.chance(0.7) else c.broadcastable(common)
            indices.append(None if skip else c.index(places, shape[d]))
        given = [d for d, i in enumerate(indices) if i is not None]
        dense = given == list(range(len(given)))
        rest = shape[len(given) :]
        full = (*common, *rest) if dense else ()
        values = c.tensor(c.broadcastable(full) if fits(full) else (), c.dtype)
    made: Given = {"self": c.tensor(shape, c.dtype), "indices": indices}
    if s.param("values"):
        made["values"] = values
    return made


@family("take")
def _take(c: Chooser, s: Schema) -> Given:
    own = c.tensor(c.shape())
    return {"self": own, "index": c.index(c.shape(), own.numel, "int64")}


@family("embedding")
def _embedding(c: Chooser, s: Schema) -> Given:
    n = c.sized()
    weight = c.tensor((n, c.size()), c.floating() if c.chance(0.9) else None)
    return {"weight": weight, "indices": c.index(c.shape(0, 4), n)}


@family("one_hot _one_hot")
def _one_hot(c: Chooser, s: Schema) -> Given:
    given: Given = {"self": c.index(c.shape(0, 6), 5, "int64")}
    if s.name == "_one_hot":
        given["num_classes"] = c.one(5, 7)
    elif c.chance(0.6):
        given["num_classes"] = c.one(5, 7, -1)
    return given

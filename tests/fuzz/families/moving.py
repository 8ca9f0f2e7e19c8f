# SPDX-License-Identifier: Apache-2.0
"""Families of ops that move elements, or see them in another shape."""

from __future__ import annotations

import math

from fuzz.choose import OMIT, Chooser
from fuzz.families.registry import Given, family
from fuzz.schema import Schema


def regrouped(c: Chooser, shape: tuple[int, ...]) -> list[int]:
    """Another shape of as many elements."""
    parts = [n for n in shape if n != 1] or [1]
    c.rng.shuffle(parts)
    while len(parts) > 1 and c.chance(0.5):
        parts = [parts[0] * parts[1], *parts[2:]]
    while c.chance(0.25) and len(parts) < 9:
        parts.insert(c.rng.randrange(len(parts) + 1), 1)
    if parts == [1] and c.chance(0.5):
        return []
    return parts


@family("view reshape")
def _reshapes(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    wanted = regrouped(c, shape)
    if wanted and c.chance(0.3) and 0 not in shape:
        wanted[c.rng.randrange(len(wanted))] = -1
    layouts = s.name == "reshape" or c.chance(0.2)
    return {"self": c.tensor(shape, layouts=layouts), s.params[1].name: wanted}


@family("view_as reshape_as")
def _reshapes_as(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    own = c.tensor(shape, layouts=s.name == "reshape_as")
    return {"self": own, "other": c.tensor(tuple(regrouped(c, shape)))}


@family("expand broadcast_to expand_as")
def _expands(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    own = c.tensor(c.broadcastable(shape))
    if s.name == "expand_as":
        return {"self": own, "other": c.tensor(shape)}
    size = list(shape)
    lead = len(shape) - len(own.shape)
    for d, n in enumerate(own.shape):
        if n == shape[lead + d] and c.chance(0.2):
            size[lead + d] = -1
    return {"self": own, "size": size}


@family("permute")
def _permute(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    dims = c.rng.sample(range(len(shape)), len(shape))
    return {"self": c.tensor(shape), "dims": [d if c.chance(0.8) else d - len(shape)
                                              for d in dims]}  # fmt: skip


@family("movedim moveaxis")
def _movedim(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    count = c.rng.randint(0, len(shape))
    source = c.rng.sample(range(len(shape)), count)
    target = c.rng.sample(range(len(shape)), count)
    if count == 1 and c.chance(0.5):
        return {"self": c.tensor(shape), "source": source[0], "destination": target[0]}
    return {"self": c.tensor(shape), "source": source, "destination": target}


@family("swapaxes swapdims transpose flip roll cumsum cumprod unbind squeeze.dims")
def _along(c: Chooser, s: Schema) -> Given:
    shape = c.shape(0)
    given: Given = {"self": c.tensor(shape)}
    if s.name == "roll":
        dims = c.dims(len(shape))
        given["dims"] = dims if dims else OMIT
        given["shifts"] = [c.one(0, 1, -1, 2, 9) for _ in dims] or [c.one(1, -2)]
    if s.name == "unbind" and not shape:
        given["self"] = c.tensor((2,))
    return given


@family("t")
def _t(c: Chooser, s: Schema) -> Given:
    return {"self": c.tensor(c.shape(0, 2))}


@family("unsqueeze")
def _unsqueeze(c: Chooser, s: Schema) -> Given:
    shape = c.shape(0, 8)
    return {"self": c.tensor(shape), "dim": c.dim(len(shape) + 1)}


@family("flatten")
def _flatten(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    n = max(len(shape), 1)
    start = c.rng.randrange(n)
    end = c.rng.randrange(start, n)
    return {"self": c.tensor(shape), "start_dim": start if c.chance(0.7) else start - n,
            "end_dim": end if c.chance(0.7) else end - n}  # fmt: skip


@family("unflatten")
def _unflatten(c: Chooser, s: Schema) -> Given:
    shape = list(c.shape(1))
    dim, parts = c.dim(len(shape)), [c.one(1, 2, 3) for _ in range(c.one(1, 2, 3))]
    shape[dim] = math.prod(parts)
    if c.chance(0.3):
        parts[0] = -1
    return {"self": c.tensor(tuple(shape)), "dim": dim, "sizes": parts}


@family("repeat tile")
def _repeats(c: Chooser, s: Schema) -> Given:
    shape = c.shape(0, 5)
    count = len(shape) + c.one(0, 0, 1, 2)
    if s.name == "tile" and c.chance(0.3):
        count = c.rng.randint(0, count)
    return {"self": c.tensor(shape),
            s.params[1].name: [c.one(1, 1, 2, 0, 3) for _ in range(count)]}  # fmt: skip


@family("repeat_interleave repeat_interleave.each")
def _interleaves(c: Chooser, s: Schema) -> Given:
    shape = c.shape(1)
    dim = c.dim(len(shape)) if c.chance(0.6) else None
    given: Given = {"self": c.tensor(shape), "dim": dim}
    if s.overload == "each":
        n = math.prod(shape) if dim is None else shape[dim]
        given["repeats"] = c.index((n if c.chance(0.8) else 1,), 4)
    return given


@family("_repeated_places")
def _repeated_places(c: Chooser, s: Schema) -> Given:
    return {"repeats": c.index((c.size(),), 4)}


@family("rot90")
def _rot90(c: Chooser, s: Schema) -> Given:
    shape = c.shape(2)
    return {"self": c.tensor(shape), "dims": c.rng.sample(range(len(shape)), 2)}


@family("split split.sizes tensor_split tensor_split.indices chunk")
def _splits(c: Chooser, s: Schema) -> Given:
    shape = c.shape(1)
    dim = c.dim(len(shape))
    given: Given = {"self": c.tensor(shape), "dim": dim}
    name = s.params[1].name
    if s.full == "split.sizes":
        cut = c.rng.randint(0, shape[dim])
        given[name] = [cut, shape[dim] - cut]
    elif s.params[1].list:
        given[name] = sorted(c.one(0, 1, 2, 3, -1) for _ in range(c.one(0, 1, 2)))
    else:
        given[name] = c.one(1, 2, 3, 7)
    return given


@family("diag diag_embed diagonal tril triu fliplr flipud")
def _matrices(c: Chooser, s: Schema) -> Given:
    low = {"diag": 1, "diag_embed": 1, "fliplr": 2, "flipud": 1}.get(s.base, 2)
    shape = c.shape(low, 2 if s.base == "diag" else 7)
    given: Given = {"self": c.tensor(shape)}
    for name in ("diagonal", "offset"):
        if s.param(name) and c.chance(0.6):
            given[name] = c.one(0, 1, -1, 2, -9)
    if s.param("dim1") and c.chance(0.5):
        n = len(shape) + (s.base == "diag_embed")
        given["dim1"], given["dim2"] = c.rng.sample(range(n), 2)
    elif s.param("dim1"):
        given["dim1"] = given["dim2"] = OMIT
    return given


@family("cat concat concatenate stack hstack vstack broadcast_tensors meshgrid")
def _joins(c: Chooser, s: Schema) -> Given:
    count = c.one(1, 2, 2, 3, 4)
    kind = c.dtype if c.chance(0.8) else None
    if s.name == "meshgrid":
        return {"tensors": [c.tensor(c.shape(0, 1), kind) for _ in range(count)]}
    shape = c.shape(1 if s.name[:3] in ("cat", "con") else 0, 8)
    dim = c.dim(len(shape) + (s.name == "stack"))
    shapes = [list(shape) for _ in range(count)]
    joined = {"hstack": 1 if len(shape) > 1 else 0, "vstack": 0}.get(s.name, dim)
    if s.name == "broadcast_tensors":
        shapes = [list(c.broadcastable(shape)) for _ in range(count)]
    elif s.name != "stack" and shape and (s.name != "vstack" or len(shape) > 1):
        for other in shapes:
            other[joined] = c.size() if c.chance(0.6) else other[joined]
    given: Given = {"tensors": [c.tensor(tuple(n), kind) for n in shapes]}
    if s.param("dim") and (dim or c.chance(0.5)):
        given["dim"] = dim
    return given


@family("pad constant_pad_nd")
def _pads(c: Chooser, s: Schema) -> Given:
    shape = tuple(max(n, 1) for n in c.shape(1))
    mode = "constant" if s.name != "pad" or c.chance(0.6) else c.one(
        "reflect", "replicate", "circular")  # fmt: skip
    pairs = c.rng.randint(0, len(shape))
    pad: list[int] = []
    if mode != "constant":
        shape = tuple(max(n, 1) for n in c.shape(2, 5))
        pairs = c.rng.randint(1, max(1, min(3, len(shape) - 1)))
    for size in [*reversed(shape)][:pairs]:
        limit = 3 if mode == "constant" else size - 1
        pad += [c.rng.randint(-1 if mode == "constant" else 0, limit) for _ in "ab"]
    given: Given = {s.params[0].name: c.tensor(shape), "pad": pad}
    if s.name == "pad":
        given["mode"] = mode if mode != "constant" else OMIT
        given["value"] = c.scalar() if mode == "constant" and c.chance(0.5) else OMIT
    return given


@family("_pad_backward")
def _pad_backward(c: Chooser, s: Schema) -> Given:
    sizes = [c.rng.randint(1, 5) for _ in range(c.rng.randint(2, 4))]
    pairs = c.rng.randint(max(1, len(sizes) - 2), min(3, len(sizes) - 1))
    padded, pad = list(sizes), []
    for d in range(-1, -1 - pairs, -1):
        pad += [c.rng.randint(0, sizes[d] - 1) for _ in "ab"]
        padded[d] += sum(pad[-2:])
    mode = c.one("reflect", "replicate", "circular")
    return {"grad": c.floats(tuple(padded)), "sizes": sizes, "pad": pad, "mode": mode}

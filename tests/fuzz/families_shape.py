# SPDX-License-Identifier: Apache-2.0
"""Families of ops that move, pick and make elements; see families.py."""

from __future__ import annotations

import math
from typing import Any

from fuzz.families import FAMILIES as FAMILIES, Given, family, fits
from fuzz.generate import OMIT, Chooser
from fuzz.schema import Schema
from fuzz.values import DTYPES, Data, DType


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


@family("index_select index_add index_copy index_fill")
def _indexed(c: Chooser, s: Schema) -> Given:
    shape = tuple(max(n, 1) for n in c.shape())
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


@family("one_hot")
def _one_hot(c: Chooser, s: Schema) -> Given:
    given: Given = {"self": c.index(c.shape(0, 6), 5, "int64")}
    if c.chance(0.6):
        given["num_classes"] = c.one(5, 7, -1)
    return given


# --- Making --------------------------------------------------------------------------


@family("empty ones zeros rand randn new_empty new_ones new_zeros full new_full "
        "randint randint.high")  # fmt: skip
def _creations(c: Chooser, s: Schema) -> Given:
    given: Given = {"size": list(c.shape())}
    if "randint" in s.name:
        given["high"] = c.one(1, 5, 100)
        if s.overload == "":
            given["low"] = c.one(0, -5)
    if s.name.startswith("rand"):
        given["dtype"] = DType(c.one("float32", "float64")) if c.chance(0.3) else OMIT
        if "randint" in s.name and c.chance(0.3):
            given["dtype"] = DType(c.one("int64", "int32", "uint8", "float32"))
    if s.param("self"):
        given["self"] = c.tensor(c.shape())
    return _flags(c, given)


def _flags(c: Chooser, given: Given) -> Given:
    given["requires_grad"] = OMIT if c.chance(0.9) else c.chance(0.5)
    return given


@family("ones_like zeros_like empty_like full_like rand_like randn_like randint_like "
        "randint_like.high")  # fmt: skip
def _likes(c: Chooser, s: Schema) -> Given:
    drawn = s.name in ("rand_like", "randn_like")
    given: Given = {"self": c.floats(c.shape()) if drawn else c.tensor(c.shape())}
    if "randint" in s.name:
        given["high"] = c.one(1, 5, 100)
        if s.overload == "":
            given["low"] = c.one(0, -5)
    if drawn:
        given["dtype"] = OMIT
    return _flags(c, given)


@family("arange arange.start linspace logspace eye randperm")
def _ranges(c: Chooser, s: Schema) -> Given:
    given: Given = {}
    for param in s.params:
        if param.name in ("start", "end"):
            low, high = (0, 12) if param.name == "end" else (-9, 0)
            number: Any = c.rng.randint(low, high)
            given[param.name] = number + c.one(0, 0, 0.5)
        if param.name == "step":
            given["step"] = c.one(1, 2, 0.5, 3)
        if param.name in ("steps", "n"):
            given[param.name] = c.one(0, 1, 2, 5, 10)
        if param.name == "base":
            given["base"] = c.one(10.0, 2.0, 1.0, 0.5)
    return _flags(c, given)


@family("to to.device to.other to_dtype")
def _to(c: Chooser, s: Schema) -> Given:
    given: Given = {"self": c.tensor(c.shape())}
    if s.param("other"):
        given["other"] = c.tensor(c.shape(0, 2), c.rng.choice(DTYPES))
    if s.param("device"):
        given["device"] = c.one("cpu", "cpu", None, "meta")
    return given


# --- Private ops ---------------------------------------------------------------------


@family("_strided_view _strided_scatter")
def _strided(c: Chooser, s: Schema) -> Given:
    own = c.tensor((c.sized(), c.sized()), layouts=False)
    size = [c.one(1, 2, 3) for _ in range(c.one(0, 1, 2))]
    strides, room = [], own.numel - 1
    for n in size:
        step = c.rng.randint(0, room // max(n - 1, 1)) if n > 1 else 1
        strides.append(step)
        room -= step * (n - 1)
    offset = c.rng.randint(0, max(room, 0))
    given: Given = {"self": own, "size": size, "stride": strides, "offset": offset}
    if s.name == "_strided_scatter":
        given["src"] = c.tensor(tuple(size), own.dtype)
    return given


@family("_max_pool2d_backward")
def _max_pool_backward(c: Chooser, s: Schema) -> Given:
    b, h, w = c.sized(), c.sized(), c.sized()
    places = c.index((b, 2, h, w), h * w, "int64")
    return {"grad": c.floats((b, 2, h, w)), "places": places, "sizes": [b, 2, h, w]}


@family("_sgd_step_ _adam_step_ _clip_grad_norm_")
def _steps(c: Chooser, s: Schema) -> Given:
    shapes = [c.shape(0, 4) for _ in range(c.one(1, 2, 3))]
    kind = c.one("float32", "float64")
    given: Given = {}
    for param in s.params:
        if param.list:
            made = [c.tensor(shape, kind, layouts=False) for shape in shapes]
            for data in made:
                data.grad = False
            given[param.name] = made
        elif param.type == "float":
            given[param.name] = c.one(0.0, 0.1, 0.9)
        elif param.type == "int":
            given[param.name] = c.one(1, 2, 10)
    return given


@family("_relu_backward _sigmoid_backward _tanh_backward _silu_backward _gelu_backward "
        "_gelu_tanh_backward _softmax_backward")  # fmt: skip
def _backwards(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(), c.floating()
    pair: dict[str, Data] = {p.name: c.tensor(shape, kind) for p in s.params[:2]}
    return {**pair}

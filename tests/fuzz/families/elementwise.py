# SPDX-License-Identifier: Apache-2.0
"""Families of elementwise ops with a restricted type, of reductions and scans."""

from __future__ import annotations

from fuzz.choose import OMIT, Chooser
from fuzz.families.registry import Given, family
from fuzz.schema import Schema

# --- Elementwise with a restricted type ----------------------------------------------


@family("bitwise_and bitwise_or bitwise_xor bitwise_not")
def _bits(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    given = {"self": c.tensor(shape, c.integral())}
    if s.param("other"):
        given["other"] = (
            c.one(0, 1, 3, -1, True)
            if c.chance(0.2)
            else c.tensor(c.broadcastable(shape), c.integral())
        )
    return given


@family("bitwise_left_shift bitwise_right_shift")
def _shifts(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    kind = c.one("int64", "int32", "uint8", "int8")
    other = c.index(c.broadcastable(shape), 8, kind)
    return {"self": c.tensor(shape, kind), "other": 2 if c.chance(0.2) else other}


@family("lerp")
def _lerp(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(), c.floating()
    weight = 0.3 if c.chance(0.4) else c.tensor(c.broadcastable(shape), kind)
    end = c.tensor(c.broadcastable(shape), kind)
    return {"self": c.tensor(shape, kind), "end": end, "weight": weight}


@family("addcmul addcdiv")
def _addc(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(), c.floating() if s.base == "addcdiv" else c.dtype
    rest = {n: c.tensor(c.broadcastable(shape), kind) for n in ("tensor1", "tensor2")}
    return {"self": c.tensor(shape, kind), **rest}


@family("masked_fill")
def _masked_fill(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    value = c.tensor((), c.dtype) if c.chance(0.3) else c.scalar()
    mask = c.bools(c.broadcastable(shape))
    return {"self": c.tensor(shape), "mask": mask, "value": value}


@family("where")
def _where(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    parts = [
        c.scalar() if c.chance(0.2) else c.tensor(c.broadcastable(shape))
        for _ in range(2)
    ]
    return {"condition": c.bools(shape), "self": parts[0], "other": parts[1]}


@family("where.places")
def _places(c: Chooser, s: Schema) -> Given:
    return {"condition": c.bools(c.shape())}


@family("masked_select")
def _masked_select(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    return {"self": c.tensor(c.broadcastable(shape)), "mask": c.bools(shape)}


@family("round.decimals")
def _decimals(c: Chooser, s: Schema) -> Given:
    return {"self": c.floats(c.shape()), "decimals": c.one(0, 1, 2, 3, -1)}


@family("prelu")
def _prelu(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(), c.floating()
    count = shape[1] if len(shape) > 1 and c.chance(0.6) else 1
    weight = () if c.chance(0.1) else (count,)
    return {"self": c.tensor(shape, kind), "weight": c.tensor(weight, kind)}


@family("glu _glu _glu_backward")
def _glu(c: Chooser, s: Schema) -> Given:
    shape = list(c.shape(1))
    dim = c.dim(len(shape))
    shape[dim] += shape[dim] % 2
    if s.name == "_glu":
        return {"self": c.floats(shape), "dim": dim}
    if s.name == "_glu_backward":
        half = [*shape]
        half[dim] //= 2
        kind = c.floating()
        return {"grad": c.tensor(half, kind), "self": c.tensor(shape, kind), "dim": dim}
    return {"self": c.floats(shape), "dim": OMIT if shape[-1] % 2 == 0 else dim}


@family(
    "gelu silu mish selu celu elu softplus softsign hardswish hardsigmoid logsigmoid "
    "dropout normal uniform normal_ uniform_ softmax log_softmax mean var std var_mean "
    "std_mean linalg_vector_norm norm norm.named normalize leaky_relu _softmax "
    "_log_softmax nan_to_num logsumexp var.unbiased std.unbiased var.dim_unbiased "
    "std.dim_unbiased _var ceil floor trunc"
)
def _floating(c: Chooser, s: Schema) -> Given:
    kind = c.floating() if c.chance(0.9) else None
    first = s.params[0].name
    given: Given = {first: c.tensor(c.shape(int(s.base == "normalize")), kind)}
    n = len(given[first].shape)
    if s.name == "norm" and s.overload == "named":
        given["p"] = c.one("fro", "fro", "nuc")
    if s.base == "normalize" and n < 2:
        given["dim"] = [c.dim(n)]
    if s.base == "dropout":
        given["p"] = c.one(0.0, 0.5, 1.0)
    return given


@family("_choices")
def _choices(c: Chooser, s: Schema) -> Given:
    shape = tuple(max(n, 1) for n in c.shape(1))
    weights = c.tensor(shape, c.floating(), "positive")
    return {"self": weights, "count": c.one(0, 1, 5, 40)}


@family("_dropout_from")
def _dropout_from(c: Chooser, s: Schema) -> Given:
    place = c.tensor((2,), "int64", layouts=False)
    p = c.one(0.0, 0.5, 0.9)
    return {"self": c.tensor(c.shape(), c.floating()), "place": place, "p": p}


@family("_dropout bernoulli _integers _permutation")
def _random(c: Chooser, s: Schema) -> Given:
    kind = "int64" if s.base == "_permutation" else c.floating()
    fill = "unit" if s.base == "bernoulli" else None
    given: Given = {"self": c.tensor(c.shape(), kind, fill)}
    ranges = {"p": c.one(0.0, 0.5, 0.9), "low": c.one(0, -5), "high": c.one(1, 100)}
    return given | {name: n for name, n in ranges.items() if s.param(name)}


# --- Reductions and what goes along a dimension --------------------------------------


@family(
    "kthvalue topk median.dim mode max.dim min.dim cummax cummin argmax argmin "
    "aminmax amax amin"
)
def _ordered(c: Chooser, s: Schema) -> Given:
    shape = c.shape()
    shape = tuple(max(n, 1) for n in shape) if c.chance(0.8) else shape
    given: Given = {"self": c.tensor(shape)}
    if s.param("k"):
        dim = c.dim(len(shape))
        size = shape[dim] if shape else 1
        given["k"] = c.rng.randint(1 if s.base == "kthvalue" else 0, max(size, 1))
        if dim != -1 or c.chance(0.3):
            given["dim"] = dim
    return given


@family("cosine_similarity")
def _cosine(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(1), c.floating()
    other = c.broadcastable(shape)
    given = {"x1": c.tensor(shape, kind), "x2": c.tensor(other, kind)}
    return {**given, "dim": c.dim(len(shape))}


@family("diff")
def _diff(c: Chooser, s: Schema) -> Given:
    shape = c.shape(1)
    return {
        "self": c.tensor(shape),
        "n": c.one(0, 1, 1, 2, 9),
        "dim": c.dim(len(shape)),
    }


@family("bincount")
def _bincount(c: Chooser, s: Schema) -> Given:
    n = c.size()
    given = {"self": c.index((n,), 9)}
    if c.chance(0.4):
        given["weights"] = c.tensor((n,))
    return given


@family("searchsorted")
def _searchsorted(c: Chooser, s: Schema) -> Given:
    shape = c.shape(1, 3)
    if c.chance(0.5):
        found, shape = c.shape(), shape[-1:]
    else:
        found = (*shape[:-1], c.size())
    kind = c.dtype if c.chance(0.9) else None
    ordered = c.tensor(shape, kind, "sorted", layouts=False)
    return {"sorted_sequence": ordered, "self": c.tensor(found, kind)}


@family("bucketize")
def _bucketize(c: Chooser, s: Schema) -> Given:
    kind = c.dtype
    ordered = c.tensor((c.size(),), kind, "sorted", layouts=False)
    return {"self": c.tensor(c.shape(), kind), "boundaries": ordered}


@family("_search")
def _search(c: Chooser, s: Schema) -> Given:
    kind = c.dtype
    ordered = c.tensor((c.size(),), kind, "sorted", layouts=False)
    given = {"sorted_sequence": ordered, "values": c.tensor(c.shape(), kind)}
    return {**given, "right": c.chance(0.5)}


@family("isin")
def _isin(c: Chooser, s: Schema) -> Given:
    fill = None if c.chance(0.3) else "small"
    return {
        "elements": c.tensor(c.shape(), fill=fill),
        "test_elements": c.tensor(c.shape(), fill=fill),
    }


@family("_linear_scan")
def _linear_scan(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(1), c.floating()
    pair = {n: c.tensor(shape, kind) for n in "ab"}
    return {**pair, "dim": c.rng.randrange(len(shape))}


@family("_prod_backward")
def _prod_backward(c: Chooser, s: Schema) -> Given:
    shape, kind = list(c.shape(1)), c.floating()
    dim = c.rng.randrange(len(shape))
    once = [1 if d == dim else n for d, n in enumerate(shape)]
    return {"grad": c.tensor(once, kind), "self": c.tensor(shape, kind), "dim": dim}

# SPDX-License-Identifier: Apache-2.0
"""What the arguments of an op have to do with each other, for calls that make sense.

A family gives some of the arguments by name; generate.py makes up the others.  Ops
without one take tensors that broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fuzz.generate import OMIT, Chooser
from fuzz.schema import Schema

Given = dict[str, Any]
Family = Callable[[Chooser, Schema], Given]
FAMILIES: dict[str, Family] = {}


def family(names: str) -> Callable[[Family], Family]:
    """Registers a family for these ops."""

    def register(function: Family) -> Family:
        for name in names.split():
            FAMILIES[name] = function
        return function

    return register


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


@family("glu")
def _glu(c: Chooser, s: Schema) -> Given:
    shape = list(c.shape(1))
    dim = c.dim(len(shape))
    shape[dim] += shape[dim] % 2
    return {"self": c.floats(shape), "dim": OMIT if shape[-1] % 2 == 0 else dim}


@family(
    "gelu silu mish selu celu elu softplus softsign hardswish hardsigmoid logsigmoid "
    "dropout normal uniform normal_ uniform_ softmax log_softmax mean var std var_mean "
    "std_mean linalg_vector_norm norm norm.named normalize leaky_relu _softmax "
    "_log_softmax nan_to_num logsumexp var.unbiased std.unbiased var.dim_unbiased "
    "std.dim_unbiased ceil floor trunc"
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


# --- Products ------------------------------------------------------------------------


def _sizes(c: Chooser, count: int) -> list[int]:
    return [
        c.one(0, 1, 2, 3, 5, 7, 16, 33) if c.chance(0.9) else 70 for _ in range(count)
    ]


@family("mm mv bmm dot vdot inner outer ger matmul linear trace")
def _products(c: Chooser, s: Schema) -> Given:
    n, k, m, b = _sizes(c, 4)
    kind = c.dtype if c.dtype != "bool" or c.chance(0.1) else "int64"
    if s.name == "matmul":
        batch = c.shape(0, 4)
        left, right = c.broadcastable(batch), c.broadcastable(batch)
        pairs = [((k,), (k,)), ((n, k), (k,)), ((k,), (*right, k, m))]
        pairs += [((*left, n, k), (*right, k, m))] * 3
        a, z = c.one(*pairs)
    else:
        batch = c.shape(0, 3)
        a, z = {
            "mm": ((n, k), (k, m)), "mv": ((n, k), (k,)), "dot": ((k,), (k,)),
            "bmm": ((b, n, k), (b, k, m)), "inner": ((*batch, k), (*c.shape(0, 2), k)),
            "vdot": ((k,), (k,)), "outer": ((n,), (m,)), "ger": ((n,), (m,)),
            "linear": ((*batch, k), (m, k)), "trace": ((n, m), ()),
        }[s.name]  # fmt: skip
    given = {s.params[0].name: c.tensor(a, kind)}
    if len(s.params) > 1:
        given[s.params[1].name] = c.tensor(z, kind)
    if s.name == "linear":
        given["bias"] = c.tensor((m,), kind) if c.chance(0.6) else OMIT
    return given


@family("addmm addmv addr addbmm baddbmm")
def _added_products(c: Chooser, s: Schema) -> Given:
    n, k, m, b = _sizes(c, 4)
    kind = c.dtype if c.dtype != "bool" or c.chance(0.1) else "int64"
    out, x, y = {
        "addmm": ((n, m), (n, k), (k, m)), "addmv": ((n,), (n, k), (k,)),
        "addr": ((n, m), (n,), (m,)), "addbmm": ((n, m), (b, n, k), (b, k, m)),
        "baddbmm": ((b, n, m), (b, n, k), (b, k, m)),
    }[s.name]  # fmt: skip
    names = [p.name for p in s.params[1:3]]
    given = {"self": c.tensor(c.broadcastable(out), kind)}
    given |= {names[0]: c.tensor(x, kind), names[1]: c.tensor(y, kind)}
    return given


@family("tensordot tensordot.dims")
def _tensordot(c: Chooser, s: Schema) -> Given:
    left, right = list(c.shape(0, 4)), list(c.shape(0, 4))
    count = c.rng.randint(0, min(len(left), len(right)))
    kind = c.dtype if c.dtype != "bool" else "float32"
    if s.overload == "":
        if count:
            right[:count] = left[-count:]
        return {"self": c.tensor(left, kind), "other": c.tensor(right, kind),
                "dims": count}  # fmt: skip
    a, b = c.rng.sample(range(len(left)), count), c.rng.sample(range(len(right)), count)
    for i, j in zip(a, b):
        right[j] = left[i]
    given = {"self": c.tensor(left, kind), "other": c.tensor(right, kind)}
    return {**given, "dims_self": a, "dims_other": b}


_EQUATIONS = (
    "ij,jk->ik ij,jk bij,bjk->bik i,i-> i,j->ij ij-> ij->ji ii->i ii-> i-> "
    "...ij,jk->...ik ijk->kji ij,ij->i ij,kj->ik abcd,dcef->abef i,i,i-> ij,j "
    "...i->... ,-> ij,k->ijk"
).split()


@family("einsum")
def _einsum(c: Chooser, s: Schema) -> Given:
    equation = c.one(*_EQUATIONS)
    sizes = {letter: c.sized(0) for letter in "abcdefijk"}
    kind = c.dtype if c.dtype != "bool" or c.chance(0.2) else "float32"
    batch = c.shape(0, 2)
    operands = []
    for term in equation.split("->")[0].split(","):
        shape = batch if "..." in term else ()
        letters = [sizes[letter] for letter in term.replace("...", "")]
        operands.append(c.tensor((*shape, *letters), kind))
    return {"equation": equation, "operands": operands}


@family("kron")
def _kron(c: Chooser, s: Schema) -> Given:
    return {"self": c.tensor(c.shape(0, 3)), "other": c.tensor(c.shape(0, 3))}


# --- Layers and losses ---------------------------------------------------------------


def _window(c: Chooser, size: int) -> tuple[int, int, int]:
    """Kernel, stride and padding that fit a dimension."""
    kernel = c.rng.randint(1, max(1, min(size, 4)))
    return kernel, c.one(1, 1, 2, 3), c.rng.randint(0, kernel // 2)


def _spatial(c: Chooser, s: Schema) -> int:
    return 1 if s.base.endswith("1d") else 2


@family("max_pool1d max_pool2d avg_pool1d avg_pool2d _max_pool2d")
def _pools(c: Chooser, s: Schema) -> Given:
    n = _spatial(c, s)
    sizes = [c.one(1, 3, 4, 5, 7) for _ in range(n)]
    lead = [c.one(1, 2, 3) for _ in range(c.one(1, 2, 2))]
    windows = [_window(c, size) for size in sizes]
    kernel, stride, padding = (list(w) for w in zip(*windows))
    given: Given = {"self": c.floats((*lead, *sizes)), "kernel_size": kernel}
    if c.chance(0.2):
        given["kernel_size"], padding = kernel[0], [0] * n
        if min(sizes) < kernel[0]:
            given["kernel_size"] = 1
    if c.chance(0.7) or s.name.startswith("_"):
        given["stride"] = stride
    if c.chance(0.5) or s.name.startswith("_"):
        given["padding"] = padding
    return given


@family("adaptive_avg_pool1d adaptive_avg_pool2d")
def _adaptive(c: Chooser, s: Schema) -> Given:
    n = _spatial(c, s)
    shape = (
        *[c.sized() for _ in range(c.one(1, 2, 2))],
        *[c.sized() for _ in range(n)],
    )
    size = [c.one(1, 2, 3, 5) for _ in range(n)]
    return {"self": c.floats(shape), "output_size": size if c.chance(0.8) else size[0]}


@family("conv1d conv2d _conv2d")
def _convolutions(c: Chooser, s: Schema) -> Given:
    n = _spatial(c, s)
    kind, groups = c.floating(), c.one(1, 1, 1, 2, 3)
    inner, outer = groups * c.one(1, 2, 3), groups * c.one(1, 2, 3)
    sizes = [c.one(3, 4, 5, 8) for _ in range(n)]
    kernel = [c.one(1, 2, 3) for _ in range(n)]
    lead = (c.one(0, 1, 2, 3),) if s.name[0] == "_" or c.chance(0.8) else ()
    first = s.params[0].name
    given: Given = {
        first: c.tensor((*lead, inner, *sizes), kind),
        "weight": c.tensor((outer, inner // groups, *kernel), kind),
        "bias": c.tensor((outer,), kind) if c.chance(0.5) else None,
        "stride": [c.one(1, 1, 2, 3) for _ in range(n)],
        "padding": [c.one(0, 0, 1, 2) for _ in range(n)],
        "dilation": [1 if m < 5 else c.one(1, 2) for m in sizes],
        "groups": groups,
    }
    if s.name[0] != "_":
        for name in ("stride", "padding", "dilation"):
            if c.chance(0.2):
                given[name] = given[name][0]
            elif c.chance(0.3):
                given[name] = OMIT
    return given


@family("_conv2d_input_grad _conv2d_weight_grad")
def _conv_gradients(c: Chooser, s: Schema) -> Given:
    kind, (b, i, o, h, w, k) = c.floating(), (c.one(1, 2, 3) for _ in range(6))
    h, w = h + k, w + k
    grad = c.tensor((b, o, h - k + 1, w - k + 1), kind)
    image, kernel = (b, i, h, w), (o, i, k, k)
    given: Given = {"grad": grad, "stride": [1, 1], "padding": [0, 0]}
    given |= {"dilation": [1, 1], "groups": 1}
    if s.name.endswith("input_grad"):
        return {**given, "weight": c.tensor(kernel, kind), "sizes": list(image)}
    return {**given, "input": c.tensor(image, kind), "sizes": list(kernel)}


@family("layer_norm rms_norm")
def _layer_norms(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(1), c.floating()
    inner = shape[c.rng.randrange(len(shape)) :]
    given: Given = {"self": c.tensor(shape, kind), "normalized_shape": list(inner)}
    for name in ("weight", "bias"):
        if s.param(name) and c.chance(0.5):
            given[name] = c.tensor(inner, kind)
    return given


@family("_layer_norm _layer_norm_backward")
def _layer_norm_parts(c: Chooser, s: Schema) -> Given:
    rows, length, kind = c.size(), c.sized(), c.floating()
    made = {n: c.tensor((rows, length), kind) for n in ("self", "grad")}
    made |= {n: c.tensor((rows,), kind) for n in ("mean", "scale")}
    made |= {n: c.one(None, c.tensor((length,), kind)) for n in ("weight", "bias")}
    return {**{n: v for n, v in made.items() if s.param(n)}, "length": length}


@family("batch_norm instance_norm group_norm")
def _norms(c: Chooser, s: Schema) -> Given:
    low = 2 if s.name != "instance_norm" else 3
    shape, kind = list(c.shape(low, 5)), c.floating()
    groups = c.one(1, 2, 3)
    if s.name == "group_norm":
        shape[1] = groups * max(shape[1] // groups, 1)
    given: Given = {"input": c.tensor(shape, kind)}
    if s.name == "group_norm":
        given["num_groups"] = groups
    if s.name == "batch_norm" and c.chance(0.6):
        given["running_mean"] = c.tensor((shape[1],), kind)
        given["running_var"] = c.tensor((shape[1],), kind, "positive")
        for name in ("running_mean", "running_var"):
            given[name].grad = False
    for name in ("weight", "bias"):
        if c.chance(0.5):
            given[name] = c.tensor((shape[1],), kind)
    if s.name == "batch_norm":
        given["training"] = c.chance(0.5) or "running_mean" not in given
    return given


@family("cross_entropy nll_loss _cross_entropy _cross_entropy_backward")
def _classification(c: Chooser, s: Schema) -> Given:
    kind, classes = c.floating(), c.one(1, 2, 3, 5, 7)
    low = 1 if s.name[0] != "_" else 2
    rest = c.shape(0, 3) if s.name[0] != "_" else ()
    shape = (c.size(), classes, *rest) if low == 2 or c.chance(0.85) else (classes,)
    places = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    target = c.index(places, classes)
    if s.name == "cross_entropy" and c.chance(0.3):
        target = c.tensor(shape, kind)
    given: Given = {"input": c.tensor(shape, kind), "target": target}
    if s.param("weight") and c.chance(0.4):
        given["weight"] = c.tensor((classes,), kind, "positive")
        given["weight"].grad = False
    if s.param("grad"):
        scalar = c.chance(0.5)
        given["reduction"] = "mean" if scalar else "none"
        given["grad"] = c.tensor(() if scalar else places, kind)
    return given


@family(
    "binary_cross_entropy _binary_cross_entropy binary_cross_entropy_with_logits "
    "kl_div l1_loss mse_loss huber_loss smooth_l1_loss hinge_embedding_loss"
)
def _losses(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(), c.floating()
    fill = "unit" if "entropy" in s.name and "logits" not in s.name else None
    target = {"kl_div": "unit", "hinge_embedding_loss": "signs"}.get(s.name, "unit")
    given = {
        "input": c.tensor(shape, kind, fill),
        "target": c.tensor(shape, kind, target if c.chance(0.8) else None),
    }
    if s.name == "_binary_cross_entropy":
        return given
    if s.param("weight") and c.chance(0.4):
        given["weight"] = c.tensor(c.broadcastable(shape), kind)
    if s.param("pos_weight") and c.chance(0.4):
        given["pos_weight"] = c.tensor(shape[-1:], kind)
    for name in ("weight", "pos_weight"):
        if name in given:
            given[name].grad = False
    return given


@family("margin_ranking_loss")
def _ranking(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(1), c.floating()
    pair = {n: c.tensor(shape, kind) for n in ("input1", "input2")}
    return {**pair, "target": c.tensor(shape, kind, "signs")}


def fits(shape: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape is no work."""
    return math.prod(shape) < 10_000

# SPDX-License-Identifier: Apache-2.0
"""Families of layers and losses."""

from __future__ import annotations

from fuzz.choose import OMIT, Chooser
from fuzz.families.registry import Given, family
from fuzz.schema import Schema

# --- Layers and losses ---------------------------------------------------------------


def _window(c: Chooser, size: int) -> tuple[int, int, int]:
    """Kernel, stride and padding that fit a dimension."""
    kernel = c.rng.randint(1, max(1, min(size, 4)))
    return kernel, c.one(1, 1, 2, 3), c.rng.randint(0, kernel // 2)


def _spatial(c: Chooser, s: Schema) -> int:
    return 1 if s.base.endswith("1d") else 2


@family(
    "max_pool1d max_pool2d avg_pool1d avg_pool2d _max_pool2d _max_pool2d_values "
    "_avg_pool2d"
)
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


@family("adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d")
def _adaptive(c: Chooser, s: Schema) -> Given:
    n = _spatial(c, s)
    shape = (
        *[c.sized() for _ in range(c.one(1, 2, 2))],
        *[c.sized() for _ in range(n)],
    )
    size = [c.one(1, 2, 3, 5) for _ in range(n)]
    return {"self": c.floats(shape), "output_size": size if c.chance(0.8) else size[0]}


@family("_avg_pool2d_backward _adaptive_avg_pool2d_backward")
def _pool_gradients(c: Chooser, s: Schema) -> Given:
    sizes = [c.one(1, 2, 3) for _ in range(c.one(1, 2))]
    sizes += [c.one(1, 3, 4, 7), c.sized()]
    windows = [_window(c, size) for size in sizes[-2:]]
    names = ("kernel_size", "stride", "padding")
    given: Given = dict(zip(names, (list(w) for w in zip(*windows))))
    out = [(n + 2 * p - k) // step + 1 for n, (k, step, p) in zip(sizes[-2:], windows)]
    if s.name.startswith("_adaptive"):
        given, out = {}, [c.one(1, 2, 3, 5) for _ in range(2)]
    return {"grad": c.floats((*sizes[:-2], *out)), "sizes": sizes, **given}


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


@family("_batch_norm _batch_norm_backward _channel_affine _channel_sums")
def _channel_parts(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(2, 5), c.floating()
    made = {n: c.tensor(shape, kind) for n in ("self", "grad")}
    made |= {n: c.tensor((shape[1],), kind, "positive") for n in ("mean", "variance")}
    for name in ("weight", "bias", "scale", "shift", "centre"):
        made[name] = c.one(None, c.tensor((shape[1],), kind))
    return {n: v for n, v in made.items() if s.param(n)}


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


@family(
    "cross_entropy nll_loss _cross_entropy _cross_entropy_backward _nll_loss "
    "_nll_loss_backward"
)
def _classification(c: Chooser, s: Schema) -> Given:
    kind, classes = c.floating(), c.one(1, 2, 3, 5, 7)
    low = 1 if s.name[0] != "_" else 2
    rest = c.shape(0, 3) if s.name[0] != "_" else ()
    shape = (c.size(), classes, *rest) if low == 2 or c.chance(0.85) else (classes,)
    places = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    target = c.index(places, classes)
    if s.name == "cross_entropy" and c.chance(0.3):
        target = c.tensor(shape, kind)
    given: Given = {"target": target}
    if s.param("sizes"):
        given["sizes"] = list(shape)
    else:
        given["input"] = c.tensor(shape, kind)
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

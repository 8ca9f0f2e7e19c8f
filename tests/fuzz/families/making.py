# SPDX-License-Identifier: Apache-2.0
"""Families of ops that make tensors, convert them, and of private ones."""

from __future__ import annotations

from typing import Any

from fuzz.choose import OMIT, Chooser
from fuzz.families.registry import Given, family
from fuzz.schema import Schema
from fuzz.values import DTYPES, DType

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
    rows, columns = own.shape
    layout = [columns, 1]
    if s.name == "_strided_scatter":
        given["src"] = c.tensor(tuple(size), own.dtype)
        layout = c.one(layout, [1, rows])
    given["layout"] = c.one(None, layout)
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


@family("_softmax_columns _softmax_columns_backward")
def _columns(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(2), c.floating()
    tensors = [p for p in s.params if p.type == "Tensor"]
    given: Given = {p.name: c.tensor(shape, kind) for p in tensors}
    given["dim"] = c.one(*range(len(shape) - 1))
    return given


@family("_relu_backward _sigmoid_backward _tanh_backward _silu_backward _gelu_backward "
        "_gelu_tanh_backward _softmax_backward _mish_backward _logsigmoid_backward "
        "_prelu_weight_backward _hardsigmoid_backward _hardswish_backward "
        "_elu_backward _softplus_backward _hardtanh_backward _leaky_relu_backward "
        "_threshold_backward _squared_distance_backward _smooth_l1_backward "
        "_huber_backward")  # fmt: skip
def _backwards(c: Chooser, s: Schema) -> Given:
    shape, kind = c.shape(), c.floating()
    tensors = [p for p in s.params if p.type == "Tensor"]
    given: Given = {p.name: c.tensor(shape, kind) for p in tensors}
    for param in s.params[len(tensors):]:
        if param.type in ("Scalar", "float"):
            given[param.name] = c.one(0.5, 1, 2.0, 20)
    return given


@family("_mark_written")
def _marks(c: Chooser, s: Schema) -> Given:
    n = c.sized()  # few places, as of marks by chance half are set
    marks, places = c.tensor((n,), "bool"), c.index((c.one(0, 1, 1, 2),), n, "int64")
    return {"marks": marks, "places": places}

# SPDX-License-Identifier: Apache-2.0
"""A call with other tensors in it: on Meta, dense, in more digits, without signs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from fuzz import judge
from fuzz.generate import Call, tensors_in
from fuzz.schema import schemas
from fuzz.values import Data, DType, array_of, contiguous_strides, numbers_of, span

WIDER = {"float32": "float64", "float16": "float64", "bfloat16": "float64"}


def on_meta(call: Call) -> Call:
    """The same call with tensors on Meta."""
    changed = deepcopy(call)
    types = {p.name: p.type for p in call.schema.params}
    given = [*zip(types, changed.args), *changed.kwargs.items()]
    # A tensor that is given for a number is read, which one on Meta cannot be.
    kept = [id(value) for name, value in given if types.get(name) == "Scalar"]
    for data in changed.tensors():
        if id(data) in kept:
            continue
        if data.alias is not None:  # memory of its own
            if data.fill[0] == "same":
                data.strides, data.offset = data.alias.strides, data.alias.offset
            strides = data.strides or contiguous_strides(data.shape)
            data.length = data.offset + span(data.shape, strides)
        data.meta, data.alias = True, None
    return changed


def dense(call: Call) -> Call:
    """The same call on tensors whose rows follow each other."""
    changed = deepcopy(call)
    for data in changed.tensors():
        if data.strides is None or data.alias is not None or data.numel > judge.MOST:
            continue
        if data.numel == 0 and max(data.shape) > judge.MOST:  # nothing NumPy can show
            continue
        array = array_of(data)
        data.fill, data.length = ("list", array.reshape(-1).copy()), data.numel
        data.strides, data.offset = None, 0
    return changed


def out_of_place(call: Call) -> Call | None:
    """The form that returns what the in-place one writes; None where there is none."""
    base = call.schema.base
    if base == call.op or base not in schemas():
        return None
    names = [p.name for p in call.schema.params]
    found = [s for s in schemas()[base] if [p.name for p in s.params] == names]
    if not found:
        return None
    changed = deepcopy(call)
    changed.op, changed.schema, changed.form = base, found[0], "function"
    return changed


def in_more_digits(call: Call) -> Call:
    """The same call on float64."""
    changed = _changed_numbers(call, lambda numbers: numbers)
    for value in changed.all():
        for item in [value, *tensors_in(value)]:
            if isinstance(item, DType):
                item.name = WIDER.get(item.name, item.name)
    if changed.default_dtype:
        changed.default_dtype = "float64"
    for data in changed.tensors():
        data.dtype = WIDER.get(data.dtype, data.dtype)
    return changed


def nudged(call: Call) -> Call:
    """Numbers off by a rounding error of the coarsest dtype, in more digits."""
    eps = judge.EPS[coarsest(call)[0]]

    def off(numbers: np.ndarray) -> np.ndarray:
        signs = np.cos(np.arange(numbers.size) * 1.7).reshape(numbers.shape)
        return numbers.astype("float64") * (1 + eps * signs)

    return _changed_numbers(in_more_digits(dense(call)), off)


def without_signs(call: Call) -> Call:
    """The absolute values of all numbers, in more digits."""
    changed = in_more_digits(_changed_numbers(call, np.abs))

    def positive(value: Any) -> Any:
        return abs(value) if isinstance(value, float) else value

    changed.args = [positive(a) for a in changed.args]
    changed.kwargs = {name: positive(v) for name, v in changed.kwargs.items()}
    return changed


def _changed_numbers(call: Call, change: Callable[[np.ndarray], np.ndarray]) -> Call:
    changed = deepcopy(call)
    for data in changed.tensors():
        if data.dtype in judge.EPS and data.alias is None and not data.meta:
            data.fill = ("list", change(numbers_of(data)))
    return changed


def plain_numbers(data: Data) -> np.ndarray:
    """The finite floating numbers of a tensor, others as 0."""
    numbers = numbers_of(data).astype("float64")
    return np.where(np.isfinite(numbers), numbers, 0)


def coarsest(call: Call) -> tuple[str, float]:
    """The floating dtype of the call with the fewest digits, and the size of numbers.

    Sizes beyond 100 count as that: larger errors shall be seen.
    """
    kinds = [d.dtype for d in call.tensors() if d.dtype in judge.EPS]
    for value in call.all():
        if isinstance(value, DType) and value.name in judge.EPS:
            kinds.append(value.name)
    if not kinds:
        return "", 0.0
    size = 0.0
    for data in call.tensors():
        if data.dtype in judge.EPS and not data.meta and data.alias is None:
            size = max(size, np.abs(plain_numbers(data)).max(initial=0))
    return max(kinds, key=lambda kind: judge.EPS[kind]), min(size, 100.0)

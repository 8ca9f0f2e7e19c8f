# SPDX-License-Identifier: Apache-2.0
"""Results that name elements: any of several equal elements is as good."""

from __future__ import annotations

import operator

import numpy as np

from fuzz.conditions import given, readable
from fuzz.generate import Call
from fuzz.values import array_of

#: Which result of an op is places along `dim`.
PLACES = {
    "sort": 1, "topk": 1, "kthvalue": 1, "median": 1, "mode": 1, "max": 1, "min": 1,
    "argsort": 0, "argmax": 0, "argmin": 0,
}  # fmt: skip
#: Ops that name each element at most once.
ONCE = ("sort", "argsort", "topk")


def same_picks(call: Call, which: int, got: np.ndarray, want: np.ndarray) -> bool:
    """Whether these results of integers name elements that are equal."""
    named = given(call)
    own = named.get("self")
    if call.op == "topk" and named.get("sorted") is False:
        if which == 0 and got.ndim:
            dim = operator.index(named.get("dim", -1))
            return np.array_equal(np.sort(got, dim), np.sort(want, dim), equal_nan=True)
    if PLACES.get(call.op) != which or not readable(own) or named.get("stable") is True:
        return False
    if own.numel == 0:
        return False
    array = array_of(own)
    dim = named.get("dim", None if call.op in ("argmax", "argmin") else -1)
    if dim is None or array.ndim == 0:
        array, dim = array.reshape(-1), 0
    dim = operator.index(dim)  # of any class of integers
    n = array.shape[dim]
    if got.size == 0 or (got < 0).any() or (got >= n).any():
        return False
    if got.ndim < array.ndim:
        got, want = np.expand_dims(got, dim), np.expand_dims(want, dim)
    elif named.get("keepdim") and named.get("dim") is None and array.ndim == 1:
        got, want = got.reshape(-1), want.reshape(-1)
    if call.op in ONCE and (np.diff(np.sort(got, axis=dim), axis=dim) == 0).any():
        return False
    first = np.take_along_axis(array, got.astype("int64"), dim)
    second = np.take_along_axis(array, want.astype("int64"), dim)
    if call.op == "topk" and named.get("sorted") is False:
        first, second = np.sort(first, dim), np.sort(second, dim)
    equal = first == second
    if first.dtype.kind == "f":
        equal |= np.isnan(first) & np.isnan(second)
    return bool(equal.all())

# SPDX-License-Identifier: Apache-2.0
"""Whether two results are the same, up to what rounding may do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

EPS = {"float64": 2.2e-16, "float32": 1.2e-7, "float16": 9.8e-4, "bfloat16": 7.9e-3}
TINY = {"float64": 2.3e-308, "float32": 1.2e-38, "float16": 6.2e-5, "bfloat16": 1.2e-38}
#: Results of more elements are compared by shape and dtype only.
MOST = 1 << 19


class Result:
    """One tensor, or one other value, of a call."""

    __slots__ = ("array", "dtype", "meta", "other", "requires_grad", "shape")

    def __init__(self, value: Any, tensor_class: type) -> None:
        self.array = self.other = None
        self.dtype, self.shape = type(value).__name__, None
        self.meta = self.requires_grad = False
        if not isinstance(value, tensor_class):
            self.other = value
            return
        self.dtype = str(value.dtype).rpartition(".")[2]
        self.shape = tuple(value.shape)
        self.requires_grad = value.requires_grad
        self.meta = value.device.type == "meta"
        size = 1
        for n in self.shape:
            size *= n
        if not self.meta and size <= MOST:
            self.array = to_numpy(value, self.dtype)

    def head(self) -> str:
        """What is compared first, as text."""
        if self.shape is None:
            return f"{self.dtype} {self.other!r}"
        return f"{self.dtype}{list(self.shape)}{' on meta' if self.meta else ''}"


def to_numpy(tensor: Any, dtype: str) -> np.ndarray:
    """The numbers, of bfloat16 as float32."""
    tensor = tensor.detach()
    if tensor.numel() == 0:  # NumPy refuses some shapes that have no elements
        return np.empty(0, "float32" if dtype == "bfloat16" else dtype)
    if dtype == "bfloat16":
        tensor = tensor.float()
    return np.array(tensor.numpy())


def flat(value: Any) -> list[Any]:
    """Several results as a list."""
    if isinstance(value, (list, tuple)):
        return [v for item in value for v in flat(item)]
    return [] if value is None else [value]


def results(value: Any, tensor_class: type) -> list[Result]:
    """The results of a call; reads them, so that late errors come here."""
    return [Result(v, tensor_class) for v in flat(value)]


def form(ours: list[Result], theirs: list[Result]) -> tuple[str, str] | None:
    """Differences in number, kind, shape, dtype and device."""
    if len(ours) != len(theirs):
        return "shape", f"{len(ours)} results, PyTorch {len(theirs)}"
    for g, w in zip(ours, theirs):
        if (g.shape is None) != (w.shape is None):
            return "shape", f"{g.dtype}, PyTorch {w.dtype}"
        if g.shape is None:
            if g.other != w.other and g.other == g.other:
                return "value", f"{g.other!r}, PyTorch {w.other!r}"
            if type(g.other) is not type(w.other):
                return "dtype", f"{g.dtype}, PyTorch {w.dtype}"
            continue
        if g.shape != w.shape:
            return "shape", f"another | {list(g.shape)}, PyTorch {list(w.shape)}"
        if g.dtype != w.dtype:
            return "dtype", f"{g.dtype}, PyTorch {w.dtype}"
        if g.meta != w.meta:
            return "shape", f"another device | {g.head()}, PyTorch {w.head()}"
        if g.requires_grad != w.requires_grad:
            return "requires_grad", f"{g.requires_grad}, PyTorch {w.requires_grad}"
    return None


def near(
    got: np.ndarray,
    want: np.ndarray,
    dtype: str,
    truth: np.ndarray | None = None,
    inputs: tuple[str, float] = ("", 0.0),
    most: np.ndarray | None = None,
    nudged: np.ndarray | None = None,
) -> str | None:
    """None, or the first difference as text.

    inputs: the coarsest dtype among them, and their size, whose rounding is in any
    result.  truth: the same result in more digits; then an error is legal that is not
    much larger than that of `want`.  most: what the sums would be if nothing cancelled.
    nudged: the truth for arguments that are off by a rounding error.
    """
    if got.shape != want.shape:
        return f"shape {list(got.shape)} for {list(want.shape)}"
    if got.size == 0:
        return None
    if dtype not in EPS:
        if np.array_equal(got, want):
            return None
        return _first(got, want, got != want)
    if got.tobytes() == want.tobytes():
        return None
    got, want = got.astype("float64"), want.astype("float64")
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        plain = finite & np.isfinite(got)
        odd = ~plain & ~((got == want) | (np.isnan(got) & np.isnan(want)))
        eps, tiny = EPS[dtype], TINY[dtype]
        scale = np.abs(want[plain]).max() if plain.any() else 0.0
        error = np.abs(got - want)
        allowed = 16 * eps * np.abs(want) + 4 * eps * scale + 16 * tiny
        if dtype in ("float16", "bfloat16"):
            allowed = 4 * eps * np.abs(want) + 2 * eps * scale + 16 * tiny
        if dtype == "float64":
            allowed = 1e-9 * np.abs(want) + 1e-11 * scale + 1e-300
        if inputs[0]:
            eps = max(eps, EPS[inputs[0]])
            some = 4 * eps if eps > 1e-12 else 1e-12
            allowed = np.maximum(allowed, some * (np.abs(want) + inputs[1]))
        if truth is not None and truth.shape == want.shape:
            truth = truth.astype("float64")
            theirs = np.abs(want - truth)
            allowed = np.maximum(allowed, 8 * theirs + 64 * eps * np.abs(truth))
            # What only just overflows; and we may be right where PyTorch is not.
            odd &= ~(np.abs(truth) > 0.99 * _largest(dtype))
            right = np.abs(got - truth) <= 64 * eps * np.abs(truth) + 16 * tiny
            if nudged is not None and nudged.shape == want.shape:
                off = np.nan_to_num(np.abs(nudged - truth), nan=0.0, posinf=0.0)
                allowed = np.maximum(allowed, np.maximum(8 * off, 32 * off.max()))
                allowed = np.maximum(allowed, 4 * theirs[plain].max(initial=0))
            odd &= ~(right | (got == truth) | np.isnan(got) & np.isnan(truth))
        if most is not None and most.shape == want.shape:
            most = np.abs(most)  # the gradient of a quotient is negative
            eps = max(eps, EPS[inputs[0] or dtype])
            allowed = np.maximum(allowed, max(8 * eps, 1e-14) * most.astype("float64"))
            odd &= most.astype("float64") < 0.9 * _largest(dtype)
        wrong = odd | plain & (error > allowed)
    return _first(got, want, wrong) if wrong.any() else None


def either(
    got: np.ndarray, want: np.ndarray, other: np.ndarray | None, dtype: str
) -> np.ndarray:
    """What is wanted, or another answer where `got` is that one."""
    if other is None or other.shape != got.shape or other.dtype != got.dtype:
        return want
    if got.dtype.kind != "f":
        return np.where(got == other, other, want)
    alike = np.isclose(got, other, rtol=16 * EPS[dtype], atol=0, equal_nan=True)
    return np.where(alike, other, want)


def _largest(dtype: str) -> float:
    from fuzz.values import LARGEST

    return LARGEST[dtype]


def _first(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str:
    g, w = got[wrong].flat[0], want[wrong].flat[0]
    return f"{g} for {w}"


def value_kind(text: str) -> str:
    """A coarse name of a difference of values, for grouping."""
    got, _, want = text.partition(" for ")

    def kind(number: str) -> str:
        if number in ("nan", "inf", "-inf"):
            return "nan" if number == "nan" else "inf"
        return "0" if re.fullmatch(r"-?0(\.0)?", number) else "number"

    return f"{kind(got)} for {kind(want)}"


_SPACES = re.compile(r"\s+")
_TYPES = re.compile(
    r"\b(float|double|half|bfloat16|float16|float32|float64|u?int(8|16|32|64)?|long|bool|"
    r"byte|char|short|complex\w+)(tensor)?\b",
    re.IGNORECASE,
)


def normal(text: str, op: str) -> str:
    """An error's text without what differs from call to call."""
    text = text.split("\nException raised")[0].split("Exception raised from")[0]
    text = _SPACES.sub(" ", text).strip()
    text = re.sub(r" \[from .*?\]$", "", text)
    for name in {op, op.rstrip("_")}:
        text = re.sub(rf"(?<!\w){re.escape(name)}_?(?!\w)", "OP", text)
    text = re.sub(r"(shape|sizes?|strides?) ?[\[(][^\])]*[\])]", r"\1 S", text)
    text = re.sub(r"[\[(][-\d., x]*[\])]", "L", text)
    text = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", text)
    text = re.sub(r"<[^>]* object at [^>]*>", "O", text)
    return _TYPES.sub("T", text)[:110]

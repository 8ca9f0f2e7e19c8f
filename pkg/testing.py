# SPDX-License-Identifier: Apache-2.0
"""Comparing tensors in tests: PyTorch's ``torch.testing``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._binding import core
from .tensor import Tensor

__all__ = ["assert_close", "same_values"]

# (relative, absolute) by dtype, PyTorch's defaults; what is exact has none.
_TOLERANCES = {
    core.float16: (1e-3, 1e-5),
    core.bfloat16: (1.6e-2, 1e-5),
    core.float32: (1.3e-6, 1e-5),
    core.float64: (1e-7, 1e-7),
}


def same_values(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one shape and dtype have the same elements; NaN is NaN."""
    same = core.Operator("eq")(a, b)
    if a.is_floating_point():
        same = same | ((a != a) & (b != b))
    return bool(same.all().item())


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    check_device: bool = True,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Tensors, numbers, and sequences or dicts of them.  rtol and atol: both or none; by
    default those of the dtype, the larger of two.  Shapes must be equal, and dtypes and
    devices unless those are not checked.  ValueError for one tolerance alone.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or unspecified, got "
            f"rtol={rtol} and atol={atol}."
        )

    def fail(text: str) -> None:
        raise AssertionError(msg(text) if callable(msg) else msg or text)

    def compare(a: Any, b: Any, place: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                fail(f"{place}: expected the keys {sorted(b)}, got {sorted(a)}.")
            for key in b:
                compare(a[key], b[key], f"{place}[{key!r}]")
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                fail(f"{place}: expected {len(b)} items, got {len(a)}.")
            for i, (x, y) in enumerate(zip(a, b)):
                compare(x, y, f"{place}[{i}]")
        else:
            both = [t if isinstance(t, Tensor) else core.tensor(t) for t in (a, b)]
            typed = check_dtype and isinstance(a, Tensor) and isinstance(b, Tensor)
            compare_tensors(both[0], both[1], place, typed)

    def compare_tensors(a: Tensor, b: Tensor, place: str, typed: bool) -> None:
        if a.shape != b.shape:
            fail(f"{place}: expected shape {tuple(b.shape)}, got {tuple(a.shape)}.")
        if typed and a.dtype != b.dtype:
            fail(f"{place}: expected dtype {b.dtype}, got {a.dtype}.")
        if check_device and a.device != b.device:
            fail(f"{place}: expected device {b.device}, got {a.device}.")
        limits = [_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (a, b)]
        relative = max(r for r, _ in limits) if rtol is None else rtol
        absolute = max(x for _, x in limits) if atol is None else atol
        x, y = a.detach().to(core.float64), b.detach().to(core.float64)
        # Equal infinities are close, though their difference is NaN.
        close = (x == y) | ((x - y).abs() <= absolute + relative * y.abs())
        if equal_nan:
            close = close | ((x != x) & (y != y))
        wrong = int((~close).sum().item())
        if wrong:
            worst = (x - y).abs().max().item() if x.numel() else 0.0
            fail(
                f"{place}: {wrong} of {x.numel()} elements are not close; the greatest "
                f"absolute difference is {worst:g} (rtol={relative:g}, "
                f"atol={absolute:g})."
            )

    compare(actual, expected, "values")

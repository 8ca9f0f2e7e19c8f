# SPDX-License-Identifier: Apache-2.0
"""Gradients beside differences: matrices with a row for each element of the input.

Formula: df/dx_i is about (f(x + d e_i) - f(x - d e_i)) / (2 d), with an error of order
d**2 (Abramowitz and Stegun 1964, 25.3.21).  Differences are taken in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._binding import core
from ..autograd.grad_mode import no_grad
from ..tensor import Tensor

__all__ = ["GradientError", "check_gradient", "differences", "worst"]

Matrix = np.ndarray[Any, Any]


class GradientError(float):
    """The largest difference between two matrices of gradients: a number.

    x_index, y_index: the elements of the input and of the output where it is.
    theoretical, numerical: what the gradient says there, and what the differences do.
    """

    x_index: tuple[int, ...] = ()
    y_index: tuple[int, ...] = ()
    theoretical = 0.0
    numerical = 0.0

    @property
    def report(self) -> str:
        """It in words."""
        return (
            f"the gradient is wrong by up to {float(self):.6g}: of element "
            f"{self.y_index} of the output with respect to element {self.x_index} of "
            f"the input it says {self.theoretical:.6g}, differences say "
            f"{self.numerical:.6g}"
        )


def worst(
    theoretical: Matrix, numerical: Matrix, x_shape: Sequence[int],
    y_shape: Sequence[int],
) -> GradientError:  # fmt: skip
    """The largest difference of two matrices (elements of x, elements of y)."""
    gaps = np.abs(theoretical.astype("float64") - numerical.astype("float64"))
    if not gaps.size:
        return GradientError(0.0)
    gaps = np.where(np.isnan(gaps), np.inf, gaps)
    row, column = np.unravel_index(int(gaps.argmax()), gaps.shape)
    made = GradientError(gaps[row, column])
    made.x_index = tuple(map(int, np.unravel_index(row, tuple(x_shape))))
    made.y_index = tuple(map(int, np.unravel_index(column, tuple(y_shape))))
    made.theoretical = float(theoretical[row, column])
    made.numerical = float(numerical[row, column])
    return made


def differences(
    function: Callable[[Matrix], Any], start: Matrix, count: int, delta: float
) -> Matrix:
    """The matrix by differences: function takes an array like start, and gives count
    elements."""
    found = np.zeros((start.size, count))
    for i in range(start.size):
        ends = []
        for step in (delta, -delta):
            moved = start.copy()
            moved.reshape(-1)[i] += step
            # What was added is not quite delta, in the array's own dtype.
            value = np.asarray(function(moved), dtype="float64").reshape(-1)
            ends.append((value, float(moved.reshape(-1)[i])))
        (up, high), (down, low) = ends
        found[i] = (up - down) / (high - low)
    return found


def _as_double(x: Any) -> Tensor:
    value = x.detach() if isinstance(x, Tensor) else core.tensor(x)
    return value.to(core.float64) if value.is_floating_point() else value


def check_gradient(
    function: Callable[..., Any], *inputs: Any, delta: float = 1e-3,
    dtype: Any = None,
) -> GradientError:  # fmt: skip
    """The largest error of the gradients of a function of tensors, by differences.

    function: gives one floating tensor.  inputs: tensors or what tensor() takes; those
    that are floating are checked, as float64, or as dtype where the function takes no
    float64.
    The result is a number, whose ``report`` says where the error is.
    """
    tensors = [_as_double(x) for x in inputs]
    if dtype is not None:
        tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
    worst_of_all = GradientError(0.0)
    for place, tensor in enumerate(tensors):
        if not tensor.is_floating_point():
            continue
        error = _error_of(function, tensors, place, delta)
        if error >= worst_of_all:
            worst_of_all = error
    return worst_of_all


def _error_of(
    function: Callable[..., Any], tensors: list[Any], place: int, delta: float
) -> GradientError:
    def with_value(x: Any) -> Any:
        return function(*tensors[:place], x, *tensors[place + 1 :])

    leaf = tensors[place].clone().requires_grad_()
    output = with_value(leaf)
    if not isinstance(output, Tensor) or not output.is_floating_point():
        raise TypeError(
            f"[check_gradient] expected a function that gives a floating tensor, got "
            f"{output!r}."
        )
    exact = np.zeros((leaf.numel(), output.numel()))
    for k in range(output.numel() if output.requires_grad else 0):
        weights = np.zeros(output.numel())
        weights[k] = 1
        seed = core.tensor(weights.reshape(tuple(output.shape)), dtype=output.dtype)
        leaf.grad = None
        output.backward(seed, retain_graph=True)
        if leaf.grad is not None:
            exact[:, k] = leaf.grad.numpy().reshape(-1)

    def plain(x: Matrix) -> Any:
        with no_grad():
            return with_value(core.tensor(x, dtype=leaf.dtype)).numpy()

    start = leaf.detach().numpy().copy()
    numeric = differences(plain, start, output.numel(), delta)
    return worst(exact, numeric, leaf.shape, output.shape)

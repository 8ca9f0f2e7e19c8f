# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.test``: gradients beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.defaults import get_default_session
from .gradients import gradients
from .make import zeros

__all__ = ["compute_gradient", "compute_gradient_error"]


def compute_gradient(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None,
    delta: float = 1e-3, init_targets: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """dy/dx by gradients and by differences: a row for each element of x."""
    session = get_default_session()
    if session is None:
        raise ValueError("[compute_gradient] expected a default session.")
    if init_targets is not None:
        session.run(init_targets)
    kind = x.dtype.as_numpy_dtype
    if x_init_value is None:
        x_init_value = np.random.default_rng(0).random(x_shape)
    start = np.array(x_init_value, dtype=kind)
    n, m = start.size, int(np.prod(y_shape, dtype=int))
    exact, differences = np.zeros((n, m), kind), np.zeros((n, m), kind)
    weight = zeros(y_shape, y.dtype)
    slope = gradients(y, x, grad_ys=weight)[0]
    for j in range(m):
        one = np.zeros(m, kind)
        one[j] = 1
        feeds = {x: start, weight: one.reshape(y_shape)}
        exact[:, j] = np.ravel(session.run(slope, feeds)) if slope is not None else 0
    for i in range(n):
        ends = []
        for step in (delta, -delta):
            moved = start.copy()
            moved.ravel()[i] += step
            ends.append(np.ravel(session.run(y, {x: moved})))
        differences[i] = (ends[0] - ends[1]) / (2 * delta)
    return exact, differences


def compute_gradient_error(*args: Any, **options: Any) -> float:
    """The largest difference between both matrices of compute_gradient()."""
    exact, differences = compute_gradient(*args, **options)
    return float(np.abs(exact - differences).max(initial=0.0))

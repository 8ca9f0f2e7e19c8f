# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.test``: gradients beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...framework.checking import GradientError, differences, worst
from ...graph.defaults import get_default_session
from .gradients import gradients
from .make import zeros

__all__ = ["compute_gradient", "compute_gradient_error"]


def _list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def compute_gradient(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None,
    delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: Any = None,
) -> Any:  # fmt: skip
    """dy/dx by gradients and by differences, as two matrices: a row for each element of
    x, a column for each of y.

    x: a tensor, or a list of tensors; then shapes and values are lists, and so is the
    result, with a pair for each.  x_init_value: where, else random numbers.
    delta: the step of the differences, which are computed in float64.
    init_targets: operations to run first.  extra_feed_dict: values of other tensors.
    ValueError without a default session.
    """
    session = get_default_session()
    if session is None:
        raise ValueError("[compute_gradient] expected a default session.")
    if init_targets is not None:
        session.run(init_targets)
    one = not isinstance(x, (list, tuple))
    shapes = [x_shape] if one else list(x_shape)
    values = [x_init_value] if one or x_init_value is None else list(x_init_value)
    values = values * len(shapes) if x_init_value is None and not one else values
    starts = [
        np.array(
            np.random.default_rng(0).random(tuple(shape)) if value is None else value,
            dtype=tensor.dtype.as_numpy_dtype,
        )
        for tensor, shape, value in zip(_list(x), shapes, values)
    ]
    feeds = {**(extra_feed_dict or {}), **dict(zip(_list(x), starts))}
    made = [
        _of_one(session, tensor, start, y, y_shape, delta, feeds)
        for tensor, start in zip(_list(x), starts)
    ]
    return made[0] if one else made


def _of_one(
    session: Any, x: Any, start: Any, y: Any, y_shape: Any, delta: float, feeds: Any
) -> tuple[Any, Any]:
    m = int(np.prod(y_shape, dtype=int))
    exact = np.zeros((start.size, m), start.dtype)
    weight = zeros(y_shape, y.dtype)
    slope = gradients(y, x, grad_ys=weight)[0]
    for j in range(m if slope is not None else 0):
        one = np.zeros(m, y.dtype.as_numpy_dtype)
        one[j] = 1
        value = session.run(slope, {**feeds, weight: one.reshape(y_shape)})
        exact[:, j] = np.ravel(value)
    numeric = differences(
        lambda moved: session.run(y, {**feeds, x: moved}), start, m, delta
    )
    return exact, numeric.astype(start.dtype)


def compute_gradient_error(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None,
    delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: Any = None,
) -> GradientError:  # fmt: skip
    """The largest difference between both matrices of compute_gradient(): a number,
    whose ``report`` says for which elements it is."""
    made = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    if not isinstance(x, (list, tuple)):
        return worst(made[0], made[1], x_shape, y_shape)
    return max(
        worst(exact, numeric, shape, y_shape)
        for (exact, numeric), shape in zip(made, x_shape)
    )

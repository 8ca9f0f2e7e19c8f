# SPDX-License-Identifier: Apache-2.0
"""Gradients against central differences."""

import numpy as np

import pkg


def numeric_gradient(function, arrays, which, weights, eps=1e-6):
    """Central differences of sum(weights * function(arrays)) for one input."""
    grad = np.zeros_like(arrays[which])
    for index in np.ndindex(grad.shape):
        ends = []
        for sign in (1, -1):
            moved = [a.copy() for a in arrays]
            moved[which][index] += sign * eps
            out = function(*[pkg.tensor(a) for a in moved])
            ends.append((out.numpy() * weights).sum())
        grad[index] = (ends[0] - ends[1]) / (2 * eps)
    return grad


def check_gradients(function, arrays, rtol=1e-5):
    """Backward of every input against central differences, with random weights."""
    rng = np.random.default_rng(3)
    tensors = [pkg.tensor(a, requires_grad=True) for a in arrays]
    out = function(*tensors)
    weights = rng.normal(size=tuple(out.shape))
    out.backward(pkg.tensor(weights))
    for i, t in enumerate(tensors):
        want = numeric_gradient(function, arrays, i, weights)
        np.testing.assert_allclose(t.grad.numpy(), want, rtol=rtol, atol=1e-7)

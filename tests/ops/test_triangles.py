# SPDX-License-Identifier: Apache-2.0
"""tril and triu of long matrices, wherever the diagonal crosses them, and in place."""

import numpy as np
import pytest

import pkg

SIZES = [(1, 1), (1, 9), (9, 1), (2, 40), (40, 2), (5, 6), (6, 5), (3, 300), (300, 3)]
OFFSETS = [0, 1, -1, 2, -3, 5, -5, 41, -41, 2**63 - 1, -(2**63)]


def layouts(x):
    """The same numbers: dense, turned, with gaps, each a batch of two as well."""
    ours = pkg.tensor(x)
    yield ours
    yield ours.t().contiguous().t()
    room = pkg.zeros(x.shape[0] + 1, 2 * x.shape[1], dtype=ours.dtype)
    room[1:, ::2] = ours
    yield room[1:, ::2]


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_triangles_of_long_matrices(name, dtype):
    for rows, columns in SIZES:
        x = (np.arange(rows * columns).reshape(rows, columns) % 100 + 1).astype(dtype)
        for offset in OFFSETS:
            k = max(-1000, min(1000, offset))
            want = getattr(np, name)(x, k)
            for given in layouts(x):
                got = getattr(pkg, name)(given, offset)
                np.testing.assert_array_equal(got.numpy(), want, (rows, columns, k))
                both = getattr(pkg, name)(
                    pkg.stack([given, given], 1).transpose(0, 1), offset
                )
                np.testing.assert_array_equal(both.numpy(), np.stack([want, want]))
                getattr(given, name + "_")(offset)
                np.testing.assert_array_equal(given.numpy(), want)


def test_what_a_triangle_leaves_out_is_not_read():
    """NaN beside it is no part of the result, nor of the gradient."""
    x = pkg.full((3, 50), float("nan"))
    x[:, :3] = 1
    assert pkg.tril(x).sum().item() == 6
    x.requires_grad_()
    (grad,) = pkg.autograd.grad(pkg.tril(x).sum(), [x])
    np.testing.assert_array_equal(grad.numpy(), np.tril(np.ones((3, 50))))

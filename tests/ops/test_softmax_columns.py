# SPDX-License-Identifier: Apache-2.0
"""softmax along dimensions that do not lie last, and what else goes by columns."""

import numpy as np
import pytest

import pkg
from gradients import check_gradients

SHAPES = (
    ((2, 16), 0),
    ((40, 33), 0),
    ((3, 5, 20), 1),
    ((2, 3, 4, 8), 1),
    ((600, 17), 0),
)
RNG = np.random.default_rng(5)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layouts(x):
    """The same numbers, as they lie in memory in several ways."""
    yield "dense", x
    yield "turned", x.transpose(0, -1).contiguous().transpose(0, -1)
    yield "stepped", pkg.stack([x, x], -1)[..., 0]


@pytest.mark.parametrize("shape, dim", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_columns_are_what_the_formula_says(shape, dim, dtype):
    kind = getattr(pkg, dtype)
    x = pkg.tensor(RNG.normal(size=shape) * 3).to(kind)
    want = softmax(x.double().numpy(), dim)
    bound = {"float64": 1e-14, "float32": 1e-6}.get(dtype, 8e-3)
    for name, given in layouts(x):
        got, logs = given.softmax(dim), given.log_softmax(dim)
        assert got.dtype == logs.dtype == kind
        np.testing.assert_allclose(
            got.double().numpy(), want, bound, bound, err_msg=name
        )
        np.testing.assert_allclose(
            logs.double().numpy(), np.log(want), bound, bound, err_msg=name
        )


def test_infinite_and_missing_numbers_of_a_column_stay_there():
    x = pkg.zeros(3, 20)
    x[:, 1] = -float("inf")
    x[1, 2] = float("nan")
    x[1, 3] = -float("inf")
    got = x.softmax(0)
    assert got[:, 0].tolist() == pytest.approx([1 / 3] * 3)
    assert got[:, 1].isnan().all() and got[:, 2].isnan().all()
    assert got[:, 3].tolist() == [0.5, 0.0, 0.5]
    assert not got[:, 4:].isnan().any()


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_columns(name):
    op = getattr(pkg, name)
    check_gradients(lambda x: op(x, 1), [RNG.normal(size=(2, 3, 16))])
    x = pkg.tensor(RNG.normal(size=(5, 16)), requires_grad=True)
    g = pkg.tensor(RNG.normal(size=(5, 16)))
    for y in (op(x, 0), op(x.t(), 1).t()):  # as columns, as rows
        (once,) = pkg.autograd.grad(y, [x], g, create_graph=True)
        (twice,) = pkg.autograd.grad((once * g).sum(), [x])
        if y.is_contiguous():
            columns = once, twice
    np.testing.assert_allclose(columns[0].detach(), once.detach(), 1e-12, 1e-14)
    np.testing.assert_allclose(columns[1], twice, 1e-12, 1e-14)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("scale", [1e-25, 1e-18, 1e-12, 1.0, 1e13, 1e25, 1e37])
def test_spread_of_bfloat16_columns_beyond_squares_of_float32(scale, constant):
    x = pkg.tensor(RNG.normal(size=(90, 20)) * scale).to(pkg.bfloat16)
    if constant:
        x[:, 1] = 3.0
    want = x.double().numpy().std(0, ddof=1)
    np.testing.assert_allclose(x.std(0).double().numpy(), want, rtol=8e-3)
    assert not constant or x.std(0)[1].item() == 0


@pytest.mark.parametrize("n, step", [(2048, 1024), (1025, 1), (1500, 476)])
def test_spread_of_16_bit_rows_that_overlap(n, step):
    numbers = RNG.normal(size=5 * step + n).astype(np.float16)
    rows = np.lib.stride_tricks.as_strided(numbers, (6, n), (2 * step, 2))
    got = pkg.from_dlpack(rows).var(1).double().numpy()
    np.testing.assert_allclose(got, rows.astype(np.float64).var(1, ddof=1), rtol=2e-3)


@pytest.mark.parametrize("shape", [(3, 5), (70, 2), (65, 17), (129, 64), (5, 1030)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_spread_and_product_of_16_bits_in_any_direction(shape, dtype):
    x = pkg.tensor(RNG.uniform(0.8, 1.2, size=shape)).to(getattr(pkg, dtype))
    numbers = x.double().numpy()
    for given, n in ((x, numbers), (x.t(), numbers.T)):
        for dim in (0, 1):
            got = given.var(dim).double().numpy()
            np.testing.assert_allclose(got, n.var(dim, ddof=1), rtol=8e-3)
            if n.shape[dim] < 130:
                got = given.prod(dim).double().numpy()
                np.testing.assert_allclose(got, n.prod(dim), rtol=8e-3)


@pytest.mark.parametrize("dim", [1, 2, 2**63 - 1, -1, -(2**63)])
def test_what_is_no_column_is_refused(dim):
    x = pkg.ones(2, 3)
    for call in (
        lambda: pkg.ops._softmax_columns(x, dim, False),
        lambda: pkg.ops._softmax_columns_backward(x, x, dim, False),
    ):
        with pytest.raises(IndexError, match="expected a dim from 0 to 0"):
            call()

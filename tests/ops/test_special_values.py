# SPDX-License-Identifier: Apache-2.0
"""Values and slopes at NaN, at the infinities and where a function has a kink.

What stands here are PyTorch's (those of its scalar code, where its vector code has
others).
"""

from functools import partial

import numpy as np
import pytest

import pkg
from levels import every_level
from pkg.nn import functional as F

nan, inf = float("nan"), float("inf")


def margin_ranking(x, y):
    return F.margin_ranking_loss(x, y, pkg.ones(4), reduction="none")


def hinge_embedding(x):
    return F.hinge_embedding_loss(x, pkg.tensor([1, -1, -1]), reduction="none")


# Of each function: the inputs, a line each, the value, the gradient of each input.
ROWS = [
    (
        "maximum",
        pkg.maximum,
        """
     nan   1 nan   1 inf   0 1
       1 nan nan   1 inf  -0 2
     nan nan nan   1 inf   0 2
       1   1   1 0.5 0.5 0.5 0
       1   1   1 0.5 0.5 0.5 1
     """,
    ),
    (
        "minimum",
        pkg.minimum,
        """
     nan   1 nan   1 inf   0 1
       1 nan nan   1 inf  -0 2
     nan nan nan   1 inf   0 1
       1   1   1 0.5 0.5 0.5 1
       1   1   1 0.5 0.5 0.5 0
     """,
    ),
    (
        "clamp",
        pkg.clamp,
        """
     nan   1   1 2 0 1 3 1 1 -1
       0 nan   0 2 1 2 2 1 2  1
       1   2 nan 2 1 0 0 1 1  1
     nan nan nan 2 1 0 0 1 1  1
       1   1   1 1 0 0 0 1 0  0
       0   0   0 0 1 0 0 0 0  1
       0   0   0 0 0 1 1 0 1  0
     """,
    ),
    (
        "clamp_min",
        pkg.clamp_min,
        """
     nan   1 1 2 0 1 3 1 1 -1
       0 nan 0 2 1 2 2 1 2  1
     nan nan 1   2 1 2 3   1 2  1
       1   1 1 0.5 0 0 1 0.5 0  0
       1   1 0 0.5 1 1 0 0.5 1  1
     """,
    ),
    (
        "clamp_max",
        pkg.clamp_max,
        """
     nan   1 1 2 0 1 3 1 1 -1
       0 nan 0 2 1 2 2 1 2  1
     nan nan 0   2 0 1 2   1 1 -1
       1   1 0 0.5 1 1 0 0.5 1  1
       1   1 1 0.5 0 0 1 0.5 0  0
     """,
    ),
    (
        "clamp between numbers",
        lambda x: pkg.clamp(x, -1, 1),
        """
     nan inf -inf 0 1 -1 3 -3 6
     nan   1   -1 0 1 -1 1 -1 1
       0   0    0 1 0  0 0  0 0
     """,
    ),
    (
        "clamp between crossed numbers",
        lambda x: pkg.clamp(x, 1, -1),
        """
     nan inf -inf  0  1 -1  3 -3  6
     nan  -1   -1 -1 -1 -1 -1 -1 -1
       0   0    0  0  0  0  0  0  0
     """,
    ),
    (
        "clamp to nan",
        lambda x: pkg.clamp(x, nan, 1),
        """
     nan inf -inf   0   1  -1   3  -3   6
     nan nan  nan nan nan nan nan nan nan
       0   0    0   0   0   0   0   0   0
     """,
    ),
    (
        "elu",
        F.elu,
        """
     nan inf -inf 0 1        -1 3        -3 6
     nan inf   -1 0 1 -0.632121 3 -0.950213 6
       1   1    0 1 1  0.367879 1 0.0497871 1
     """,
    ),
    (
        "selu",
        F.selu,
        """
        nan    inf    -inf      0      1       -1      3        -3       6
        nan    inf -1.7581      0 1.0507 -1.11133 3.1521  -1.67057 6.30421
     1.0507 1.0507       0 1.7581 1.0507 0.646769 1.0507 0.0875306  1.0507
     """,
    ),
    (
        "celu",
        lambda x: F.celu(x, 2.0),
        """
     nan inf -inf 0 1        -1 3       -3 6
     nan inf   -2 0 1 -0.786939 3 -1.55374 6
       1   1    0 1 1  0.606531 1  0.22313 1
     """,
    ),
    (
        "hardtanh",
        F.hardtanh,
        """
     nan inf -inf 0 1 -1 3 -3 6
     nan   1   -1 0 1 -1 1 -1 1
       1   0    0 1 0  0 0  0 0
     """,
    ),
    (
        "relu6",
        F.relu6,
        """
     nan inf -inf 0 1 -1 3 -3 6
     nan   6    0 0 1  0 3  0 6
       1   0    0 0 1  0 1  0 0
     """,
    ),
    (
        "hardsigmoid",
        F.hardsigmoid,
        """
     nan inf -inf        0        1       -1 3 -3 6
     nan   1    0      0.5 0.666667 0.333333 1  0 1
       0   0    0 0.166667 0.166667 0.166667 0  0 0
     """,
    ),
    (
        "hardswish",
        F.hardswish,
        """
     nan inf -inf   0        1        -1 3 -3 6
     nan inf  nan   0 0.666667 -0.333333 3 -0 6
       1   1    0 0.5 0.833333  0.166667 1  0 1
     """,
    ),
    (
        "threshold",
        lambda x: F.threshold(x, 1.0, 5.0),
        """
     nan inf -inf 0 1 -1 3 -3 6
     nan inf    5 5 5  5 3  5 6
       1   1    0 0 0  0 1  0 1
     """,
    ),
    (
        "prelu",
        F.prelu,
        """
      nan inf -inf    0 1    -1 3    -3 6
     0.25
      nan inf -inf    0 1 -0.25 3 -0.75 6
     0.25   1 0.25 0.25 1  0.25 1  0.25 1
      nan
     """,
    ),
    (
        "prelu of nan",
        F.prelu,
        """
     nan inf -inf   0 1  -1 3  -3 6
     nan
     nan inf  nan nan 1 nan 3 nan 6
     nan   1  nan nan 1 nan 1 nan 1
     nan
     """,
    ),
    (
        "smooth_l1_loss",
        partial(F.smooth_l1_loss, reduction="none"),
        """
     nan inf -inf 0   1     2 inf
       1   1    1 0   2   2.5 inf
     nan inf  inf 0 0.5 0.125 nan
     nan   1   -1 0  -1  -0.5 nan
     nan  -1    1 0   1   0.5 nan
     """,
    ),
    (
        "huber_loss",
        partial(F.huber_loss, reduction="none", delta=0.5),
        """
     nan  inf -inf 0     1     2 inf
       1    1    1 0     2   2.5 inf
     nan  inf  inf 0 0.375 0.125 nan
     nan  0.5 -0.5 0  -0.5  -0.5 nan
     nan -0.5  0.5 0   0.5   0.5 nan
     """,
    ),
    (
        "huber_loss",
        partial(F.huber_loss, reduction="none", delta=inf),
        """
     nan  inf -inf 0     1     2   0
       1    1    1 0     2     0   0
     nan  nan  nan 0   0.5     2   0
     nan  inf -inf 0    -1     2   0
     nan -inf  inf 0     1    -2   0
     """,
    ),
    (
        "smooth_l1_loss",
        partial(F.smooth_l1_loss, reduction="none", beta=inf),
        """
     nan  inf -inf 0     1     2   0
       1    1    1 0     2     0   0
     nan  nan  nan 0     0     0   0
     nan    1   -1 0     0     0   0
     nan   -1    1 0     0     0   0
     """,
    ),
    (
        "binary_cross_entropy",
        partial(F.binary_cross_entropy, reduction="none"),
        """
       0    1      0.5
       0    1     0.25
       0   -0 0.693147
       0    0        1
     inf -inf       -0
     """,
    ),
    (
        "margin_ranking_loss",
        margin_ranking,
        """
     nan  1   2 inf
       1  1 nan inf
     nan  0 nan nan
      -0 -0  -0  -0
       0  0   0   0
     """,
    ),
    (
        "hinge_embedding_loss",
        hinge_embedding,
        """
     nan nan 1
     nan nan 0
       1   0 0
     """,
    ),
    (
        "xlogy",
        pkg.xlogy,
        """
      nan   1   0   0   0  0 0 inf   2
        0 nan nan   0 inf -1 1 inf  -1
      nan nan nan   0   0  0 0 inf nan
     -inf nan nan   0 inf  0 0 inf nan
      nan nan nan nan   0 -0 0 nan  -2
     """,
    ),
    (
        "logaddexp",
        pkg.logaddexp,
        """
     nan inf -inf inf -inf    1 1e30   1
       1 inf -inf   1    1 -inf 1e30 inf
     nan inf -inf inf    1    1 1e30 inf
     nan nan  nan   1    0    1  0.5   0
     nan nan  nan   0    1    0  0.5   1
     """,
    ),
    (
        "lerp far out",
        pkg.lerp,
        """
      1  inf  0
      2    1  1
     -3   -2  4
     -2  inf  4
      4    3 -3
     -3   -2  4
      1 -inf  1
     """,
    ),
    (
        "max",
        pkg.max,
        """
     nan nan 1
     nan
     0.5 0.5 0
     """,
    ),
    (
        "min",
        pkg.min,
        """
       2 nan 1
     nan
       0   1 0
     """,
    ),
    (
        "norm inf",
        lambda x: pkg.norm(x, inf),
        """
     nan 0
     nan
       0 0
     """,
    ),
    (
        "norm -1",
        lambda x: pkg.norm(x, -1),
        """
     0 1
     0
     0 0
     """,
    ),
]


def case_of(name, function, text):
    """(function, inputs, value, gradients) of a row."""
    lines = [np.array(line.split(), "float64") for line in text.strip().split("\n")]
    n = len(lines) // 2
    return pytest.param(function, lines[:n], lines[n], lines[n + 1 :], id=name)


CASES = [case_of(*row) for row in ROWS]


@pytest.mark.parametrize("function, inputs, value, gradients", CASES)
def test_values_and_gradients(function, inputs, value, gradients):
    xs = [pkg.tensor(x, requires_grad=True) for x in inputs]
    y = function(*xs)
    np.testing.assert_allclose(y.detach().numpy().reshape(-1), value, rtol=1e-5)
    y.backward(pkg.ones_like(y))
    for x, want in zip(xs, gradients):
        np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-5)


@pytest.mark.parametrize("function, inputs, value, gradients", CASES)
def test_gradients_that_can_be_differentiated(function, inputs, value, gradients):
    """The formulas with a graph are the same ones."""
    xs = [pkg.tensor(x, requires_grad=True) for x in inputs]
    y = function(*xs)
    made = pkg.autograd.grad(y, xs, pkg.ones_like(y), create_graph=True)
    for got, want in zip(made, gradients):
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-5)


def test_a_limit_that_is_nan_wins():
    for x in (pkg.tensor([-3.0, 0.5, nan]), pkg.tensor([2.0], dtype=pkg.float16)):
        for limits in ((nan, 1), (-1, nan), (nan, nan)):
            assert np.isnan(F.hardtanh(x, *limits).numpy()).all()


@pytest.mark.parametrize("numbers", [(inf,), (nan,), (1, 1, nan), (1, 1, inf)])
def test_zero_is_on_the_straight_side_of_elu(numbers):
    assert pkg.ops.elu(pkg.tensor([0.0, 2.0]), *numbers).tolist() == [0, 2]


@pytest.mark.parametrize("order", [2, 3, 0.5, -1, -2.5, inf, -inf, 2.0**31, -(2.0**63)])
@pytest.mark.parametrize("number", [-2.5, 1e300, 1e-300, 0.0])
def test_the_norm_of_one_number_is_its_size(order, number):
    x = pkg.tensor([[number], [number]], dtype=pkg.float64)
    want = abs(number)
    assert pkg.ops.linalg_vector_norm(x, order, 1).tolist() == [want, want]
    assert pkg.ops.linalg_vector_norm(x[0], order).item() == want


def test_an_order_that_is_no_number_has_no_slope():
    for number, want in ((0.0, nan), (2.0, nan), (1.0, 1.0), (-1.0, -1.0)):
        x = pkg.tensor([number], requires_grad=True)
        pkg.norm(x, nan).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [want])


def test_slopes_of_order_zero_are_zero_at_infinity():
    x = pkg.tensor([inf, 1.0, nan], requires_grad=True)
    pkg.ops.linalg_vector_norm(x, 0).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_slopes_that_go_through_infinity():
    x = pkg.tensor([1e-30], requires_grad=True)
    pkg.hypot(x, pkg.tensor([1e-30])).backward(pkg.tensor([1e20]))
    assert x.grad.item() == pytest.approx(2**-0.5 * 1e20)
    ends = [pkg.tensor([v], requires_grad=True) for v in (1.0, 1e30, 1e-10)]
    pkg.addcdiv(*ends, value=0).backward(pkg.ones(1))
    assert [end.grad.item() for end in ends] == [1, 0, 0]
    x = pkg.tensor([1.5], requires_grad=True)
    pkg.round(x, decimals=255).backward(pkg.ones(1))
    assert x.grad.item() == 0


def test_the_last_nan_of_a_window_has_the_gradient():
    x = pkg.tensor([[[[1.0, nan, 2.0, nan, 3.0]]]], requires_grad=True)
    F.max_pool2d(x, (1, 5)).backward(pkg.ones(1, 1, 1, 1))
    assert x.grad.tolist() == [[[[0, 0, 0, 1, 0]]]]


def test_medians_name_the_first_nan():
    values, indices = pkg.median(pkg.tensor([[1.0, nan, nan], [3.0, 1.0, 2.0]]), 1)
    np.testing.assert_array_equal(values.numpy(), [nan, 2.0])
    assert indices.tolist() == [1, 2]


def test_gradients_of_integers_powers_are_as_precise_as_the_gradient():
    e = pkg.tensor([2.0], dtype=pkg.float64, requires_grad=True)
    pkg.pow(pkg.tensor([3]), e).backward(pkg.ones(1, dtype=pkg.float64))
    assert e.grad.item() == pytest.approx(9 * np.log(3), rel=1e-15)
    y = pkg.tensor([2.0], dtype=pkg.float64, requires_grad=True)
    got = pkg.xlogy(y, pkg.tensor([3])).item()
    assert got == pytest.approx(2 * np.log(3), rel=1e-15)
    half = pkg.ones(1, dtype=pkg.float16)
    assert pkg.xlogy(half, pkg.tensor([3])).dtype is pkg.float16
    end = pkg.ones(1, requires_grad=True)
    pkg.logaddexp(end, pkg.tensor([True])).backward(pkg.ones(1))
    assert end.grad.item() == 0.5


@pytest.mark.parametrize(
    "call",
    [
        lambda m: -m,
        lambda m: m - m,
        lambda m: m - 1,
        lambda m: 1 - m,
        lambda m: pkg.ones(2) - m,
        lambda m: pkg.ones(2).sub_(m),
        lambda m: pkg.ones(2) - True,
        pkg.neg,
    ],
)
def test_bools_have_no_difference(call):
    with pytest.raises(RuntimeError, match="bool tensor is not supported.*logical_not"):
        call(pkg.tensor([True, False]))


def test_neighbouring_bools_differ_or_not():
    got = pkg.diff(pkg.tensor([True, False, False, True]))
    assert got.dtype is pkg.bool and got.tolist() == [True, False, True]
    assert pkg.diff(got, 2).tolist() == [False]


def test_limits_of_bools_and_of_unsigned_numbers():
    mask = pkg.tensor([True, False])
    got = pkg.clamp_min(mask, pkg.tensor([False, True]))
    assert got.dtype is pkg.bool and got.tolist() == [True, True]
    with pytest.raises(ValueError, match="min_val cannot be greater than max_val"):
        F.hardtanh(pkg.ones(1), 0.5, -0.5)
    with pytest.raises(RuntimeError, match="unsigned type with negative limits"):
        F.hardtanh(pkg.ones(1, dtype=pkg.uint8))
    assert F.relu6(pkg.tensor([9], dtype=pkg.uint8)).tolist() == [6]


def test_parameters_of_integer_tensors_lose_their_fraction():
    x = pkg.tensor([1, 2, 3])
    assert F.threshold(x, 1.5, 2.5).tolist() == [2, 2, 3]
    assert pkg.addcmul(x, x, x, value=-2.7).tolist() == [-1, -6, -15]


def test_numbers_of_activations_fit_the_dtype_of_the_tensor():
    x = pkg.tensor([0, 5, 100], dtype=pkg.int8)
    for call in [
        lambda: F.threshold(x, 1000, 7),
        lambda: F.threshold(x, 1, 1000),
        lambda: F.threshold(x, nan, 1),
        lambda: F.threshold(pkg.ones(1), 1e300, 1),
        lambda: F.hardtanh(x, -1000, 1000),
        lambda: F.hardtanh(x, -1, inf),
        lambda: F.hardtanh(pkg.ones(1, dtype=pkg.float16), -1e6, 1),
    ]:
        with pytest.raises(RuntimeError, match="converted .* without overflow"):
            call()
    assert F.threshold(x, 5.7, 7.9).tolist() == [7, 7, 100]
    assert F.hardtanh(x, 2.5, 50.5).tolist() == [2, 5, 50]
    small = pkg.tensor([0, 5, 200], dtype=pkg.uint8)
    assert F.threshold(small, -1, 7).tolist() == [7, 7, 7]  # -1 is 255
    assert F.threshold(pkg.ones(1), inf, 3).tolist() == [3]
    assert F.threshold(pkg.ones(1, dtype=pkg.float16), 1e6, 2).tolist() == [2]
    big = 2**53
    x = pkg.tensor([big, big + 1, big + 2])
    assert F.threshold(x, big + 1, big + 3).tolist() == [big + 3, big + 3, big + 2]
    assert F.hardtanh(x, 0, big + 1).tolist() == [big, big + 1, big + 1]


@pytest.mark.parametrize("x, y", [(nan, 1), (2, 1), (-1, 1), (0.5, 2), (0.5, nan)])
def test_probabilities_are_between_0_and_1(x, y):
    for dtype in (pkg.float64, pkg.float32, pkg.float16, pkg.bfloat16):
        given = pkg.tensor([x], dtype=dtype), pkg.tensor([y + 0.0], dtype=dtype)
        with pytest.raises(RuntimeError, match="should be between 0 and 1"):
            F.binary_cross_entropy(*given).item()
        for n, at in ((255, 254), (256, 0), (257, 256), (5_000, 2_500)):
            many = [pkg.full((n,), 0.5, dtype=dtype) for _ in range(2)]
            for tensor, one in zip(many, given, strict=True):
                tensor[at] = one[0]
            with pytest.raises(RuntimeError, match="should be between 0 and 1"):
                F.binary_cross_entropy(*many).item()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_entropy_of_probabilities_close_to_0_and_1(dtype):
    least = {"float64": 1e-300, "float32": 1e-37, "float16": 1e-4, "bfloat16": 1e-37}
    edges = [0.0, 1.0, least[dtype], 1e-3, 0.5, 1 - 1e-2, 1 - 1e-7, 1 - 1e-15]
    x = pkg.tensor(np.repeat(edges, 40)).to(getattr(pkg, dtype))
    t = pkg.tensor(np.tile(np.linspace(0, 1, 40), len(edges))).to(x.dtype)
    p, q = x.double().numpy(), t.double().numpy()
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(p), -100), np.maximum(np.log1p(-p), -100)
    want = (q - 1) * logs[1] - q * logs[0]
    bound = {"float64": 1e-15, "float32": 4e-7, "float16": 1e-3, "bfloat16": 8e-3}
    for _ in every_level():
        got = F.binary_cross_entropy(x, t, reduction="none").double().numpy()
        np.testing.assert_allclose(got, want, bound[dtype])


def test_limits_and_borders_fit_the_dtype():
    x = pkg.tensor([1, 200], dtype=pkg.uint8)
    assert pkg.clamp(x, 0, 100).tolist() == [1, 100]
    assert pkg.clamp(x, pkg.tensor(0), pkg.tensor(300)).dtype is pkg.uint8
    for call in (lambda: pkg.clamp(x, 0, 300), lambda: F.pad(x, (1, 1), value=300)):
        with pytest.raises(RuntimeError, match="cannot be converted.*without overflow"):
            call()


@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_"])
def test_a_bool_is_no_factor_of_numbers(name):
    x = pkg.ones(2)
    with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean"):
        getattr(x, name)(x, alpha=True)
    mask = pkg.tensor([True])
    assert pkg.add(mask, mask, alpha=True).tolist() == [True]


@pytest.mark.parametrize("dtype", [pkg.float32, pkg.bfloat16, pkg.float16])
def test_slopes_of_a_product_whose_parts_overflow(dtype):
    large = 2.0**120 if dtype is not pkg.float16 else 2.0**12
    numbers = [large, large, 1 / large, 1 / large]
    x = pkg.tensor(numbers, dtype=dtype, requires_grad=True)
    x.prod().backward()
    want = (1 / x).float().detach().numpy()
    np.testing.assert_allclose(x.grad.float().numpy(), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5])
def test_the_number_one_half_is_a_root_and_a_tensor_of_it_a_power(dtype, exponent):
    values = np.array([-np.inf, -0.0, 0, 2, np.inf, np.nan, -1], dtype)
    x = pkg.tensor(values)
    with np.errstate(all="ignore"):
        root = np.sqrt(values) if exponent > 0 else 1 / np.sqrt(values)
        power = np.power(values, np.full_like(values, exponent))
    np.testing.assert_array_equal((x**exponent).numpy(), root)
    if exponent > 0:
        x.requires_grad_()
        (slope,) = pkg.autograd.grad((x**exponent).sum(), x)
        with np.errstate(all="ignore"):
            expected = 0.5 / root
        np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-3)
        x = x.detach()
    for shape in [(), (1,), values.shape]:
        y = x ** pkg.full(shape, exponent, dtype=x.dtype)
        np.testing.assert_allclose(y.numpy(), power, rtol=1e-3)
        assert (np.signbit(y.numpy()) == np.signbit(power))[:-2].all()


def test_the_slope_of_a_power_changes_with_the_exponent_at_zero_too():
    x = pkg.tensor([0.5, 4.0, 0.0], dtype=pkg.float64, requires_grad=True)
    e = pkg.zeros(3, dtype=pkg.float64, requires_grad=True)
    (slope,) = pkg.autograd.grad(pkg.pow(x, e).sum(), x, create_graph=True)
    assert slope.tolist() == [0, 0, 0]
    (mixed,) = pkg.autograd.grad(slope.sum(), e)
    assert mixed[:2].tolist() == [2, 0.25]  # of x ** (e - 1) * (1 + e * log(x))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_limits_that_are_numbers_are_those_of_tensors(dtype):
    """Each of these between each two of them, also where the limits cross."""
    specials = [nan, -inf, inf, -0.0, 0.0, -1.0, 1.5]
    x = pkg.tensor(specials * 5, dtype=getattr(pkg, dtype))
    for low in (None, *specials):
        for high in (None, *specials):
            if low is None and high is None:
                continue
            whole = [None if a is None else pkg.full_like(x, a) for a in (low, high)]
            got, want = pkg.clamp(x, low, high), pkg.clamp(x, *whole)
            np.testing.assert_array_equal(
                got.double().numpy(), want.double().numpy(), f"{low} {high}"
            )

# SPDX-License-Identifier: Apache-2.0
"""Tensors from nothing, and ops that pick or rearrange, against NumPy."""

import numpy as np
import pytest

import pkg


def test_constants():
    """Values, shapes and dtypes of what is filled at creation."""
    assert pkg.full((2, 3), 1.5).numpy().tolist() == np.full((2, 3), 1.5).tolist()
    assert pkg.full((2,), 7).dtype is pkg.int64
    assert pkg.full((2,), 7, dtype=pkg.float64).tolist() == [7.0, 7.0]
    like = pkg.zeros(2, 3, dtype=pkg.int32)
    assert pkg.ones_like(like).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert pkg.ones_like(like).dtype is pkg.int32
    assert pkg.empty_like(like, dtype=pkg.float64).dtype is pkg.float64
    assert tuple(pkg.empty(0, 4).shape) == (0, 4)
    assert pkg.eye(2, 3).numpy().tolist() == np.eye(2, 3).tolist()


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 1001])
def test_linspace(steps):
    """Ends included."""
    got = pkg.linspace(-1, 2, steps).numpy()
    np.testing.assert_allclose(got, np.linspace(-1, 2, steps), atol=1e-6)
    if steps > 1:
        assert got[0] == -1 and got[-1] == 2


def test_picking():
    """index_select, masked_fill, argmin, flatten, unbind."""
    a = np.random.default_rng(0).normal(size=(3, 4, 5)).astype("float32")
    x = pkg.tensor(a)
    got = x.index_select(1, pkg.tensor([3, 0, 3]))
    np.testing.assert_array_equal(got.numpy(), a[:, [3, 0, 3]])
    with pytest.raises(IndexError):
        x.index_select(1, pkg.tensor([4]))
    np.testing.assert_array_equal(
        x.masked_fill(x > 0, -1).numpy(), np.where(a > 0, -1, a).astype("float32")
    )
    np.testing.assert_array_equal(x.argmin(2).numpy(), a.argmin(2))
    assert x.argmin().item() == a.argmin()
    np.testing.assert_array_equal(x.flatten().numpy(), a.reshape(-1))
    np.testing.assert_array_equal(x.flatten(1).numpy(), a.reshape(3, 20))
    for got, want in zip(x.unbind(1), a.swapaxes(0, 1)):
        np.testing.assert_array_equal(got.numpy(), want)


def test_scatter_add_counts_every_occurrence():
    """An index that comes twice adds twice."""
    x = pkg.zeros(2, 3)
    index = pkg.tensor([[0, 0, 2], [1, 1, 1]])
    got = x.scatter_add(1, index, pkg.ones(2, 3))
    assert got.tolist() == [[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]
    with pytest.raises(IndexError):
        x.scatter_add(1, pkg.tensor([[3]]), pkg.ones(1, 1))


@pytest.mark.parametrize("make", ["arange", "linspace", "logspace"])
def test_a_sequence_has_no_bools(make):
    arguments = (0, 1) if make == "arange" else (0, 1, 3)
    with pytest.raises(NotImplementedError, match=rf"\[{make}\] is not .* for bool"):
        getattr(pkg, make)(*arguments, dtype=pkg.bool)


@pytest.mark.parametrize("data", [300, [300], [[1, 300]], 1e3, [float("nan")]])
def test_numbers_that_overflow_are_refused(data):
    with pytest.raises(RuntimeError, match="cannot be converted.*without overflow"):
        pkg.tensor(data, dtype=pkg.uint8)
    assert pkg.tensor([-1, 255, 2.7], dtype=pkg.uint8).tolist() == [255, 255, 2]


def test_a_size_that_is_kept_has_to_be_there():
    assert pkg.ones(3).expand(2, -1).shape == (2, 3)
    with pytest.raises(RuntimeError, match="isn't allowed in a leading"):
        pkg.ones(1).expand(-1, 3)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_sequences_of_integers_begin_with_integers(dtype):
    """As in PyTorch: start and step lose their fractions, once all are counted."""
    dtype = getattr(pkg, dtype)
    assert pkg.arange(2.7, 9.7, 2, dtype=dtype).tolist() == [2, 4, 6, 8]
    assert pkg.linspace(2.9, 11.9, 4, dtype=dtype).tolist() == [2, 5, 8, 11]
    assert pkg.logspace(0.9, 3.9, 4, base=2, dtype=dtype).tolist() == [1, 2, 4, 8]
    assert pkg.linspace(0, 5, 3, dtype=dtype).tolist() == [0, 2, 5]
    many = pkg.linspace(0, 100, 41, dtype=dtype).tolist()
    assert many == [int(2.5 * i) for i in range(41)]


def test_steps_of_integers():
    for dtype in (pkg.int8, pkg.int32, pkg.int64):  # as many as NumPy has
        assert pkg.arange(-2, 0, 0.5, dtype=dtype).tolist() == [-2] * 4
        assert pkg.arange(0.5, 0.9, dtype=dtype).tolist() == [0]
        assert pkg.arange(-7, 2.5, dtype=dtype).tolist() == list(range(-7, 3))
        assert pkg.arange(5, -0.5, -1, dtype=dtype).tolist() == [5, 4, 3, 2, 1, 0]
    with pytest.raises(RuntimeError, match="fewer than 2\\*\\*63 numbers"):
        pkg.arange(0, 9e18, 0.5, dtype=pkg.int64)
    assert pkg.linspace(-1, 4, 5, dtype=pkg.uint8).tolist() == [255, 192, 129, 66, 4]
    with pytest.raises(RuntimeError, match="without overflow .start=-0.5"):
        pkg.linspace(-0.5, 4, 2, dtype=pkg.uint8)
    with pytest.raises(RuntimeError, match=r"\[logspace\] .*overflow .end=1e\+40"):
        pkg.logspace(0, 1e40, 5)


@pytest.mark.parametrize("make", [pkg.linspace, pkg.logspace])
def test_ends_that_are_no_element_may_be_any(make):
    for dtype, large in ((pkg.uint8, 300), (pkg.int32, 1e10), (pkg.float32, 1e39)):
        assert make(large, large, 0, dtype=dtype).tolist() == []
        first = int(make is pkg.logspace)
        assert make(0, large, 1, dtype=dtype).tolist() == [first]
        for start, end, steps in ((large, 0, 1), (0, large, 2)):
            if make is pkg.logspace and steps == 1 and dtype.is_floating_point:
                continue  # a power may be infinite
            with pytest.raises(RuntimeError, match="without overflow"):
                make(start, end, steps, dtype=dtype)


def test_sequences_to_infinity_are_computed_from_both_ends():
    inf, nan = float("inf"), float("nan")
    got = pkg.linspace(-5.5, inf, 5).numpy()
    np.testing.assert_array_equal(got, [nan, inf, nan, nan, nan])
    assert pkg.linspace(3, 9, 1).tolist() == [3]
    assert pkg.logspace(3, 9, 1, base=2).tolist() == [8]
    tiny = 1e-45 / 2  # 0 in float32, so that it is a power of -1
    assert pkg.logspace(tiny, -4, 3, base=-1.0).tolist() == [1, 1, 1]


HUGE = 2**62


@pytest.mark.parametrize("dtype", [pkg.bool, pkg.float32, pkg.float64], ids=str)
def test_what_has_no_elements_needs_no_memory(dtype):
    """However large its other sizes are, as long as they are numbers."""
    made = [
        pkg.empty(HUGE, 1, 0, dtype=dtype),
        pkg.eye(0, HUGE, dtype=dtype),
        pkg.zeros(0, dtype=dtype).reshape(HUGE, 0).clone(),
        pkg.zeros(1, dtype=dtype).expand(0, HUGE).contiguous(),
        pkg.zeros(0, 1, dtype=dtype).expand(0, HUGE) > 0,
        pkg.zeros(0, HUGE, dtype=dtype, device="meta"),
    ]
    for x in made:
        assert x.numel() == 0 and HUGE in x.shape
        long = x.shape.index(HUGE)
        assert (x.narrow(long, HUGE - 5, 5) + 1).numel() == 0
    assert pkg.diag_embed(pkg.zeros(0, 1, dtype=dtype), 2**31).numel() == 0
    with pytest.raises((RuntimeError, MemoryError)):
        pkg.empty(HUGE, 4, 0, dtype=dtype)


def test_isin_needs_memory_for_both_but_not_for_pairs():
    n = 300_000
    x, y = pkg.arange(n), pkg.arange(n // 2, 2 * n)
    assert pkg.isin(x, y).sum().item() == n - n // 2


@pytest.mark.parametrize("dtype", "bool uint8 int64 float16 float32 float64".split())
def test_isin_of_any_values(dtype):
    """NaN is in nothing; of several dtypes the common one compares."""
    rng = np.random.default_rng(3)
    elements = rng.integers(0, 9, (3, 5)).astype(dtype)
    tests = rng.integers(0, 5, (2, 2)).astype(dtype)
    if dtype.startswith("float"):
        elements[0, :4], tests[0] = [np.nan, np.inf, -np.inf, -0.0], [np.nan, 0.0]
    cases = [tests, tests[:1], tests[:0], tests[0, 0], tests.astype("float64")]
    # One is compared, as it is in the common dtype.
    cases += [tests[:1, 1:], np.array([0.1]), np.array([300])]
    for given in cases:
        want = np.isin(elements, given)
        got = pkg.isin(pkg.tensor(elements), pkg.tensor(given))
        assert got.dtype is pkg.bool and got.tolist() == want.tolist()
    for given in (tests, tests[:1, 1:]):
        assert pkg.isin(pkg.tensor(elements[0, 0]), pkg.tensor(given)).shape == ()


def test_what_has_too_few_dimensions():
    zero, one = pkg.tensor(1.0), pkg.ones(3)
    for call in (
        lambda: pkg.roll(zero, 1, 0),
        lambda: pkg.take_along_dim(zero, pkg.tensor(0), 0),
    ):
        with pytest.raises(IndexError, match="tensor has no dimensions"):
            call()
    assert pkg.roll(zero, 1).item() == 1
    for call in (
        lambda: pkg.flipud(zero),
        lambda: pkg.fliplr(one),
        lambda: pkg.meshgrid([]),
    ):
        with pytest.raises(RuntimeError, match=r"Input must be|non-empty"):
            call()
    with pytest.raises(IndexError, match="from an empty tensor"):
        pkg.ones(0, device="meta").take(pkg.tensor([0]))


def test_a_result_without_end_is_refused_in_the_name_of_the_op():
    """Also where the operands are so large that the call may be scheduled."""
    for n in (3, 300_000):
        x, endless = pkg.zeros(n, 1), pkg.zeros(1).expand(2**62)
        with pytest.raises((RuntimeError, MemoryError), match=r"^\[addcmul\]"):
            x.addcmul(endless, x)


def test_one_number_of_a_range_is_made_of_its_start_as_it_is():
    """Not of the start in the dtype of the result."""
    assert pkg.logspace(-5, 6, 1, base=0.5, dtype=pkg.uint8).tolist() == [32]
    assert pkg.logspace(-0.5, 12, 1, base=2.0, dtype=pkg.int8).tolist() == [0]
    assert pkg.linspace(2.7, 300, 1, dtype=pkg.uint8).tolist() == [2]
    for make, start in ((pkg.linspace, 300), (pkg.logspace, 3)):
        with pytest.raises(RuntimeError, match=r"without overflow \(first=\d+"):
            make(start, 3, 1, dtype=pkg.uint8)

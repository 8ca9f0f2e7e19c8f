# SPDX-License-Identifier: Apache-2.0
"""Random tensors like others, draws from weights, distinct values."""

import copy
import pickle

import numpy as np
import pytest

import pkg


@pytest.fixture(autouse=True)
def seed():
    pkg.manual_seed(0)


def test_like():
    """Shape and dtype of another tensor, or the dtype that is asked for."""
    x = pkg.zeros(40, 50, dtype=pkg.float64)
    for make in (
        pkg.rand_like,
        pkg.randn_like,
        lambda t, **k: pkg.randint_like(t, 9, **k),
    ):
        made = make(x)
        assert made.dtype is pkg.float64 and tuple(made.shape) == (40, 50)
        assert make(x, dtype=pkg.float32, requires_grad=True).requires_grad
        assert make(x, device="meta").device == "meta"
    assert 0 <= pkg.rand_like(x).min() and pkg.rand_like(x).max() < 1
    assert abs(pkg.randn_like(x).std().item() - 1) < 0.1
    drawn = pkg.randint_like(x, 3, 6)
    assert pkg.unique(drawn).tolist() == [3.0, 4.0, 5.0]


def test_randint_and_randperm_take_pytorchs_arguments():
    """Low is 0 unless given; dtype and device."""
    assert pkg.unique(pkg.randint(3, (100,))).tolist() == [0, 1, 2]
    assert pkg.randint(0, 5, (2,), dtype=pkg.float32, device="cpu").dtype is pkg.float32
    assert pkg.randperm(5, dtype=pkg.int32).dtype is pkg.int32
    assert sorted(pkg.randperm(5, device="cpu").tolist()) == [0, 1, 2, 3, 4]
    assert pkg.randn(2, 3, device="cpu").device == "cpu"
    assert pkg.randperm(5, device="meta").device == "meta"
    with pytest.raises(RuntimeError, match="expected 'cpu' or 'meta', got 'cuda'"):
        pkg.rand(2, device="cuda")


def test_the_stream_of_integers_is_that_of_before():
    """A dtype changes no number."""
    drawn = []
    for dtype in (pkg.int64, pkg.float32):
        pkg.manual_seed(3)
        drawn.append(pkg.randint(0, 1000, (20,), dtype=dtype).tolist())
    assert drawn[0] == drawn[1]


def test_bernoulli():
    """0 never, 1 always, a half about half of the time."""
    for dtype in (pkg.float16, pkg.float32, pkg.float64):
        p = pkg.tensor([0.0, 0.5, 1.0], dtype=dtype).expand(4000, 3)
        means = pkg.bernoulli(p).double().mean(0).tolist()
        assert means[0] == 0 and means[2] == 1 and abs(means[1] - 0.5) < 0.05
        assert pkg.bernoulli(p).dtype is dtype
    assert not pkg.bernoulli(pkg.ones(2, requires_grad=True)).requires_grad
    for wrong in ([1.5], [-0.1], [float("nan")]):
        with pytest.raises(RuntimeError, match="expected 0 <= p <= 1"):
            pkg.bernoulli(pkg.tensor(wrong))
    with pytest.raises(RuntimeError, match="expected probabilities, got dtype int64"):
        pkg.bernoulli(pkg.tensor([1]))


def test_multinomial_with_replacement():
    """Shares follow the weights, and what weighs nothing is not drawn."""
    weights = pkg.tensor([[0.0, 1.0, 3.0, 0.0], [4.0, 0.0, 0.0, 4.0]])
    drawn = pkg.multinomial(weights, 8000, replacement=True)
    assert drawn.dtype is pkg.int64 and tuple(drawn.shape) == (2, 8000)
    for row, share in zip(drawn, weights / weights.sum(1, keepdim=True)):
        found = pkg.bincount(row, minlength=4) / 8000
        np.testing.assert_allclose(found.numpy(), share.numpy(), atol=0.03)
        assert [n == 0 for n in found.tolist()] == [s == 0 for s in share.tolist()]


def test_multinomial_without_replacement():
    """No index twice; the first draw follows the weights."""
    weights = pkg.tensor([1.0, 0.0, 3.0, 4.0]).expand(4000, 4)
    drawn = pkg.multinomial(weights, 3)
    assert pkg.unique(drawn.sort(1).values.sum(1)).tolist() == [5]
    first = pkg.bincount(drawn[:, 0], minlength=4) / 4000
    np.testing.assert_allclose(first.numpy(), [0.125, 0, 0.375, 0.5], atol=0.03)
    assert tuple(pkg.multinomial(weights[0], 2).shape) == (2,)
    with pytest.raises(RuntimeError, match="at most 3 samples"):
        pkg.multinomial(weights[0], 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multinomial_draws_the_smallest_weights_before_what_weighs_nothing(dtype):
    tiny = np.nextafter(np.zeros((), dtype), np.ones((), dtype))
    for weights in ([0, tiny, 0, tiny, 0], [0, 1, 0, tiny, 0], [0, tiny, 0, 1e30, 0]):
        rows = pkg.tensor(np.array(weights, dtype)).expand(200, 5)
        assert pkg.unique(pkg.multinomial(rows, 2)).tolist() == [1, 3]
    assert tuple(pkg.multinomial(pkg.ones(0, 3), 2).shape) == (0, 2)
    with pytest.raises(RuntimeError, match="not all 0 in a row"):
        pkg.multinomial(pkg.tensor([[1.0, 1.0], [0.0, 0.0]]), 1)


@pytest.mark.parametrize(
    "weights", [[0.0, 0.0], [1.0, -1.0], [float("inf"), 1.0], [float("nan"), 1.0]]
)
def test_multinomial_refuses_what_are_no_weights(weights):
    with pytest.raises(RuntimeError, match="expected finite weights"):
        pkg.multinomial(pkg.tensor(weights), 1, replacement=True)


def test_multinomial_refuses_shapes_and_counts():
    with pytest.raises(RuntimeError, match=r"got shape \(2, 2, 2\)"):
        pkg.multinomial(pkg.ones(2, 2, 2), 1)
    with pytest.raises(RuntimeError, match="num_samples > 0, got 0"):
        pkg.multinomial(pkg.ones(2), 0)


@pytest.mark.parametrize("shape", [(40,), (5, 8), (0,), (2, 0), ()])
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool", "uint8"])
def test_unique(shape, dtype):
    """Values, inverse and counts as NumPy's."""
    values = np.random.default_rng(0).integers(0, 7, shape).astype(dtype)
    x = pkg.tensor(values)
    want, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    assert pkg.unique(x).tolist() == want.tolist() and pkg.unique(x).dtype is x.dtype
    got = pkg.unique(x, return_inverse=True, return_counts=True)
    assert [t.tolist() for t in got] == [
        want.tolist(),
        inverse.reshape(shape).tolist(),
        counts.tolist(),
    ]
    assert pkg.unique(x, return_counts=True)[1].tolist() == counts.tolist()


@pytest.mark.parametrize("n", [65, 3_000, 40_000])
@pytest.mark.parametrize("kind", ["any", "far", "zeros", "nan", "few"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_unique_of_many(n, kind, dtype):
    """Values are sorted without their places, by the bits in which they differ."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n) * 1e4
    if kind == "far":
        x[n // 2] = 2e9
    elif kind == "few":
        x = np.round(x * 1e-4)
    elif dtype.startswith("float") and kind != "any":
        x[:: n // 7] = -0.0 if kind == "zeros" else np.nan
        x[1 :: n // 7] = 0.0
    x = x.astype(dtype)
    numbers, nans = x[~np.isnan(x)], np.isnan(x).sum()
    found = pkg.unique(pkg.tensor(x)).numpy()
    np.testing.assert_array_equal(found[: found.size - nans], np.unique(numbers))
    assert np.isnan(found[found.size - nans :]).all()
    counts = pkg.unique(pkg.tensor(x), return_counts=True)[1].numpy()
    wanted = np.unique(numbers, return_counts=True)[1]
    np.testing.assert_array_equal(counts[: counts.size - nans], wanted)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("shape", [(9, 2, 2), (2, 9, 1), (3, 3, 0)])
def test_unique_slices(shape, dim):
    """Along a dimension, as NumPy's with an axis."""
    values = np.random.default_rng(0).integers(-1, 2, shape)
    x = pkg.tensor(values)
    want, inverse, counts = np.unique(
        values, axis=dim, return_inverse=True, return_counts=True
    )
    assert x.unique(dim=dim).tolist() == want.tolist()
    got = pkg.unique(x, return_inverse=True, return_counts=True, dim=dim)
    assert [t.tolist() for t in got] == [
        want.tolist(),
        inverse.reshape(-1).tolist(),
        counts.tolist(),
    ]
    assert x.unique(return_counts=True, dim=dim)[1].tolist() == counts.tolist()


def test_unique_refuses_what_is_no_dimension():
    """In the words of the ops."""
    x, single = pkg.ones(2, 3), pkg.tensor(3.0)
    for tensor, dim, kind, text in [
        (x, 9, IndexError, "Dimension out of range (expected to be in range of "
                           "[-2, 1], but got 9)"),
        (x, -3, IndexError, "Dimension out of range (expected to be in range of "
                            "[-2, 1], but got -3)"),
        (single, 0, IndexError, "Dimension specified as 0 but tensor has no "
                                "dimensions"),
        (x, 0.0, TypeError, "expected an int for 'dim', got float"),
        (x, True, TypeError, "expected an int for 'dim', got bool"),
    ]:  # fmt: skip
        for call in (pkg.unique, pkg.Tensor.unique):
            with pytest.raises(kind) as caught:
                call(tensor, dim=dim)
            assert str(caught.value) == f"[unique] {text}"
    assert x.unique(dim=np.int64(0)).tolist() == [[1.0, 1.0, 1.0]]


def test_normal_of_numbers():
    """The size, the dtype and the moments that were asked for."""
    drawn = pkg.normal(3.0, 2.0, (100, 200), dtype=pkg.float64, requires_grad=True)
    assert drawn.shape == (100, 200) and drawn.dtype is pkg.float64
    assert drawn.requires_grad and drawn.is_leaf
    values = drawn.detach().numpy()
    assert values.mean() == pytest.approx(3, abs=0.1)
    assert values.std() == pytest.approx(2, abs=0.1)
    pkg.manual_seed(1)
    first = pkg.normal(mean=0, std=1, size=[3])
    pkg.manual_seed(1)
    assert first.tolist() == pkg.randn(3).tolist() and first.dtype is pkg.float32


def test_normal_of_tensors():
    """Each element by its own mean and standard deviation."""
    mean = pkg.tensor([-10.0, 0.0, 10.0], dtype=pkg.float64)
    std = pkg.tensor([[0.0], [1.0], [3.0]]).expand(3, 20000).reshape(3, 20000, 1)
    drawn = pkg.normal(mean, std)
    assert drawn.shape == (3, 20000, 3) and drawn.dtype is pkg.float64
    values = drawn.numpy()
    np.testing.assert_allclose(values.mean(1), [[-10, 0, 10]] * 3, atol=0.15)
    np.testing.assert_allclose(values.std(1), [[0] * 3, [1] * 3, [3] * 3], atol=0.1)
    assert pkg.normal(mean).std().item() > 5 and pkg.normal(mean, 0.0).tolist() == (
        mean.tolist()
    )
    assert pkg.normal(1.0, std.half()).dtype is pkg.float16
    assert pkg.normal(0.1, 0 * mean).tolist() == [0.1] * 3  # not float32's tenth
    assert not pkg.normal(mean.requires_grad_(), 1.0).requires_grad


def test_normal_refuses():
    """What has no size, what has two, what is no spread."""
    x = pkg.ones(2)
    with pytest.raises(TypeError, match="got numbers without size"):
        pkg.normal(0.0, 1.0)
    with pytest.raises(TypeError, match="got tensors with size"):
        pkg.normal(x, 1.0, (2,))
    for call in (lambda: pkg.normal(x, -1.0), lambda: pkg.normal(0.0, -x)):
        with pytest.raises(RuntimeError, match=r"\[normal\] expected std >= 0"):
            call()
    with pytest.raises(RuntimeError, match="expected std >= 0.0, but found std -1"):
        pkg.normal(0.0, -1.0, (2,))
    with pytest.raises(NotImplementedError, match="floating tensors, got int64"):
        pkg.normal(x.long(), 1.0)


#: What cannot be drawn: refused of any size, on any device.
UNDRAWABLE = {
    "uniform, int": lambda x: x.long().uniform_(),
    "uniform, low": lambda x: x.uniform_(-float("inf"), 1),
    "uniform, high": lambda x: x.half().uniform_(0, 70000),
    "uniform, span": lambda x: x.uniform_(-3e38, 3e38),
    "uniform, none": lambda x: x.uniform_(float("nan"), 1),
    "uniform, crossed": lambda x: x.uniform_(2, 1),
    "normal, int": lambda x: x.long().normal_(),
    "normal, std": lambda x: x.normal_(0, -1),
    "rand_like": lambda x: pkg.rand_like(x.long()),
    "randn_like": lambda x: pkg.randn_like(x.bool()),
    "randint, low": lambda x: pkg.randint_like(x.to(pkg.uint8), -5, 3),
    "randint, high": lambda x: pkg.randint_like(x.to(pkg.int8), 0, 129),
    "randint, bool": lambda x: pkg.randint_like(x.bool(), 0, 3),
    "randint, half": lambda x: pkg.randint(0, 70000, x.shape, dtype=pkg.float16),
}


@pytest.mark.parametrize("name", UNDRAWABLE)
def test_numbers_that_the_dtype_does_not_hold(name):
    for shape in ((3,), (0, 2)):
        for device in ("cpu", "meta"):
            with pytest.raises((RuntimeError, NotImplementedError)):
                UNDRAWABLE[name](pkg.ones(shape, device=device))
    most = {pkg.bool: 2, pkg.uint8: 256, pkg.int8: 128, pkg.float16: 65505}
    for dtype, past in most.items():
        like = pkg.zeros(99, dtype=dtype)
        drawn = pkg.randint_like(like, past - 2, past).double()
        assert set(drawn.tolist()) <= {past - 2.0, past - 1.0, 65504.0}


def test_a_permutation_has_different_numbers():
    most = {pkg.uint8: 256, pkg.int8: 128, pkg.bfloat16: 257, pkg.float16: 2049}
    for dtype, n in most.items():
        assert len(set(pkg.randperm(n, dtype=dtype).tolist())) == n
        with pytest.raises(RuntimeError, match=f"at most {n} different numbers"):
            pkg.randperm(n + 1, dtype=dtype)


def test_methods_that_draw_and_compare():
    """The functions of the same names."""
    assert pkg.tensor([0.0, 1.0]).bernoulli().tolist() == [0.0, 1.0]
    assert pkg.tensor([0.0, 1.0]).multinomial(2, True).tolist() == [1, 1]
    assert pkg.tensor([2, 1, 2]).unique().tolist() == [1, 2]


def test_seeds():
    """The default generator is the library's stream; a seed is an int."""
    generator = pkg.manual_seed(5)
    assert generator is pkg.default_generator and isinstance(generator, pkg.Generator)
    assert generator.initial_seed() == pkg.initial_seed() == 5
    state = generator.get_state()
    drawn = pkg.rand(3).tolist()
    generator.set_state(state)
    assert pkg.rand(3).tolist() == drawn
    assert generator.manual_seed(5) is generator and pkg.rand(3).tolist() == drawn
    assert pkg.manual_seed(np.int64(-1)).initial_seed() == 2**64 - 1
    assert generator.seed() == pkg.initial_seed()
    for seed, kind in [("1", "str"), (1.5, "float"), (None, "NoneType")]:
        for start in (pkg.manual_seed, pkg.Generator().manual_seed):
            with pytest.raises(TypeError) as caught:
                start(seed)
            text = f"[manual_seed] expected an int for 'seed', got {kind}"
            assert str(caught.value) == text
    for start in (pkg.manual_seed, pkg.Generator().manual_seed):
        for seed, bits in [
            (3.0, 3), (-1.0, 2**64 - 1), (2**64 - 1, 2**64 - 1), (-(2**63), 2**63),
        ]:  # fmt: skip
            assert start(seed).initial_seed() == bits
        for seed in (2**64, -(2**63) - 1):
            with pytest.raises(OverflowError) as caught:
                start(seed)
            text = f"[manual_seed] expected an int of 64 bits for 'seed', got {seed}"
            assert str(caught.value) == text


def test_copies_of_generators():
    """There is one default generator; others are copied with their place."""
    assert pkg.default_generator.device == pkg.Generator().device == "cpu"
    own = pkg.Generator().manual_seed(5)
    assert len(list(own.integers(100, 3))) == 3
    rest = own.get_state()
    for duplicate in (copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))):
        assert duplicate(pkg.default_generator) is pkg.default_generator
        own.set_state(rest)
        other = duplicate(own)
        assert other is not own and other.initial_seed() == 5
        assert list(other.integers(100, 5)) == list(own.integers(100, 5))

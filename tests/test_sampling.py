# SPDX-License-Identifier: Apache-2.0
"""Random tensors like others, draws from weights, distinct values."""

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
    with pytest.raises(
        RuntimeError, match="expected probabilities, got dtype pkg.int64"
    ):
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

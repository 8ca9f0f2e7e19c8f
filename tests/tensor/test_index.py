# SPDX-License-Identifier: Apache-2.0
"""x[key] and x[key] = value with every kind of key, against NumPy."""

import math

import numpy as np
import pytest

import pkg

EYE = np.arange(12.0).reshape(3, 4)


class Indexable:
    """An integer that is no int."""

    def __index__(self):
        return 1

    def __repr__(self):  # names of tests are alike in every process
        return "Indexable()"


#: Keys that mean the same to NumPy; tensors stand for arrays when pkg gets them.
KEYS = [
    True,
    False,
    np.bool_(True),
    np.bool_(False),
    (False, 0),
    (0, True),
    (slice(1, None), False),
    (None, np.bool_(False)),
    np.array(True),
    np.array(False),
    (np.array(False), 0),
    (0, np.array(True)),
    (..., np.array(True)),
    (np.array([True, False, True]), np.array(True)),
    np.array([0, 2]),
    (1, np.array([3, 0])),
    (np.array([0, 1]), np.array([1, 1])),
    (slice(None), np.array([[0, 1], [3, 3]])),
    (np.array([2]), None, slice(1, 3)),
    np.array([0, 2], "int32"),
    np.array([-1, 0], "int8"),
    np.array(2),
    (np.array(1), np.array(-1)),
    np.int64(2),
    (np.uint8(1), slice(None)),
    Indexable(),
    (slice(Indexable(), np.int64(3)), 0),
    np.array([True, False, True]),
    (slice(None), np.array([True, False, True, True])),
    EYE > 4,
    np.zeros((3, 4), bool),
    np.array([], int),
    [],
    ([], 1),
    [0, -1],
    [True, False, True],
    ([0, 1], slice(None)),
    [np.int64(1), 0],
]


def as_tensors(key):
    """The key with a tensor in place of each array and NumPy bool."""
    if isinstance(key, tuple):
        return tuple(as_tensors(part) for part in key)
    return pkg.tensor(key) if isinstance(key, (np.ndarray, np.bool_)) else key


@pytest.mark.parametrize("convert", [lambda key: key, as_tensors], ids=["numpy", "pkg"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_reading_and_writing(key, convert):
    """The same elements as NumPy's, in the same shape, and no others are written."""
    array, x = EYE.copy(), pkg.tensor(EYE)
    got = x[convert(key)]
    assert got.shape == array[key].shape and got.tolist() == array[key].tolist()
    x[convert(key)] = 7
    array[key] = 7
    assert x.tolist() == array.tolist()
    value = -np.arange(array[key].size).reshape(array[key].shape)
    x[convert(key)] = pkg.tensor(value)
    array[key] = value
    assert x.tolist() == array.tolist()


@pytest.mark.parametrize("key", [True, False], ids=str)
def test_a_mask_of_no_dimension(key):
    """On 0-d tensors too; the gradient goes where the value came from."""
    for mask in (key, np.bool_(key), pkg.tensor(key)):
        x = pkg.tensor(3.0, requires_grad=True)
        assert x[mask].tolist() == [3.0] * key
        x[mask].sum().backward()
        assert x.grad.item() == float(key)
    x = pkg.tensor(3.0)
    assert x.masked_select(pkg.tensor(key)).tolist() == [3.0] * key
    places = pkg.where(pkg.tensor(key))
    assert [p.tolist() for p in places] == [[0] * key] and len(places) == 1
    with pytest.raises(RuntimeError, match="expected bool for .mask., got int64"):
        x.masked_select(pkg.tensor(1))


@pytest.mark.parametrize(
    "key, shape",
    [(0, (1, 1)), (0, (1, 4)), (0, (1, 1, 4)), ((0, 0), (1,)), ([0, 2], (1, 2, 4)),
     (np.array([True, False, True]), (1, 1, 4)), (slice(1, 3), (1, 2, 4))],
    ids=str,
)  # fmt: skip
def test_leading_ones_of_a_value_are_dropped(key, shape):
    """As PyTorch assigns, with gradients to the value."""
    value = np.random.default_rng(0).normal(size=shape)
    array, x = EYE.copy(), pkg.tensor(EYE)
    array[key] = value.reshape(shape[-array[key].ndim :] if array[key].ndim else ())
    source = pkg.tensor(value, requires_grad=True)
    x[key] = source
    assert x.tolist() == array.tolist()
    x.sum().backward()
    assert source.grad.shape == shape
    assert source.grad.sum().item() == pytest.approx(array[key].size)


def test_indices_that_do_not_broadcast():
    """An IndexError, as in NumPy; a 0-d index of index_select keeps the dimension."""
    x = pkg.ones(3, 3)
    with pytest.raises(IndexError, match="could not be broadcast together with shapes"):
        x[pkg.tensor([0, 1]), pkg.tensor([0, 1, 2])]
    assert x.index_select(1, pkg.tensor(1)).shape == (3, 1)


def test_what_is_no_key():
    """Errors that name the matter; nothing is written."""
    x = pkg.tensor(EYE)
    for key in (1.5, pkg.tensor(1.5), np.array([0.0]), np.float32(1), pkg.zeros(0)):
        with pytest.raises(IndexError, match="must be integer or bool"):
            x[key]
    strange = ("a", b"a", object(), np.datetime64("2020"), np.array(["a"]), {}, ["a"])
    for key in (*strange, (0, {1})):
        with pytest.raises(IndexError, match="expected ints, slices"):
            x[key]
    for key in ((0, 0, 0), (0, np.array([0]), 0), np.zeros((3, 4, 1), bool)):
        with pytest.raises(IndexError, match="too many indices"):
            x[key] = 1
    with pytest.raises(IndexError, match="mask"):
        x[np.zeros(4, bool)] = 1
    with pytest.raises(IndexError):
        x[np.array([3])] = 1
    for key, shape in ((0, (2, 4)), (0, (3,)), ([0, 1], (1, 3, 4))):
        with pytest.raises(RuntimeError):
            x[key] = pkg.ones(shape)
    assert x.tolist() == EYE.tolist()


def test_bools_of_others_may_be_any_byte():
    """What somebody writes into shared memory later; what is set is counted once."""
    for values in ([0, 2, 255, 1, 0], [255] * 3000, [0] * 7):
        array = np.zeros(len(values), np.bool_)
        mask = pkg.from_numpy(array)
        array.view(np.uint8)[:] = values
        places = np.flatnonzero(np.array(values))
        assert mask.nonzero().reshape(-1).tolist() == places.tolist()
        assert pkg.arange(len(values))[mask].tolist() == places.tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("by", [1, 2])
def test_single_elements_that_one_index_names(dtype, step, by):
    """Each is checked as it is copied; negative ones count from the end."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 200, 700 * step).astype(dtype)
    i = rng.integers(-700, 700, (40, 30 * by))
    x, at = pkg.tensor(a)[::step], pkg.tensor(i)[:, ::by]
    np.testing.assert_array_equal(x[at].numpy(), a[::step][i[:, ::by]])
    np.testing.assert_array_equal(pkg.take(x, at).numpy(), a[::step][i[:, ::by]])
    for wrong in (700, -701, 2**62, -(2**63)):
        i[39, 29 * by] = wrong
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds .* 700"):
            x[pkg.tensor(i)[:, ::by]]


@pytest.mark.parametrize("shape", [(6, 7), (3, 4, 5), (2, 3, 4, 5), (0, 4), (1, 1)])
def test_a_mask_of_several_dimensions(shape):
    """Of those that lie as one, and of others."""
    a = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    for n in range(1, len(shape) + 1):
        m = np.random.default_rng(n).random(shape[:n]) < 0.4
        for x in (pkg.tensor(a), pkg.tensor(np.asfortranarray(a))):
            for mask in (pkg.tensor(m), pkg.tensor(np.asfortranarray(m))):
                np.testing.assert_array_equal(x[mask].numpy(), a[m])
        x = pkg.tensor(a, requires_grad=True)
        x[pkg.tensor(m)].sum().backward()
        want = np.zeros_like(a)
        want[m] = 1
        np.testing.assert_array_equal(x.grad.numpy(), want)
    if len(shape) > 2:
        m = np.random.default_rng(9).random(shape[1:3]) < 0.5
        np.testing.assert_array_equal(pkg.tensor(a)[:, pkg.tensor(m)].numpy(), a[:, m])

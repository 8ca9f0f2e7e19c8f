# SPDX-License-Identifier: Apache-2.0
"""Ops that read and write slices: tensors of no dimension, negative indices, sizes."""

import numpy as np
import pytest

import pkg
from pkg.nn import functional as F

FIVE, FIRST, FIRSTS = 5.0, [0], [0, 0]


# call(x, index, values), x, index, values, result
ROWS = [
    ("index_select", lambda x, i, v: pkg.index_select(x, 0, i), FIVE, FIRST, None, 5.0),
    ("index_select", lambda x, i, v: pkg.index_select(x, -1, i), FIVE, 0, None, 5.0),
    ("index_add", lambda x, i, v: pkg.index_add(x, 0, i, v), FIVE, FIRST, [2.0], 7.0),
    ("index_add", lambda x, i, v: pkg.index_add(x, 0, i, v), FIVE, 0, 2.0, 7.0),
    ("index_add", lambda x, i, v: pkg.index_add(x, 0, i, v), FIVE, FIRSTS, [2.0, 3.0],
     10.0),
    ("index_add", lambda x, i, v: pkg.index_add(x, 0, i, v, alpha=2), [1.0, 1.0], 1,
     [2.0], [1.0, 5.0]),
    ("index_copy", lambda x, i, v: pkg.index_copy(x, 0, i, v), FIVE, FIRST, [2.0], 2.0),
    ("index_copy", lambda x, i, v: pkg.index_copy(x, 0, i, v), [1.0, 1.0], [1], 2.0,
     [1.0, 2.0]),
    ("index_fill", lambda x, i, v: pkg.index_fill(x, 0, i, 2.0), FIVE, FIRST, None,
     2.0),
    ("index_fill", lambda x, i, v: pkg.index_fill(x, 0, i, 2.0), FIVE, FIRSTS, None,
     2.0),
    ("gather", lambda x, i, v: pkg.gather(x, 0, i), FIVE, 0, None, 5.0),
    ("gather", lambda x, i, v: pkg.gather(x, 0, i), FIVE, FIRSTS, None, [5.0, 5.0]),
    ("gather", lambda x, i, v: pkg.gather(x, 0, i), [5.0, 6.0], 1, None, 6.0),
    ("scatter", lambda x, i, v: pkg.scatter(x, 0, i, v), FIVE, 0, 2.0, 2.0),
    ("scatter", lambda x, i, v: pkg.scatter(x, 0, i, v), FIVE, FIRST, [2.0], 2.0),
    ("scatter", lambda x, i, v: pkg.scatter(x, 0, i, v), [5.0, 6.0], 1, [2.0],
     [5.0, 2.0]),
    ("scatter", lambda x, i, v: pkg.scatter(x, 0, i, v), [5.0, 6.0], [1], 2.0,
     [5.0, 2.0]),
    ("scatter", lambda x, i, v: pkg.scatter(x, 0, i, 2), [5.0, 6.0], 1, None,
     [5.0, 2.0]),
    ("scatter_add", lambda x, i, v: pkg.scatter_add(x, 0, i, v), FIVE, FIRSTS,
     [2.0, 3.0], 10.0),
    ("scatter_add", lambda x, i, v: pkg.scatter_add(x, 0, i, v), [5.0, 6.0], 1, 2.0,
     [5.0, 8.0]),
    ("take_along_dim", lambda x, i, v: pkg.take_along_dim(x, i, 0), [5.0, 6.0],
     [-1, -2], None, [6.0, 5.0]),
    ("take_along_dim", lambda x, i, v: pkg.take_along_dim(x, i), [[5.0], [6.0]],
     [[-1], [0]], None, [6.0, 5.0]),
    ("take_along_dim", lambda x, i, v: pkg.take_along_dim(x, i), FIVE, -1, None, [5.0]),
]  # fmt: skip


@pytest.mark.parametrize("name, call, x, index, values, want", ROWS)
def test_values_and_gradients(name, call, x, index, values, want):
    """Every element counts once, wherever it goes: a sum's gradient says where from."""
    x = pkg.tensor(x, requires_grad=True)
    i = pkg.tensor(index)
    v = None if values is None else pkg.tensor(values, requires_grad=True)
    y = call(x, i, v)
    assert y.tolist() == want
    y.sum().backward()
    step = 0.5  # the functions are linear
    for leaf in (x, v):
        if leaf is None:
            continue
        with pkg.no_grad():
            higher = call(x + step if leaf is x else x, i, v + step if leaf is v else v)
        moved = (higher.sum() - y.sum()) / step
        assert leaf.grad.shape == leaf.shape
        assert leaf.grad.sum().item() == moved.item()


def test_in_place_forms_of_no_dimension():
    x, first = pkg.tensor(5.0), pkg.tensor([0])
    assert x.index_add_(0, first, pkg.tensor([2.0])) is x and x.item() == 7
    assert x.index_copy_(0, first, pkg.tensor(3.0)) is x and x.item() == 3
    assert x.index_fill_(0, first, 4) is x and x.item() == 4
    assert x.scatter_(0, first, pkg.tensor([6.0])) is x and x.item() == 6
    assert x.scatter_add_(0, first, pkg.tensor([1.0])) is x and x.item() == 7


def test_an_index_of_nothing_fits_every_tensor():
    x, none = pkg.ones(2, 3, requires_grad=True), pkg.zeros(0, dtype=pkg.int64)
    y = pkg.gather(x, 0, none)
    assert y.shape == (0,)
    src = pkg.ones(2, 3, requires_grad=True)
    total = y.sum() + pkg.scatter(x, 0, none, src).sum()
    total = total + pkg.scatter_add(x, 0, none, src).sum()
    total.backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2 and src.grad.tolist() == [[0.0] * 3] * 2
    assert pkg.gather(x, 0, pkg.zeros(0, 5, dtype=pkg.int64)).shape == (0, 5)


@pytest.mark.parametrize("in_place", ["", "_"])
@pytest.mark.parametrize("write", ["index_add", "index_copy"])
@pytest.mark.parametrize(
    "shape, dim, index, source",
    [
        ((2, 3), 0, [1], (1, 1)),
        ((2, 3), 0, [1], (3,)),
        ((2, 3), 1, [1, 0], (2,)),
        ((2, 3), 0, 1, (3,)),
        ((3,), 0, [1, 2], (1,)),
        ((3,), 0, [1, 2], ()),
        ((), 0, [0], (2,)),
        ((), 0, [0], (1, 1)),
    ],
)
def test_sources_do_not_broadcast(write, in_place, shape, dim, index, source):
    x, index = pkg.zeros(shape), pkg.tensor(index)
    with pytest.raises(RuntimeError, match=r"\[index_.*source tensor shape must match"):
        getattr(x, write + in_place)(dim, index, pkg.ones(source))


@pytest.mark.parametrize("name", ["index_select", "index_add", "index_copy"])
def test_a_mask_names_no_slices(name):
    mask = pkg.tensor([True, False])
    source = () if name == "index_select" else (pkg.ones(2),)
    with pytest.raises(RuntimeError, match="expected integer for .index., got bool"):
        getattr(pkg.ones(2), name)(0, mask, *source)


def test_a_scalar_has_one_slice():
    with pytest.raises(RuntimeError, match="can have only 1 value"):
        pkg.index_select(pkg.tensor(5.0), 0, pkg.tensor([0, 0]))
    with pytest.raises(IndexError, match="out of bounds"):
        pkg.index_select(pkg.tensor(5.0), 0, pkg.tensor([1])).tolist()
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        pkg.gather(pkg.tensor(5.0), 0, pkg.tensor([[0]]))


@pytest.mark.parametrize("shape", [(3, 2, 2), (3,), ()])
def test_embedding_has_a_matrix_and_integers(shape):
    with pytest.raises(RuntimeError, match="'weight' must be 2-D"):
        F.embedding(pkg.tensor([0]), pkg.ones(shape))
    with pytest.raises(RuntimeError, match="expected integer for .indices., got bool"):
        F.embedding(pkg.tensor([True]), pkg.ones(3, 2))


VALUES = [
    (pkg.bool, 2.5, True),
    (pkg.bool, float("nan"), True),
    (pkg.int64, 2.5, 2),
    (pkg.int64, -2.5, -2),
    (pkg.uint8, -1, 255),
    (pkg.float16, float("inf"), float("inf")),
]
TOO_LARGE = [
    (pkg.uint8, 300),
    (pkg.uint8, -300),
    (pkg.uint8, -1.0),
    (pkg.int8, 128),
    (pkg.int32, 2**40),
    (pkg.int32, 3e9),
    (pkg.int64, 1e19),
    (pkg.int64, float("nan")),
    (pkg.int64, float("inf")),
    (pkg.float16, 1e6),
    (pkg.float32, 1e300),
]
WRITES = {
    "full": lambda x, v: pkg.full((2,), v, dtype=x.dtype),
    "full_like": pkg.full_like,
    "new_full": lambda x, v: x.new_full((2,), v),
    "fill_": lambda x, v: x.fill_(v),
    "masked_fill": lambda x, v: pkg.masked_fill(x, x == 0, v),
    "masked_fill_": lambda x, v: x.masked_fill_(x == 0, v),
    "index_fill": lambda x, v: pkg.index_fill(x, 0, pkg.tensor([0, 1]), v),
    "index_fill_": lambda x, v: x.index_fill_(0, pkg.tensor([0, 1]), v),
    "scatter": lambda x, v: pkg.scatter(x, 0, pkg.tensor([0, 1]), v),
    "scatter_": lambda x, v: x.scatter_(0, pkg.tensor([0, 1]), v),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_number_is_cut_to_the_dtype_or_refused(write):
    for dtype, value, want in VALUES:
        got = WRITES[write](pkg.zeros(2, dtype=dtype), value)
        assert got.dtype is dtype and got.tolist() == [want, want]
    for dtype, value in TOO_LARGE:
        with pytest.raises(RuntimeError, match="cannot be converted.*without overflow"):
            WRITES[write](pkg.zeros(2, dtype=dtype), value)


def test_a_tensor_is_cut_to_the_dtype():
    x = pkg.zeros(2, dtype=pkg.int64)
    assert x.masked_fill(x == 0, pkg.tensor(2.5)).tolist() == [2, 2]


def test_a_factor_of_integers_loses_its_fraction():
    x, first, two = pkg.tensor([1, 1]), pkg.tensor([0]), pkg.tensor([2])
    for alpha, want in [(2.7, 5), (0.5, 1), (-1.5, -1), (3, 7)]:
        assert pkg.index_add(x, 0, first, two, alpha=alpha).tolist() == [want, 1]
        assert x.clone().index_add_(0, first, two, alpha=alpha).tolist() == [want, 1]
    with pytest.raises(RuntimeError, match="without overflow"):
        pkg.index_add(x, 0, first, two, alpha=1e30)
    exact = pkg.index_add(x.double(), 0, first, two.double(), alpha=0.5)
    assert exact.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
def test_a_source_of_nothing_has_no_element_for_an_index(name):
    """Not even for one of no dimension."""
    for shape in ((), (1,)):
        index = pkg.zeros(shape, dtype=pkg.int64)
        with pytest.raises(RuntimeError, match="to be no larger than src"):
            getattr(pkg, name)(pkg.ones(shape), 0, index, pkg.ones(0))


@pytest.mark.parametrize("key", [True, False], ids=str)
def test_a_mask_of_no_dimension_in_a_list_of_indices(key):
    """It picks all or nothing of one more dimension, where it stands."""
    values = np.arange(12.0).reshape(3, 4)
    mask, rows = pkg.tensor(key), pkg.tensor([0, 2, 2])
    for keys in ([mask], [None, mask], [mask, None, pkg.tensor([1])], [rows, mask]):
        if not key and any(k is rows for k in keys):
            continue  # three rows and no mask do not broadcast
        numpys = tuple(
            slice(None) if k is None else k.item() if k.ndim == 0 else k.numpy()
            for k in keys
        )
        x = pkg.tensor(values, requires_grad=True)
        got = pkg.ops.index(x, keys)
        assert got.tolist() == values[numpys].tolist()
        got.sum().backward()
        counts = np.zeros((3, 4))
        np.add.at(counts, numpys, 1)
        assert x.grad.tolist() == counts.tolist()
        want = values.copy()
        want[numpys] = -1
        put = pkg.ops.index_put(x.detach(), keys, pkg.tensor(-1.0).double())
        assert put.tolist() == want.tolist()
        y = pkg.tensor(values)
        assert pkg.ops.index_put_(y, keys, pkg.tensor(-1.0).double()) is y
        assert y.tolist() == want.tolist()


TOO_LARGE = [
    (pkg.uint8, 300),
    (pkg.int8, 1e5),
    (pkg.int32, float("nan")),
    (pkg.float32, 1e39),
]
KEYS = [0, slice(None), slice(0, 0), ..., [0], [True, False], (None, [1])]


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("dtype, number", TOO_LARGE)
def test_numbers_that_are_written_fit_the_dtype(dtype, number, key, device):
    x = pkg.zeros(2, dtype=dtype, device=device)
    x[key] = 1  # and tensors are converted
    if device == "cpu" and dtype.is_floating_point:
        x[key] = pkg.tensor(number, dtype=pkg.float64)
        x.zero_()
    with pytest.raises(RuntimeError, match="converted to type .* without overflow"):
        x[key] = number
    with pytest.raises(RuntimeError, match="converted to type .* without overflow"):
        x.index_put_([pkg.tensor([0])], number)
    x[key] = True


def test_alpha_of_bools_is_a_bool():
    x, index = pkg.zeros(3, dtype=pkg.bool), pkg.tensor([0, 0, 1])
    source = pkg.tensor([True, False, False])
    for alpha in (1, 0.5, float("inf"), float("nan")):
        got = x.index_add(0, index, source, alpha=alpha)
        assert got.tolist() == [True, False, False]
    assert not x.index_add(0, index, source, alpha=0.0).any()


@pytest.mark.parametrize("dim", [0, 1])
def test_many_indices_that_name_few_slices(dim):
    """One number, or one row, that is written again and again; negative ones too."""
    rng = np.random.default_rng(5)
    for shape in [(1, 1), (3, 7), (40, 6), (6, 40)]:
        size = shape[dim]
        for n in (0, 1, size, size + 1, 500):
            given = rng.integers(0, 50, shape)
            index = rng.integers(-size, size, n)
            want = given.copy()
            want[(slice(None), index) if dim else index] = 7
            at = pkg.tensor(index.astype(np.int64))
            dense = pkg.tensor(given)
            turned = pkg.tensor(np.ascontiguousarray(given.T)).t()
            for x in (dense, turned):
                np.testing.assert_array_equal(pkg.index_fill(x, dim, at, 7), want)
                np.testing.assert_array_equal(x, given)
            turned.index_fill_(dim, at, 7)
            np.testing.assert_array_equal(turned, want)
            if dim == 0:
                row = pkg.tensor(rng.integers(0, 50, shape[1]))
                want[index] = row.numpy()
                dense[at] = 7
                dense[at] = row
                np.testing.assert_array_equal(dense, want)
    with pytest.raises(IndexError, match="out of bounds"):
        pkg.zeros(3, 2).index_fill_(0, pkg.tensor([0] * 9 + [3]), 1)

# SPDX-License-Identifier: Apache-2.0
"""Five to nine dimensions: a shape keeps six numbers in place, longer ones elsewhere,
so that tests that stop at four see nothing of what happens there.

Values are compared with NumPy's on the same arrays.
"""

import copy
import io

import numpy as np
import pytest

import pkg
from op_table import ELEMENTWISE
from op_values import scattered

DIMS = range(5, 10)


def sizes_of(ndim):
    """Sizes of 1, 2 and 3 in an order that differs at every end; 24 elements."""
    return [2, 1, 3, 1, 2, 1, 1, 2, 1][:ndim]


def array_of(ndim, dtype="float64"):
    """Its numbers are 0, 1, ..., so that each is at home in one place."""
    return np.arange(np.prod(sizes_of(ndim)), dtype=dtype).reshape(sizes_of(ndim))


def same(got, want):
    """Shape and values of a tensor, and both again of its copies."""
    want = np.asarray(want)
    assert got.shape == want.shape and got.ndim == want.ndim
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)


@pytest.mark.parametrize("ndim", DIMS)
@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.name)
def test_elementwise_ops(row, ndim):
    """Dense and scattered, and broadcast against a dimension fewer."""
    rng = np.random.default_rng(ndim)
    low, high = max(row.domain[0], -4), min(row.domain[1], 4)
    dtype = "float64" if "float64" in row.dtypes else "int64"
    arrays = [rng.uniform(low, high, sizes_of(ndim)).astype(dtype)]
    if row.arity == 2:
        arrays.append(rng.uniform(low, high, sizes_of(ndim)[1:]).astype(dtype))
    want = row.reference(*arrays)
    call = getattr(pkg, row.name)
    for layout in (pkg.tensor, scattered):
        got = call(*map(layout, arrays)).numpy()
        np.testing.assert_allclose(got, want, rtol=max(row.rtol, 1e-6), atol=1e-7)
    if row.differentiable and dtype == "float64":
        leaves = [pkg.tensor(array, requires_grad=True) for array in arrays]
        call(*leaves).sum().backward()
        assert [leaf.grad.shape for leaf in leaves] == [a.shape for a in arrays]


@pytest.mark.parametrize("ndim", DIMS)
def test_views(ndim):
    a = array_of(ndim)
    x = pkg.tensor(a)
    same(x[0], a[0])
    same(x[..., 0], a[..., 0])
    same(x[:, None], a[:, None])
    same(x[1:, ..., :1], a[1:, ..., :1])
    same(x[1, 0, 1:3], a[1, 0, 1:3])
    for d in range(ndim):
        same(x.select(d, -1), a.take(-1, axis=d))
        same(x.unsqueeze(d), np.expand_dims(a, d))
        same(x.transpose(d, 2), a.swapaxes(d, 2))
        same(x.movedim(d, 0), np.moveaxis(a, d, 0))
        same(x.flatten(0, d), a.reshape([-1, *a.shape[d + 1 :]]))
        same(pkg.cat([x, x], d), np.concatenate([a, a], d))
        same(pkg.stack([x, x], d), np.stack([a, a], d))
        same(x.flip(d), np.flip(a, d))
    same(x.permute(*range(ndim)[::-1]), a.T)
    same(x.squeeze(), a.squeeze())
    same(x.reshape(4, -1), a.reshape(4, -1))
    same(x.reshape(4, -1).view(a.shape), a)
    same(x.expand(2, *a.shape), np.broadcast_to(a, (2, *a.shape)))
    same(x.diagonal(0, 0, 2), a.diagonal(0, 0, 2))
    same(x.repeat(*range(1, ndim + 1)), np.tile(a, range(1, ndim + 1)))


@pytest.mark.parametrize("ndim", DIMS)
def test_reductions_and_orders(ndim):
    """Over each dimension, over pairs that lie apart, over all."""
    a = array_of(ndim)
    for layout in (pkg.tensor, scattered):
        x = layout(a)
        for d in range(ndim):
            same(x.sum(d), a.sum(d))
            same(x.mean(d, keepdim=True), a.mean(d, keepdims=True))
            same(x.amax(sorted({d, 2})), a.max(tuple({d, 2})))
            same(x.cumsum(d), a.cumsum(d))
            same(x.argmax(d), a.argmax(d))
            same(x.sort(d, descending=True).values, np.flip(np.sort(a, d), d))
            same((x > 3).any(d), (a > 3).any(d))
        same(x.sum(), a.sum())
        same(x.sum((0, ndim - 1)), a.sum((0, ndim - 1)))


@pytest.mark.parametrize("ndim", DIMS)
def test_advanced_indexing(ndim):
    a = array_of(ndim)
    x = pkg.tensor(a)
    places = np.array([[2, 0], [1, 1]])
    same(x[:, :, pkg.tensor(places)], a[:, :, places])
    same(x[[1, 0], :, [0, 2]], a[[1, 0], :, [0, 2]])
    same(x[pkg.tensor(a > 5)], a[a > 5])
    same(x.index_select(2, pkg.tensor([2, 0])), a.take([2, 0], 2))
    x[:, 0, 1], a[:, 0, 1] = -1, -1
    x[[0, 1], 0], a[[0, 1], 0] = 7, 7
    same(x, a)


@pytest.mark.parametrize("ndim", DIMS)
def test_text_lists_and_copies(ndim):
    a = array_of(ndim)
    x = pkg.tensor(a)
    assert x.tolist() == a.tolist()
    assert pkg.tensor(a.tolist(), dtype=pkg.float64).tolist() == a.tolist()
    text = repr(x)
    assert text.startswith("tensor(" + "[" * ndim) and "11." in text
    file = io.BytesIO()
    pkg.save(x, file)
    file.seek(0)
    for again in (copy.deepcopy(x), x.clone(), pkg.load(file)):
        same(again, a)
    assert x.stride() == tuple(s // a.itemsize for s in a.strides)


@pytest.mark.parametrize("ndim", DIMS)
def test_exchange(ndim):
    """NumPy and DLPack show the same memory, in any order of the dimensions."""
    a = array_of(ndim)
    for array in (a, a.T, a[..., ::-1].copy()[..., ::1]):
        same(pkg.from_numpy(array), array)
        same(pkg.from_dlpack(array), array)
        x = pkg.tensor(a).permute(*range(ndim)[::-1])
        np.testing.assert_array_equal(x.numpy(), a.T)
        np.testing.assert_array_equal(np.from_dlpack(x), a.T)


@pytest.mark.parametrize("ndim", DIMS)
def test_gradients(ndim):
    """Through views, reductions in the middle and broadcasting."""
    a = array_of(ndim)
    x = pkg.tensor(a, requires_grad=True)
    (x[0].sum() + 2 * x[:, 0].sum((0, 1)).sum()).backward()
    want = np.full_like(a, 2)
    want[0] += 1
    same(x.grad, want)
    x.grad = None
    weight = pkg.ones(*a.shape[1:], dtype=pkg.float64).requires_grad_()
    back = range(ndim)[::-1]
    (x.permute(*back).permute(*back) * weight).sum().backward()
    same(weight.grad, a.sum(0))
    same(x.grad, np.ones_like(a))
    grads = pkg.autograd.grad((x * x).sum((1, 3)).sum(), x, create_graph=True)
    same(grads[0], 2 * a)


@pytest.mark.parametrize("ndim", DIMS)
def test_products_and_layers(ndim):
    a = array_of(ndim)
    x = pkg.tensor(a)
    last = a.shape[-1]
    same(x.matmul(pkg.ones(last, 3, dtype=pkg.float64)), a @ np.ones((last, 3)))
    same(pkg.matmul(x, x.transpose(-1, -2)), a @ a.swapaxes(-1, -2))
    linear = pkg.nn.Linear(last, 2).double()
    assert linear(x).shape == (*a.shape[:-1], 2)
    e = np.exp(a - a.max(2, keepdims=True))
    same(x.softmax(2), e / e.sum(2, keepdims=True))
    norm = pkg.nn.functional.layer_norm(x, a.shape[2:])
    axes = tuple(range(2, ndim))
    deviation = np.sqrt(a.var(axes, keepdims=True) + 1e-5)
    same(norm, (a - a.mean(axes, keepdims=True)) / deviation)

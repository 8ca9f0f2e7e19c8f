# SPDX-License-Identifier: Apache-2.0
"""PyTorch's names that are not ops: a script runs with its import changed."""

import pickle

import numpy as np
import pytest

import pkg
from pkg import nn


def test_to_takes_devices_dtypes_and_tensors():
    """In PyTorch's order and by keyword; without a change it is the tensor itself."""
    x = pkg.tensor([1.5, -2.5])
    same = [x.to("cpu"), x.to(pkg.device("cpu")), x.to(x.device, pkg.float32), x.cpu()]
    same += [x.to(device="cpu", dtype=pkg.float32), x.to(x), x.to("cpu:0")]
    same += [x.to("cpu", non_blocking=True), x.to(dtype=pkg.float32)]
    assert all(y is x for y in same)
    for y in (x.to(x, copy=True), x.to("cpu", copy=True), x.to(pkg.float32, copy=True)):
        assert y.tolist() == x.tolist() and y._storage_id() != x._storage_id()
    wide = pkg.zeros(1, dtype=pkg.float64)
    for y in (x.to(wide), x.to("cpu", pkg.float64), x.type_as(wide), x.double()):
        assert y.dtype is pkg.float64 and y.tolist() == [1.5, -2.5]
    assert x.bfloat16().dtype is pkg.bfloat16
    leaf = pkg.ones(2, requires_grad=True)
    leaf.to("cpu", pkg.float64).sum().backward()
    assert leaf.grad.dtype is pkg.float32 and leaf.grad.tolist() == [1.0, 1.0]


def test_to_names_the_devices_that_there_are():
    """Another device, a tensor without values and a number are errors."""
    x = pkg.ones(2)
    with pytest.raises(RuntimeError, match="expected 'cpu' or 'meta', got 'cuda:0'"):
        x.to("cuda:0")
    with pytest.raises(TypeError, match="dtype, a device or a tensor, got a number"):
        x.to(3)
    shape_only = x.to("meta")
    assert shape_only.device == "meta" and tuple(shape_only.shape) == (2,)
    with pytest.raises(NotImplementedError, match="expected a tensor with values"):
        shape_only.cpu()


def test_module_to():
    """A module moves to where it is."""
    layer = nn.Linear(2, 2)
    assert layer.cpu() is layer.to("cpu", non_blocking=True) is layer
    assert layer.to(pkg.zeros(1, dtype=pkg.float64)).weight.dtype is pkg.float64
    with pytest.raises(RuntimeError, match="expected 'cpu' or 'meta', got 'cuda'"):
        layer.to("cuda")


def test_type():
    """Names both ways, and dtypes."""
    x = pkg.tensor([1, 2])
    assert x.type() == "pkg.LongTensor"
    assert x.type(pkg.float64).type() == "pkg.DoubleTensor"
    assert x.type("pkg.HalfTensor").dtype is pkg.float16
    for name in pkg.DTYPES:
        assert x.type(x.to(name).type()).dtype.name == name
    with pytest.raises(TypeError, match="names no element type"):
        x.type("pkg.QuarterTensor")


def test_methods_that_are_not_ops():
    """Sizes, views and new tensors."""
    x = pkg.arange(6).reshape(2, 3)
    assert (x.nelement(), x.ndimension(), x.is_cuda) == (6, 2, False)
    assert x.ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert x.T.ravel().tolist() == [0, 3, 1, 4, 2, 5]
    assert x.mT.tolist() == x.H.tolist() == x.T.tolist()
    assert tuple(pkg.zeros(4, 2, 3).mT.shape) == (4, 3, 2)
    with pytest.raises(RuntimeError, match="expected a matrix"):
        x.ravel().mT
    with pytest.raises(RuntimeError, match="Use mT"):
        pkg.zeros(4, 2, 3).H
    assert x.where(x > 2, -1).tolist() == [[-1, -1, -1], [3, 4, 5]]
    made = x.new_tensor([1.0, 2.0], requires_grad=False)
    assert made.dtype is pkg.int64 and made.tolist() == [1, 2]
    made = x.new_tensor(np.ones(2), dtype=pkg.float32, requires_grad=True)
    assert made.dtype is pkg.float32 and made.requires_grad


def test_results_with_names():
    """Several results are a tuple; those that the schema names have the names, too."""
    x = pkg.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    calls = [x.max(1), x.min(1), x.sort(1), x.topk(2), x.median(1), x.kthvalue(2)]
    for found in [*calls, x.cummax(1), x.cummin(1)]:
        values, indices = found
        assert isinstance(found, tuple) and len(found) == 2
        assert found.values is values and found.indices is found[1] is indices
        assert x.gather(1, indices.reshape(2, -1)).ravel().tolist() == (
            values.ravel().tolist()
        )
        back = pickle.loads(pickle.dumps(found))
        assert type(back) is tuple and back[0].tolist() == values.tolist()
    assert "values=tensor([3., 6.])" in repr(x.max(1))
    assert type(x.max(1)) is type(x.max(0)) is not type(x.min(1))
    assert type(x.std_mean()) is tuple
    assert x.max(1).values.sum().item() == 9.0


def test_format():
    """A 0-d tensor is its number, with and without a format."""
    assert f"{pkg.tensor(3)} {pkg.tensor(2.5):.2f}" == "3 2.50"
    assert f"{pkg.tensor([3])}" == "tensor([3])"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{pkg.tensor([3]):.2f}"

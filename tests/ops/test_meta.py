# SPDX-License-Identifier: Apache-2.0
"""Tensors of the device "meta", which have a shape and no values."""

import pytest

import pkg
from op_table import ELEMENTWISE
from pkg import nn

INDEX = pkg.zeros(2, dtype=pkg.int64)
PAIRS = [row for row in ELEMENTWISE if row.arity == 2]


def meta(*sizes, **options):
    return pkg.ones(*sizes, device="meta", **options)


MIXED = {
    "matmul": lambda: pkg.ones(2, 2) @ meta(2, 2),
    "add": lambda: pkg.ones(2) + meta(2),
    "key": lambda: pkg.ones(3)[meta(2, dtype=pkg.int64)],
    "where": lambda: pkg.where(meta(2) > 0, pkg.ones(2), pkg.zeros(2)),
    "stack": lambda: pkg.stack([pkg.ones(2), meta(2)]),
    "cat": lambda: pkg.cat([meta(2), pkg.ones(2)]),
    "linear": lambda: nn.Linear(2, 3)(meta(4, 2)),
    "in_place": lambda: pkg.ones(2).add_(meta(2)),
    "copy": lambda: pkg.ones(2).copy_(meta(2)),
    "one_number_written": lambda: pkg.tensor(1.0).add_(meta(())),
    "assignment": lambda: pkg.ones(3).__setitem__(0, meta(3)[0]),
    "one_element": lambda: meta(3) + pkg.ones(1),
    "integers": lambda: pkg.zeros(3, dtype=pkg.int64) * meta(3),
    "nothing": lambda: pkg.cat([meta(2), pkg.ones(0)]),
    "no_elements": lambda: pkg.inner(pkg.ones(2, 0), meta(())),
    "mask": lambda: meta(3).masked_fill(pkg.ones(3) > 0, 1.0),
    "clamp": lambda: meta(3).clamp(max=pkg.ones(3, dtype=pkg.int64)),
    "lerp": lambda: pkg.lerp(meta(3), meta(3), pkg.ones(1)),
    "isin": lambda: pkg.isin(meta(3), INDEX),
    "isin_nothing": lambda: pkg.isin(pkg.ones(3), meta(0)),
    "searchsorted": lambda: pkg.searchsorted(meta(3, dtype=pkg.int64), INDEX),
    "take": lambda: pkg.take(pkg.ones(3), meta(2, dtype=pkg.int64)),
}


@pytest.mark.parametrize("call", MIXED.values(), ids=MIXED)
def test_meta_beside_values_is_an_error(call):
    """And not a tensor of memory that nobody wrote."""
    with pytest.raises(RuntimeError, match="expected all tensors to be on the same"):
        call()


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row.name)
def test_operands_are_of_one_device(row):
    """0-d tensors are numbers; what has a dimension is not, of one element."""
    op, dtype = getattr(pkg, row.name), getattr(pkg, row.dtypes[0])
    x = meta(2, 3, dtype=dtype)
    for shape in ((2, 3), (1,), (1, 1)):
        y = pkg.ones(shape, dtype=dtype)
        for pair in ((x, y), (y, x)):
            with pytest.raises(RuntimeError, match="to be on the same device"):
                op(*pair)
    number = pkg.ones((), dtype=dtype)
    for pair in ((x, number), (number, x), (meta(0, 3, dtype=dtype), number)):
        assert op(*pair).device == "meta"


def test_values_of_meta_tensors_are_not_compared():
    for other in (meta(3), meta(2), pkg.ones(2)):
        for pair in ((meta(3), other), (other, meta(3))):
            with pytest.raises(NotImplementedError, match="no values"):
                pkg.equal(*pair)


def test_numbers_may_stand_beside_meta():
    """Python's and 0-d tensors; the result has the shape alone."""
    results = [meta(3) + 2, 2 * meta(3), meta(3) + pkg.tensor(2.0)]
    results += [pkg.tensor(2.0) * meta(3), meta(3).add_(1)]
    for x in results:
        assert x.device == "meta" and x.shape == (3,)
    assert nn.Linear(2, 3, device="meta")(meta(4, 2)).shape == (4, 3)


def test_indices_may_stand_beside_meta():
    """And what is written into a meta tensor, where nothing is."""
    x = meta(4, 6)
    results = {
        "key": (x[[0, 1]], (2, 6)),
        "gather": (meta(2).gather(0, INDEX), (2,)),
        "embedding": (nn.functional.embedding(INDEX, meta(3, 4)), (2, 4)),
        "cross_entropy": (nn.functional.cross_entropy(meta(2, 3), INDEX), ()),
        "nll_loss": (nn.functional.nll_loss(meta(2, 3), INDEX), ()),
        "first": (INDEX[0] + meta(3, 2), (3, 2)),
        "index_select": (x.index_select(1, INDEX), (4, 2)),
        "index_add": (x.index_add(1, INDEX, meta(4, 2)), (4, 6)),
        "take": (x.take(INDEX), (2,)),
        "mask": (x[pkg.ones(4) > 0], (4, 6)),
        "dropout": (nn.functional.dropout(x), (4, 6)),
        "number": (pkg.xlogy(x, 2.5), (4, 6)),
        "isin": (pkg.isin(x, 2.5), (4, 6)),
        "into": (meta(2).copy_(pkg.ones(2)), (2,)),
    }
    for name, (y, shape) in results.items():
        assert (y.device, y.shape) == ("meta", shape), name
    model = nn.Linear(2, 3, device="meta")
    model.load_state_dict(nn.Linear(2, 3).state_dict())
    leaf = meta(4, 6, requires_grad=True)
    nn.functional.dropout(leaf)[:, [0, 1]].sum().backward()
    assert leaf.grad.device == "meta" and leaf.grad.shape == (4, 6)


def test_tensor_takes_a_device():
    """None is that of the data; another than cpu and meta is refused."""
    assert pkg.tensor([1.0], device="cpu").tolist() == [1.0]
    assert pkg.tensor([1.0, 2.0], device="meta").shape == (2,)
    assert pkg.tensor(meta(2)).device == "meta"
    with pytest.raises(RuntimeError, match="expected 'cpu' or 'meta', got 'cuda'"):
        pkg.tensor([1.0], device="cuda")
    with pytest.raises(TypeError, match="a device or None for 'device', got int"):
        pkg.tensor([1.0], device=123)
    with pytest.raises(NotImplementedError, match="expected a tensor with values"):
        pkg.tensor(meta(2), device="cpu")


def test_data_cannot_come_from_another_device():
    """It would be a tensor of the CPU without memory, or the reverse."""
    for x, y in ((pkg.ones(3), meta(3)), (meta(3), pkg.ones(3))):
        with pytest.raises(RuntimeError, match="expected a tensor of the device"):
            x.data = y
        assert x.device != y.device
    leaf = pkg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="expected a floating dtype"):
        leaf.data = pkg.ones(3, dtype=pkg.int64)
    leaf.data = pkg.zeros(2)
    assert leaf.tolist() == [0.0, 0.0] and leaf.requires_grad

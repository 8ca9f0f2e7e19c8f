# SPDX-License-Identifier: Apache-2.0
"""Which overload of an op a call means, and what may stand for an int."""

import numpy as np
import pytest

import pkg
from pkg import ops

MANY = sorted(name for name, op in ops.functions() if len(op.schemas) > 1)


def test_a_0d_tensor_is_a_tensor_where_an_overload_takes_one():
    x = pkg.tensor([1, 2, 3])
    assert pkg.max(x, pkg.tensor(2)).tolist() == [2, 2, 3]
    assert x.min(pkg.tensor(2)).tolist() == [1, 2, 2]
    assert pkg.max(x, other=pkg.tensor(0)).tolist() == [1, 2, 3]
    assert pkg.max(x, 0).indices.item() == 2
    assert pkg.repeat_interleave(x, pkg.tensor(2)).tolist() == [1, 1, 2, 2, 3, 3]
    parts = pkg.tensor_split(x, pkg.tensor([1, 2]))
    assert [p.tolist() for p in parts] == [[1], [2], [3]]
    assert [p.tolist() for p in x.tensor_split(pkg.tensor(2))] == [[1, 2], [3]]
    written = pkg.scatter(pkg.zeros(2), 0, pkg.tensor([1]), pkg.tensor(2.0))
    assert written.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("name", MANY)
def test_every_tensor_argument_counts_before_numbers_do(name):
    """Where one overload has a tensor and another a number, it is the tensor."""
    op = getattr(ops, name)
    kinds = {}
    for schema in op.schemas:
        for place, argument in enumerate(schema[schema.index("(") + 1 :].split(",")):
            kinds.setdefault(place, set()).add(
                argument.strip().split(" ")[0].rstrip("?")
            )
    mixed = [p for p, k in kinds.items() if "Tensor" in k and k & {"int", "Scalar"}]
    if not mixed:
        return
    # What is there is known, and told apart above.
    known = "max min repeat_interleave tensor_split scatter scatter_".split()
    assert name in known, f"{op.schemas}: a case for the test above"


def test_a_call_with_one_tensor_alone_is_the_call_by_name():
    """It takes a shorter way to the op: the same results, errors and objects."""
    x = pkg.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert x.contiguous() is x and pkg.contiguous(x) is x
    assert x.max().item() == pkg.max(self=x).item() == 5.0
    assert x.t().tolist() == pkg.t(self=x).tolist() == [[1.0, 3.0], [2.0, 5.0]]
    assert pkg.relu_(x) is x and x._version == 1
    y = x.clone().requires_grad_()
    assert y.exp().grad_fn.name() == pkg.exp(self=y).grad_fn.name()
    assert pkg.exp(pkg.empty(2, 3, device="meta")).shape == (2, 3)
    for call in [lambda: pkg.t(x[None]), lambda: pkg.t(self=x[None])]:
        with pytest.raises(RuntimeError, match=r"^\[?t\b"):
            call()
    assert pkg.exp(0.0).item() == pkg.exp(np.zeros(())).item() == 1.0


def test_plain_arguments_mean_what_any_others_do():
    """They take a shorter way to ops of usual signatures (direct_call.h)."""
    x = pkg.arange(24).reshape(2, 3, 4)
    want = x.numpy().transpose(2, 0, 1)
    for order in [(2, 0, 1), [2, 0, 1], (np.int64(2), 0, 1), (pkg.tensor(2), 0, 1)]:
        for y in [x.permute(order), x.permute(*order), x.permute(dims=order)]:
            np.testing.assert_array_equal(y.numpy(), want)
    one = np.int64(1)
    assert x.transpose(0, 1).shape == x.transpose(dim0=0, dim1=one).shape == (3, 2, 4)
    assert x.unsqueeze(1).shape == x.unsqueeze(one).shape == (2, 1, 3, 4)
    assert x.reshape(-1).shape == x.reshape([-1]).shape == x.reshape(one * -1).shape
    assert pkg.zeros(1).reshape(()).shape == pkg.zeros(1).reshape([]).shape == ()
    y = pkg.tensor([5])
    assert pkg.take(x, y).tolist() == pkg.take(x.numpy(), y).tolist() == [5]
    z = pkg.ones(2, 3, requires_grad=True)
    pkg.atan2(z.reshape(3, 2), pkg.ones(2)).sum().backward()
    assert z.grad.tolist() == [[0.5] * 3] * 2


@pytest.mark.parametrize(
    "call, error, words",
    [
        ("x.reshape()", TypeError, "missing required argument: 'shape'"),
        ("x.reshape(2, 'a')", TypeError, "got"),
        ("x.reshape((2, True))", TypeError, "got"),
        ("x.reshape(2, 1 << 64)", OverflowError, "18446744073709551616"),
        ("x.transpose(0)", TypeError, "missing required argument: 'dim1'"),
        ("x.transpose(0, 1, 2)", TypeError, "3|4"),
        ("x.transpose(0, 1 << 64)", OverflowError, "dim1"),
        ("x.transpose(0, 2.0)", TypeError, "dim1"),
        ("x.t(1)", TypeError, "1|2"),
        ("x.transpose(0, 5)", IndexError, "5"),
    ],
)
def test_what_is_no_plain_argument_has_its_error(call, error, words):
    with pytest.raises(error, match=words):
        eval(call, {"x": pkg.ones(2, 3)})


def test_a_tensor_counts_where_only_numbers_do():
    x = pkg.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert pkg.max(pkg.tensor([[1, 2]]), pkg.tensor(1), True).values.tolist() == [[2]]
    assert pkg.median(x, pkg.tensor(1)).values.tolist() == [1.0, 3.0]
    assert pkg.norm(x, pkg.tensor(1)).item() == 11
    assert pkg.squeeze(x[:, :1], pkg.tensor(1)).tolist() == [1.0, 3.0]
    assert pkg.narrow(x, 0, pkg.tensor(1), 1).tolist() == [[3.0, 5.0]]
    assert pkg.select(x, 0, np.int64(1)).tolist() == [3.0, 5.0]


@pytest.mark.parametrize(
    "number", [True, np.bool_(True), pkg.tensor(True), pkg.tensor([1]), pkg.tensor(1.0)]
)
def test_what_is_no_int(number):
    x = pkg.arange(5)
    for call in [
        lambda: pkg.narrow(x, 0, number, 1),
        lambda: pkg.narrow(x, 0, 1, number),
        lambda: pkg.select(x, 0, number),
        lambda: pkg.topk(x, number),
        lambda: x.sum(number),
        lambda: x.reshape((number, 5)),
    ]:
        with pytest.raises(TypeError, match="expected|invalid combination"):
            call()

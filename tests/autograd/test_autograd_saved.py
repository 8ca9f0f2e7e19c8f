# SPDX-License-Identifier: Apache-2.0
"""What nodes keep for backward: versions, writes to it, and how it is freed."""

import gc

import numpy as np
import pytest

import pkg
from op_table import CASES
from op_values import inputs_of, outputs

core = pkg._binding.core
F = pkg.nn.functional
f64 = pkg.float64


def leaf(*values):
    return pkg.tensor(list(values), dtype=f64, requires_grad=True)


# --- versions -------------------------------------------------------------------------


def test_data_counts_its_own_versions():
    """Autograd does not notice what is written to .data; detach() shares the count."""
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    data = y.data
    data.mul_(3)
    data[0].add_(1)
    assert (data._version, data[0]._version, y._version) == (2, 2, 0)
    assert y.data._version == 0 and y.tolist() == [4.0, 6.0]
    z.backward()
    assert x.grad.tolist() == [8.0, 12.0]
    z = (y * y).sum()
    y.detach().mul_(2)
    assert y._version == 1 and y[0]._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_assigned_data_does_not_count_as_a_write():
    """The memory that a node saved is gone; it takes what the tensor shows now."""
    x = leaf(1.0, 2.0)
    with pkg.no_grad():
        x.add_(1)
    y = (x * x).sum()
    x.data = pkg.tensor([5.0, 7.0], dtype=f64)
    assert x._version == 1
    y.backward()
    assert x.grad.tolist() == [10.0, 14.0]
    with pkg.no_grad():
        x.add_(1)
    assert x._version == 2


# --- what is written after it was used ------------------------------------------------


def gradients(case, written=None):
    """Of each input, with result number `written` changed in place before backward."""
    leaves = [pkg.tensor(a, requires_grad=a.dtype.kind == "f") for a in inputs_of(case)]
    results = outputs(
        case.call(pkg, *[t * 1 if t.requires_grad else t for t in leaves])
    )
    results = [t for t in results if isinstance(t, pkg.Tensor)]
    total = sum((t.sum() for t in results if t.requires_grad), pkg.zeros(()))
    if written is not None:
        results[written].add_(1)
    total.backward()
    return [t.grad for t in leaves], len(results)


DIFFERENTIABLE = [c for c in CASES if c.differentiable and c.name != "floor_divide"]
#: Whose results may be written, as in PyTorch.
NOT_KEPT = {
    "layer_norm", "rms_norm", "div", "normalize", "max_pool1d", "max_pool2d",
    "softsign", "sort", "topk", "cummax", "cummin", "kthvalue", "softplus", "silu",
    "gelu", "mul",
    "conv2d", "matmul", "avg_pool2d", "batch_norm", "linear",
}  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_a_written_result_changes_no_gradient(case):
    """Backward gives what it would have given, or raises where the result was kept."""
    want, count = gradients(case)
    for number in range(count):
        try:
            got, _ = gradients(case, number)
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                continue  # an index or a bool cannot be written like this
            assert case.name not in NOT_KEPT or number > 0
            continue
        for a, b in zip(got, want):
            assert (a is None) == (b is None)
            if b is not None:
                np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_a_relu_in_place_may_follow_what_does_not_keep_its_result():
    """The usual blocks of networks."""
    x = pkg.randn(2, 3, 4, 4, requires_grad=True)
    for layer in (
        lambda t: F.layer_norm(t, (4, 4)),
        lambda t: t / (t * t + 1),
        lambda t: F.normalize(t, dim=1),
        lambda t: F.max_pool2d(t, 2),
        lambda t: F.avg_pool2d(t, 2),
    ):
        z = layer(x)
        z += 1
        z.relu_()
        z.sum().backward()


# --- second derivatives of what is linear ---------------------------------------------

ZERO_SECOND = {
    "hardtanh": lambda x: F.hardtanh(x),
    "relu6": lambda x: F.relu6(x),
    "relu": lambda x: x.relu(),
    "hardsigmoid": lambda x: F.hardsigmoid(x),
    "leaky_relu": lambda x: F.leaky_relu(x),
    "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "max_pool": lambda x: F.max_pool2d(x.reshape(1, 1, 2, 2), 2),
    "avg_pool": lambda x: F.avg_pool2d(x.reshape(1, 1, 2, 2), (1, 2)),
    "adaptive": lambda x: F.adaptive_avg_pool1d(x.reshape(1, 1, 4), 2),
    "conv bias": lambda x: F.conv2d(pkg.ones(1, 1, 2, 2, dtype=f64),
                                    pkg.ones(4, 1, 1, 1, dtype=f64), x),
    "nll": lambda x: F.nll_loss(x.reshape(2, 2), pkg.tensor([0, 1])),
}  # fmt: skip


@pytest.mark.parametrize("name", ZERO_SECOND)
def test_the_second_derivative_of_pieces_of_lines_is_zero(name):
    """And not the error of a constant, as in PyTorch."""
    x = leaf(0.3, -0.7, 1.2, 0.9)
    (first,) = pkg.autograd.grad(ZERO_SECOND[name](x).sum(), x, create_graph=True)
    assert first.requires_grad
    (second,) = pkg.autograd.grad(first.sum(), x)
    assert second.tolist() == [0.0] * 4


def test_gradients_of_several_shapes_are_differentiated_again():
    """As in a penalty of the gradients of a layer: weight and bias at once."""
    layer = pkg.nn.Conv2d(3, 8, 3)
    parameters = list(layer.parameters())
    out = layer(pkg.randn(2, 3, 5, 5)).sum()
    grads = pkg.autograd.grad(out, parameters, create_graph=True)
    sum((g * g).sum() for g in grads).backward()
    for p in parameters:
        assert p.grad.shape == p.shape and p.grad.abs().sum().item() == 0


def test_what_was_linear_in_everything_is_a_constant():
    """PyTorch's gradient carries no graph there either, except for zeros it made."""
    x, unused = leaf(1.0), leaf(2.0)
    (first,) = pkg.autograd.grad((x * 2).sum(), x, create_graph=True)
    assert not first.requires_grad
    zeros = pkg.autograd.grad(x * x, unused, create_graph=True, materialize_grads=True)
    assert zeros[0].requires_grad and zeros[0].tolist() == [0.0]
    values, indices = leaf(3.0, 1.0).sort()
    (first,) = pkg.autograd.grad(values.sum(), values, create_graph=True)
    assert not first.requires_grad


# --- freeing --------------------------------------------------------------------------


def test_halves_of_a_tensor_multiplied_in_place_are_freed():
    """The node saved a view of the tensor whose history it is: that was a cycle."""

    def left(program):
        gc.collect()
        before = core.live_tensors(), core.live_nodes()
        program()
        return core.live_tensors() - before[0], core.live_nodes() - before[1]

    def halves(other):
        y = leaf(1.0, 2.0, 3.0, 4.0) * 1
        y[:2].mul_(other(y))
        assert y.tolist() == [3.0, 8.0, 3.0, 4.0]
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    assert left(lambda: halves(lambda y: y[2:])) == (0, 0)
    assert left(lambda: halves(lambda y: y.detach()[2:])) == (0, 0)

    def whole():
        y = leaf(1.0, 2.0) * 1
        y[:].mul_(y)

    assert left(whole) == (0, 0)


def test_a_graph_that_kept_nothing_may_be_run_again():
    """There is nothing to be freed."""
    x = leaf(1.0, 2.0)
    total = (x.t() - 3 + x[0]).sum()
    total.backward()
    total.backward()
    assert x.grad.tolist() == [6.0, 2.0]
    again = (x * x).sum()
    again.backward()
    with pytest.raises(RuntimeError, match="second time"):
        again.backward()


# --- leaves ---------------------------------------------------------------------------


def test_a_leaf_is_detached_in_place_too():
    """It stops collecting, also for graphs that it is in."""
    x = leaf(1.0)
    y = x * 2
    assert x.detach_() is x and not x.requires_grad
    y.backward()
    assert x.grad is None
    x.requires_grad_()
    y = x * 2
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_a_gradient_with_a_graph_is_a_tensor_of_its_own():
    """So that the next pass can add to it, and nobody else's numbers change."""
    x = leaf(1.0, 2.0)
    x.sum().backward(create_graph=True)
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    given = pkg.ones(2, dtype=f64)
    y = leaf(1.0, 2.0)
    y.backward(given, create_graph=True)
    y.grad.zero_()
    assert given.tolist() == [1.0, 1.0]


# --- views ----------------------------------------------------------------------------


def test_a_hook_on_a_view_goes_with_its_history():
    """Which a write makes anew, also one under no_grad."""
    for recorded in (True, False):
        y = leaf(1.0, 2.0) * 1
        view, seen = y[:1], []
        view.register_hook(seen.append)
        before = view.grad_fn
        with pkg.set_grad_enabled(recorded):
            y.mul_(2)
        assert view.grad_fn != before
        (view * 3).sum().backward()
        assert seen == []


def test_hooks_of_the_one_result_run_wherever_it_leads():
    """Though no input depends on it; among several it is passed over, as in PyTorch."""
    x, other = leaf(1.0), leaf(2.0)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    assert pkg.autograd.grad(x, other, allow_unused=True) == (None,)
    assert seen == [[1.0]]
    got = pkg.autograd.grad([x, other * 2], [other])
    assert got[0].tolist() == [2.0] and seen == [[1.0]]


def test_parts_of_what_was_detached_may_be_written():
    """They own no memory that begins at its start."""
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    for apart in ((x * 1)[1:].detach(), (x * 1)[1:].data):
        apart[1:].mul_(w)
        assert apart.tolist() == [2.0, 15.0]
        (got,) = pkg.autograd.grad((apart * apart).sum(), w)
        assert got.tolist() == [90.0]
    y = x * 1
    y[:2].mul_(2)
    rows = y.reshape(3, 1).t().detach()
    rows[0].add_(1)
    assert rows.tolist() == [[3.0, 5.0, 4.0]]


def test_small_shapes_of_views():
    """flatten() of one dimension is the tensor; nothing is written to an empty one."""
    x = leaf(1.0, 2.0)
    assert x.flatten() is x
    empty = pkg.zeros(0, 3).expand(2, 0, 3)
    assert empty.add_(1).shape == (2, 0, 3)

# SPDX-License-Identifier: Apache-2.0
"""Views under autograd: whose history they have, and which writes are refused."""

import itertools
import re

import pytest

import pkg

f64 = pkg.float64
INTEGERS = [pkg.bool, pkg.uint8, pkg.int8, pkg.int32, pkg.int64]


def test_a_detached_tensor_keeps_no_history_after_a_write():
    """It shares memory, not gradients."""
    x = pkg.ones(3, requires_grad=True)
    y = x * 2
    apart = y.detach()
    y.mul_(x)
    assert not apart.requires_grad and apart.grad_fn is None
    assert apart.tolist() == [2.0, 2.0, 2.0]


def test_expanded_views_collect_every_repetition():
    """A stride of zero is one element seen several times."""
    x = pkg.ones(3, 1, dtype=f64, requires_grad=True)
    y = x * 1
    wide = y.expand(3, 4)
    y.mul_(2)
    (wide * pkg.ones(3, 4, dtype=f64)).sum().backward()
    assert x.grad.tolist() == [[8.0], [8.0], [8.0]]


def test_leaves_and_their_views_are_protected():
    """A write would change what the gradient is taken at."""
    x = pkg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0] = 2.0
    with pkg.no_grad():
        x[0] = 2.0
    assert x.tolist() == [2.0, 1.0, 1.0] and x.is_leaf


def test_views_without_a_history_are_protected():
    """What was made under no_grad, or before its base required grad, shows the base."""
    x = pkg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    with pkg.no_grad():
        view = y[:2]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.mul_(2)
    base = pkg.ones(3)
    early = base[1:]
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="before its base required grad"):
        early.mul_(2)
    assert base.tolist() == [1.0] * 3 and y.tolist() == [1.0, 2.0, 3.0]
    with pkg.no_grad():
        view.mul_(2)
    y[:2].detach().mul_(2)
    assert y.tolist() == [4.0, 8.0, 3.0]


def test_writes_to_elements_that_share_memory_are_refused():
    """An expanded element would be written several times."""
    for write in (
        lambda t: t.add_(1),
        lambda t: t.mul_(pkg.ones(3)),
        lambda t: t.copy_(pkg.ones(3)),
        lambda t: t.masked_fill_(t > 0, 2.0),
    ):
        wide = pkg.ones(1).expand(3)
        with pytest.raises(RuntimeError, match="refers to a single memory location"):
            write(wide)
        assert wide.tolist() == [1.0] * 3


def test_one_value_may_be_written_to_elements_that_share_memory():
    """Each write of it leaves the same; gradients stop there."""
    x = pkg.ones(3, 1, dtype=f64, requires_grad=True)
    for write, value in ((lambda t: t.zero_(), 0.0), (lambda t: t.fill_(5), 5.0)):
        y = x * 1
        wide = y[:2].expand(2, 4)
        write(wide)
        assert wide.tolist() == [[value] * 4] * 2
        assert y.tolist() == [[value], [value], [1.0]]
        (got,) = pkg.autograd.grad((y * y).sum() + wide.sum(), x)
        assert got.tolist() == [[0.0], [0.0], [2.0]]


def test_what_cannot_be_recorded_is_refused_before_it_is_written():
    """Memory that is two elements at once, each with a gradient of its own."""
    memory = pkg.zeros(3)
    base = memory.expand(2, 3).detach()
    with pytest.raises(NotImplementedError, match="repeats its elements"):
        base[1].copy_(pkg.ones(3, requires_grad=True))
    assert memory.tolist() == [0.0] * 3


def test_a_view_of_memory_that_its_base_has_left_is_written_to_by_nobody():
    """`.data = ` has parted them: the write has no place in the history of the base."""
    x = pkg.ones(4, dtype=f64, requires_grad=True)
    zeros = pkg.zeros(4, dtype=f64)
    for other in (zeros, zeros[:1], zeros[2:], zeros.float(), None):
        y = x * 3
        view, sibling, history = y[:2], y[:2], y.grad_fn
        parted = y if other is not None else view
        parted.data = zeros[:2] if other is None else other
        for write in (
            lambda v: v.mul_(2), lambda v: v[:1].zero_(), lambda v: v.copy_(x[:2])
        ):  # fmt: skip
            with pytest.raises(RuntimeError, match="from before `.data"):
                write(view)
        assert view.tolist() == ([0.0, 0.0] if other is None else [3.0, 3.0])
        assert y.grad_fn == history and y.requires_grad
        with pkg.no_grad():
            view.mul_(2)
        (got,) = pkg.autograd.grad(view.sum() + sibling.sum(), x)
        assert got.tolist() == [6.0, 6.0, 0.0, 0.0]
    # Of a part of the same memory; a view that still lies inside is a view.
    y = x * 3
    view, last = y[:2], y[3:]
    y.data = y.data[1:]
    with pytest.raises(RuntimeError, match="from before `.data"):
        view.mul_(2)
    last.mul_(2)
    assert y.tolist() == [3.0, 3.0, 6.0]


def arguments_of(schema):
    """What a call of this op in place needs: floating tensors want a gradient."""
    for parameter in re.sub(r"^[^(]*\(|\) ->.*$", "", schema).split(", ")[1:]:
        if "=" in parameter or parameter == "*":
            continue
        kind, name = parameter.split(" ")
        if kind == "Tensor?[]":
            yield [pkg.tensor([1, 0])]
        elif name == "mask":
            yield pkg.tensor([True, False])
        elif name == "index":
            yield pkg.tensor([1, 0])
        elif kind == "Tensor" and name == "value":
            yield pkg.tensor(2.0, requires_grad=True)
        elif kind == "Tensor":
            yield pkg.tensor([1.0, 2.0], requires_grad=True)
        elif kind == "Tensor[]":
            yield [pkg.tensor([1.0, 2.0], requires_grad=True)]
        else:
            yield 0 if kind == "int" else 1.0


IN_PLACE = [name for name in dir(pkg.ops) if name[-1] == "_" and name[-2] != "_"]


def test_no_tensor_of_integers_gets_a_gradient():
    """Whatever is written to it, through a view or not."""
    taken = set()
    targets = (lambda t: t[:2], lambda t: t[1:], lambda t: t.view(2, 2)[0], lambda t: t)
    for name, dtype in itertools.product(IN_PLACE, INTEGERS):
        op = getattr(pkg.ops, name)
        for schema, target in itertools.product(op.schemas, targets):
            base = pkg.ones(4, dtype=dtype) if target(pkg.ones(4)).numel() < 4 else (
                pkg.ones(2, dtype=dtype)
            )  # fmt: skip
            written = target(base)
            try:
                op(written, *arguments_of(schema))
                taken.add(name)
            except (RuntimeError, TypeError, ValueError, IndexError):
                pass
            for tensor in (written, base):
                assert not tensor.requires_grad and tensor.grad_fn is None, schema
            assert not (written * 2.0).requires_grad, schema
    assert taken >= {"copy_", "masked_fill_", "index_put_", "index_add_", "index_copy_"}
    one = pkg.tensor(2.5, requires_grad=True)
    for dtype in INTEGERS:
        for where in (0, slice(1), ..., [0, 1], pkg.tensor([True, False]), None):
            x = pkg.ones(2, dtype=dtype)
            x[where] = one
            assert not x.requires_grad and x[0].item() in (2, True)


def test_writes_to_leaves_that_collect_are_refused():
    x = pkg.tensor([3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.floor_divide_(2)
    with pkg.no_grad():
        x.floor_divide_(2)
    assert x.tolist() == [1.0]


def test_views_of_what_was_detached_in_place():
    """Written: they show the new leaf.  Not written: they keep what they were."""
    x = pkg.ones(2, dtype=f64, requires_grad=True)
    y = x * 1
    view = y[:1]
    y.detach_()
    assert pkg.autograd.grad(view.sum(), x)[0].tolist() == [1.0, 0.0]
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        view.mul_(2)
    assert y.tolist() == [1.0, 1.0]
    for write in (lambda y: y.mul_(3), lambda y: None):
        y = x * 1
        view = y[:1]
        view.retain_grad()
        write(y)
        y.detach_()
        with pkg.no_grad():
            y.add_(1)
        assert not view.requires_grad and view.is_leaf and not view.retains_grad
        y.requires_grad_()
        (y[:1] * 5).sum().backward()
        assert y.grad.tolist() == [5.0, 0.0] and x.grad is None
    y = x * 1
    view = y[:1]
    y.mul_(3)
    y.detach_().requires_grad_()
    assert pkg.autograd.grad(view.sum(), y)[0].tolist() == [1.0, 0.0]


def test_views_of_a_leaf_that_repeats_its_elements_keep_their_history():
    """Its memory may be written through another tensor; none of its views may be."""
    shown = pkg.ones(2).expand(2, 2)
    leaf = shown.detach().requires_grad_()
    view = leaf[1:]
    with pkg.no_grad():
        shown[0].copy_(pkg.tensor([2.0, 3.0]))
    assert view.requires_grad and view.grad_fn is not None
    (view * pkg.tensor([5.0, 7.0])).sum().backward()
    assert leaf.grad.tolist() == [[0.0, 0.0], [5.0, 7.0]]
    assert view.tolist() == [[2.0, 3.0]]


def test_a_view_of_no_elements_may_have_any_strides():
    """Nothing is repeated there, nor collected."""
    x = pkg.ones(0, requires_grad=True)
    view = pkg.zeros(0).expand(3, 0)[:0, :].reshape(0)
    for written in (view, pkg.ops._strided_view(pkg.zeros(0), (0,), (0,), 0)):
        written.add_(x, alpha=2.5)
        written.sum().backward()
        assert x.grad.shape == (0,)

# SPDX-License-Identifier: Apache-2.0
"""Hooks of tensors and nodes, and what they keep alive."""

import gc
import weakref

import pytest

import pkg
from functions import core, leaf


def test_tensor_hooks_see_and_replace_gradients():
    """On leaves and on results; in order; removable; errors come back whole."""
    x = leaf(1.0, 2.0)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    handle = x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert seen == [[1.0, 1.0]] and x.grad.tolist() == [31.0, 31.0]
    handle.remove()
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        pkg.ones(1).register_hook(print)
    with pytest.raises(TypeError, match="expected a callable"):
        x.register_hook(3)
    with pytest.raises(KeyError), x.register_hook(lambda g: {}["missing"]):
        (x * 1).sum().backward()
    with pytest.raises(RuntimeError, match="changed the size"):
        with x.register_hook(lambda g: g[0]):
            (x * 1).sum().backward()
    (x * 1).sum().backward()  # still usable


def test_retain_grad_and_accumulation_hooks():
    """.grad of a result; a hook after a leaf's gradient has grown."""
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    (y * 3).backward()
    assert y.retains_grad and y.grad.item() == 6.0 and x.grad.item() == 24.0
    totals = []
    handle = x.register_post_accumulate_grad_hook(
        lambda t: totals.append(t.grad.item())
    )
    (x * 1).backward()
    handle.remove()
    (x * 1).backward()
    assert totals == [25.0]
    watched = weakref.ref(y)
    del y
    assert watched() is None  # retain_grad keeps no cycle


def test_node_hooks():
    """Before and after a node, with what it got and what it gave."""
    x = leaf(2.0)
    y = x * 5
    calls = []
    node = y.grad_fn
    assert node == y.grad_fn and hash(node) == hash(y.grad_fn) and node != x
    node.register_prehook(lambda grads: (grads[0] * 2,))
    node.register_hook(lambda ins, outs: calls.append((ins[0].item(), outs[0].item())))
    y.backward()
    assert calls == [(10.0, 2.0)] and x.grad.item() == 10.0


def test_hooks_hold_no_tensors_after_the_graph_is_gone():
    """A handle does not keep the graph alive."""
    gc.collect()
    before = core.live_nodes()
    handles = [(leaf(1.0) * 2).register_hook(lambda g: None) for _ in range(10)]
    assert core.live_nodes() == before and len(handles) == 10

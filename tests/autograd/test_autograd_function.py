# SPDX-License-Identifier: Apache-2.0
"""Function, hooks, functional derivatives, checkpoints, anomaly mode, the export."""

import copy
import gc
import inspect
import json
import threading
import weakref

import numpy as np
import pytest

import pkg
from pkg.autograd import Function

core = pkg._binding.core
f64 = pkg.float64


def leaf(*values):
    """A float64 leaf."""
    return pkg.tensor(list(values), dtype=f64, requires_grad=True)


class Cube(Function):
    """x**3, saving its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Exp(Function):
    """exp, saving its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class MulAdd(Function):
    """a * b + c and a - b, with a number among the arguments."""

    @staticmethod
    def forward(ctx, a, b, c):
        ctx.c = c
        ctx.save_for_backward(a, b)
        return a * b + c, a - b

    @staticmethod
    def backward(ctx, first, second):
        a, b = ctx.saved_tensors
        ctx.seen = (first, second)
        return first * b + second, first * a - second, None


def test_function_gradients_of_every_order():
    """First and second derivatives, with inputs and outputs saved."""
    x = leaf(2.0, -1.0)
    assert pkg.autograd.gradcheck(Cube.apply, x) and pkg.autograd.gradgradcheck(
        Cube.apply, x
    )
    assert pkg.autograd.gradcheck(Exp.apply, x) and pkg.autograd.gradgradcheck(
        Exp.apply, x
    )
    y = Cube.apply(x)
    assert type(y) is pkg.Tensor and y.grad_fn.name() == "CubeBackward"
    a, b = leaf(2.0), leaf(3.0)
    assert pkg.autograd.gradcheck(lambda a, b: MulAdd.apply(a, b, 4.0), (a, b))


def test_unused_outputs_arrive_as_zeros_or_none():
    """materialize_grads."""
    a, b = leaf(2.0), leaf(3.0)
    first, _ = MulAdd.apply(a, b, 1.0)
    first.backward()
    assert (a.grad.item(), b.grad.item()) == (3.0, 2.0)

    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            assert first is None
            return second * 2

    Plain.apply(a)[1].backward()
    assert a.grad.item() == 5.0


def test_nothing_is_recorded_without_need():
    """no_grad, and inputs that require none."""
    x = pkg.ones(2)
    assert Cube.apply(x).grad_fn is None
    with pkg.no_grad():
        assert Cube.apply(leaf(1.0)).grad_fn is None


def test_saved_tensors_are_checked_and_freed():
    """Changed in place: an error.  Second pass: an error.  No leak."""
    x = leaf(1.0, 2.0) * 1
    y = Cube.apply(x)
    with pkg.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = Exp.apply(leaf(1.0))
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    gc.collect()
    nodes, tensors = core.live_nodes(), core.live_tensors()
    for _ in range(5):
        z = Exp.apply(Cube.apply(leaf(0.5)))
        z.backward()
    Exp.apply(leaf(0.5))  # never run
    del z
    gc.collect()
    assert (core.live_nodes(), core.live_tensors()) == (nodes, tensors)


def test_saved_tensors_are_there_while_backward_runs():
    """For each pass of several until its own end; else an error says when."""
    inside, kept = threading.Barrier(2, timeout=60), []

    class Slow(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            assert ctx.saved_tensors == (x, None)
            kept.append(ctx)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            inside.wait()  # both have begun
            if grad.item() == 1:
                first_done.wait(60)  # and the other has ended
            return grad * 2 * ctx.saved_tensors[0]

    x, first_done, got = leaf(3.0), threading.Event(), []
    y = Slow.apply(x)
    with pytest.raises(RuntimeError, match="expected forward or backward of Slow"):
        print(kept[0].saved_tensors)

    def work(weight):
        (g,) = pkg.autograd.grad(y, x, leaf(weight).detach(), retain_graph=True)
        got.append(g.item())
        first_done.set()

    threads = [threading.Thread(target=work, args=(w,)) for w in (1.0, 10.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert got == [60.0, 6.0]


def test_wrong_backwards_are_named():
    """Too few gradients, a wrong shape, something else than tensors, an exception."""

    def function(result):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x + y

            @staticmethod
            def backward(ctx, grad):
                return result(grad)

        return Wrong.apply(leaf(1.0, 2.0), leaf(1.0, 2.0)).sum()

    with pytest.raises(RuntimeError, match=r"expected 2, got 1"):
        function(lambda g: (g,)).backward()
    with pytest.raises(RuntimeError, match="invalid gradient at index 1"):
        function(lambda g: (g, g[0])).backward()
    wrong = r"a Tensor or None for 'backward\(\)\[1\]', got int"
    with pytest.raises(TypeError, match=wrong):
        function(lambda g: (g, 3)).backward()
    with pytest.raises(ZeroDivisionError):
        function(lambda g: 1 / 0).backward()
    with pytest.raises(NotImplementedError, match="backward"):

        class NoBackward(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

        NoBackward.apply(leaf(1.0)).backward()


def test_setup_context_dirty_and_constant_outputs():
    """The three ways in which outputs differ from plain results."""

    class Modern(Function):
        @staticmethod
        def forward(x, n):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.n, None

    assert pkg.autograd.gradcheck(lambda x: Modern.apply(x, 3), leaf(1.0))

    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(3.0)
    y = x * 1
    z = Double.apply(y)
    assert z is y and y.item() == 6.0
    y.backward()
    assert x.grad.item() == 2.0
    with pytest.raises(RuntimeError, match="a leaf Variable"):
        Double.apply(x)

    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            index = x.argmax()
            top = x.amax()
            ctx.mark_non_differentiable(top)
            return x * 1, top, index

        @staticmethod
        def backward(ctx, grad, *others):
            return grad

    y, top, index = Sorted.apply(leaf(1.0, 5.0))
    assert y.requires_grad and not top.requires_grad and not index.requires_grad


def test_once_differentiable():
    """The first derivative works, the second says why not."""

    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @pkg.autograd.once_differentiable
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf(3.0)
    (g,) = pkg.autograd.grad(Once.apply(x), x, create_graph=True)
    assert g.item() == 6.0

    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        @pkg.autograd.once_differentiable
        def backward(ctx, grad):
            return grad

    weight = leaf(2.0)
    start = weight * 1  # comes back, and is not the one that refuses
    square = start * start
    (same,) = pkg.autograd.grad(Same.apply(x), x, start, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        same.sum().backward()
    assert pkg.autograd.grad(square, weight)[0].item() == 4.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


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


def test_functional_derivatives_against_closed_forms():
    """vjp, jvp, jacobian, hessian, hvp of functions whose derivatives are known."""
    ag = pkg.autograd
    x = pkg.tensor([1.0, 2.0, 3.0], dtype=f64)
    v = pkg.tensor([1.0, 0.5, -1.0], dtype=f64)
    value, product = ag.vjp(lambda t: t * t, x, v)
    assert value.tolist() == [1.0, 4.0, 9.0] and product.tolist() == [2.0, 2.0, -6.0]
    assert not product.requires_grad
    _, product = ag.jvp(lambda t: t * t, x, v)
    assert product.tolist() == [2.0, 2.0, -6.0]
    jac = ag.jacobian(lambda t: t.exp(), x).numpy()
    np.testing.assert_allclose(jac, np.diag(np.exp([1.0, 2.0, 3.0])))
    a, b = pkg.tensor([2.0], dtype=f64), pkg.tensor([3.0], dtype=f64)
    (da, db) = ag.jacobian(lambda p, q: p * q, (a, b))
    assert da.item() == 3.0 and db.item() == 2.0
    hess = ag.hessian(lambda t: (t * t * t).sum(), x).numpy()
    np.testing.assert_allclose(hess, np.diag([6.0, 12.0, 18.0]))
    (haa, hab), (hba, hbb) = ag.hessian(lambda p, q: (p * p * q).sum(), (a, b))
    assert [t.item() for t in (haa, hab, hba, hbb)] == [6.0, 4.0, 4.0, 0.0]
    _, product = ag.hvp(lambda t: (t * t * t).sum(), x, v)
    np.testing.assert_allclose(product.numpy(), [6.0, 6.0, -18.0])
    with pytest.raises(RuntimeError, match="independent"):
        ag.vjp(lambda t: pkg.ones(1), x, pkg.ones(1), strict=True)
    with pytest.raises(RuntimeError, match="expected v of shapes"):
        ag.vjp(lambda t: t * t, x, v[:2])


def test_gradcheck_finds_wrong_gradients():
    """A factor of two in backward, and inputs it cannot judge."""

    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with pytest.raises(pkg.autograd.GradcheckError, match="Jacobian mismatch"):
        pkg.autograd.gradcheck(Bad.apply, leaf(1.0))
    assert not pkg.autograd.gradcheck(Bad.apply, leaf(1.0), raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        pkg.autograd.gradcheck(Bad.apply, pkg.ones(1, requires_grad=True))
    with pytest.raises(ValueError, match="require gradient"):
        pkg.autograd.gradcheck(Bad.apply, pkg.ones(1, dtype=f64))


def test_checkpoint_recomputes_with_the_same_random_numbers():
    """Less is kept, gradients are the same, dropout included."""
    weight = pkg.randn(64, 64, dtype=f64, requires_grad=True)

    def part(t):
        return pkg.dropout((t @ weight).tanh(), 0.5, True) * 2

    x = pkg.randn(8, 64, dtype=f64, requires_grad=True)
    grads = []
    for run in (part, lambda t: pkg.autograd.checkpoint(part, t)):
        pkg.manual_seed(3)
        x.grad = weight.grad = None
        y = run(x)
        after = pkg.rand(1).item()
        y.sum().backward()
        grads.append((x.grad.numpy().copy(), weight.grad.numpy().copy(), after))
    for ours, want in zip(*grads):
        np.testing.assert_array_equal(ours, want)


def cube_of(weight, times=1.0):
    """A checkpointed cube of a closed-over weight."""
    zero = leaf(0.0).detach()
    return pkg.autograd.checkpoint(lambda t, k: (t * k + weight) ** 3, zero, k=times)


def test_checkpoint_reaches_closed_over_weights():
    """No argument requires grad; backward and grad, which writes no .grad."""
    weight = leaf(3.0)
    cube_of(weight).sum().backward()
    assert weight.grad.item() == 27.0
    weight.grad = None
    (got,) = pkg.autograd.grad(cube_of(weight).sum(), weight)
    assert got.item() == 27.0 and weight.grad is None
    assert not cube_of(weight.detach()).requires_grad
    with pkg.no_grad():
        assert not cube_of(weight).requires_grad


@pytest.mark.parametrize("closed", [False, True])
def test_checkpoint_can_be_differentiated_twice(closed):
    """d(3x^2 + x)/dx at 3; and through what came before the checkpoint."""
    x = leaf(3.0)
    start = x * 1.0
    if closed:
        y = cube_of(x)
    else:
        y = pkg.autograd.checkpoint(lambda t: t ** 3, start)
    (g,) = pkg.autograd.grad(y.sum(), x, create_graph=True)
    assert g.item() == 27.0
    (g + x).sum().backward()
    assert x.grad.item() == 19.0


def test_checkpoints_in_a_chain_differentiate_once_each():
    """The pass inside one checkpoint does not go on into those before it."""
    calls = []

    def part(t):
        calls.append(1)
        return t.sin()

    x = leaf(0.5)
    y, want = x, x
    for _ in range(6):
        y, want = pkg.autograd.checkpoint(part, y), want.sin()
    (g,) = pkg.autograd.grad(y.sum(), x, create_graph=True)
    assert len(calls) == 12
    (h,) = pkg.autograd.grad(want.sum(), x, create_graph=True)
    (gg,), (hh,) = pkg.autograd.grad(g.sum(), x), pkg.autograd.grad(h.sum(), x)
    assert abs(g.item() - h.item()) < 1e-12 and abs(gg.item() - hh.item()) < 1e-12


def test_checkpoint_refuses_what_it_cannot_reach():
    """A closed-over tensor with a history is named, not silently cut off."""
    x = leaf(2.0)
    made = x * 2.0
    with pytest.raises(RuntimeError, match="made by MulBackward.*as an argument"):
        pkg.autograd.checkpoint(lambda t: t * made, x)


def test_checkpoint_keeps_the_form_of_the_result():
    """Lists, outputs without gradient, and outputs nobody used."""
    x = leaf(1.0, 4.0)
    a, b, n = pkg.autograd.checkpoint(lambda t: [t * 2, t.sqrt(), t.argmax()], x)
    assert n.item() == 1 and not n.requires_grad
    b.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.5, 0.25])
    assert a.requires_grad


def test_anomaly_mode_names_the_forward_line():
    """0 * inf in the gradient of sqrt at 0."""
    x = leaf(0.0)
    with pkg.autograd.detect_anomaly():
        y = x.sqrt() * 0.0
        line = inspect.currentframe().f_lineno - 1
        with pytest.raises(RuntimeError, match="returned nan values") as caught:
            y.backward()
    assert f"test_autograd_function.py:{line}" in str(caught.value)
    assert "SqrtBackward" in str(caught.value)
    (x.sqrt() * 0.0).backward()  # off again: NaN passes


def test_errors_of_a_pass_name_the_forward_line():
    """By default, without any mode."""
    x = leaf(1.0, 2.0)
    y = x * x
    line = inspect.currentframe().f_lineno - 1
    z = y.sum()
    z.backward()
    with pytest.raises(RuntimeError) as caught:
        z.backward()
    assert "second time" in str(caught.value)
    w = x * 3
    v = w * w
    place = inspect.currentframe().f_lineno - 1
    w.add_(1)
    with pytest.raises(RuntimeError) as caught:
        v.sum().backward()
    assert f"MulBackward, recorded at {__file__}:{place}" in str(caught.value)
    assert f":{line}" not in str(caught.value)


def test_grad_modes_as_context_managers_and_decorators():
    """Nested, decorated with and without parentheses, and set for the thread."""
    x = leaf(1.0)
    with pkg.no_grad():
        assert not (x * 2).requires_grad
        with pkg.enable_grad():
            assert (x * 2).requires_grad

        @pkg.enable_grad()
        def recorded():
            return x * 2

        assert recorded().requires_grad

    @pkg.no_grad
    def silent():
        return x * 2

    @pkg.set_grad_enabled(False)
    def quiet():
        return x * 2

    assert pkg.is_grad_enabled() and not silent().requires_grad
    assert not quiet().requires_grad and pkg.is_grad_enabled()
    with pkg.inference_mode():
        assert pkg.is_inference_mode_enabled() and not (x * 2).requires_grad
        with pkg.inference_mode(False):
            assert not pkg.is_inference_mode_enabled()
    with pkg.set_grad_enabled(False):
        assert not pkg.is_grad_enabled()
    assert pkg.is_grad_enabled()
    other = []
    pkg.set_grad_enabled(False)
    thread = threading.Thread(target=lambda: other.append(pkg.is_grad_enabled()))
    thread.start()
    thread.join()
    pkg.set_grad_enabled(True)
    assert other == [True]  # the mode is the thread's own


def test_backward_inside_backward_and_from_threads():
    """Reentrant and concurrent passes are exact."""

    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            with pkg.enable_grad():
                t = ctx.saved_tensors[0].detach().requires_grad_()
                (t * t).sum().backward()
            return grad * t.grad

    x = leaf(3.0)
    Inner.apply(x).backward()
    assert x.grad.item() == 6.0
    shared = leaf(*[1.0] * 100)
    trunk = shared * 2
    errors = []

    def work():
        try:
            for _ in range(50):
                (trunk * 3).sum().backward(retain_graph=True)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and shared.grad.tolist() == [6.0 * 200] * 100


def test_an_exception_leaves_other_leaves_alone():
    """The node that fails runs before the leaf would be reached."""
    x, w = leaf(1.0), leaf(1.0)
    y = x * 2

    def fail(grad):
        raise ValueError("stop")

    handle = y.register_hook(fail)
    with pytest.raises(ValueError, match="stop"):
        (y * w).backward(retain_graph=True)
    assert x.grad is None
    handle.remove()
    (x * w).backward()
    assert x.grad.item() == 1.0


def test_graph_export(tmp_path):
    """Nodes, shapes, memory and lines, as DOT, JSON and HTML."""
    x = pkg.ones(100, 100, requires_grad=True)
    y = (x * x).tanh().sum()
    found = pkg.autograd.graph(y)
    names = [n.name for n in found.nodes]
    assert names == ["SumBackward", "TanhBackward", "MulBackward", "AccumulateGrad"]
    mul = found.nodes[2]
    assert mul.op == "pkg::mul" and mul.shapes == [(100, 100), (100, 100)]
    assert mul.inputs == [3, 3] and "test_autograd_function.py" in mul.call_site
    assert found.saved_bytes == 2 * 40000  # x once, the result of tanh
    assert [n.name for n in found.holders()] == ["TanhBackward", "MulBackward"]
    for suffix, sign in ((".dot", "digraph"), (".json", "["), (".html", "<!doctype")):
        path = tmp_path / f"graph{suffix}"
        found.save(path)
        assert path.read_text().startswith(sign)
    assert len(json.loads(found.to_json())) == 4
    with pytest.raises(ValueError, match=".dot, .json or .html"):
        found.save(tmp_path / "graph.png")
    with pytest.raises(RuntimeError, match="grad_fn"):
        pkg.autograd.graph(pkg.ones(1))


def function_of(run, back, **marks):
    """A Function made of two callables; marks: attributes of the class."""
    return type("Made", (Function,), dict(
        marks, forward=staticmethod(run), backward=staticmethod(back)))  # fmt: skip


@pytest.mark.parametrize("run", [lambda ctx, t: t, lambda ctx, t: t.view(-1),
                                 lambda ctx, t: t.detach()])  # fmt: skip
def test_a_result_over_the_memory_of_an_input_keeps_its_backward(run):
    """Written in place later, it is still the Function's; the input is untouched."""
    x = leaf(1.0, 2.0)
    y = function_of(run, lambda ctx, g: g * 10).apply(x)
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0] and x.tolist() == [1.0, 2.0]


def test_two_results_over_one_memory_keep_their_backward():
    """A write to the first must not give the second another history."""

    def run(ctx, t):
        made = t * 1
        return made.view(-1), made.view(-1)

    x = leaf(1.0, 2.0)
    a, b = function_of(run, lambda ctx, g, h: g * 10 + h * 100).apply(x)
    a.mul_(2)
    (a + b).sum().backward()
    assert x.grad.tolist() == [120.0, 120.0]


def test_dirty_inputs_must_be_returned():
    """Else their history would be that of the old values."""

    def run(ctx, t):
        ctx.mark_dirty(t.mul_(2))
        return t * 1

    with pytest.raises(RuntimeError, match="marked as dirty .* not returned"):
        function_of(run, lambda ctx, g: g).apply(leaf(1.0) * 1)


def test_gradients_of_constant_outputs_are_zeros_of_their_shape():
    """Shape and dtype are those of the output."""
    seen = []

    def run(ctx, t):
        top = pkg.ones(2, 3, dtype=pkg.float16)
        ctx.mark_non_differentiable(top)
        return t * 1, top, t.argmax()

    def back(ctx, g, *others):
        seen.extend((tuple(o.shape), o.dtype, o.sum().item()) for o in others)
        return g

    function_of(run, back).apply(leaf(1.0, 2.0))[0].sum().backward()
    assert seen[0] == ((2, 3), pkg.float16, 0.0) and seen[1] == ((), pkg.int64, 0)


def test_gradients_of_a_broadcast_shape_are_summed():
    """As the input was broadcast in forward."""
    row, x = leaf(1.0, 2.0), pkg.ones(3, 2, dtype=f64)
    add = function_of(lambda ctx, a, b: a + b, lambda ctx, g: (g, None))
    add.apply(row, x).sum().backward()
    assert row.grad.tolist() == [3.0, 3.0]


@pytest.mark.skipif(
    core.__name__ == "_pybind_core",
    reason="py::error_already_set is no pkg::Error, to which the engine adds its place",
)
@pytest.mark.parametrize("hook", [False, True])
def test_errors_of_python_backwards_say_where(hook):
    """The type stays; a note names node and forward line; the core's errors too."""
    for error in (lambda g: {}["lost"], lambda g: g.reshape(7)):
        x = leaf(1.0, 2.0)
        if hook:
            y = x * 2
            y.register_hook(error)
        else:
            y = function_of(
                lambda ctx, t: t * 2, lambda ctx, g, error=error: error(g)
            ).apply(x)
        with pytest.raises((KeyError, RuntimeError, ValueError)) as caught:
            y.sum().backward()
        text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
        assert ("MulBackward" if hook else "MadeBackward") in text
        assert "test_autograd_function.py:" in text
        assert caught.type is (KeyError if "lost" in text else RuntimeError)


def test_the_export_shows_what_functions_save():
    """Inputs and outputs, once each, until the graph is freed."""
    x = leaf(1.0, 2.0)
    for made in (Cube.apply(x), Exp.apply(x)):
        (node,) = [n for n in pkg.autograd.graph(made).nodes if n.saved]
        assert node.saved[0][0] == "saved_tensors[0]" and node.saved_bytes == 16
        made.sum().backward()
        assert made.grad_fn.saved == []


def test_modes_decorate_generators():
    """Each step runs in the mode, the caller between them not; values go through."""
    x = leaf(1.0)

    @pkg.no_grad()
    def steps():
        got = yield (x * 2).requires_grad
        try:
            yield (x * 2).requires_grad, got
        except KeyError:
            yield (x * 2).requires_grad
        return "end"

    run = steps()
    assert next(run) is False and (x * 2).requires_grad
    assert run.send(5) == (False, 5)
    assert run.throw(KeyError("k")) is False
    with pytest.raises(StopIteration) as stop:
        next(run)
    assert stop.value.value == "end" and pkg.is_grad_enabled()


def test_inference_mode_stays_off_and_decorates_bare():
    """enable_grad and set_grad_enabled inside do not record."""
    x = leaf(1.0)

    @pkg.inference_mode
    def silent(t):
        with pkg.enable_grad():
            first = (t * 2).requires_grad
        with pkg.set_grad_enabled(True):
            return first, (t * 2).requires_grad

    assert silent(x) == (False, False) and (x * 2).requires_grad


def test_backward_to_chosen_inputs_and_zeros_for_unused_ones():
    """backward(inputs=), materialize_grads, vhp."""
    a, b = leaf(2.0), leaf(3.0)
    for want in (3.0, 6.0):
        pkg.autograd.backward((a * b).sum(), inputs=a)
        assert a.grad.item() == want and b.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        pkg.autograd.backward(a * b, inputs=())
    got = pkg.autograd.grad(a * 2, (a, b), materialize_grads=True)
    assert [g.item() for g in got] == [2.0, 0.0]
    with pytest.raises(ValueError, match="allow_unused"):
        pkg.autograd.grad(a * 2, (a, b), allow_unused=False, materialize_grads=True)
    _, product = pkg.autograd.vhp(lambda t: (t ** 3).sum(), leaf(1.0, 2.0),
                                  leaf(1.0, 1.0).detach())  # fmt: skip
    assert product.tolist() == [6.0, 12.0]


def test_leaves_are_guarded():
    """requires_grad of a non-leaf, .grad that is wrong, copies."""
    x = leaf(1.0, 2.0)
    y = x * 2
    with pytest.raises(RuntimeError, match="flags of leaf variables"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="as its own grad"):
        x.grad = x
    for wrong in (pkg.ones(3, dtype=f64), pkg.ones(2, dtype=pkg.float32)):
        with pytest.raises(RuntimeError, match="different size or type"):
            x.grad = wrong
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(y)
    y.sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.grad.tolist() == [2.0, 2.0]
    assert twin.grad is not x.grad


def test_nodes_are_named_in_camel_case():
    """As PyTorch names them."""
    x = leaf(1.0, 2.0)
    assert (x.reshape(1, 2).log_softmax(-1)).grad_fn.name() == "LogSoftmaxBackward"

# SPDX-License-Identifier: Apache-2.0
"""Function: a backward of one's own."""

import gc
import threading

import pytest

import pkg
from functions import Cube, Exp, core, f64, leaf
from pkg.autograd import Function


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

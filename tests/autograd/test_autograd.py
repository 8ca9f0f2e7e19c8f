# SPDX-License-Identifier: Apache-2.0
"""Gradients: values by central differences, structure, limits and errors."""

import threading

import numpy as np
import pytest

import pkg
from child import run_child
from gradients import check_gradients
from op_table import ELEMENTWISE

core = pkg._binding.core
DIFFERENTIABLE = [
    row for row in ELEMENTWISE if row.differentiable and "float64" in row.dtypes
]


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
def test_elementwise_gradients(row):
    """Every differentiable row, with broadcasting when it has two inputs."""
    rng = np.random.default_rng(2)
    low, high = max(row.domain[0], -4), min(row.domain[1], 4)
    a = rng.uniform(low, high, size=(3, 4))
    # Away from kinks, where central differences mean nothing.
    a = np.where(np.abs(a) < 0.05, a + 0.1, a)
    arrays = [a]
    if row.arity == 2:
        arrays.append(rng.uniform(low, high, size=(4,)))
    check_gradients(getattr(pkg, row.name), arrays)


SHAPES = [
    ("reshape", lambda x: x.reshape(4, 3) * 2),
    ("transpose", lambda x: x.t()),
    ("permute", lambda x: x.reshape(2, 2, 3).permute(2, 0, 1)),
    ("expand", lambda x: x.unsqueeze(0).expand(2, 3, 4)),
    ("squeeze", lambda x: x.unsqueeze(1).squeeze(1)),
    ("select", lambda x: x[1]),
    ("slice", lambda x: x[::2, 1:3]),
    ("index", lambda x: x[[0, 0, 2], [1, 1, 3]]),
    ("index columns", lambda x: x[:, [3, 0, 3]]),
    ("diagonal", lambda x: x.diagonal()),
    ("cat", lambda x: pkg.cat([x, x * 2], 1)),
    ("stack", lambda x: pkg.stack([x, x], 0)),
    ("split", lambda x: x.split(2, 1)[1]),
    ("where", lambda x: pkg.where(x > 0.5, x * 3, x)),
    ("gather", lambda x: x.gather(1, pkg.tensor([[0, 0], [1, 3], [2, 2]]))),
    ("sum", lambda x: x.sum()),
    ("sum dim", lambda x: x.sum(dim=1)),
    ("sum keepdim", lambda x: x.sum(0, keepdim=True)),
    ("mean", lambda x: x.mean(dim=0)),
    ("amax", lambda x: x.amax(dim=1)),
    ("max dim", lambda x: x.max(1)[0]),
    ("min", lambda x: x.min()),
    ("var", lambda x: x.var(1)),
    ("std", lambda x: x.std()),
    ("float32 round trip", lambda x: x.to(pkg.float64).clone()),
]


@pytest.mark.parametrize("function", [f for _, f in SHAPES], ids=[n for n, _ in SHAPES])
def test_shape_and_reduction_gradients(function):
    """Views, indexing, joining and reductions."""
    check_gradients(function, [np.random.default_rng(4).uniform(0.1, 1, size=(3, 4))])


REDUCTIONS = [
    ("sum", np.sum), ("mean", np.mean), ("amax", np.max), ("amin", np.min),
    ("all", np.all), ("any", np.any),
]  # fmt: skip


@pytest.mark.parametrize("name,reference", REDUCTIONS)
def test_reduction_values(name, reference):
    """Every choice of dimensions, dense and strided, small and large."""
    rng = np.random.default_rng(5)
    for shape in [(3, 4, 5), (1,), (70, 1000)]:
        array = rng.normal(size=shape).astype(np.float32)
        for dims in [None, 0, -1, (0, -1)]:
            if isinstance(dims, tuple) and len(shape) == 1:
                continue
            for a, t in [(array, pkg.tensor(array)), (array.T, pkg.tensor(array.T))]:
                got = (
                    getattr(t, name)(dim=dims)
                    if dims is not None
                    else getattr(t, name)()
                )
                want = reference(a, axis=dims)
                np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-4)
    assert pkg.arange(5).sum().dtype is pkg.int64
    assert pkg.zeros(0).sum().item() == 0
    assert pkg.tensor([1.0, float("nan")]).max().item() != 1.0
    assert pkg.tensor([3, 1, 3]).argmax().item() == 0


def test_product_of_temporaries():
    """y = a * b * c with the temporary a * b long dead."""
    a, b, c = (pkg.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    y = a * b * c
    assert y.item() == 24 and y.grad_fn.name() == "MulBackward"
    y.backward()
    assert (a.grad.item(), b.grad.item(), c.grad.item()) == (12, 8, 6)
    leaf, number = y.grad_fn.next_functions[1]
    assert leaf.variable is c and number == 0


def test_sixty_diamonds_take_sixty_nodes():
    """Each node runs once, not once per path."""
    x = pkg.ones(1, dtype=pkg.float64, requires_grad=True)
    y = x
    for _ in range(60):
        y = (y + y) * 0.5
    y.sum().backward()
    assert x.grad.item() == 1.0


def test_the_first_node_of_a_process_comes_before_its_leaf():
    """The leaf's hook sees the whole gradient, once."""
    code = """
        import pkg
        w = pkg.ones(1, requires_grad=True)
        w.register_hook(lambda grad: print(grad.item()))
        (w * w * w).sum().backward()
    """
    assert run_child(code)[:3] == (0, "3.0\n", "")


def on_stack_of(size, work):
    """Calls `work` in a thread with so many bytes of stack; 0: as many as usual."""
    before = threading.stack_size(size)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(120)
    finally:
        threading.stack_size(before)
    assert not thread.is_alive()


def test_million_node_chain_on_a_small_stack():
    """Forward, both kinds of pass, release: without recursion; all nodes are freed."""
    result = []

    def work():
        x = pkg.ones(1, requires_grad=True)
        y = x
        for _ in range(1_000_000):
            y = y + 1
        result.append(pkg.autograd.grad(y, x, retain_graph=True)[0].item())
        y.backward()
        result.append(x.grad.item())

    before = core.live_nodes()
    on_stack_of(512 * 1024, work)
    assert result == [1.0, 1.0] and core.live_nodes() == before


class Nested(pkg.autograd.Function):
    """Its backward runs the backward of one less, down to 0, where `end` is called."""

    end = staticmethod(lambda: None)

    @staticmethod
    def forward(ctx, x):
        ctx.left = x.detach() - 1
        return x - 1

    @staticmethod
    def backward(ctx, grad):
        if ctx.left.item() < 0:
            Nested.end()
            return grad
        with pkg.enable_grad():
            Nested.apply(ctx.left.requires_grad_()).backward()
        return grad + ctx.left.grad


@pytest.mark.parametrize("stack", [0, 512 * 1024])
def test_backward_may_nest_deeply(stack):
    """Beyond some depth a pass gets a fresh stack; errors come out of all of them."""
    caught = []

    def nest(depth):
        x = pkg.tensor(float(depth), requires_grad=True)
        Nested.apply(x).backward()
        return x.grad.item()

    def work():
        # The grad mode of the pass goes with it to the other threads.
        Nested.end = staticmethod(lambda: caught.append(pkg.is_grad_enabled()))
        caught.append(nest(400))
        Nested.end = staticmethod(lambda: 1 / 0)
        try:
            nest(300)
        except ZeroDivisionError as error:
            caught.append(type(error))
        finally:
            Nested.end = staticmethod(lambda: None)
        caught.append(nest(70))

    on_stack_of(stack, work)
    assert caught == [False, 401.0, ZeroDivisionError, 71.0]


def test_gradients_accumulate_and_clear():
    """.grad adds up over passes until it is set to None."""
    x = pkg.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    assert x.grad is x.grad
    x.grad = None
    assert x.grad is None


def test_higher_derivatives():
    """create_graph gives gradients that can be differentiated."""
    x = pkg.tensor([1.5], dtype=pkg.float64, requires_grad=True)
    for function, third in [
        (lambda v: v**3, 6.0),
        (lambda v: v.exp(), float(np.exp(1.5))),
        (lambda v: v.sin(), -float(np.cos(1.5))),
    ]:
        y = function(x).sum()
        for _ in range(3):
            (g,) = pkg.autograd.grad(y, x, create_graph=True)
            y = g.sum()
        assert abs(g.item() - third) < 1e-9


def test_errors_say_what_is_wrong():
    """PyTorch's meanings."""
    x = pkg.ones(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="implicitly created only for scalar outputs"
    ):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        pkg.ones(1).backward()
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x += 1
    z = x * 2
    w = z * z
    z += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        w.sum().backward()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0] = 1.0
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        pkg.autograd.grad((x * 2).sum(), pkg.ones(1, requires_grad=True))
    with pytest.raises(RuntimeError, match="floating point dtype"):
        pkg.ones(2, dtype=pkg.int64, requires_grad=True)
    assert (x * 3).sum().item() == 6


def test_in_place_on_an_intermediate_is_recorded():
    """History is rebased on the in-place op."""
    x = pkg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y *= y.detach() * 0 + 3
    y.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_no_grad_records_nothing():
    """No node is made."""
    x = pkg.ones(2, requires_grad=True)
    before = core.live_nodes()
    with pkg.no_grad():
        y = x * 2 + 1
    assert not y.requires_grad and core.live_nodes() == before


def test_concurrent_backward_adds_each_gradient_once():
    """Several threads, one shared leaf."""
    x = pkg.ones(4, requires_grad=True)
    n_threads, rounds = 4, 200

    def work():
        for _ in range(rounds):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert x.grad.tolist() == [2.0 * n_threads * rounds] * 4


def test_of_concurrent_passes_over_one_graph_one_wins():
    """The others learn that it is gone; nothing is freed while somebody reads it."""
    for _ in range(10):
        x = pkg.rand(100, 100, requires_grad=True)
        trunk = x
        for _ in range(30):
            trunk = trunk**1.01
        roots = [trunk.sum() for _ in range(4)]
        start, outcomes = threading.Barrier(len(roots)), []

        def run(root, start=start, outcomes=outcomes):
            start.wait()
            try:
                root.backward()
                outcomes.append("done")
            except RuntimeError as error:
                outcomes.append("late" if "second time" in str(error) else str(error))

        threads = [threading.Thread(target=run, args=(root,)) for root in roots]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        # Two that keep pace with each other may both get through.
        assert set(outcomes) <= {"done", "late"} and "done" in outcomes
        once = 1.01**30 * x.detach() ** (1.01**30 - 1)
        times = outcomes.count("done")
        np.testing.assert_allclose(x.grad.numpy(), times * once.numpy(), rtol=1e-3)


def test_hooks_of_an_accumulating_node_are_those_of_its_leaf():
    x = pkg.tensor([1.0, 2.0], requires_grad=True)
    node, _ = (x * 2).grad_fn.next_functions[0]
    seen = []
    before = node.register_prehook(lambda grads: (grads[0] * 3,))
    after = node.register_hook(lambda *_: seen.append("after"))
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0] and seen == ["after"]
    before.remove()
    after.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0] and seen == ["after"]


def test_retained_gradients_add_up_and_are_copies():
    x = pkg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.retain_grad()
    given = pkg.ones(2)
    y.backward(given, retain_graph=True)
    given.mul_(100)
    assert y.grad.tolist() == [1.0, 1.0]
    y.backward(pkg.ones(2))
    assert y.grad.tolist() == [2.0, 2.0]


def test_numbers_in_formulas_have_the_precision_of_the_gradient():
    """0.3 - 1 and 1 - 0.3 are not rounded to float32 on the way."""
    x = pkg.tensor([1.5], dtype=pkg.float64, requires_grad=True)
    (x**0.3).backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.3 * 1.5**-0.7], rtol=1e-15)
    x.grad = None
    x.lerp(pkg.ones(1, dtype=pkg.float64), 0.3).backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.7], rtol=1e-15)
    (slope,) = pkg.autograd.grad(pkg.xlogy(x, 2.3), x)
    np.testing.assert_allclose(slope.numpy(), [np.log(2.3)], rtol=1e-15)
    (slope,) = pkg.autograd.grad(3.7**x, x)
    np.testing.assert_allclose(slope.numpy(), [3.7**1.5 * np.log(3.7)], rtol=1e-15)
    y = -0.3 * x
    (slope,) = pkg.autograd.grad(pkg.celu(y, 0.7), y, create_graph=True)
    (curve,) = pkg.autograd.grad(slope, y)
    np.testing.assert_allclose(curve.numpy(), [np.exp(-0.45 / 0.7) / 0.7], rtol=1e-15)


def test_version_errors_name_the_tensor():
    """Its dtype and shape, what made it, and the two versions."""

    class Keeps(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, x, which):
            y = x * 1
            ctx.save_for_backward(y if which == "output" else x)
            return y

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_tensors[0] * grad, None

    def argument(b):
        return b * b, b, "output 0 of AddBackward", "MulBackward"

    def second_argument(b):
        other = pkg.zeros(2, 1)
        return b * other, other, None, "MulBackward"

    def result(b):
        c = b.exp()
        return c.sum(), c, "output 0 of ExpBackward", "ExpBackward"

    def kept_input(b):
        return Keeps.apply(b, "input"), b, "output 0 of AddBackward", "KeepsBackward"

    def kept_output(b):
        c = Keeps.apply(b, "output")
        return c * 1, c, "output 0 of KeepsBackward", "KeepsBackward"

    for case in (argument, second_argument, result, kept_input, kept_output):
        out, changed, origin, saver = case(pkg.ones(2, 3, requires_grad=True) * 1)
        changed.add_(1)
        shape = "(2, 1)" if case is second_argument else "(2, 3)"
        which = f"], which is {origin}, is at" if origin else "] is at"
        with pytest.raises(RuntimeError) as error:
            out.sum().backward()
        assert (
            f"inplace operation: [float32 {shape}{which} version 1; expected version 0 "
            f"instead. It was saved by {saver}: clone it"
        ) in str(error.value)

# SPDX-License-Identifier: Apache-2.0
"""Functions and modules as graphs: values, gradients, guards, what is refused."""

import numpy as np
import pytest
from test_ops_in_graphs import COUNTED, NOT_IN_GRAPHS, equal_bits

import pkg
import pkg.graph as pg
from op_table import CASES
from op_values import inputs_of, outputs
from pkg import nn

CASES = [case for case in CASES if case.name not in NOT_IN_GRAPHS]


@pytest.mark.parametrize("dynamic", [False, True], ids=["shapes", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_op_compiled(case, dynamic):
    """Bitwise the eager results; twice, by one graph."""
    if dynamic and case.name in COUNTED:
        pytest.skip("as many results as a size says")
    tensors = [pkg.tensor(array) for array in inputs_of(case)]
    compiled = pkg.compile(lambda *args: case.call(pkg, *args), dynamic=dynamic)
    wanted = outputs(case.call(pkg, *tensors))
    for _ in range(2):
        for found, expected in zip(outputs(compiled(*tensors)), wanted, strict=True):
            equal_bits(found, expected)
    assert len(compiled._kinds) == 1


@pytest.mark.parametrize("case", [c for c in CASES if c.differentiable], ids=str)
def test_gradients_of_every_op_compiled(case):
    """Those of the sum of the results, through the compiled function."""

    def slopes(call):
        tensors = [pkg.tensor(array) for array in inputs_of(case)]
        leaves = [t.requires_grad_() for t in tensors if t.is_floating_point()]
        ys = [y for y in outputs(call(*tensors)) if y.requires_grad]
        grads = [pkg.ones_like(y) for y in ys]
        return pkg.autograd.grad(ys, leaves, grads, allow_unused=True)

    def function(*args):
        return case.call(pkg, *args)

    for found, wanted in zip(slopes(pkg.compile(function)), slopes(function)):
        if wanted is None or found is None:
            for slope in (found, wanted):
                assert slope is None or not slope.numpy().any()
        else:
            equal_bits(found, wanted)


def mlp():
    pkg.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))


def test_a_module_trains_as_it_does_without():
    """Ten steps of an optimizer: the parameters are those of the graph's next run."""
    plain, other = mlp(), mlp()
    compiled = pkg.compile(other)
    x, y = pkg.randn(8, 6), pkg.randn(8, 3)
    for model, call in ((plain, plain), (other, compiled)):
        optimizer = pkg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(10):
            optimizer.zero_grad()
            ((call(x) - y) ** 2).mean().backward()
            optimizer.step()
    for found, wanted in zip(other.parameters(), plain.parameters()):
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(),
                                   rtol=1e-5, atol=1e-7)  # fmt: skip
    assert compiled.training and len(list(compiled.parameters())) == 4


def test_running_statistics_are_updated_once_in_each_run():
    plain, other = nn.BatchNorm1d(4), nn.BatchNorm1d(4)
    compiled = pkg.compile(other)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = pkg.tensor(rng.standard_normal((8, 4)), dtype=pkg.float32)
        equal_bits(compiled(x).detach(), plain(x).detach())
    for wanted, found in zip(plain.buffers(), other.buffers()):
        equal_bits(found, wanted)
    plain.eval(), other.eval()  # which is another kind of call
    equal_bits(compiled(x).detach(), plain(x).detach())
    assert len(compiled._kinds) == 2


def test_structures_and_values_that_are_no_tensors():
    @pkg.compile
    def function(pair, scale=1.0, *, more):
        a, b = pair
        return {"sum": a + b * scale, "rest": [more["c"], 3, None]}

    a, b, c = pkg.ones(2), pkg.ones(2) * 2, pkg.zeros(3)
    for scale in (1.0, 5.0, 1.0):
        found = function((a, b), scale, more={"c": c})
        assert found["sum"].tolist() == [1 + 2 * scale] * 2
        assert found["rest"][1:] == [3, None] and found["rest"][0].shape == (3,)
    assert len(function._kinds) == 2
    assert function.__name__ == "function"


def test_guards_tell_dtypes_shapes_and_numbers_of_dimensions_apart():
    seen = []

    def function(x):
        seen.append(x.shape)
        return x * 2

    exact, dynamic = pkg.compile(function), pkg.compile(function, dynamic=True)
    sizes = [(2,), (3,), (2, 3), (2,)]
    for x in [*(pkg.ones(*size) for size in sizes), pkg.ones(2).double()]:
        for call in (exact, dynamic):
            assert call(x).dtype == x.dtype and call(x).shape == x.shape
    assert len(exact._kinds) == 4 and len(dynamic._kinds) == 3 and len(seen) == 7
    traced = pg.trace(function, pkg.ones(2))
    assert traced(pkg.zeros(2)).tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"float32 of shape \(2,\); got .* \(3,\)"):
        traced(pkg.ones(3))


def test_weights_are_those_of_the_next_run():
    w, plain = pkg.ones(2, requires_grad=True), pkg.ones(2)

    @pkg.compile
    def function(x):
        return x * w + plain

    x = pkg.tensor([1.0, 2.0])
    assert function(x).tolist() == [2, 3]
    with pkg.no_grad():
        w *= 10
    plain += 1
    assert function(x).tolist() == [12, 22]


def test_no_grad_within_and_around():
    x = pkg.tensor([2.0], requires_grad=True)

    @pkg.compile
    def function(x):
        with pkg.no_grad():
            held = x * 3
        return x * held + x.detach()

    y = function(x)
    y.backward()
    assert y.item() == 14.0 and x.grad.item() == 6.0
    with pkg.no_grad():
        assert not function(x).requires_grad
    assert function(x).requires_grad


def test_gradients_of_some_arguments_and_of_results_without():
    @pkg.compile
    def function(x, y, i):
        return x * y, y.argmax(), x.detach()

    x, y = pkg.ones(3, requires_grad=True), pkg.arange(3.0)
    product, place, copy = function(x, y, pkg.tensor([1]))
    assert place.item() == 2 and not place.requires_grad
    (product.sum() + copy.sum()).backward()
    assert x.grad.tolist() == [0, 1, 2] and y.grad is None


def test_the_history_is_the_eager_one():
    """Second derivatives; what is random or writes runs once; changes are noticed."""
    x = pkg.tensor([2.0], requires_grad=True)
    y = pkg.compile(lambda x: x**3)(x)
    (slope,) = pkg.autograd.grad(y, [x], create_graph=True)
    assert pkg.autograd.grad(slope, [x])[0].item() == pytest.approx(12.0)

    ones = pkg.ones(50, requires_grad=True)
    y = pkg.compile(lambda x: pkg.dropout(x, 0.5, True))(ones)
    y.sum().backward()
    assert y.tolist() == ones.grad.tolist()

    count, factor = pkg.tensor(2.0), pkg.tensor(3.0)

    @pkg.compile
    def function(x):
        y = x * count
        count.add_(1.0)
        return y * factor

    with pytest.raises(RuntimeError, match="modified by an inplace"):
        function(x).backward()  # as without compile
    assert count.item() == 3.0
    y = pkg.compile(lambda x: x * factor)(x)
    factor.mul_(10.0)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.backward()


def test_parameters_in_loops_and_choices_get_gradients():
    w, x = nn.Parameter(pkg.tensor(2.0)), pkg.tensor(1.0, requires_grad=True)

    @pkg.compile
    def function(x):
        _, y = pg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, x))
        return pg.cond(x > 0, lambda: y * w, lambda: y)

    y = function(x)
    y.backward()
    assert (y.item(), x.grad.item(), w.grad.item()) == (16.0, 16.0, 32.0)


def test_parameters_may_be_frozen_and_replaced_and_modules_added():
    model = nn.Sequential(nn.Linear(2, 2, bias=False))
    compiled, x = pkg.compile(model), pkg.ones(1, 2)
    model.requires_grad_(False)
    assert not compiled(x).requires_grad
    model.requires_grad_(True)
    assert compiled(x).requires_grad
    model[0].weight = nn.Parameter(pkg.zeros(2, 2))
    assert compiled(x).tolist() == [[0.0, 0.0]]
    model.append(nn.Dropout(0.5))
    compiled(x)
    model.eval()
    assert compiled(x).tolist() == model(x).tolist()


def test_compiled_functions_call_each_other():
    w = pkg.ones(1)
    inner = pkg.compile(lambda: w * 2)
    twice = pkg.compile(lambda x: x * 2)
    outer = pkg.compile(lambda x: twice(x) + twice(x * 3) + inner())
    assert outer(pkg.ones(1)).item() == 10.0
    w += 1
    assert outer(pkg.ones(1)).item() == 12.0


def test_a_compiled_function_in_a_python_function_of_a_loop():
    """It is traced there, where the thread is in the middle of a run."""
    twice = pkg.compile(lambda x: x * 2)

    def call(value):
        return twice(pkg.tensor(float(value))).numpy()

    @pkg.compile
    def function(x):
        return pg.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, pg.py_func(call, [y], pkg.float32)),
            (0, x),
            shape_invariants=[pg.TensorShape([]), pg.TensorShape(None)],
        )[1]

    assert function(pkg.tensor(1.0)).item() == 8.0


def test_compiled_functions_in_loops_and_choices_of_graphs():
    w = pkg.ones(1)
    inner = pkg.compile(lambda: w * 2)
    with pg.Graph().as_default(), pg.Session() as session:
        p = pg.placeholder(pkg.bool, [])
        y = pg.cond(p, inner, lambda: inner() * 5)
        w += 1  # it is a part of the graph, which sees that
        assert [session.run(y, {p: v}).item() for v in (True, False)] == [4.0, 20.0]
    assert inner().item() == 4.0


def test_what_was_traced_goes_through_a_file(tmp_path):
    """With the parameters as they are now."""
    model = mlp()
    traced = pg.trace(model, pkg.ones(4, 6))
    x = pkg.randn(4, 6)
    wanted = traced(x).detach()
    (y,) = traced._outputs
    (given,) = traced._inputs
    pg.export_graph(traced.graph, tmp_path / "net")
    with pg.Graph().as_default(), pg.Session() as session:
        names = [given.name, y.name]
        given, y = pg.import_graph(tmp_path / "net", return_elements=names)
        equal_bits(session.run(y, {given: x}), wanted)


def test_zeros_of_both_signs_are_two_values():
    divide = pkg.compile(lambda x, s: x / (x * s))
    assert divide(pkg.ones(1), 0.0).item() == float("inf")
    assert divide(pkg.ones(1), -0.0).item() == -float("inf")


def test_random_numbers_are_drawn_in_every_run():
    noisy = pkg.compile(lambda x: x + pkg.rand(3))
    x = pkg.zeros(3)
    noisy(x)  # making the graph draws some, too
    pkg.manual_seed(3)
    first, second = noisy(x).tolist(), noisy(x).tolist()
    assert first != second
    pkg.manual_seed(3)
    assert noisy(x).tolist() == first


def test_choices_that_depend_on_values_are_refused_and_leave_nothing_open():
    @pkg.compile
    def function(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(TypeError, match="symbol of a graph and has no value"):
        function(pkg.ones(2))
    assert (pkg.ones(2) + 1).tolist() == [2, 2]  # eager again
    with pytest.raises(TypeError, match="symbol of a graph"):
        pkg.compile(lambda x: x.item())(pkg.ones(1))


def test_methods_are_compiled_where_they_stand():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @pkg.compile
        def __call__(self, x):
            return x * self.factor

    two, three = Scale(2.0), Scale(3.0)
    assert two(pkg.ones(1)).item() == 2 and three(pkg.ones(1)).item() == 3
    with pytest.raises(TypeError, match="expected a function or a module, got int"):
        pkg.compile(3)
    with pytest.raises(TypeError, match="can be told apart"):
        two(bytearray(b"x"))


def test_the_graphs_that_are_kept_are_limited():
    scaled = pkg.compile(lambda x, k: x * k)
    for k in range(70):
        assert scaled(pkg.ones(1), k).item() == k
    assert len(scaled._kinds) == 64

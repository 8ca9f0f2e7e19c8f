# SPDX-License-Identifier: Apache-2.0
"""What runs give, beside what eager calls give: random programs, indices, shapes."""

import random

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg.graph import errors

pytestmark = pytest.mark.usefixtures("fresh_graph")


def test_tensors_with_values_are_looked_at_at_each_run():
    """A weight that changes in place is another one in the next run."""
    w = pkg.tensor([1.0, 2.0])
    x = pg.placeholder(pkg.float32, [2])
    y = x * w
    session = pg.Session()
    assert session.run(y, {x: [1, 1]}).tolist() == [1, 2]
    w.mul_(10)
    assert session.run(y, {x: [1, 1]}).tolist() == [10, 20]


def test_random_numbers_are_other_ones_in_each_run():
    """And the same from the same seed."""
    y = pg.record(pkg.rand, 5)
    session = pg.Session()
    pkg.manual_seed(3)
    first, second = session.run(y), session.run(y)
    assert first.tolist() != second.tolist()
    pkg.manual_seed(3)
    assert session.run(y).tolist() == first.tolist()


def random_program(rng):
    """A function of three matrices that calls ops in a random order."""
    unary = ["relu", "tanh", "sigmoid", "exp", "neg", "square", "abs"]
    binary = ["add", "mul", "sub", "maximum", "minimum"]
    steps = []
    for _ in range(rng.randrange(3, 15)):
        kind = rng.choice(["unary", "binary", "matmul", "sum", "view", "transpose"])
        steps.append(
            (kind, rng.choice(unary), rng.choice(binary), rng.random(), rng.random())
        )

    def run(*inputs):
        values = list(inputs)
        for kind, one, two, p, q in steps:
            a = values[int(p * len(values))]
            b = values[int(q * len(values))]
            if kind == "unary":
                values.append(getattr(pkg, one)(a.clamp(-3, 3)))
            elif kind == "binary":
                values.append(getattr(pkg, two)(a, b))
            elif kind == "matmul":
                values.append(pkg.matmul(a, b.t()).clamp(-5, 5) / 4)
            elif kind == "sum":
                values.append(a - a.sum(1, keepdim=True) * 0.1 + b.mean())
            elif kind == "view":
                values.append(a.reshape(-1).view(6, 6)[::1].flip(0) + b[0])
            else:
                values.append(a.t() * 0.5)
        return values[-1], values[len(values) // 2]

    return run


@pytest.mark.parametrize("seed", range(200))
def test_random_graphs_give_what_eager_calls_give(seed):
    """Bit by bit, and so do their gradients; twice, with the same memory."""
    run = random_program(random.Random(seed))
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((6, 6)).astype("float32") for _ in range(3)]
    tensors = [pkg.tensor(array, requires_grad=True) for array in arrays]
    ys = run(*tensors)
    wanted_grads = pkg.autograd.grad(
        [y for y in ys if y.requires_grad], tensors,
        [pkg.ones_like(y) for y in ys if y.requires_grad], allow_unused=True,
    )  # fmt: skip
    inputs = [pg.placeholder(pkg.float32, [6, 6]) for _ in range(3)]
    if seed % 2:
        inputs[0] = pg.placeholder(pkg.float32, [None, 6])
    made = run(*inputs)
    grads = pg.gradients(made, inputs)
    asked = [*made, *[g for g in grads if g is not None]]
    wanted = [*ys, *[g for g in wanted_grads if g is not None]]
    session = pg.Session()
    for _ in range(2):
        results = session.run(asked, dict(zip(inputs, arrays)))
        for result, expected in zip(results, wanted, strict=True):
            assert result.numpy().tobytes() == expected.detach().numpy().tobytes(), seed


def test_a_tensor_that_shows_other_memory_is_planned_anew():
    """Also with as many bytes as before; another shape is an error."""
    w = pkg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = pg.placeholder(pkg.float32, [None, None])
    y = x * w
    session = pg.Session()
    assert session.run(y, {x: np.ones((2, 3))}).tolist() == w.tolist()
    w.data = (w * 2).t().contiguous().t()
    assert session.run(y, {x: np.ones((2, 3))}).tolist() == w.tolist()
    w.data = pkg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with pytest.raises(errors.OpError, match=r"shape \(2, 3\), as the graph says"):
        session.run(y, {x: np.ones((3, 2))})
    with pytest.raises(errors.OpError, match="must match the size"):
        session.run(y, {x: np.ones((2, 3))})
    w.data = pkg.ones(2, 3)
    assert session.run(y, {x: np.ones((2, 3))}).tolist() == w.tolist()


def test_results_are_what_the_graph_says_of_them():
    """As many, where their number was tried with another size; a name is used once."""
    x = pg.placeholder(pkg.float32, [None])
    parts = x.chunk(3)
    session = pg.Session()
    found = session.run(parts, {x: range(6)})
    assert [part.tolist() for part in found] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(errors.OpError, match="expected 3 results.*got 2"):
        session.run(parts[0], {x: range(4)})
    assert pg.placeholder(pkg.float32, [], "a/").name == "a:0"
    assert pg.placeholder(pkg.float32, [], "a").name == "a_1:0"


KEYS = [
    0, -1, slice(1, 3), slice(None, -1), slice(-2, None), slice(None, None, 2),
    slice(2, 100), (slice(None), 1), (..., -1), None, [0, 2],
    (slice(1, None), slice(None, -2)), [True, False, True, False],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_count_from_what_is_fed(key):
    """Sizes are unknown when the key is written; a claimed size is a true one."""
    x = pg.placeholder(pkg.float32, [None, None])
    y = x[key]
    session = pg.Session()
    for rows, columns in ((4, 6), (4, 3)):
        array = np.arange(rows * columns, dtype="f").reshape(rows, columns)
        result, wanted = session.run(y, {x: array}), pkg.tensor(array)[key]
        assert result.tolist() == wanted.tolist()
        for size, real in zip(y.shape.dims or (), wanted.shape):
            assert size in (None, real)


@pytest.mark.parametrize("shape", [(2,) * 7, (1,) * 9, (0, 3), (3, 0, 2), ()])
def test_any_number_of_dimensions_and_no_elements(shape):
    """With gradients."""
    x = pg.placeholder(pkg.float32, [None] * len(shape))
    y = (x * x + 1).sum()
    session = pg.Session()
    array = np.full(shape, 2, "f")
    value, grad = session.run([y, *pg.gradients(y, x)], {x: array})
    assert value.item() == array.size * 5
    assert grad.shape == shape and (grad == 4).all().item()


@pytest.mark.parametrize("columns", [1, 3, 11, 13, 64, 100, 128])
def test_rows_of_a_vector_of_unknown_length(columns):
    """What is unknown stays so, whether its size divides others or not."""
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [None])
        y = x.reshape(-1, columns)
        assert tuple(y.shape) == (None, columns)
        given = pkg.arange(3 * columns).float()
        assert pg.Session().run(y, {x: given}).shape == (3, columns)

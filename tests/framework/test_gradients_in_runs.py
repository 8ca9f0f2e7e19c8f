# SPDX-License-Identifier: Apache-2.0
"""Gradients registered for ops of libraries where runs take them: through loops and
choices, through traced and compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from library_gradients import pair_grad, sums_grad
from pkg.graph import gradient_registry

X = 3.0
WRAPPERS = [pkg.RegisterGradient, tf.RegisterGradient]


def kept_grad(op: Any, grad: Any) -> Any:
    """Of TestZeroOut, for its element 0 alone; the attribute's value scales nothing."""
    assert op.get_attr("preserve_index") == 0 and op.get_attr("T") == pkg.float32
    return grad


@pytest.fixture(autouse=True, params=WRAPPERS, ids=["pkg", "tf"])
def registered(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The gradients, by either decorator."""
    monkeypatch.setattr(gradient_registry, "_registered", {})
    request.param("TestPair")(pair_grad)
    request.param("TestSums")(sums_grad)
    request.param("TestZeroOut")(kept_grad)
    yield


@pytest.fixture(scope="module")
def ops(compiled: Callable[..., Path]) -> Any:
    """TensorFlow's wrappers of sources/kernels.cc."""
    return tf.load_op_library(compiled("kernels.cc"))


@pytest.fixture(scope="module")
def plain(compiled: Callable[..., Path]) -> Any:
    """The wrappers of pkg."""
    return pkg.load_op_library(compiled("kernels.cc"))


def chosen(function: Callable[[], Any]) -> Any:
    """What the function gives, in a choice."""
    return tf.cond(tf.constant(True), function, lambda: tf.constant(-1.0))


def turned(function: Callable[[Any], Any], begin: Any, turns: int = 2) -> Any:
    """The variable after some turns of a loop."""
    body = lambda i, v: (i + 1, function(v))  # noqa: E731
    return tf.while_loop(lambda i, v: i < turns, body, [0, begin])[1]


def run(of_x: Callable[[Any], Any]) -> float:
    """What a function of a placeholder gives at X."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        return float(session.run(of_x(x), {x: X}))


def square(ops: Any, x: Any) -> Any:
    """By the library's op, which does not say of what shape its results are."""
    return tf.reshape(ops.test_pair(x, x).product, [])


# A function of the ops and x whose gradient is taken outside, and the gradient.
THROUGH = {
    "a choice": (lambda o, x: chosen(lambda: square(o, x)), 2 * X),
    "a choice, other ways too": (
        lambda o, x: x * chosen(lambda: square(o, x) * x), 4 * X**3
    ),
    "a loop": (lambda o, x: turned(lambda v: square(o, v), x), 4 * X**3),
    "a loop's constant": (
        lambda o, x: turned(lambda v: v * square(o, x), x), 5 * X**4
    ),
    "a choice in a loop": (
        lambda o, x: turned(lambda v: chosen(lambda: square(o, v)), x), 4 * X**3
    ),
    "lists": (
        lambda o, x: chosen(lambda: tf.add_n(o.test_sums([x, x * 2, x]))), 8.0
    ),
    "an attribute": (lambda o, x: chosen(lambda: o.test_zero_out(x) * 2), 2.0),
    "an op on the way there and back": (
        lambda o, x: square(o, chosen(lambda: square(o, square(o, x)))), 8 * X**7
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", THROUGH)
def test_gradients_through_parts(ops: Any, name: str) -> None:
    """They are those of the same function outside of a graph."""
    function, wanted = THROUGH[name]
    assert run(lambda x: tf.gradients(function(ops, x), x)[0]) == pytest.approx(wanted)


# The same of functions whose gradient is taken within the part.
WITHIN = {
    "of what it computes": (lambda o, x: square(o, x) * x, 3 * X**2),
    "twice": (lambda o, x: square(o, square(o, x)), 4 * X**3),
    "through a choice": (lambda o, x: x * chosen(lambda: square(o, x)), 3 * X**2),
}


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("part", ["choice", "loop"])
def test_gradients_within_parts(ops: Any, part: str, name: str) -> None:
    """A part adds the operations of the registered function to itself."""
    function, wanted = WITHIN[name]

    def build(x: Any) -> Any:
        slope = lambda: tf.gradients(function(ops, x), x)[0]  # noqa: E731
        return chosen(slope) if part == "choice" else turned(lambda v: slope(), x, 1)

    assert run(build) == pytest.approx(wanted)


def test_second_gradients_through_a_choice(ops: Any) -> None:
    """Of x**4, by two calls of the op: 12 x**2."""

    def build(x: Any) -> Any:
        y = chosen(lambda: square(ops, square(ops, x)))
        return tf.gradients(tf.gradients(y, x)[0], x)[0]

    assert run(build) == pytest.approx(12 * X**2)


@pytest.mark.parametrize("how", ["custom_gradient", "REGISTER_OP"])
def test_a_way_outside_of_the_part_is_refused(ops: Any, how: str) -> None:
    """It leads through a gradient of one's own, of which the part knows nothing."""
    own = tf.custom_gradient(lambda x: (x * x, lambda grad: grad * 2 * x))

    def build(x: Any) -> Any:
        made = own(x) if how == "custom_gradient" else square(ops, x)
        return chosen(lambda: tf.gradients(made * x, x)[0])

    with pytest.raises(NotImplementedError, match="computed outside of it"):
        run(build)

    def beside(x: Any) -> Any:  # nothing of it comes from x
        made = own(x * 0) if how == "custom_gradient" else square(ops, x)
        made = tf.stop_gradient(made)
        return chosen(lambda: tf.gradients(made * x, x)[0])

    assert run(beside) == (0 if how == "custom_gradient" else X**2)


def test_what_is_not_differentiable_in_a_part(ops: Any) -> None:
    """No gradient flows through it, as outside."""
    gradient_registry._registered.pop("TestPair")
    pkg.NotDifferentiable("TestPair")

    def build(x: Any) -> Any:
        return tf.gradients(chosen(lambda: square(ops, x) + x), x)[0]

    assert run(build) == 1.0


def test_a_missing_gradient_in_a_part(ops: Any) -> None:
    """The run says so, by the op's name."""
    gradient_registry._registered.pop("TestPair")
    text = "No gradient defined .* 'TestPair'"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(lambda x: tf.gradients(chosen(lambda: square(ops, x)), x)[0])


@pytest.mark.parametrize("how", ["trace", "compile"])
def test_traced_functions(plain: Any, how: str) -> None:
    """The results of a run have the history of the op; of parameters, too."""
    weight = pkg.tensor(5.0, requires_grad=True)

    def function(x: Any) -> Any:
        return plain.test_pair(x, weight).product * x

    made = pkg.compile(function)
    if how == "trace":
        made = pg.trace(function, pkg.tensor(X))
    x = pkg.tensor(X, requires_grad=True)
    for _ in range(3):
        x.grad = weight.grad = None
        made(x).backward()
        assert x.grad.item() == 2 * 5 * X and weight.grad.item() == X * X
    with pkg.no_grad():
        assert not made(x).requires_grad


def test_second_gradients_outside_of_graphs(plain: Any) -> None:
    """The function's own calls are recorded, also those of a graph made for it."""
    x = pkg.tensor(X, requires_grad=True)
    y = plain.test_pair(x, x).product
    (slope,) = pkg.autograd.grad(y * y, [x], create_graph=True)
    (again,) = pkg.autograd.grad(slope, [x])
    assert (slope.item(), again.item()) == (4 * X**3, 12 * X**2)


def test_the_op_itself(plain: Any) -> None:
    """Called by its name, without the wrapper, it has the same history."""
    x = pkg.tensor(X, requires_grad=True)
    pkg.ops.tf.TestPair(x, x)[0].backward()
    assert x.grad.item() == 2 * X

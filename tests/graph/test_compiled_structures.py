# SPDX-License-Identifier: Apache-2.0
"""What tells the arguments of compiled functions apart, and what these may give."""

from __future__ import annotations

import asyncio
import collections
import collections.abc
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg import nn


def ones(n: float) -> Any:
    return pkg.ones(1) * n


def test_the_order_of_keywords_and_keys_is_seen() -> None:
    @pkg.compile
    def minus(**values: Any) -> Any:
        first, second = values.values()
        return first - second

    assert minus(a=ones(1), b=ones(3)).item() == -2
    assert minus(b=ones(3), a=ones(1)).item() == 2

    names = pkg.compile(lambda given: [type(key).__name__ for key in given])
    assert names({1: ones(1)}) == ["int"]
    assert names({1.0: ones(1)}) == ["float"]
    assert names({True: ones(1), "a": ones(2)}) == ["bool", "str"]


def test_mappings_keep_their_types() -> None:
    class Named(dict):  # type: ignore[type-arg]
        def twice(self) -> Any:
            return self["a"] * 2

    @pkg.compile
    def function(given: Any) -> Any:
        return given.twice() if isinstance(given, Named) else given["a"]

    assert function({"a": ones(3)}).item() == 3
    assert function(Named(a=ones(3))).item() == 6
    given = collections.defaultdict(list, a=ones(3))
    assert pkg.compile(lambda d: d["a"] + len(d["new"]))(given).item() == 3
    assert list(given) == ["a"]


class Attributes(dict):  # type: ignore[type-arg]
    """Whose entries are attributes, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Own(collections.abc.MutableMapping):  # type: ignore[type-arg]
    def __init__(self, given: Any) -> None:
        self.held = dict(given)

    def __getitem__(self, key: Any) -> Any:
        return self.held[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.held[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.held[key]

    def __iter__(self) -> Any:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


def test_mappings_of_ones_own_are_made_anew() -> None:
    twice = pkg.compile(lambda m: m.a * 2)
    assert twice(Attributes(a=ones(1))).item() == 2
    assert twice(Attributes(a=ones(2))).item() == 4
    made = pkg.compile(lambda x: Attributes(a=x + 1))
    assert made(ones(1)).a.item() == 2
    own = pkg.compile(lambda m: Own({"a": m["a"] * 2}))
    given = Own({"a": ones(1)})
    first, second = own(given), own(Own({"a": ones(2)}))
    assert (first["a"].item(), second["a"].item()) == (2, 4)
    assert type(given["a"]) is pkg.Tensor
    both = pkg.compile(lambda m: m["a"] * m["new"])
    for factor in (2.0, 3.0):
        entries = collections.defaultdict(lambda n=factor: n, a=ones(1))
        assert both(entries).item() == factor


def test_a_traced_function_checks_the_structure() -> None:
    traced = pg.trace(lambda b, a: b - a, ones(1), ones(3))
    assert traced(ones(1), ones(3)).item() == -2
    named = pg.trace(lambda b, a: b - a, b=ones(1), a=ones(3))
    assert named(a=ones(3), b=ones(1)).item() == -2
    for call in (
        lambda: traced(b=ones(1), a=ones(3)),
        lambda: traced(ones(1), [ones(3)]),
        lambda: traced(ones(1)),
    ):
        with pytest.raises(ValueError, match=r"structure .*\[\(\., \.\), \{\}\]"):
            call()


def test_values_that_compare_equal_and_are_not_the_same() -> None:
    divide = pkg.compile(lambda x, by: x / by)
    for zero in (0.0, np.float32(0.0), np.float64(0.0)):
        for by in (zero, -zero):
            expected = ones(1) / by
            assert divide(ones(1), by).item() == expected.item()
    kinds = pkg.compile(lambda x, s: [type(v).__name__ for v in s])
    assert kinds(ones(1), frozenset([1])) == ["int"]
    assert kinds(ones(1), frozenset([1.0])) == ["float"]


def test_the_device_of_an_argument_is_there() -> None:
    @pkg.compile
    def function(x: Any) -> Any:
        assert x.device == "cpu" and x.device == pkg.device("cpu")
        assert x.device.type == "cpu"
        return x + pkg.zeros(1, device=x.device) + x.to(x.device)

    assert function(ones(2)).item() == 4


@dataclasses.dataclass
class Pair:
    first: Any


class Slots:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def test_results_that_would_hold_symbols_are_refused() -> None:
    for function in (lambda x: {x}, lambda x: [Pair(x)], lambda x: {"a": Slots(x)}):
        with pytest.raises(TypeError, match="results in lists, tuples and dicts"):
            pkg.compile(function)(ones(1))
    inside = (
        lambda x: functools.partial(pkg.add, x),
        lambda x: functools.partial(pkg.add, other=x),
        lambda x: Pair([x]),
    )
    for function in inside:
        with pytest.raises(TypeError, match="results in lists, tuples and dicts"):
            pkg.compile(function)(ones(1))
    assert pkg.compile(lambda x: Pair(1))(ones(1)) == Pair(1)
    itself: list[Any] = []
    itself.append(itself)
    assert pkg.compile(lambda x: Pair(itself))(ones(1)).first is itself
    unset = Slots.__new__(Slots)
    assert pkg.compile(lambda x: unset)(ones(1)) is unset

    def generator(x: Any) -> Any:
        yield x

    with pytest.raises(TypeError, match="what runs later"):
        pkg.compile(generator)(ones(1))

    async def coroutine(x: Any) -> Any:
        return x

    kept: list[Any] = []

    def gives_one(x: Any) -> Any:
        kept.append(coroutine(x))
        return kept[0]

    with pytest.raises(TypeError, match="what runs later"):
        pkg.compile(gives_one)(ones(1))
    asyncio.run(kept[0])


def test_a_symbol_has_no_number_to_format() -> None:
    with pytest.raises(TypeError, match="no value yet"):
        pkg.compile(lambda x: f"{x:.2f}")(ones(1))
    texts = pkg.compile(lambda x: [f"{x}", f"{x:>50}"])(ones(1))
    assert texts[0].startswith("<Symbol") and texts[1] == texts[0].rjust(50)


def test_symbols_do_not_replace_what_tensors_of_the_program_hold() -> None:
    w = pkg.ones(1, requires_grad=True)

    def put_data(x: Any) -> Any:
        w.data = x * 2
        return x

    def put_grad(x: Any) -> Any:
        w.grad = x * 2
        return x

    for function in (put_data, put_grad):
        with pytest.raises(TypeError, match="got a symbol"):
            pkg.compile(function)(ones(1))
    assert w.item() == 1 and w.grad is None


class Steep(pkg.autograd.Function):
    """relu, with a gradient that shows where it was."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        assert len(ctx.needs_input_grad) == 1
        ctx.save_for_backward(x)
        return pkg.relu(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 7 * x


class Parted(pkg.autograd.Function):
    """Two results, of which one needs no gradient, and a number among the arguments."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: Any, y: Any) -> Any:
        ctx.factor = factor
        ctx.save_for_backward(x, y)
        sign = pkg.sign(x)
        ctx.mark_non_differentiable(sign)
        return x * y * factor, sign, x + y

    @staticmethod
    def backward(ctx: Any, grad: Any, _: Any, of_sum: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad * y * ctx.factor + of_sum, None, grad * x * ctx.factor + of_sum


def test_a_function_with_its_own_backward_in_a_compiled_function() -> None:
    """No gradient is lost without a word."""
    w = pkg.ones(2, requires_grad=True)
    layer = nn.Linear(2, 1)
    compiled = pkg.compile(lambda x: Steep.apply(x * w) + x * w)
    with pytest.raises(NotImplementedError, match="Steep.apply"):
        compiled(pkg.ones(2))
    with pkg.no_grad():
        assert compiled(pkg.ones(2)).tolist() == [2, 2]
    own = pkg.compile(lambda x: Steep.apply(layer.weight).sum() + layer(x))
    with pytest.raises(NotImplementedError, match="Steep.apply"):
        own(pkg.ones(2))
    assert pkg.compile(lambda x: Steep.apply(x))(pkg.ones(2)).tolist() == [1, 1]


def test_a_checkpoint_in_a_compiled_function() -> None:
    layer, x = nn.Linear(2, 2), pkg.ones(1, 2)

    def part(t: Any) -> Any:
        return layer(t).tanh()

    slopes = []
    for function in (
        pkg.compile(lambda x: pkg.autograd.checkpoint(part, x).sum()),
        lambda x: pkg.autograd.checkpoint(part, x).sum(),
    ):
        function(x).backward()
        slopes.append(layer.weight.grad.tolist())
        layer.weight.grad = None
    assert slopes[0] == slopes[1]


class Exp(pkg.autograd.Function):
    """Saves its output, if a gradient is wanted, and gives a list."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return [grad * y]


def test_only_gradients_that_would_go_through_it_are_refused() -> None:
    w, x = pkg.ones(1, requires_grad=True), pkg.zeros(1)
    for function in (
        lambda x: Exp.apply(x) * w,
        lambda x: Exp.apply((x * w).detach()) * w,
        lambda x: Parted.apply(x, 2.0, x)[1] + Exp.apply(x.detach()) * w,
    ):
        expected = function(x)
        compiled = pkg.compile(function)
        assert compiled(x).item() == expected.item()
        compiled(x).backward()
        slope = w.grad.item()
        w.grad = None
        expected.backward()
        assert slope == w.grad.item()
        w.grad = None

    def loop(x: Any) -> Any:
        body = lambda i, y: (i + 1, Exp.apply(y))  # noqa: E731
        return pg.while_loop(lambda i, y: i < 2, body, (0, x))[1]

    assert pkg.compile(loop)(x).item() == pytest.approx(np.e)
    with pytest.raises(NotImplementedError, match="Exp.apply"):
        pkg.compile(loop)(w)
    with pytest.raises(NotImplementedError, match="Exp.apply"):
        pkg.compile(lambda x: Exp.apply(x * w))(x)
    with pg.Graph().as_default(), pg.Session() as session:
        assert session.run(loop(pg.constant(0.0))).item() == pytest.approx(np.e)


class Few(pkg.autograd.Function):
    """Gives a gradient too few."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return x * y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


def test_a_backward_that_gives_too_few_gradients_in_a_graph() -> None:
    with pg.Graph().as_default():
        x, y = (pg.placeholder(pkg.float32, [2]) for _ in range(2))
        with pytest.raises(RuntimeError, match="expected 2 gradients .* got 1"):
            pg.gradients(Few.apply(x, y), [x, y])


def test_second_gradients_and_saved_results() -> None:
    graph = pg.Graph()
    with graph.as_default():
        x = pg.placeholder(pkg.float32, [])
    y = Exp.apply(x)  # the graph is that of the symbol
    (slope,) = pg.gradients(y, [x])
    (second,) = pg.gradients(slope, [x])
    with pg.Session(graph=graph) as session:
        values = session.run([y, slope, second], {x: 1.0})
    assert [v.item() for v in values] == pytest.approx([np.e] * 3)


def test_a_function_with_its_own_backward_in_a_graph() -> None:
    with pg.Graph().as_default(), pg.Session() as session:
        x, y = (pg.placeholder(pkg.float32, [2]) for _ in range(2))
        slopes = pg.gradients(Steep.apply(x) + x, [x])
        feeds = {x: np.array([2, 3], "f"), y: np.array([5, 7], "f")}
        assert session.run(slopes[0], feeds).tolist() == [15, 22]
        product, sign, total = Parted.apply(x, 3.0, y)
        slopes = pg.gradients(product * 2 + sign + total, [x, y])
        assert [s.tolist() for s in session.run(slopes, feeds)] == [[31, 43], [13, 19]]
        slopes = pg.gradients(product, [x, y])
        assert [s.tolist() for s in session.run(slopes, feeds)] == [[15, 21], [6, 9]]

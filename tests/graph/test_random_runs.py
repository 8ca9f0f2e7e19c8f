# SPDX-License-Identifier: Apache-2.0
"""Random numbers in graphs: each run takes its own, as calls without a graph would."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import pkg
import pkg.graph as pg
from pkg import nn
from pkg.nn import functional as F

FILLED = pkg.empty(40)
LAYERS = nn.Sequential(nn.Dropout(0.4), nn.Dropout(0.4))
RANDOM: dict[str, Callable[[Any], Any]] = {
    "dropout": lambda x: pkg.dropout(x, 0.5, True),
    "dropout of integers": lambda x: pkg.dropout(x.to(pkg.int64), 0.5, True),
    "functional.dropout": lambda x: F.dropout(x * 2, 0.3) + F.dropout(x, 0.3),
    "layers": LAYERS,
    "rand": lambda x: x + pkg.rand(40),
    "randn": lambda x: x + pkg.randn(40),
    "rand_like": lambda x: pkg.rand_like(x),
    "randn_like": lambda x: pkg.randn_like(x),
    "randint": lambda x: x + pkg.randint(0, 10**6, (40,)),
    "randint_like": lambda x: pkg.randint_like(x, 0, 10**6),
    "randperm": lambda x: x + pkg.randperm(40),
    "bernoulli": lambda x: pkg.bernoulli(x / 2),
    "multinomial": lambda x: pkg.multinomial(x, 30, True),
    "uniform_": lambda x: FILLED.uniform_() + x,
    "normal_": lambda x: FILLED.normal_() + x,
}
#: Outside of a function that is traced a call without a symbol is made at once.
AT_ONCE = ("rand", "randn", "randint", "randperm", "uniform_", "normal_")


def drawn(call: Callable[[], Any], times: int = 3) -> list[Any]:
    pkg.manual_seed(7)
    return [call().tolist() for _ in range(times)]


@pytest.mark.parametrize("name", RANDOM)
def test_a_compiled_function_takes_what_the_function_would(name: str) -> None:
    function, x = RANDOM[name], pkg.ones(40)
    wanted = drawn(lambda: function(x))
    assert wanted[0] != wanted[1]
    compiled = pkg.compile(function)
    assert drawn(lambda: compiled(x)) == wanted  # traced within the first call
    assert drawn(lambda: compiled(x)) == wanted
    with pkg.no_grad():
        assert drawn(lambda: compiled(x)) == wanted


OPERANDS = {
    "7 dimensions, transposed": pkg.ones(2, 1, 3, 2, 1, 2, 3).transpose(0, 6),
    "no elements": pkg.ones(0, 3),
    "no dimensions": pkg.tensor(2.0),
    "float16": pkg.ones(50, dtype=pkg.float16),
    "bfloat16": pkg.ones(50, dtype=pkg.bfloat16),
    "float64": pkg.ones(50, dtype=pkg.float64),
    "every third": pkg.ones(40)[::3],
    "expanded": pkg.ones(1, 5).expand(4, 5),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_a_compiled_mask_is_the_eager_one_for_every_operand(name: str) -> None:
    x = OPERANDS[name]
    for function in (
        lambda x: pkg.dropout(x, 0.4, True),
        lambda x: pkg.dropout(x * 1, 0.4, True),
    ):
        wanted = drawn(lambda function=function: function(x))
        compiled = pkg.compile(function)
        for _ in range(2):
            assert drawn(lambda compiled=compiled: compiled(x)) == wanted


@pytest.mark.parametrize("name", [name for name in RANDOM if name not in AT_ONCE])
def test_each_run_of_a_session_takes_its_own(name: str) -> None:
    with pg.Graph().as_default(), pg.Session() as session:
        y = RANDOM[name](pg.placeholder(pkg.float32, [40], "x"))
        runs = drawn(lambda: session.run(y, {"x:0": pkg.ones(40)}))
        assert len(set(map(str, runs))) == len(runs)


def test_the_mask_of_a_gradient_is_that_of_the_run() -> None:
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [200])
        y = pkg.dropout(x * 1, 0.5, True)
        (slope,) = pg.gradients(y, [x])
        masks = []
        for _ in range(3):
            value, gradient = session.run([y, slope], {x: pkg.ones(200)})
            assert value.tolist() == gradient.tolist()
            masks.append(str(value.tolist()))
        assert len(set(masks)) == 3


def test_each_turn_of_a_loop_has_its_own_mask() -> None:
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [1000])
        _, y = pg.while_loop(
            lambda i, v: i < 2,
            lambda i, v: (i + 1, pkg.dropout(v, 0.5, True)),
            (0, x),
        )
        left = (session.run(y, {x: pkg.ones(1000)}) != 0).sum().item()
        assert 180 < left < 320  # a quarter: of one mask for both it would be a half


def test_to_build_a_graph_takes_no_numbers() -> None:
    pkg.manual_seed(3)
    before = pkg.rand(2).tolist()
    pkg.manual_seed(3)
    pg.trace(lambda x: x + pkg.rand(2) + pkg.dropout(x, 0.5, True), pkg.ones(2))
    assert pkg.rand(2).tolist() == before


def restart(x: Any) -> Any:
    pkg.manual_seed(5)
    return x + pkg.rand(2)


def go_back(x: Any) -> Any:
    with pkg.random.fork_rng():
        return x + pkg.rand(2)


def other_seed(x: Any) -> Any:
    pkg.random.seed()
    return x


@pytest.mark.parametrize("function", [restart, go_back, other_seed])
def test_a_compiled_function_cannot_restart_the_stream(function: Any) -> None:
    for make in (pkg.compile, lambda f: pg.trace(f, pkg.ones(2))):
        before = pkg.get_rng_state().tolist()
        with pytest.raises(NotImplementedError, match="before the function"):
            make(function)(pkg.ones(2))
        assert pkg.get_rng_state().tolist() == before
    pkg.manual_seed(1)  # outside it goes on
    assert function(pkg.ones(2)).shape == (2,)


def test_another_thread_restarts_the_stream_while_one_traces() -> None:
    def function(x: Any) -> Any:
        thread = threading.Thread(target=pkg.manual_seed, args=(7,))
        thread.start()
        thread.join()
        return x

    pg.trace(function, pkg.ones(1))
    assert pkg.random.initial_seed() == 7

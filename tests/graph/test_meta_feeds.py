# SPDX-License-Identifier: Apache-2.0
"""Tensors of the device meta have no values: no run of a graph takes or makes one."""

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg.graph.errors import InvalidArgumentError

pytestmark = pytest.mark.usefixtures("fresh_graph")


def meta():
    """One without values."""
    return pkg.empty(1, device="meta")


def test_compiled_and_traced_functions():
    """Also where the same shape was compiled before; the function works on."""
    compiled = pkg.compile(lambda x, y: x + y * 2)
    one = pkg.ones([1])
    assert compiled(one, one).item() == 3
    for grad in (False, True):
        with pytest.raises(ValueError, match="device meta.*'arg_1:0'.*Hint"):
            compiled(one, meta().requires_grad_(grad))
    with pytest.raises(ValueError, match="device meta.*'arg:0'"):
        compiled(meta(), one)
    assert compiled(one, one * 2).item() == 5
    traced = pg.trace(lambda x: x * 2, one)
    with pytest.raises(ValueError, match=r"of shape \(1,\) on meta. Use compile"):
        traced(meta())
    assert traced(one).item() == 2


def test_feeds_of_sessions():
    """Of run, make_callable and partial_run; what is fetched at once, too."""
    x = pg.placeholder(pkg.float32, [1], "x")
    y = x * 2
    with pg.Session() as session:
        for fetch in (x, y):
            with pytest.raises(ValueError, match="device meta.*'x:0'"):
                session.run(fetch, {x: meta()})
        with pytest.raises(ValueError, match="device meta.*'x:0'"):
            session.make_callable(y, [x])(meta())
        handle = session.partial_run_setup([y], [x])
        with pytest.raises(ValueError, match="device meta.*'x:0'"):
            session.partial_run(handle, y, {x: meta()})
        assert session.run(y, {x: [3.0]}).item() == 6


def test_variables_keep_their_values():
    """swap_weights and an assignment are refused."""
    v = pg.Variable(np.float32([1]), name="v")
    assign = v.assign(meta())
    with pg.Session() as session:
        session.run(v.initializer)
        with pytest.raises(
            ValueError, match="values for v, got one on the device meta"
        ):
            session.swap_weights({v: meta()})
        with pytest.raises(InvalidArgumentError, match="device meta"):
            session.run(assign)
        assert session.run(v * 2).item() == 2


@pytest.mark.parametrize(
    "make, name",
    [
        (lambda: pg.constant(meta()), "Const"),
        (lambda: pg.placeholder(pkg.float32, [1], "p", default=meta()), "p"),
        (lambda: pg.record(pkg.empty, [1], device="meta"), "empty"),
    ],
)
def test_what_a_graph_has_or_makes(make, name):
    """An error of the run, with the operation's name."""
    symbol = make()
    with pg.Session() as session:
        for fetch in (symbol, symbol * 2):
            with pytest.raises(
                InvalidArgumentError, match=rf"\[{name}\] expected tensors with"
            ):
                session.run(fetch)

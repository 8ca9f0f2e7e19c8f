# SPDX-License-Identifier: Apache-2.0
"""What asks a program to end goes through all that tries several ways on."""

import pytest

import pkg
import pkg.graph as pg
from pkg import library


class Ops:
    """Two ops in Python, which raise what `error` says: one has a rule of shapes."""

    def __init__(self):
        self.error, self.called = None, False
        lib = library.Library("stops_while_building", "DEF")
        lib.define("with_rule(Tensor x) -> Tensor")
        lib.define("without_rule(Tensor x) -> Tensor")
        lib.impl("with_rule", lambda x: x * 2, "CPU")
        lib.impl("with_rule", self.give, "Meta")
        lib.impl("without_rule", self.give, "CPU")

    def give(self, x):
        self.called = True
        if self.error is not None:
            raise self.error
        return x * 2


OPS = Ops()


@pytest.fixture
def ops():
    yield OPS
    OPS.error, OPS.called = None, False


STOPS = [KeyboardInterrupt, SystemExit]


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("name", ["with_rule", "without_rule"])
def test_shapes_that_are_tried_out(ops, name, stop):
    """An error is one trial less; what ends the program ends the building, too."""
    op = getattr(pkg.ops.stops_while_building, name)
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [None, 3])
        before = len(graph.get_operations())
        ops.error, ops.called = stop("asked"), False
        with pytest.raises(stop, match="asked"):
            op(x)
        assert ops.called
        assert len(graph.get_operations()) == before
        ops.error = ValueError("cannot say")
        assert op(x).dtype == pkg.float32
        ops.error = None
        y = op(x)
        assert pg.Session().run(y, {x: pkg.ones(1, 3)}).tolist() == [[2, 2, 2]]


@pytest.mark.parametrize("stop", STOPS)
def test_plans_that_cannot_be_made(ops, stop):
    """An error means that there is no plan; what ends the program is no such error."""
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [None, 3])
        y = pkg.ops.stops_while_building.with_rule(x) + 1
        session = pg.Session()
    ops.error, ops.called = stop("asked"), False
    with pytest.raises(stop, match="asked"):
        session.run(y, {x: pkg.ones(1, 3)})
    assert ops.called
    with pytest.raises(RuntimeError, match="not run yet"):
        session.memory_plan(y, [x])
    ops.error = None  # what was stopped is not kept
    assert session.run(y, {x: pkg.ones(1, 3)}).tolist() == [[3, 3, 3]]
    session.memory_plan(y, [x])
    ops.error = ValueError("cannot say")
    assert session.run(y, {x: pkg.ones(2, 3)}).tolist() == [[3, 3, 3]] * 2
    with pytest.raises(RuntimeError, match="cannot say"):
        session.memory_plan(y, [x])

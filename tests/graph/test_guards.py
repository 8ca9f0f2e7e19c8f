# SPDX-License-Identifier: Apache-2.0
"""Compiled functions notice what they read from outside: names, modules, modes."""

import functools
import types
import warnings

import pytest

import pkg
from pkg import nn
from pkg.autograd import is_grad_enabled

SCALE = 2.0
SETTINGS = types.ModuleType("settings")
SETTINGS.shift = 1
CALLS = 0


def scaled(x):
    return x * SCALE


def value(compiled, *args):
    return compiled(*(args or (pkg.ones(1),))).item()


def test_global_names_count_by_value(monkeypatch):
    """Also those of functions that are called, and of other Python modules."""

    @pkg.compile
    def function(x):
        return scaled(x) + SETTINGS.shift

    assert value(function) == 3
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert value(function) == 6
    monkeypatch.setattr(SETTINGS, "shift", 10)
    assert value(function) == 15
    assert len(function._kinds) == 3
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    monkeypatch.setattr(SETTINGS, "shift", 1)
    assert value(function) == 3 and len(function._kinds) == 3  # the first graph again
    monkeypatch.setitem(globals(), "scaled", lambda x: x * 100)
    assert value(function) == 101


def test_cells_of_the_closure_count_by_value():
    """Numbers, strings, tuples; those of a function within, or behind partial()."""
    factor, mode, pair = 2, "add", (1, 2.0)

    def within(x):
        return x * factor + pair[1]

    bound = functools.partial(within)

    @pkg.compile
    def function(x):
        return bound(x) if mode == "add" else -x

    assert value(function) == 4
    factor = 3
    assert value(function) == 5
    pair = (1, 4.0)
    assert value(function) == 7
    mode = "sub"
    assert value(function) == -1
    factor, mode, pair = 2, "add", (1, 2.0)
    assert value(function) == 4 and len(function._kinds) == 4


@pytest.mark.parametrize("other", [True, 1.0, "1", None, -0.0])
def test_equal_values_of_other_types_are_others(other):
    """1, True and 1.0 are equal in Python, and the function may tell them apart."""
    given = 0.0 if other == 0 else 1
    seen = []

    @pkg.compile
    def function(x):
        seen.append(given)
        return x + len(seen)

    assert value(function) == 2
    given = other
    assert value(function) == 3


@pytest.mark.filterwarnings("ignore:.*traced again and again")
def test_names_for_what_is_no_plain_value_count_by_identity():
    """Another tensor or array in the place of one; one that is written is read."""
    weight = pkg.ones(1)
    function = pkg.compile(lambda x: x * weight)
    assert value(function) == 1
    weight.mul_(2.0)
    assert value(function) == 2
    weight = pkg.full((1,), 7.0)
    assert value(function) == 7
    for number in range(80):  # one that is gone is not taken for the next one
        weight = pkg.full((1,), float(number))
        assert value(function) == number


def test_what_the_function_assigns_to_itself_is_no_guard():
    """It would be another one at each call; beside that it is done once."""
    local = 0

    @pkg.compile
    def function(x):
        global CALLS
        nonlocal local
        CALLS += 1
        local += 1
        return x * 2

    for _ in range(3):
        assert value(function) == 2
    assert (CALLS, local, len(function._kinds)) == (1, 1, 1)


def test_modules_in_a_closure_are_looked_at():
    """Whether they train, their parameters, and plain attributes."""

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.gain, self.calls = 1.0, 0
            self.drop = nn.Dropout(1.0)

        def forward(self, x):
            self.calls += 1  # which is no guard
            return self.drop(x) * self.gain * SCALE

    part = Part()
    function = pkg.compile(lambda x: part(x) + 1)
    assert value(function) == 1
    part.eval()
    assert value(function) == 3
    part.gain = 4.0
    assert value(function) == 9
    assert value(function) == 9
    assert part.calls == len(function._kinds) == 3
    part = Part().eval()
    assert value(function) == 3
    assert value(pkg.compile(part)) == 2


def test_whether_gradients_are_recorded_is_seen():
    """The function asks, and gets the answer of the call."""
    w = pkg.ones(1, requires_grad=True)

    @pkg.compile
    def function(x):
        return x * w * 3 if is_grad_enabled() else x * w

    for _ in range(2):
        y = function(pkg.ones(1))
        assert y.item() == 3 and y.requires_grad
        with pkg.no_grad():
            y = function(pkg.ones(1))
        assert y.item() == 1 and not y.requires_grad
    assert len(function._kinds) == 2


def test_names_that_are_not_there_yet_are_looked_for():
    """At the next call they may be there, or a cell may have a value."""
    space = {}
    exec("def late(x):\n    return x + OFFSET\n", space)
    function = pkg.compile(space["late"])
    with pytest.raises(NameError, match="OFFSET"):
        function(pkg.ones(1))
    space["OFFSET"] = 4
    assert value(function) == 5
    space["OFFSET"] = 6
    assert value(function) == 7


def test_one_compiled_function_within_another():
    """The outer one is a graph of both, so it looks at what the inner one reads."""
    factor = 2
    inner = pkg.compile(lambda x: x * factor)
    outer = pkg.compile(lambda x: inner(x) + 1)
    assert value(outer) == 3
    factor = 5
    assert value(outer) == 6 and value(inner) == 5


def test_variables_of_inner_functions_are_not_taken_for_outer_ones():
    """A name that an inner function assigns to, while the outer one is only read."""
    n = 2

    @pkg.compile
    def function(x):
        def inner():
            n = 10

            def innermost():
                nonlocal n
                n += 1
                return n

            return innermost()

        return x * n + inner()

    assert value(function) == 13
    n = 3
    assert value(function) == 14


def test_objects_with_attributes_of_any_kind_are_left_alone():
    """They are not asked for what is no plain value."""

    class Odd:
        def __getattr__(self, name):
            raise RuntimeError(name)

        def __call__(self, x):
            return x * 2

    odd = Odd()
    function = pkg.compile(lambda x: odd(x))
    assert value(function) == value(function) == 2 and len(function._kinds) == 1


WEIGHT = pkg.ones(2)


def test_a_tensor_bound_anew_at_each_call_is_told_once():
    """With its name: each of them is a graph."""

    @pkg.compile
    def function(x):
        return x * WEIGHT

    def calls(count, x):
        for _ in range(count):
            globals()["WEIGHT"] = WEIGHT * 2
            assert function(x).tolist() == (x * WEIGHT).tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calls(10, pkg.zeros(2))
        calls(10, pkg.zeros(1))  # another kind of arguments is a graph of its own
    told = "it reads 'WEIGHT' in module .*argument"
    with pytest.warns(RuntimeWarning, match=told) as warned:
        calls(40, pkg.zeros(2))
    assert len(warned) == 1 and warned[0].filename == __file__
    assert len(function._kinds) < 64  # graphs go with their tensors


def test_many_values_of_a_number_are_told_and_kinds_of_arguments_are_not():
    """What differs by its arguments may have any number of graphs."""

    @pkg.compile
    def function(x, by):
        return x * by

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(40):
            assert function(pkg.ones(1), number).item() == number
            assert function(pkg.ones(number + 1), 2).shape == (number + 1,)

    step = 0
    stepped = pkg.compile(lambda x: x + step)
    with pytest.warns(RuntimeWarning, match="variable 'step' of a function around"):
        for step in range(40):  # noqa: B007
            assert stepped(pkg.zeros(1)).item() == step

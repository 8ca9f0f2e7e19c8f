# SPDX-License-Identifier: Apache-2.0
"""How many graphs a compiled function has, and when they go; threads; buffers."""

import gc
import threading
import weakref

import pytest

import pkg
from pkg import nn

SCALE = 2.0
CALLS = 0


def scaled(x):
    return x * SCALE


def value(compiled, *args):
    return compiled(*(args or (pkg.ones(1),))).item()


# --- no graph at each call -----------------------------------------------------------


def _count():
    global CALLS
    CALLS += 1


def test_what_a_helper_assigns_to_is_no_guard():
    def function(x):
        _count()
        return x * 2 if CALLS else x

    compiled = pkg.compile(function)
    for _ in range(3):
        assert value(compiled) == 2
    assert len(compiled._kinds) == 1


def test_what_traces_change_by_other_ways_is_dropped_with_a_warning():
    """A counter that no instruction stores; beside it all is still looked at."""

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.gain = 0, 1

        def forward(self, x):
            setattr(self, "calls", self.calls + 1)  # noqa: B010
            return x * self.gain

    part = Part()
    function = pkg.compile(part)
    with pytest.warns(RuntimeWarning, match="'calls'"):
        for _ in range(10):
            assert value(function) == 1
    assert part.calls == 2
    part.gain = 3
    assert value(function) == value(function) == 3
    assert part.calls == 3


@pytest.mark.filterwarnings("ignore:.*traced again and again")
def test_a_value_that_changes_from_outside_is_never_dropped(monkeypatch):
    function = pkg.compile(scaled)
    for number in range(30):
        monkeypatch.setitem(globals(), "SCALE", float(number))
        assert value(function) == number


@pytest.mark.filterwarnings("ignore:.*traced again and again")
def test_graphs_go_with_the_objects_that_they_are_for():
    """A tensor bound anew at each step is not kept alive."""
    weight = pkg.ones(1)
    function = pkg.compile(lambda x: x * weight)
    alive = []
    for number in range(20):
        weight = pkg.full((1,), float(number))
        alive.append(weakref.ref(weight))
        assert value(function) == number
    gc.collect()
    assert sum(ref() is not None for ref in alive) <= 2
    assert len(function._kinds) <= 2


# --- threads and buffers -------------------------------------------------------------


def test_calls_from_several_threads():
    """While kinds, places and values come and go."""
    space = {"SCALE": 1.0}
    exec("def function(x, k):\n    return x * k * SCALE\n", space)
    wrong, errors = [], []

    function = pkg.compile(space["function"])

    def work(seed):
        try:
            for number in range(40):
                k = (number * 7 + seed) % 90
                found = function(pkg.ones(1 + number % 3), k)
                if found.tolist() != [float(k)] * (1 + number % 3):
                    wrong.append((k, found.tolist()))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not errors
    assert len(function._kinds) <= 64


def test_a_buffer_that_is_assigned_is_refused_and_given_back():
    class Part(nn.Module):
        def __init__(self, inplace):
            super().__init__()
            self.inplace = inplace
            self.register_buffer("total", pkg.zeros(1))

        def forward(self, x):
            if self.inplace:
                self.total.add_(1.0)
            else:
                self.total = self.total + x
            return x + self.total

    part = Part(False)
    function = pkg.compile(part)
    for _ in range(2):
        with pytest.raises(TypeError, match="Part.total"):
            function(pkg.ones(1))
        assert part.total.item() == 0
    part = Part(True)
    function = pkg.compile(lambda x: part(x))
    assert [value(function) for _ in range(3)] == [2, 3, 4]
    assert part.total.item() == 3

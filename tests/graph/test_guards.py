# SPDX-License-Identifier: Apache-2.0
"""Compiled functions notice what they read from outside: names, modules, modes."""

import functools
import gc
import sys
import threading
import types
import weakref

import pytest

import pkg
from pkg import nn
from pkg.autograd import is_grad_enabled
from pkg.nn import functional as F

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


# --- what the code reads, and what it only might ----------------------------------


def test_only_code_that_runs_says_what_is_assigned():
    """A setter is not called, so what it sets counts; train() sets the mode."""

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.step = 1, 0
            self.drop = nn.Dropout(1.0)

        def set_scale(self, scale):
            self.scale = scale

        def train(self, mode=True):
            self.training = mode
            for child in self.children():
                child.train(mode)
            return self

        def update(self):  # has the name of what is called of another object
            self.scale = 0

        def forward(self, x):
            {}.update()
            return self.drop(x) + x * self.scale

    part = Part()
    function = pkg.compile(part)
    assert value(function) == 1
    part.set_scale(5)
    assert value(function) == 5
    part.train(False)
    assert value(function) == 6
    count = len(function._kinds)
    for part.step in range(5):  # nobody reads it
        assert value(function) == 6
    assert len(function._kinds) == count


@pytest.mark.parametrize("kind", ["function", "tuple", "list", "class"])
def test_attributes_of_modules_that_are_no_numbers(kind):
    """Functions, tuples, lists and classes in the place of others."""

    class One:
        factor = 1

    class Two:
        factor = 2

    first, second, call = {
        "function": (F.relu, F.tanh, lambda act, x: act(x)),
        "tuple": ((1, 2), (3, 4), lambda pair, x: x * pair[0]),
        "list": ([1], [3], lambda items, x: x * items[0]),
        "class": (One, Two, lambda kind, x: x * kind.factor),
    }[kind]

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = first

        def forward(self, x):
            return call(self.act, x)

    part = Part()
    function = pkg.compile(part)
    assert value(function) == value(part)
    part.act = second
    assert value(function) == value(part)
    assert value(part) != call(first, pkg.ones(1)).item()


def test_names_behind_many_others():
    """The instruction has an argument of more than a byte."""
    lines = "".join(f"    x = x + settings.n{i}\n" for i in range(300))
    settings = types.ModuleType("settings")
    for i in range(300):
        setattr(settings, f"n{i}", 0)
    space = {"settings": settings}
    exec(f"def long(x):\n{lines}    return x\n", space)
    function = pkg.compile(space["long"])
    assert value(function) == 1
    settings.n299 = 5
    assert value(function) == 6


def test_functions_behind_many_modules_with_values_of_their_own():
    """Numbers and tuples are no part of the way, however many there are."""

    class Part(nn.Module):
        def __init__(self, number):
            super().__init__()
            self.pair, self.gain = (number, 1.0), number + 0.5
            self.act = None

        def forward(self, x):
            x = x * (self.gain * 0 + self.pair[1])
            return x if self.act is None else self.act(x)

    def act(x):
        return x * SETTINGS.shift

    model = nn.Sequential(*(Part(number) for number in range(600)))
    model[599].act = lambda x: act(x)
    function = pkg.compile(model)
    assert value(function) == 1
    SETTINGS.shift = 3
    try:
        assert value(function) == 3
    finally:
        SETTINGS.shift = 1


class Conf:
    scale = 1


def defaulted(x, k=1, *, shift=0):
    return x * k + shift


def test_attributes_of_classes_and_defaults(monkeypatch):
    """Also those behind two dots, of bases, and of methods of other objects."""

    class Child(Conf):
        pass

    class Helper:
        def run(self, x):
            return x * Child.scale

    top = types.ModuleType("top")
    top.sub = types.ModuleType("top.sub")
    top.sub.kind, top.sub.k = Conf, 0
    helper = Helper()

    @pkg.compile
    def function(x):
        return defaulted(helper.run(x)) + top.sub.k + top.sub.kind.scale

    assert value(function) == 2
    monkeypatch.setattr(Conf, "scale", 5)
    assert value(function) == 10
    top.sub.k = 100
    assert value(function) == 110
    monkeypatch.setattr(defaulted, "__defaults__", (2,))
    assert value(function) == 115
    monkeypatch.setattr(defaulted, "__kwdefaults__", {"shift": 1000})
    assert value(function) == 1115
    monkeypatch.setattr(Helper, "run", lambda self, x: x * 0)
    assert value(function) == 1105


def test_modules_that_are_imported_within(monkeypatch, tmp_path):
    """By each form of import, though they are not there before the first call."""
    (tmp_path / "inner_settings.py").write_text("scale = 2\nshift = 0\n")
    monkeypatch.syspath_prepend(tmp_path)

    @pkg.compile
    def function(x):
        import inner_settings as here
        from inner_settings import shift

        return x * here.scale + shift

    try:
        assert value(function) == 2
        settings = sys.modules["inner_settings"]
        settings.scale = 7
        assert value(function) == 7
        settings.shift = 10
        assert value(function) == 17 and value(function) == 17
    finally:
        del sys.modules["inner_settings"]


def test_modules_among_the_arguments():
    """A method that is compiled where it stands gets its module as one."""

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.gain, self.calls = 1, 0

        @pkg.compile
        def forward(self, x):
            self.calls += 1
            return x * self.gain

    one, other = Part(), Part()
    other.gain = 3
    for _ in range(3):
        assert (value(one), value(other)) == (1, 3)
    assert one.calls <= 2 and other.calls <= 2
    one.gain = 2
    assert (value(one), value(other)) == (2, 3)


def test_hooks_are_seen():
    part = nn.Identity()
    function = pkg.compile(part)
    assert value(function) == 1
    handle = part.register_forward_hook(lambda module, args, result: result * 4)
    assert value(function) == 4
    handle.remove()
    assert value(function) == 1


# --- objects of any kind -------------------------------------------------------------


def test_an_attribute_named_modules_is_not_asked():
    class Registry:
        modules = None

        def __call__(self, x):
            return x * 2

    class Failing:
        @property
        def __dict__(self):
            raise RuntimeError("__dict__")

        @property
        def __class__(self):
            raise RuntimeError("__class__")

        def __call__(self, x):
            return x * 3

    class Meta(type):
        def __getattribute__(cls, name):
            raise RuntimeError(name)

    class Strange(metaclass=Meta):
        pass

    class Lazy(types.ModuleType):
        def __getattribute__(self, name):
            raise RuntimeError(name)

    registry, failing, lazy = Registry(), Failing(), Lazy("lazy")
    function = pkg.compile(lambda x: (registry(failing(x)), (Strange, lazy))[0])
    assert value(function) == value(function) == 6 and len(function._kinds) == 1


def test_a_subclass_of_str_counts_by_identity():
    class Odd(str):
        __hash__ = None

        def __eq__(self, other):
            raise RuntimeError("equal")

    name = Odd("a")
    function = pkg.compile(lambda x: x * (2 if str.__eq__(name, "a") else 3))
    assert value(function) == value(function) == 2
    name = Odd("b")
    assert value(function) == 3


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


def test_a_value_that_changes_from_outside_is_never_dropped(monkeypatch):
    function = pkg.compile(scaled)
    for number in range(30):
        monkeypatch.setitem(globals(), "SCALE", float(number))
        assert value(function) == number


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

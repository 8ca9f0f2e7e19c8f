# SPDX-License-Identifier: Apache-2.0
"""Where compiled functions look for what they read, and objects of any kind there."""

import sys
import types

import pytest

import pkg
from pkg import nn
from pkg.nn import functional as F

SETTINGS = types.ModuleType("settings")
SETTINGS.shift = 1


def value(compiled, *args):
    return compiled(*(args or (pkg.ones(1),))).item()


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

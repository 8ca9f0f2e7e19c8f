# SPDX-License-Identifier: Apache-2.0
"""Enums, flags, constants, variables: cases/constants.h by pybind11 and the kit."""

import copy
import enum
import gc
import importlib.util
import pickle
import sys

import pytest

THEME = "constants"


def members(cls):
    return {name: member.value for name, member in cls.__members__.items()}


def test_enum_classes_are_int_enums(m):
    """With the names and values of C++."""
    assert issubclass(m.Color, enum.IntEnum)
    assert members(m.Color) == {"Red": 1, "Green": 2, "Blue": 4}
    assert m.next(m.Color.Red) is m.Color.Green
    assert m.Color.Blue == 4 and m.Color(2) is m.Color.Green
    assert m.Color["Red"] is m.Color.Red and isinstance(m.Color.Red, int)
    assert m.number_of(m.Color.Blue) == 4


def test_enums_without_class_are_int_enums_too(m):
    assert issubclass(m.Weekday, enum.IntEnum)
    assert members(m.Weekday) == {"Monday": 0, "Tuesday": 1, "Sunday": 6}
    assert m.day_after(m.Weekday.Tuesday) is m.Weekday.Sunday


def test_values_of_members(m):
    """Negative, counted on, computed from others."""
    assert members(m.Level) == {"Low": -1, "Middle": 0, "High": 5}
    assert m.raised(m.Level.Low) is m.Level.Middle
    assert m.raised(m.Level.High) is m.Level.High


def test_values_of_64_bits(m):
    """The largest and the least there are."""
    assert members(m.Big) == {"Zero": 0, "Top": 2**64 - 1}
    assert members(m.Small) == {"Bottom": -(2**63)}
    assert m.same_big(m.Big.Top) is m.Big.Top
    assert m.same_small(m.Small.Bottom) is m.Small.Bottom


def test_two_names_of_one_value(m):
    assert m.Side.Default is m.Side.Left and len(m.Side) == 2
    assert m.other_side(m.Side.Default) is m.Side.Right


def test_members_as_defaults(m):
    assert m.other_side() is m.Side.Right
    assert m.other_side(side=m.Side.Right) is m.Side.Left
    assert m.Lamp().state() is m.Lamp.State.Off


def test_other_values_are_refused(m, refuses):
    """Ints, names, members of others with the same value."""
    for value in (1, "Red", None, m.Level.High, enum.IntEnum("Color", {"Red": 1}).Red):
        got = type(value).__name__
        with refuses(f"[next] expected a Color for 'color', got {got}"):
            m.next(value)


def test_a_value_without_a_name(m):
    """As the result of C++: Python's own error."""
    with pytest.raises(ValueError, match="9 is not a valid"):
        m.no_color()


def test_enums_in_containers(m):
    color = m.Color
    assert m.all_colors() == list(color)
    assert all(type(one) is color for one in m.all_colors())
    assert m.names([color.Blue]) == {color.Blue: "color 4"}
    assert m.color_of("red") is color.Red and m.color_of("x") is None
    with pytest.raises(TypeError):
        m.names([4])


def test_enums_in_overloads(m):
    """A member is not an int, when there is a choice."""
    assert m.kind(m.Color.Red) == "Color" and m.kind(m.Level.Low) == "Level"
    assert m.kind(3) == "int" and m.kind(m.Weekday.Monday) == "int"


def test_nested_enums(m):
    """They stand in their class."""
    lamp = m.Lamp(m.Lamp.State.On)
    assert lamp.state() is m.Lamp.State.On
    lamp.turn(state=m.Lamp.State.Off)
    assert lamp.state() is m.Lamp.State.Off
    assert members(m.Lamp.State) == {"Off": 0, "On": 1}
    assert m.Lamp.State.__qualname__ == "Lamp.State"
    assert lamp.shape() is m.Lamp.Shape.Square
    assert not hasattr(m, "State")


def test_members_of_classes_that_are_enums(m, refuses):
    lamp = m.Lamp()
    assert lamp.color is m.Color.Red
    lamp.color = m.Color.Blue
    assert lamp.color is m.Color.Blue
    for value in (2, "Red", None, m.Lamp.State.On):
        with refuses():
            lamp.color = value
    assert lamp.color is m.Color.Blue


def test_flags(m):
    """They are combined, in Python and in C++."""
    mode = m.Mode
    assert issubclass(mode, enum.IntFlag)
    both = mode.Read | mode.Write
    assert isinstance(both, mode) and both.value == 3
    assert m.may_read(both) and not m.may_read(mode.Write | mode.Append)
    result = m.with_write(mode.Read)
    assert result == both and isinstance(result, mode)
    assert mode.Write in result and mode.Append not in result
    assert m.may_read(both & ~mode.Write) and not m.may_read(mode(0))
    with pytest.raises(TypeError):
        m.may_read("Read")


def test_enums_are_hashed_copied_and_pickled(m):
    for member in (m.Color.Red, m.Lamp.State.On, m.Mode.Read | m.Mode.Write):
        assert pickle.loads(pickle.dumps(member)) == member
        assert type(pickle.loads(pickle.dumps(member))) is type(member)
        assert copy.copy(member) is member and copy.deepcopy(member) is member
        assert {member: 1}[member] == 1


def test_enums_know_what_they_are(m):
    assert m.Color.__module__ == "constants" and m.Color.__name__ == "Color"
    assert repr(m.Color.Red) == "<Color.Red: 1>"
    assert "Colours of light." in m.Color.__doc__
    with pytest.raises(AttributeError):
        m.Color.Red = 3
    with pytest.raises(TypeError):

        class More(m.Color):
            Pink = 9


def test_constants(m):
    """Attributes of the module, with the types of C++."""
    assert m.kLimit == 100 and type(m.kLimit) is int
    assert m.kHalf == 0.5 and type(m.kHalf) is float
    assert m.kMask == 2**40 + 100 and m.kVersion == "1.2"
    assert m.kReady == 1
    assert m.CONSTANTS_ANSWER == 42 and m.CONSTANTS_NAME == "constants"


def test_a_bool_constant_is_a_bool(m):
    assert m.kReady is True


def test_constants_of_classes(m):
    assert m.Lamp.kMaxWatts == 60 == m.Lamp().kMaxWatts
    assert m.Lamp.kMinWatts == 5 == m.Lamp().kMinWatts


def test_global_variables(m, refuses):
    """Read live, written through, checked."""
    cvar = m.cvar
    cvar.hits = 7
    assert m.hit() == 8 and cvar.hits == 8
    cvar.rate = 2
    assert cvar.rate == 2.0
    cvar.title = "né\0"
    assert cvar.title == "né\0"
    with refuses("[cvar] expected an int for 'hits', got str"):
        cvar.hits = "a"
    with refuses("[cvar] expected a str for 'title', got NoneType"):
        cvar.title = None
    assert (cvar.hits, cvar.title) == (8, "né\0")
    with pytest.raises(AttributeError):
        cvar.nope  # noqa: B018
    for name in ("hits", "nope"):
        with pytest.raises(AttributeError):
            delattr(cvar, name)


def test_global_variables_of_other_types(m):
    """Enums and containers."""
    m.cvar.favourite = m.Color.Blue
    assert m.cvar.favourite is m.Color.Blue
    m.cvar.history = [3]
    m.cvar.history.append(4)
    assert m.cvar.history == [3]
    with pytest.raises(TypeError):
        m.cvar.favourite = 1


def test_no_call_leaks_a_reference(m):
    color, text = m.Color.Red, "t" * 50
    calls = [
        lambda: m.next(color),
        lambda: m.next(text),
        lambda: m.names([color, color]),
        lambda: m.names([color, text]),
        lambda: m.kind(color),
        lambda: m.with_write(m.Mode.Read),
        lambda: m.no_color(),
        lambda: setattr(m.cvar, "title", text),
        lambda: setattr(m.cvar, "hits", text),
    ]
    watched = [color, text, m.Color, m.Color.Green, m.Mode, m.Mode.Read, None]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except (TypeError, ValueError):
                    pass
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    before = run(3)
    grown = [b - a for a, b in zip(before, run(500))]
    assert max(grown) < 100, grown


@pytest.fixture
def variables(m, kit):
    """C++'s variables, with their values of before when the test ends."""
    if not kit:
        pytest.skip("pybind11 has no word for variables of a module")
    return m.cvar


def test_references_are_what_they_refer_to(variables):
    variables.counter_too = 5
    assert variables.counter == variables.counter_too == 5
    assert variables.caption_too == variables.caption == "t"
    variables.spot_too.x = 9
    assert variables.spot.x == variables.spot_at.x == 9


def test_a_variable_of_a_class_is_no_copy(m, variables):
    variables.spot.x = 4
    m.Place.own.x = 6
    assert variables.spot.x == m.spot_fixed.x == 4 and m.Place.own.x == 6
    variables.spot = m.Spot()
    assert variables.spot.x == 1


def test_pointers_keep_what_they_point_to(m, variables):
    spot = m.Spot()
    spot.x = 77
    variables.spot_at = spot
    m.Place.at = spot
    place = m.Place()
    place.part = spot
    assert place.part is spot
    del spot
    gc.collect()
    assert variables.spot_at.x == m.Place.at.x == place.part.x == 77
    variables.spot_at = m.Place.at = place.part = None
    assert variables.spot_at is m.Place.at is place.part is None
    for owner, name in ((variables, "spot_at"), (m.Place, "at"), (place, "part")):
        with pytest.raises(TypeError):
            setattr(owner, name, 3)
    with pytest.raises(AttributeError, match="C\\+\\+ has the value"):
        variables.number_at = 3
    variables.address = None
    assert variables.address is None


def test_arrays_are_lists(m, variables):
    variables.row, m.Place.row = [4, 5, 6], (7, 8, 9)
    assert variables.row == [4, 5, 6] and m.Place.row == [7, 8, 9]
    assert variables.square == [[1, 2], [3, 4]] and m.Place.fixed == [4, 5]
    variables.square = ((5, 6), [7, 8.5])
    assert variables.square == [[5, 6], [7, 8.5]]
    with pytest.raises((TypeError, ValueError)):
        variables.square = [[1, 2]]
    for wrong in ([1], 3, [1, 2, "3"]):
        with pytest.raises(TypeError):
            variables.row = wrong
    variables.word = "x" * 7
    assert variables.word == "x" * 7
    with pytest.raises(ValueError, match="at most 7 bytes"):
        variables.word = "x" * 8
    assert m.Place().names == ["x", None]
    with pytest.raises(AttributeError):
        m.Place().names = ["a", "b"]


def test_volatile_and_wide(m, variables):
    variables.changing = 8
    assert variables.changing == 8 and m.Place().changing == 3
    assert variables.wide_word == "wide"


def test_enums_without_a_name_are_ints(m, kit):
    if not kit:
        pytest.skip("what C++ gives no name pybind11 has no class for")
    assert (m.kFirst, m.kLetter, m.kHigh) == (1, 99, 2**31) and "kHigh" in m.__all__
    signal = m.Signal()
    assert signal.type == m.Signal.kMouse == ord("m") and m.Signal.kMost == 4
    signal.type = m.Signal.kKey
    assert signal.type == 0 and m.SizedDouble.kBytes == 8
    with pytest.raises(TypeError):
        signal.type = "x"


def test_texts_of_other_characters(m, kit):
    assert m.louder("aé😀") == "aé😀!"
    if kit:
        assert m.units("é😀") == 3 and m.units() == m.units(None) == -1
        assert m.bytes_of("ü") == 2 and m.byte_after(254) == 255
        for wrong in (None, 3, b"x"):
            with pytest.raises(TypeError):
                m.louder(wrong)
        with pytest.raises(OverflowError):
            m.byte_after(256)


@pytest.mark.parametrize(
    "name", ["counter", "counter_too", "spot", "spot_at", "row", "word"]
)
def test_variables_cannot_be_deleted(m, variables, name):
    with pytest.raises(AttributeError, match=f"cannot delete '{name}'"):
        delattr(variables, name)
    for name in ("row", "at", "own"):
        with pytest.raises(AttributeError):
            delattr(m.Place, name)


def test_a_module_that_is_loaded_once(m, kit):
    """Of a library whose types and state the process has once."""
    if not kit:
        pytest.skip("the kit's %once_in_a_process")
    again = importlib.util.spec_from_file_location(THEME, m.__file__)
    with pytest.raises(
        ImportError, match="^constants can be loaded once in a process: it was imported"
    ):
        again.loader.exec_module(importlib.util.module_from_spec(again))
    assert m.Mode is not None

# SPDX-License-Identifier: Apache-2.0
"""What an interface says a line about, and what Python has another name for:
cases/interface.h by pybind11 and by the kit."""

import asyncio
import gc

import pytest

THEME = "interface"


def test_the_text_of_the_module(m):
    assert m.__doc__ == 'What an interface says (in a line).\nAnd "more".'


def test_what_is_written_into_is_a_result(m):
    assert m.name_of(4) == "no. 4" == m.name_of(number=4)
    assert m.divide(17, 5) == (True, 3, 2) and m.divide(1, 0) == (False, 0, 0)
    corners, center = m.corners()  # a result that is a tuple is one of two
    assert corners == (1, 9) and center.value == 5
    assert m.find(3).value == 3 and m.find(0) is None
    source = m.Source()
    assert [source.next() for _ in range(3)] == [(True, 1.0), (True, 2.0), (False, 3.0)]
    with pytest.raises(TypeError):
        m.name_of(4, "name")


def test_what_is_read_and_written_into(m, refuses):
    numbers = [1, 2, 3]
    assert m.grow(numbers, 10) == (3, [11, 12, 13]) and numbers == [1, 2, 3]
    with refuses("[grow] expected an int for 'numbers[1]', got str"):
        m.grow([1, "2"], 3)


def test_exceptions_that_python_has(m):
    m.wait(1)
    with pytest.raises(TimeoutError, match="too slow"):
        m.wait(11)
    with pytest.raises(asyncio.CancelledError):
        m.wait(-1)


def test_attributes_of_classes(m):
    assert m.Item.version == 3 and m.Item(1).label == "a, b"
    assert m.Item.__array_ufunc__ is None


def test_words_of_python_as_names(m):
    """They have an underscore behind them."""
    words = m.Words()
    assert m.Kind.None_ == m.Kind(0) and m.Kind.True_ == m.Kind(1)
    assert m.Words.Inner.import_ == m.Words.Inner(4)
    assert words.self(3) == 3 and words.yield_(4) == 4 and m.Words.in_(5) == 5
    assert (words.from_, m.Words.with_) == (1, 2)
    words.from_, m.Words.with_ = 3, 4
    assert (words.from_, m.Words.with_) == (3, 4)
    m.Words.with_ = 2
    assert m.del_(lambda_=6) == 6 and m.Words.in_(as_=7) == 7


def test_words_without_the_underscore_in_a_dict(m, kit):
    """As what is passed on is called in C++."""
    if not kit:
        pytest.skip("pybind11 knows one name")
    assert m.del_(**{"lambda": 6}) == 6


def test_wide_characters(m, kit):
    assert (
        m.next_wide("é") == "ê"
        and m.next_16("x") == "y"
        and m.next_32("\U0001f600") == "😁"
    )
    for function, wrong in ((m.next_wide, "ab"), (m.next_16, "😀"), (m.next_32, "")):
        with pytest.raises((TypeError, ValueError)):
            function(wrong)
    if kit:
        assert m.next_8("a") == "b"
        with pytest.raises(TypeError, match="one ASCII character"):
            m.next_8("é")


@pytest.mark.parametrize("text", ["", "plain", "é\0ê", "😀 and 𝄞"])
def test_wide_texts(m, text):
    assert m.wide(text) == m.text_16(text) == m.text_32(text) == text + "!"


def test_lone_surrogates(m):
    for function in (m.wide, m.text_16, m.text_32):
        with pytest.raises((UnicodeError, TypeError)):
            function("\ud800")


def test_operators_of_shared_objects(m, kit):
    assert (m.Item(1) + m.Item(2)).value == 3 and (4 * m.Item(5)).value == 20
    for wrong in (None, "a") if kit else ("a",):  # pybind11 crashes of None
        with pytest.raises(TypeError):
            m.Item(1) + wrong


def test_operators_that_are_no_methods(m, kit):
    """Of streams and enums."""
    if kit:
        assert not [n for n in dir(m) if n in ("__or__", "__lshift__")]
        assert not hasattr(m.Item, "__rlshift__")


def test_members_without_copies(m, kit):
    if not kit:
        pytest.skip("pybind11's users write a property")
    engine = m.Engine()
    assert (engine.power, engine.uses, engine.gears) == (None, 3, [1, 2])
    engine.power, engine.uses, engine.gears = 4, 5, [6]
    assert (engine.power, engine.uses, engine.gears) == (4, 5, [6])
    engine.item = m.Item(7)
    assert engine.item.value == 7
    engine.power = engine.item = None
    assert engine.power is engine.item is None


def test_global_variables_without_copies(m, kit):
    if not kit:
        pytest.skip("pybind11 has no global variables")
    assert m.cvar.calls == 7
    m.cvar.calls = 8
    assert m.cvar.calls == 8
    m.cvar.calls = 7
    m.cvar.the_engine.uses = 9
    assert m.cvar.the_engine.uses == 9
    with pytest.raises(AttributeError, match="no assignment"):
        m.cvar.the_engine = m.Engine()
    with pytest.raises(AttributeError, match="cannot delete"):
        del m.cvar.calls
    with pytest.raises(TypeError, match="expected an int"):
        m.cvar.calls = "x"


def test_owners_in_containers(m, kit):
    """What C++ did not take in the end is Python's again."""
    if not kit:
        pytest.skip("pybind11 has none")
    items = [m.Item(1), m.Item(2)]
    for arguments in ((items, "x"), ([*items, 3], 1), ([items[0], items[0]], 1)):
        with pytest.raises((TypeError, ValueError)):
            m.sum(*arguments)
    assert m.count(items) == 2
    assert [item.value for item in items] == [1, 2]
    assert m.sum(items, 3) == 9
    with pytest.raises(ValueError, match="given to C"):
        print(items[0].value)


def test_objects_without_copies_by_value(m):
    """C++ takes what they were."""
    ticket = m.print_ticket(4)
    assert m.tear(ticket) == 4 and ticket.number == 0
    assert m.tear(m.Ticket(5)) == 5


def test_results_without_moves(m, kit):
    if kit:
        assert m.dig().weight == 3
        assert m.dig() is not m.dig()


def test_none_for_an_owner(m):
    assert m.weigh(None) == -1 and m.weigh(m.Item(3)) == 3


def test_arrays(m, kit):
    if not kit:
        pytest.skip("pybind11 has none")
    grid = m.Grid()
    assert grid.cells == [[1, 2, 3], [4, 5, 6]] and grid.fixed == [7, 8]
    grid.cells = ([0, 0, 0], (9, 9, 9))
    assert grid.cells == [[0, 0, 0], [9, 9, 9]]
    with pytest.raises(TypeError, match="expected a sequence of 3"):
        grid.cells = [[1, 2], [3, 4]]
    with pytest.raises(AttributeError):
        grid.fixed = [1, 2]
    assert m.corner([[1, 2], [3, 4]]) == 4 and m.third([1, 2, 3]) == 3
    with pytest.raises(TypeError, match="expected a sequence of 3"):
        m.third([1, 2])


def test_lists_of_owners_as_attributes(m, kit):
    if not kit:
        pytest.skip("pybind11 has none")
    grid = m.Grid()
    grid.items = [m.Item(1), m.Item(2)]
    items = grid.items
    del grid
    assert [item.value for item in items] == [1, 2]


def test_alignment(m, kit):
    if kit:
        assert all([m.Aligned().is_aligned() for _ in range(50)])


def test_operators_that_are_overridden(m):
    class Last(m.Rank):
        def __lt__(self, other):
            return other.rank == 7

        def __call__(self, x):
            return -x

    last, other = Last(), m.Rank()
    other.rank = 7
    assert m.is_less(last, other) and not m.is_less(last, last)
    assert m.call(last, 3) == -3 and m.call(other, 3) == 3
    assert not m.is_less(other, last)


def test_overrides_give_what_cpp_gets(m, kit):
    """Of a method that writes into its parameters they return a tuple."""
    if not kit:
        pytest.skip("a trampoline of pybind11 says so by hand")

    class Mine(m.Meter):
        def read(self, a):
            return a, a + 1, a + 2

        def title(self):
            return "mine"

    class Same(m.Meter):
        def read(self, a):
            return super().read(a)

    class Wrong(m.Meter):
        def read(self, a):
            return 3

        def title(self):
            return 4

    assert m.Meter().read(5) == (15, 5.0, 10) and m.Meter().title() == "C++"
    assert m.read_of(m.Meter(), 1) == [3, 1, 2] == m.read_of(Same(), 1)
    assert m.read_of(Mine(), 1) == [1, 2, 3] and m.title_of(Mine()) == "mine"
    assert m.title_of(Same()) == "C++"
    with pytest.raises(TypeError, match="expected a tuple of 3 for 'result', got int"):
        m.read_of(Wrong(), 1)
    with pytest.raises(TypeError, match="expected a str for 'result', got int"):
        m.title_of(Wrong())


def test_arrays_that_are_written_into(m, kit):
    if kit:
        assert m.fill([1, 2, 3]) == [7, 2, 3]
        assert m.count_of([1, 2]) == 2  # what is constant is no output
        with pytest.raises(TypeError):
            m.fill(5)


def test_what_cpp_takes_over(m, kit):
    """%newobject and DISOWN: plain pointers that own."""
    if not kit:
        pytest.skip("pybind11 does not take an object away by a plain pointer")
    gc.collect()
    before = m.Load.alive
    load = m.new_load()
    assert m.Load.alive == before + 1
    m.drop(load)
    assert m.Load.alive == before
    with pytest.raises(ValueError, match="cannot be used any more"):
        load.weight  # noqa: B018
    m.drop(m.Load())
    del load
    gc.collect()
    assert m.Load.alive == before
    with pytest.raises(TypeError):
        m.drop(3)


def test_members_of_an_enum_among_overloads(m):
    """They are ints in Python, but C++ means the enum."""
    chooser = m.Chooser()
    assert chooser.choose(m.Grade.Good) == "Grade"
    assert chooser.choose(1) == "int" and chooser.choose(1.5) == "float"


def test_names_of_python_and_mixed_overloads(m, kit):
    if kit:
        assert m.Chooser().add(1, None_=4) == m.Chooser().add(self_=1, None_=4) == 5
        assert m.Chooser().mixed("a") == "method"  # the static one is left out
        assert m.Chooser.add.__doc__.endswith("Adds.")
        assert m.declared.__doc__.endswith("What was thrown.")


def test_what_is_thrown_and_no_exception(m, kit):
    if not kit:
        pytest.skip("pybind11 says that it is unknown")
    for call in (m.explained, m.declared):
        for code, text in enumerate(("a text", "a C text", "42"), 1):
            with pytest.raises(RuntimeError, match=f"^{text}$"):
                call(code)
        with pytest.raises(RuntimeError, match="unknown"):
            call(4)
        assert call(5) == 5


def test_what_is_protected(m, kit):
    """Python's classes have it, as those of C++ have."""

    class Own(m.Guarded):
        def extra(self):
            return self.doubled() + self.doubled(times=3) + self.level_

    own = Own(4)
    assert own.weight() == 4 + 8 + 12 + 4 and own.steps() == 3
    own.level_ = 1
    assert own.weight() == 1 + 2 + 3 + 1
    assert m.Guarded.steps() == 3
    if kit:
        plain = m.Guarded(2)  # of which C++ made no class with a door
        assert plain.weight() == 12

# SPDX-License-Identifier: Apache-2.0
"""C++ that is written with Python in mind: cases/pythonic.h by pybind11 and the kit."""

import gc
import inspect
import sys
import time
import weakref

import pytest

THEME = "pythonic"


class Held:
    """What a weak reference may refer to."""


def test_positional_only_and_keyword_only(m, kit, refuses):
    assert m.text_of(7) == "7" and m.text_of(7, "x") == "x7"
    assert m.text_of(7, prefix="x", width=3) == "x007" == m.text_of(7, "x", width=3)
    with refuses("text_of() got an unexpected keyword argument 'number'"):
        m.text_of(number=7)
    with refuses("text_of() takes at most 2 positional arguments (3 given)"):
        m.text_of(7, "x", 3)
    with refuses("text_of() missing required argument 'number' (pos 1)"):
        m.text_of(prefix="x")
    with refuses("text_of() got multiple values for argument 'prefix'"):
        m.text_of(7, "x", prefix="y")
    if kit:
        shown = str(inspect.signature(m.text_of))
        assert shown == "(number, /, prefix='', *, width=1)"


def test_objects_that_a_function_gives(m, kit):
    """%made_by: the class calls it, and its object may be there already."""
    if not kit:
        return
    assert m.Suit("h") is m.Suit(letter="h") and m.Suit("h").number == 2
    assert m.Suit("h") != m.Suit("s") and type(m.Suit("c")) is m.Suit
    assert str(inspect.signature(m.Suit)) == "(letter)"
    for wrong in ((), (1,), ("x",), ("h", "h")):
        with pytest.raises((TypeError, ValueError)):
            m.Suit(*wrong)
    for call in (lambda: type.__call__(m.Suit, "h"), m.Suit("h").__init__):
        with pytest.raises((TypeError, RuntimeError)):
            call()
    assert not hasattr(m.Suit, "of")
    # A number is a hash as it is, but for -1, which means an error.
    assert hash(m.Suit("h")) == -2 and hash(m.Suit("s")) == -1 - 2**62


def test_callables_as_they_are(m, kit, refuses):
    if not kit:
        pytest.skip("pybind11's is py::function")
    seen = []
    assert m.call_often(seen.append, 3) is None and seen == [0, 1, 2]
    assert m.call_often(str) == "0"
    with pytest.raises(ZeroDivisionError):
        m.call_often(lambda i: 1 // i)
    with refuses("[call_often] expected a callable for 'callable', got int"):
        m.call_often(3)

    def kept():
        pass

    there = weakref.ref(kept)
    m.keep_callable(kept)
    del kept
    gc.collect()
    assert there() is not None
    m.keep_callable(print)
    for _ in range(500):
        if there() is None:
            break
        time.sleep(0.01)
    assert there() is None


def test_the_rest_of_the_arguments(m, kit, refuses):
    assert m.rest_of_all(1) == () == m.rest_of_all(first=1)
    assert m.rest_of_all(1, "a", None, 3.5) == ("a", None, 3.5)
    for call in (lambda: m.rest_of_all(), lambda: m.rest_of_all("a", 1)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        m.rest_of_all(1, 2, rest=3)
    basket = m.Basket()
    assert basket.put_all() == 0 and basket.put_all(*range(50)) == 50
    thing = object()
    before = sys.getrefcount(thing)
    m.rest_of_all(1, thing, thing)
    assert sys.getrefcount(thing) == before
    if kit:
        assert str(inspect.signature(m.rest_of_all)) == "(first, *rest)"


def test_what_a_constructor_takes_is_an_argument(m):
    """Exact overloads come first."""
    assert m.twice(m.Length(2.0)) == 4 == m.twice(2) == m.twice(2.0) == m.twice("2")
    assert m.sum_of([1, "2", m.Length(3.5)]) == 6.5
    assert (m.Length(1.0) + 2).metres() == 3
    assert m.which([1]) == "list" and m.which(1.5) == "length" == m.which("1")
    for wrong in (None, [], {}, 1j, object()):
        with pytest.raises(TypeError):
            m.twice(wrong)
    with pytest.raises((TypeError, ValueError)):
        m.twice(-1.0)
    with pytest.raises(TypeError):
        m.sum_of([1, []])
    assert m.twice(1) == 2


def test_properties_of_every_type_by_methods(m, kit):
    """Containers, classes, shared pointers; getter and setter of one name."""
    for cls in (m.Profile, m.Special):
        profile = cls()
        profile.marks = [1.0, m.Length(2.0)]
        assert [mark.metres() for mark in profile.marks] == [1, 2]
        assert profile.highest.metres() == 2
        with pytest.raises(AttributeError):
            profile.highest = m.Length(1.0)
        with pytest.raises(TypeError):
            profile.marks = 3
        assert profile.parent is None
        other = m.Profile()
        profile.parent = other
        assert profile.parent is other
        profile.parent = None
        assert profile.parent is None
        profile.title = "top"
        assert profile.title == "top"
        with pytest.raises((AttributeError, TypeError)):
            del profile.title
    assert "Greatest mark." in m.Profile.highest.__doc__
    if kit:
        assert not {"set_title", "get_title"} & set(dir(m.Profile))


def test_methods_that_are_properties_by_their_own_names(m):
    tank = m.Tank(2.0)
    assert tank.gauge is None and tank.depth.metres() == 2.0
    tank.fill(1.5)
    assert (
        tank.gauge == 1
        and tank.litres == 1.5
        and "How deep it is." in m.Tank.depth.__doc__
    )
    with pytest.raises(AttributeError):
        tank.gauge = 2
    depth = m.Tank(3.0).depth
    gc.collect()
    assert depth.metres() == 3.0
    tank.fill(-9)
    with pytest.raises(IndexError, match="^leaked$"):
        tank.gauge  # noqa: B018  (it raises)


def test_functions_without_names(m):
    assert m.added(3) == 5 and m.added(3, 4) == 7 and m.negated(3) == -3
    for call in (
        lambda: m.added(a=1),
        lambda: m.added(1, b=1),
        lambda: m.negated(number=1),
    ):
        with pytest.raises(TypeError):
            call()


def test_pointers_that_count_in_the_object(m):
    gc.collect()
    before = m.Counted.alive
    made, own = m.make_counted(3), m.Counted(4)
    assert (made.value, own.value) == (3, 4) and made.shares() == 1 == own.shares()
    m.put_on_shelf(own)
    assert own.shares() == 2 and m.on_shelf() is own
    own.value = 5
    del own
    gc.collect()
    assert m.Counted.alive == before + 2 and m.on_shelf().value == 5
    m.put_on_shelf(None)
    assert m.on_shelf() is None
    del made
    gc.collect()
    assert m.Counted.alive == before
    with pytest.raises(TypeError):
        m.put_on_shelf(3)


def test_cycles_through_cpp_are_collected(m):
    gc.collect()
    before = m.Basket.alive
    basket = m.Basket()
    assert gc.is_tracked(basket)
    basket.put(basket)
    basket.put([basket])
    gone = weakref.ref(basket) if hasattr(basket, "__weakref__") else None
    del basket
    gc.collect()
    assert m.Basket.alive == before and (gone is None or gone() is None)


def test_cycles_of_a_python_subclass_are_collected(m):
    class Named(m.Basket):
        pass

    gc.collect()
    before = m.Basket.alive
    for _ in range(3):
        basket = Named()
        basket.attribute = basket
        basket.put(basket)
    del basket
    gc.collect()
    assert m.Basket.alive == before


def test_the_object_itself(m):
    basket = m.Basket()
    assert basket.itself() is basket
    references = sys.getrefcount(basket)
    for _ in range(10):
        basket.itself()
    assert sys.getrefcount(basket) == references
    with pytest.raises(TypeError):
        basket.itself(1)


def test_the_module_that_a_class_says_it_is_from(m, kit):
    assert m.Basket.__module__ == "shop.baskets" and m.Basket.__name__ == "Basket"
    assert m.Length.__module__ == "pythonic"
    if kit:
        assert repr(m.Basket) == "<class 'shop.baskets.Basket'>"


def test_await(m):
    """A method __await__ makes objects awaitable."""

    async def wait():
        return await m.Basket()

    with pytest.raises(StopIteration):
        wait().send(None)


def test_names_that_are_words_elsewhere(m):
    """A C++ class may be called Base, Name or Function."""
    assert m.Name().Getter.Class == 2
    with pytest.raises(m.Function, match="state"):
        m.State()
    assert issubclass(m.Function, KeyError)


@pytest.fixture(params=["Note", "LongNote", "derived", "of two"])
def note(m, kit, request):
    """An object that may have attributes."""
    name = request.param
    bases = {"derived": (m.LongNote,), "of two": (m.Note, m.Base)}.get(name)
    if name == "of two" and not kit:
        pytest.skip("pybind11's layouts of the two are not the same")
    make = type("Made", bases, {}) if bases else getattr(m, name)
    return make()


def test_attributes_of_objects(m, note):
    """%dynamic: what Python gives an object beside C++'s members."""
    note.author, note.size = "me", 7
    assert note.author == "me" and note.size == 7 and vars(note) == {"author": "me"}
    note.__dict__ = {"year": 2026}
    assert note.year == 2026 and not hasattr(note, "author")
    del note.year
    with pytest.raises(AttributeError):
        note.year  # noqa: B018
    with pytest.raises(AttributeError):
        m.Name().author = "me"


def test_attributes_in_a_cycle(note, kit):
    note = type(note)()
    if not kit and type(note).__name__ == "Made":
        pytest.skip("pybind11 does not look into a derived class's object")
    note.itself, note.held = note, Held()
    held = weakref.ref(note.held)
    del note
    gc.collect()
    assert held() is None


def test_pointers_to_the_object_itself(m):
    """In what a method returns they are the object, as alone."""
    note = m.Note()
    assert all(found is note for found in note.twice())
    assert note.listed()[1][0] is note
    references = sys.getrefcount(note)
    for _ in range(10):
        note.twice()
    assert sys.getrefcount(note) == references

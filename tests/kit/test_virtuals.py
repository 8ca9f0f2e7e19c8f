# SPDX-License-Identifier: Apache-2.0
"""Overrides, callbacks, families: cases/virtuals.h by pybind11 and by the kit."""

import abc
import dataclasses
import functools
import gc
import sys
import threading
import traceback
import weakref

import pytest

THEME = "virtuals"


def xy(point):
    return (point.x, point.y)


@pytest.fixture
def adding(m):
    """A class that overrides some methods."""

    class Adding(m.Visitor):
        def __init__(self, by, *name):
            super().__init__(*name)
            self.by = by
            self.seen = []

        def visit(self, value):
            self.seen.append(value)
            return value + self.by

        def name(self):
            return f"adding {self.by}"

    return Adding


def test_overrides_are_called_by_cpp(m, adding):
    """With what the object of Python remembers."""
    one = adding(10)
    assert m.visit_all(one, [1, 2]) == 23 and one.seen == [1, 2]
    assert m.name_of(one) == "adding 10" and one.greeting() == "I am adding 10"
    assert one.twice(1) == 22 and one.visit(1) == 11


def test_what_is_not_overridden_is_of_cpp(m, adding):
    class Quiet(m.Visitor):
        def visit(self, value):
            return value

    assert m.name_of(Quiet()) == "nobody" == Quiet().name()
    assert m.name_of(Quiet("Ann")) == "Ann" == Quiet(name="Ann").name()
    assert xy(m.mirrored(adding(1), m.Point(1, 2))) == (-1, -2)
    assert m.words_of(adding(1)) == ["word"] * 3
    assert m.visit_all(m.Doubler(), [1, 2]) == 6 and m.name_of(m.Doubler()) == "doubler"


def test_overrides_call_the_base(m):
    """super() does not come back to the override."""

    class Loud(m.Doubler):
        def visit(self, value):
            return super().visit(value) + 1

        def name(self):
            return m.Visitor.name(self).upper()

    assert m.visit_all(Loud(), [1, 2]) == 8 and m.name_of(Loud()) == "DOUBLER"


def test_overrides_of_several_levels(m, adding):
    """The lowest counts, in Python and below classes of C++."""

    class More(adding):
        def visit(self, value):
            return 100 + super().visit(value)

    class Other(m.Doubler):
        pass

    class Last(Other):
        def name(self):
            return "last"

    assert m.visit_all(More(1), [1]) == 102
    assert m.visit_all(Last(), [3]) == 6 and m.name_of(Last()) == "last"


def test_whatever_is_callable_overrides(m):
    """As attributes of a class: bound or not, as Python does."""

    class Called:
        def __call__(self):
            return "called"

    class Static(m.Doubler):
        name = staticmethod(lambda: "static")

    class Partial(m.Doubler):
        name = functools.partialmethod(lambda self, text: text, "partial")

    class Object(m.Doubler):
        name = Called()

    for cls in (Static, Partial, Object):
        name = cls.__name__.lower().replace("object", "called")
        assert cls().greeting() == f"I am {name}"


def test_classes_of_many_kinds_override(m):
    @dataclasses.dataclass
    class Data(m.Doubler):
        text: str = "data"

        def __post_init__(self):
            m.Doubler.__init__(self)

        def name(self):
            return self.text

    class Slots(m.Doubler):
        __slots__ = ("text",)

        def name(self):
            self.text = "slots"
            return self.text

    assert Data().greeting() == "I am data" and Data("own").greeting() == "I am own"
    assert Slots().greeting() == "I am slots"


def test_abstract_methods_of_python(m, kit):
    if not kit:
        pytest.skip("pybind11's classes have a metaclass of their own")

    class Abstract(m.Doubler, abc.ABC):
        @abc.abstractmethod
        def name(self): ...

    class Complete(Abstract):
        def name(self):
            return "complete"

    assert Complete().greeting() == "I am complete"
    with pytest.raises(TypeError, match="abstract class Abstract"):
        Abstract()


def test_a_pure_method_that_is_missing(m):
    """An error where it is made or where it is called; no crash."""

    class Empty(m.Visitor):
        pass

    with pytest.raises((RuntimeError, TypeError, NotImplementedError)):
        m.visit_all(Empty(), [1])
    with pytest.raises((RuntimeError, TypeError, NotImplementedError)):
        m.Visitor().visit(1)


def test_overrides_with_classes(m):
    """References are the object itself; results are copied."""

    class Moving(m.Visitor):
        def visit(self, value):
            return 0

        def moved(self, point):
            point.x += 10

        def mirror(self, point):
            return m.Point(point.y, point.x)

        def less(self, a, b):
            return a.y < b.y

    point = m.Point(1, 2)
    assert m.move(Moving(), point) == 11 and point.x == 11
    assert xy(m.mirrored(Moving(), point)) == (2, 11)
    points = m.ordered(Moving(), [m.Point(1, 9), m.Point(2, 3)])
    assert [xy(one) for one in points] == [(2, 3), (1, 9)]
    assert m.move(m.Doubler(), point) == 12


def test_overrides_with_containers(m):
    class Spelling(m.Doubler):
        def words(self, numbers):
            assert numbers == [1, 2, 3]
            return [str(number) for number in numbers] + ["é"]

    assert m.words_of(Spelling()) == ["1", "2", "3", "é"]


def test_overrides_that_are_given_objects(m):
    """By std::unique_ptr: Python owns them."""
    kept = []

    class Keeping(m.Doubler):
        def weigh(self, point):
            kept.append(point)
            return point.x + point.y

    assert m.weigh(Keeping()) == 7 and m.weigh(m.Doubler()) == 3
    gc.collect()
    assert xy(kept[0]) == (3, 4)
    assert m.Doubler().weigh(m.Point(5, 6)) == 5


def test_overrides_that_give_references(m):
    """To a text, which is kept for C++, and to an object."""

    class Choosing(m.Doubler):
        def title(self):
            return "chosen " + "x" * 50

        def chosen(self, a, b):
            return b

    class Nothing(m.Doubler):
        def chosen(self, a, b):
            return None

    one = Choosing()
    assert m.title_of(one) == "chosen " + "x" * 50 == m.title_of(one)
    assert m.x_of_chosen(one) == 3 and m.x_of_chosen(Nothing()) == -1
    assert m.title_of(m.Doubler()) == "doubler" and m.x_of_chosen(m.Doubler()) == 1


def test_wrong_results_of_overrides(m, kit):
    """The error says what was wanted."""

    class Wrong(m.Doubler):
        def visit(self, value):
            return "text"

        def mirror(self, point):
            return None

        def words(self, numbers):
            return [1]

    error = TypeError if kit else (TypeError, RuntimeError)
    for call in (
        lambda: m.visit_all(Wrong(), [1]),
        lambda: m.mirrored(Wrong(), m.Point(1, 2)),
        lambda: m.words_of(Wrong()),
    ):
        with pytest.raises(error, match="expected" if kit else None):
            call()


def raise_at(value):
    """Fails in a line that the traceback must show."""
    raise LookupError("visit", value)


@pytest.fixture
def failing(m):
    class Failing(m.Visitor):
        def visit(self, value):
            raise_at(value)

    return Failing()


def test_errors_of_overrides(m, failing):
    """The same exception, with its traceback."""
    with pytest.raises(LookupError) as info:
        m.visit_all(failing, [3])
    assert info.value.args == ("visit", 3)
    frames = traceback.extract_tb(info.value.__traceback__)
    assert frames[-1].name == "raise_at"
    mine = KeyError("mine")

    class Mine(m.Doubler):
        def visit(self, value):
            raise mine

    with pytest.raises(KeyError) as info:
        Mine().twice(1)
    assert info.value is mine
    info = mine.__traceback__ = None


def test_errors_of_overrides_that_cpp_catches(m, failing):
    """It sees a std::exception, and nothing is left of it in Python."""
    text = m.visit_or_error(failing, 3)
    assert text.startswith("error: ") and "visit" in text
    assert m.visit_or_error(m.Doubler(), 3) == "6"


def test_overrides_on_foreign_threads(m, adding):
    names = set()

    class Noting(adding):
        def visit(self, value):
            names.add(threading.get_ident())
            return super().visit(value)

    one = Noting(1)
    assert m.visit_on_threads(one, 8) == 36 and sorted(one.seen) == list(range(8))
    assert names and threading.get_ident() not in names
    assert m.visit_on_threads(m.Doubler(), 4) == 12


def test_errors_of_overrides_on_foreign_threads(m, failing):
    with pytest.raises(LookupError) as info:
        m.visit_on_threads(failing, 3)
    assert info.value.args == ("visit", 0)


def test_overrides_that_are_set_later(m, kit):
    """On the class, as everywhere in Python."""

    class Later(m.Doubler):
        pass

    if kit:  # pybind11 remembers for ever that there was none
        assert m.visit_all(Later(), [1]) == 2
    Later.visit = lambda self, value: 7
    assert m.visit_all(Later(), [1]) == 7


def test_overriding_objects_that_are_given_away(m, adding):
    """C++ owns the object, and its part of Python with it, until it deletes it."""
    party, one = m.Party(), adding(10)
    alive = weakref.ref(one)
    party.invite(one)
    party.invite(m.Doubler())
    del one
    gc.collect()
    assert party.visit(1) == 13 and alive().seen == [1]
    party.end()
    gc.collect()
    assert party.visit(1) == 0 and alive() is None


def test_overriding_objects_that_cpp_has_deleted(m, adding):
    """Who still has a name of one gets an exception."""
    party, one = m.Party(), adding(10)
    party.invite(one)
    assert party.visit(1) == 11
    del party
    gc.collect()
    for use in (
        lambda: one.greeting(),
        lambda: m.name_of(one),
        lambda: m.visit_all(one, [1]),
        lambda: m.Party().invite(one),
    ):
        with pytest.raises((ReferenceError, ValueError, RuntimeError, TypeError)):
            use()


def test_shared_objects_with_overrides(m):
    """The part of Python lives as long as C++ keeps the object."""

    class Counting(m.Listener):
        def __init__(self):
            super().__init__()
            self.texts = []

        def heard(self, text):
            self.texts.append(text)
            return 100

    counting = Counting()
    m.add(counting)
    m.add(m.Listener())
    alive = weakref.ref(counting)
    try:
        assert m.tell("abc") == 103 and counting.texts == ["abc"]
        del counting
        gc.collect()
        assert m.tell("de") == 102 and alive() is not None
        assert alive().texts == ["abc", "de"]
    finally:
        m.forget()
    gc.collect()
    assert alive() is None and m.tell("x") == 0


def test_an_object_of_python_comes_back_as_itself(m):
    class Mine(m.Listener):
        pass

    mine = Mine()
    m.add(mine)
    try:
        assert m.last() is mine
    finally:
        m.forget()


def test_callbacks_with_classes(m, refuses):
    """References in, values out."""
    points = [m.Point(1, 2), m.Point(3, 4)]
    swapped = m.mapped(points, lambda p: m.Point(p.y, p.x))
    assert [xy(p) for p in swapped] == [(2, 1), (4, 3)]
    assert [xy(p) for p in m.mapped(points, function=lambda p: p)] == [(1, 2), (3, 4)]
    text = "[mapped] expected a Point for 'function()', got str"
    with refuses(text, pybind11=RuntimeError):
        m.mapped(points, lambda p: "a")
    with pytest.raises(LookupError, match="visit"):
        m.mapped(points, lambda p: raise_at(p))


def test_callbacks_with_containers_of_classes(m):
    assert m.total(lambda points, by: by * sum(p.x + p.y for p in points)) == 50


def test_arguments_of_callbacks_may_be_kept(m):
    """What was a reference in C++ must not be one to something gone."""
    kept = []
    m.total(lambda points, by: kept.extend(points) or 0)
    m.tell_one(kept.append)
    m.mapped([m.Point(7, 8)], lambda p: kept.append(p) or p)
    gc.collect()
    assert [xy(p) for p in kept[:2]] == [(1, 2), (3, 4)]
    assert kept[2].heard("abc") == 3 and kept[3] is not None


def test_callbacks_with_null(m):
    assert m.call_maybe(lambda point: f"got {point}") == "got None"


def test_functions_of_cpp_are_callables(m):
    """They are called, and passed on."""
    add = m.adder(10)
    assert callable(add) and add(m.Point(1, 2)) == 13
    with pytest.raises(TypeError):
        add(3)
    with pytest.raises(TypeError):
        add()


def test_families(m):
    """Classes of Python derive as those of C++ do."""
    assert m.Square.__mro__[:3] == (m.Square, m.Polygon, m.Shape)
    square = m.Square()
    assert isinstance(square, m.Shape) and square.sides() == 4 == square.corners()
    assert m.kind_of(square) == "square" == square.kind()
    assert m.sides_of(square) == 4 and m.sides_of(m.Polygon(3)) == 3
    with pytest.raises(TypeError):
        m.sides_of(m.Shape())
    with pytest.raises(TypeError):
        m.Polygon.sides(m.Shape())


def test_results_are_of_their_own_class(m):
    """Not of the one that the function declares."""
    assert type(m.make("square")) is m.Square and m.make("square").side == 1
    assert type(m.make("polygon")) is m.Polygon and m.make("polygon").sides() == 5
    assert type(m.make("shape")) is m.Shape and m.make("x") is None
    assert [type(one) for one in m.make_all()] == [m.Shape, m.Polygon, m.Square]


def test_results_of_an_unknown_class(m, kit):
    """The nearest one that Python knows."""
    secret = m.make("secret")
    assert isinstance(secret, m.Shape) and secret.kind() == "secret"
    if kit:  # pybind11 takes the one that is declared
        assert type(secret) in (m.Polygon, m.Shape) and secret.corners() == 9


def test_callables_come_back_as_they_are(m, kit):
    def measure(points, factor):
        return len(points)

    if kit:  # pybind11 wraps it once more
        assert m.same_measure(measure) is measure
    assert m.same_measure(measure)([], 1) == 0 and m.same_measure(None) is None


def test_overridden_objects_that_cpp_gives_back(m, kit):
    """Python has them alone then, and they end with their last name."""
    if not kit:
        pytest.skip("pybind11's trampolines do not outlive their Python object")

    class Mine(m.Visitor):
        pass

    party, mine = m.Party(), Mine("a")
    dead = weakref.ref(mine)
    party.invite(mine)
    with pytest.raises(ValueError, match="owns for 'visitor'"):
        party.invite(mine)
    del mine
    back = party.send_home()
    assert back is dead()
    assert sys.getrefcount(back) == 2
    party.invite(back)
    back = party.send_home()
    del back
    assert dead() is None


@pytest.mark.parametrize("way", ["send_off", "send_shared"])
def test_given_objects_come_back_in_other_pointers(m, kit, adding, way):
    """The object of Python is what it was; C++ may have shares in it then."""
    if not kit:
        pytest.skip("pybind11 needs the holder of the class")
    party, one = m.Party(), adding(10)
    dead, before = weakref.ref(one), m.Party.farewells
    party.invite(one)
    assert party.show() is one
    back = getattr(party, way)()
    assert back is one and back.visit(1) == 11 and m.name_of(one) == "adding 10"
    del one
    gc.collect()
    assert sys.getrefcount(back) == 2
    party.share(back)
    del back
    gc.collect()
    assert party.visit_shared(1) == 11 and m.Party.farewells == before
    party.share(None)
    gc.collect()
    assert dead() is None and m.Party.farewells == before + (way == "send_off")


@pytest.mark.parametrize("way", ["send_off", "send_shared"])
def test_what_came_back_ends_with_its_last_name(m, kit, adding, way):
    if not kit:
        pytest.skip("pybind11 needs the holder of the class")
    party, one = m.Party(), adding(10)
    dead = weakref.ref(one)
    party.invite(one)
    del one
    back = getattr(party, way)()
    assert back is dead() and back.seen == []
    del back
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize("way", ["show", "pretend"])
def test_given_objects_that_cpp_shows(m, kit, adding, way):
    """By a pointer that does not delete them."""
    if not kit:
        pytest.skip("pybind11 needs the holder of the class")
    party, one = m.Party(), adding(10)
    dead = weakref.ref(one)
    party.invite(one)
    del one
    shown = getattr(party, way)()
    assert shown is dead()
    del shown
    gc.collect()
    assert party.visit(1) == 11
    shown = getattr(party, way)()
    party.end()
    with pytest.raises(ValueError):
        m.name_of(shown)
    del shown
    gc.collect()
    assert dead() is None


def test_overloads_take_the_nearest_class(m):
    assert m.best(m.Square()) == "square" and m.best(m.Polygon(3)) == "shape"
    assert m.best(m.make("square")) == "square"


def test_two_bases(m):
    """The object is both, wherever in it they lie."""
    duck = m.Duck()
    assert isinstance(duck, m.Flyer) and isinstance(duck, m.Swimmer)
    assert m.fly(duck) == "flies with 2" == duck.fly()
    assert m.swim(duck) == "swims at 7" == duck.swim()
    duck.depth, duck.wings = 9, 3
    assert m.swim(duck) == "swims at 9" and m.fly(duck) == "flies with 3"
    assert duck.quack() == "quack"
    with pytest.raises(TypeError):
        m.swim(m.Flyer())


def test_two_bases_from_the_second(m):
    """A Swimmer that is a duck is one in Python."""
    duck = m.hatch()
    assert duck.swim() == "swims at 7" and m.swim(duck) == "swims at 7"
    assert type(duck) is m.Duck and m.fly(duck) == "flies with 2"


def test_two_bases_in_python(m):
    class Both(m.Duck):
        def quack(self):
            return super().quack() + "!"

    assert m.swim(Both()) == "swims at 7" and Both().quack() == "quack!"


def test_families_without_virtual_methods(m):
    labelled = m.Labelled()
    labelled.name = "Ann"
    assert m.name_of_named(labelled) == "Ann" and labelled.label == "label"
    assert isinstance(labelled, m.Named)


def test_no_call_leaks_a_reference(m, adding, failing):
    one, point, text = adding(1), m.Point(1, 2), "t" * 50
    square, duck, identity = m.Square(), m.Duck(), lambda x: x
    calls = [
        lambda: m.visit_all(one, [1, 2]),
        lambda: m.visit_all(failing, [1]),
        lambda: m.visit_or_error(failing, 1),
        lambda: m.name_of(one),
        lambda: m.mirrored(one, point),
        lambda: m.move(one, point),
        lambda: m.visit_on_threads(one, 1),
        lambda: m.visit_on_threads(failing, 1),
        lambda: adding(1),
        lambda: m.mapped([point], identity),
        lambda: m.mapped([point], lambda p: text),
        lambda: m.tell_one(identity),
        lambda: m.adder(1)(point),
        lambda: m.kind_of(square),
        lambda: m.swim(duck),
        lambda: m.make("square"),
        lambda: m.hatch(),
        lambda: (m.add(m.Listener()), m.forget()),
    ]
    watched = [one, point, text, square, duck, identity, None, adding, m.Point]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except (TypeError, RuntimeError, LookupError):
                    pass
        one.seen.clear()
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    before = run(3)
    grown = [b - a for a, b in zip(before, run(200))]
    assert max(grown) < 100, grown


def test_callbacks_get_the_object_that_there_is(m):
    """By a constant reference as well: with its class, and not a copy of its base."""
    polygon = m.make("polygon")
    seen = []

    def read(shape):
        seen.append((shape is polygon, type(shape)))
        return shape.kind()

    assert m.read_by(polygon, read) == polygon.kind() != "shape"
    assert seen == [(True, m.Polygon)]

# SPDX-License-Identifier: Apache-2.0
"""Observers, objects that share themselves, several bases: cases/sharing.h by pybind11
and by the kit."""

import gc
import weakref

import pytest

THEME = "sharing"


@pytest.fixture(autouse=True)
def none_left(m):
    """No test leaves a C++ object behind."""
    before = m.alive()
    yield
    m.drop_node()
    gc.collect()
    assert m.alive() == before


@pytest.fixture
def loud(m):
    class Loud(m.Observer):
        def __init__(self, by):
            super().__init__()
            self.by = by

        def told(self, value):
            return self.by * value

    return Loud


@pytest.fixture
def three(m):
    class Three(m.Node):
        def __init__(self):
            super().__init__()
            self.three = 3

        def value(self):
            return self.three

    return Three


def test_observers_are_there_as_long_as_python_has_them(m, loud):
    subject, one, two = m.Subject(), loud(10), m.Observer()
    subject.watch(one)
    subject.watch(two)
    assert subject.tell(2) == [20, 2]
    del one
    gc.collect()
    assert subject.tell(2) == [2]
    del two
    assert subject.tell(2) == []


def test_a_shared_pointer_leaves_an_observer_there(m, kit, loud):
    """Of pybind11 each share has a life of its own."""
    subject, one = m.Subject(), loud(10)
    subject.watch_shared(one)
    assert subject.tell(2) == ([20] if kit else [])


@pytest.mark.parametrize("collect", [False, True])
def test_what_cpp_keeps_keeps_its_overrides(m, kit, loud, collect):
    """Also when the Python object is part of a cycle."""
    if not kit:
        pytest.skip("pybind11 keeps the C++ part alone, as its name for it says")
    subject, one = m.Subject(), loud(10)
    subject.watch(one)
    subject.keep()
    if collect:
        one.cycle = one
    there = weakref.ref(one)
    del one
    gc.collect()
    assert subject.tell_kept(2) == 20 and subject.kept().by == 10
    if not collect:  # the collector clears weak references first
        assert subject.kept() is there()
    assert subject.tell(3) == [30] and m.alive() == 1
    subject.forget()
    gc.collect()
    assert there() is None and subject.tell(2) == [] and m.alive() == 0


def test_python_has_it_back_when_cpp_forgets_it(m, kit, loud):
    if not kit:
        pytest.skip("pybind11 keeps the C++ part alone, as its name for it says")
    subject, one = m.Subject(), loud(10)
    subject.watch(one)
    subject.keep()
    del one
    gc.collect()
    one = subject.kept()
    subject.forget()
    assert one.told(3) == 30
    # CPython finalizes an object once.  From now on each share is one of its own.
    other = m.Subject()
    other.watch_shared(one)
    assert other.tell(1) == []
    there = weakref.ref(one)
    del one
    gc.collect()
    assert there() is None


def test_observers_with_a_finalizer(m, kit, loud):
    """Which CPython calls in place of the kit's: the shares keep the object."""
    said = []

    class Final(loud):
        def __del__(self):
            said.append(self.by)

    subject, one = m.Subject(), Final(7)
    subject.watch_shared(one)
    assert said == [] and one.told(2) == 14
    del one
    gc.collect()
    assert said == [7] and subject.tell(1) == []


def test_objects_that_share_themselves(m, kit, three):
    one = three()
    m.keep_shared_node(one)
    assert m.node() is one and m.node_value() == 3
    del one
    gc.collect()
    assert m.node_value() == 3
    if kit:
        assert m.node().three == 3
    m.drop_node()


def test_objects_that_share_themselves_by_reference(m, kit, three):
    """Of pybind11 an overridden one does not before it was in a shared pointer."""
    plain = m.Node()
    m.keep_node(plain)
    del plain
    assert m.node_value() == 1
    m.drop_node()
    if kit:
        one = three()
        m.keep_node(one)
        assert m.node_value() == 3


def test_what_shares_itself_keeps_its_overrides(m, kit, three):
    if not kit:
        pytest.skip("pybind11 keeps the C++ part alone")
    one = three()
    m.keep_node(one)
    del one
    gc.collect()
    assert m.node_value() == 3 and m.node().three == 3


def test_an_overridden_object_through_each_of_its_bases(m):
    class Own(m.Both):
        def side(self):
            return 100

        def other(self):
            return 200

    own = Own()
    assert m.as_left(own) is own and m.as_right(own) is own
    assert m.sides(own, own) == 300
    assert m.sides(m.Both(), own) == 210


@pytest.fixture
def car(m):
    class Car(m.Wheels, m.Engine):
        def __init__(self, wheels, fuel):
            m.Wheels.__init__(self, wheels)
            m.Engine.__init__(self, fuel=fuel)

    return Car


def test_python_classes_of_two_bases(m, car):
    """Each of which has a C++ object."""
    one = car(4, "petrol")
    assert isinstance(one, m.Wheels) and isinstance(one, m.Engine)
    assert (one.count(), one.start()) == (4, "burns petrol")
    one.wheels, one.fuel = 3, "wood"
    assert m.wheels_of(one) == 3 and m.fuel_of(one) == "wood"
    other = car(2, "air")
    assert (one.fuel, other.fuel) == ("wood", "air")


def test_shares_in_a_part(m, kit, car):
    one = car(4, "petrol")
    m.keep_engine(one)
    found = m.engine()
    assert found.fuel == "petrol"
    if kit:
        assert found is one
    m.keep_engine(one)
    del one, found
    gc.collect()
    assert m.engine().fuel == "petrol"


def test_a_base_that_was_not_initialised(m, kit):
    class Half(m.Wheels, m.Engine):
        def __init__(self):
            m.Wheels.__init__(self, 1)

    if kit:
        half = Half()
        assert half.wheels == 1
        with pytest.raises(TypeError) as info:
            half.start()
        assert "initialised Engine" in str(info.value)
        assert "Engine.__init__()" in str(info.value)
    else:
        with pytest.raises(TypeError):
            Half()


def test_bases_are_initialised_once(m, kit, car):
    one = car(4, "petrol")
    for base, value in ((m.Wheels, 5), (m.Engine, "x")):
        if kit:
            with pytest.raises(RuntimeError, match="called twice"):
                base.__init__(one, value)
    with pytest.raises(TypeError):
        m.Engine.__init__(m.Wheels(1), "x")


def test_only_the_first_base_is_overridden(m, kit):
    if not kit:
        pytest.skip("pybind11 takes any")

    class Two(m.Observer, m.Node):
        def __init__(self):
            m.Observer.__init__(self)
            m.Node.__init__(self)

    with pytest.raises(TypeError) as info:
        Two()
    assert str(info.value) == (
        "[Two] expected the %overridable base first, and only one, got Node after "
        "Observer. Call Node.__init__() before the others."
    )


def test_an_overridden_base_and_a_plain_one(m, loud):
    class Moving(loud, m.Wheels):
        def __init__(self):
            loud.__init__(self, 5)
            m.Wheels.__init__(self, 6)

    one, subject = Moving(), m.Subject()
    subject.watch(one)
    assert subject.tell(2) == [10] and one.wheels == 6 and m.wheels_of(one) == 6


def test_overrides_stay_with_what_counts_its_shares(m, kit):
    """Its Python object is there as long as C++ has shares in it, and comes back."""
    if not kit:
        pytest.skip("pybind11 calls what C++ has, when the Python object is gone")

    class Dear(m.Task):
        def __init__(self, price):
            super().__init__()
            self.price = price

        def cost(self):
            return self.price

    before, plan = m.alive(), m.Plan()
    plan.set(Dear(30))
    gc.collect()
    assert plan.cost() == 30
    task = plan.task()
    assert type(task) is Dear and task.price == 30 and plan.task() is task
    plan.set(None)
    assert task.cost() == 30 and task.use_count() == 1
    plan.set(task)  # once more, of the same object
    del task
    gc.collect()
    assert plan.cost() == 30 and m.alive() == before + 1
    plan.set(None)
    plan.set(None)  # what has ended goes at a later call
    assert plan.cost() == 0 and m.alive() == before
    plan.set(Dear(4))
    del plan
    m.Plan().set(None)
    assert m.alive() == before


@pytest.mark.parametrize("way", ["itself", "method", "plan", "pair", "again"])
@pytest.mark.parametrize("ends", [False, True])
def test_overrides_that_refer_to_themselves_end(m, kit, way, ends):
    """Whether or not the class has a __del__(), which CPython calls instead of ours."""
    if not kit:
        pytest.skip("pybind11 calls what C++ has, when the Python object is gone")

    class Dear(m.Task):
        def cost(self):
            return 30

    if ends:
        Dear.__del__ = lambda self: None
    before, plan, one, other = m.alive(), m.Plan(), Dear(), Dear()
    plan.set(one)
    one.own = {
        "itself": one, "method": one.cost, "plan": plan, "pair": other, "again": one,
    }[way]  # fmt: skip
    other.own = one
    del one, other
    gc.collect()
    assert plan.cost() == 30
    if way == "again":
        one = plan.task()
        for task in (None, None, one):
            plan.set(task)
        del one, task
        gc.collect()
        assert plan.cost() == 30
    plan.set(None)
    plan.set(None)
    assert plan.cost() == 0
    del plan
    gc.collect()
    assert m.alive() == before


def test_destructors_that_throw(m, kit, monkeypatch):
    """As what __del__ raises."""
    if not kit:
        pytest.skip("pybind11 ends the process")
    lost = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: lost.append(info.exc_value))
    fragile = m.Fragile()
    del fragile
    assert [str(error) for error in lost] == ["broke while it ended"]

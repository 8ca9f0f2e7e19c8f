# SPDX-License-Identifier: Apache-2.0
"""Who keeps what alive: cases/lifetime.h by pybind11 and by the kit."""

import gc
import sys
import threading
import weakref

import pytest

THEME = "lifetime"
# Of an object that was given away.
TAKEN = (ValueError, ReferenceError, RuntimeError, TypeError)


@pytest.fixture(autouse=True)
def nobody_is_left(m):
    """All objects of C++ that the test made are gone after it."""
    gc.collect()
    before = m.count_alive()
    yield
    m.keep(None)
    gc.collect()
    assert m.count_alive() == before


def test_objects_die_with_their_last_name(m):
    before = m.count_alive()
    item, node = m.Item("a"), m.Node(1)
    assert m.count_alive() == before + 2
    del item
    assert m.count_alive() == before + 1
    del node
    assert m.count_alive() == before


def test_results_by_value_are_new(m):
    """They are changed alone, and live alone."""
    world = m.World()
    world.add("a")
    copied = world.copy_of_first()
    copied.rename("b")
    assert world.first().name() == "a"
    del world
    gc.collect()
    assert copied.name() == "b"


def test_references_are_the_object_itself(m):
    world = m.World()
    world.add("a").rename("b")
    assert world.first().name() == "b" == world.find("b").name()
    world.find("b").rename("c")
    assert [item.name() for item in world.all()] == ["c"]


def test_a_reference_keeps_its_parent(m):
    """The parent's name goes first."""
    before = m.count_alive()
    world = m.World()
    item, found, first = world.add("a"), world.find("a"), world.first()
    del world
    gc.collect()
    assert item.name() == "a" == found.name() == first.name()
    del item, found
    gc.collect()
    assert m.count_alive() == before + 2 and first.name() == "a"
    del first
    gc.collect()
    assert m.count_alive() == before


def test_a_reference_of_a_temporary(m):
    """Which nothing ever named."""
    item = m.World().add("a")
    gc.collect()
    assert item.name() == "a"


def test_references_in_a_container_keep_the_parent(m):
    world = m.World()
    world.add("a")
    world.add("b")
    items = world.all()
    del world
    gc.collect()
    assert [item.name() for item in items] == ["a", "b"]


def test_a_reference_from_a_function_keeps_its_argument(m):
    """Of which it is a part."""
    world = m.World()
    world.add("a")
    item = m.first_of(world)
    del world
    gc.collect()
    assert item.name() == "a"


def test_chains_of_references(m):
    """The view keeps the world, the world's item both."""
    world = m.World()
    world.add("a")
    item = m.View(world).world().first()
    del world
    gc.collect()
    assert item.name() == "a"


def test_arguments_that_are_kept(m):
    """As long as the object that points to them, and no longer."""
    before = m.count_alive()
    world = m.World()
    assert world.watched() == "nothing"
    world.watch(m.Item("a"))
    gc.collect()
    assert world.watched() == "a"
    world.watch(item=m.Item("b"))
    gc.collect()
    assert world.watched() == "b"
    del world
    gc.collect()
    assert m.count_alive() == before


def test_arguments_of_constructors_that_are_kept(m):
    before = m.count_alive()
    view = m.View(world=m.World())
    gc.collect()
    assert view.size() == 0 and m.count_alive() == before + 2
    del view
    gc.collect()
    assert m.count_alive() == before


def test_unique_pointers_come_out(m):
    """Python owns the object then."""
    before = m.count_alive()
    item = m.make_item("a")
    assert type(item) is m.Item and item.name() == "a"
    items = m.make_items(3)
    assert [one.name() for one in items] == ["0", "1", "2"]
    assert m.count_alive() == before + 4
    del item, items[1]
    assert m.count_alive() == before + 2


def test_unique_pointers_go_in(m):
    """C++ owns the object then; Python's is an empty one."""
    world, item = m.World(), m.Item("a")
    world.adopt(item)
    assert world.size() == 1 and world.first().name() == "a"
    for use in (
        lambda: item.name(),
        lambda: m.name_of(item),
        lambda: world.adopt(item),
        lambda: m.consume(item),
        lambda: world.watch(item),
    ):
        with pytest.raises(TAKEN):
            use()
    assert world.size() == 1
    item = None
    gc.collect()
    assert world.first().name() == "a"


def test_a_refused_call_takes_nothing(m):
    """The object is still Python's."""
    item = m.Item("a")
    for call in (
        lambda: m.World().adopt(item, 1),
        lambda: m.World.adopt(3, item),
        lambda: m.consume(item, item=item),
    ):
        with pytest.raises(TypeError):
            call()
    assert item.name() == "a"


def test_references_to_what_others_own_are_not_taken(m):
    """A part of a world cannot be given to another one."""
    world, other = m.World(), m.World()
    item = world.add("a")
    with pytest.raises(TAKEN):
        other.adopt(item)
    assert item.name() == "a" and world.size() == 1 and other.size() == 0


def test_unique_pointers_there_and_back(m):
    before = m.count_alive()
    world = m.World()
    world.adopt(m.make_item("a"))
    item = world.release()
    assert item.name() == "a" and world.size() == 0 and world.release() is None
    assert m.pass_(item).name() == "a"
    assert m.consume(m.Item("b")) == "b"
    del world, item
    gc.collect()
    assert m.count_alive() == before


def test_a_call_that_throws_has_taken(m):
    """No object and no crash; nothing is deleted twice."""
    world = m.World()
    with pytest.raises((ValueError, TypeError)):
        world.adopt(None)
    assert world.size() == 0


def test_new_objects(m):
    """A plain pointer that is the caller's."""
    before = m.count_alive()
    item = m.new_item("a")
    assert item.name() == "a" and m.count_alive() == before + 1
    del item
    assert m.count_alive() == before


def test_null_is_none(m, refuses):
    """Both ways, where a null pointer may be."""
    assert m.no_item() is None and m.World().find("x") is None
    assert m.name_or(None) == "none" == m.name_or() and m.name_or(m.Item("a")) == "a"
    with refuses("[name_of] expected an Item for 'item', got NoneType"):
        m.name_of(None)


def test_shared_pointers_are_one_object(m):
    """Equal, with one hash, whichever way they came."""
    node = m.Node(1)
    m.keep(node)
    for same in (m.get_kept(), node.shared(), m.get_kept().shared(), node.reference()):
        assert same == node and hash(same) == hash(node) and not same != node
        assert {node: "a"}[same] == "a"
    assert node != m.Node(1) and node != 1 and node is not None
    with pytest.raises(TypeError):
        node < node  # noqa: B015


def test_shared_pointers_keep_each_other(m):
    before = m.count_alive()
    first = m.Node(1)
    first.set_next(m.Node(2))
    gc.collect()
    assert m.count_alive() == before + 2 and first.next().value() == 2
    second = first.next()
    del first
    gc.collect()
    assert m.count_alive() == before + 1 and second.value() == 2
    assert second.next() is None


def test_shared_pointers_outlive_python(m):
    node = m.Node(5)
    m.keep(node)
    del node
    gc.collect()
    assert m.get_kept().value() == 5 == m.get_const().value()
    m.keep(None)
    assert m.get_kept() is None


def test_shared_pointers_share_one_count(m):
    """None is made from the plain pointer."""
    node = m.Node(1)
    alone = node.uses()
    m.keep(node)
    assert node.uses() == alone + 1
    same = m.get_kept()
    assert same.uses() in (alone + 1, alone + 2)
    m.keep(None)
    del same
    gc.collect()
    assert node.uses() == alone


def test_shared_objects_as_references(m, refuses):
    """Where C++ wants the object, not the pointer."""
    assert m.value_of(m.Node(3)) == 3 and m.sum([m.Node(1), None, m.Node(2)]) == 3
    with refuses("[value_of] expected a Node for 'node', got NoneType"):
        m.value_of(None)
    with refuses("[keep] expected a Node for 'node', got lifetime.Item"):
        m.keep(m.Item("a"))


def test_a_reference_of_a_shared_temporary(m):
    node = m.Node(7).reference()
    gc.collect()
    assert node.value() == 7


def test_borrowed_objects_are_never_deleted(m):
    registry = m.Registry.get()
    size = registry.size()
    registry.note("a")
    del registry
    gc.collect()
    assert m.Registry.get().size() == size + 1
    assert m.Registry.get().pointer().size() == size + 1
    with pytest.raises(TypeError):
        m.Registry()


def test_weak_references_do_not_keep(m):
    node = m.Node(1)
    alive = weakref.ref(node)
    m.keep(node)
    del node
    gc.collect()
    assert m.get_kept().value() == 1
    if alive() is not None:
        assert alive() == m.get_kept()


def test_objects_die_on_other_threads(m):
    """The last name of an object may be another thread's."""
    before = m.count_alive()
    bag = [m.World() for _ in range(50)]
    bag += [m.Node(i) for i in range(50)]
    bag += [world.add("a") for world in bag[:50]]
    thread = threading.Thread(target=bag.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert m.count_alive() == before


def test_cycles_of_python_are_collected(m):
    """Through the attributes of a subclass."""
    before = m.count_alive()

    class Holder(m.Item):
        pass

    holder = Holder("a")
    holder.me = [holder]
    assert m.count_alive() == before + 1
    del holder
    gc.collect()
    assert m.count_alive() == before


def test_no_call_leaks_a_reference(m):
    world, item, node, text = m.World(), m.Item("a"), m.Node(1), "t" * 50
    world.add("a")
    view = m.View(world)

    def give():
        m.World().adopt(m.Item(text))

    calls = [
        give,
        lambda: world.find("a"),
        lambda: world.find(text),
        lambda: world.all(),
        lambda: world.first(),
        lambda: view.world(),
        lambda: m.View(world),
        lambda: m.View(item),
        lambda: m.World().watch(item),
        lambda: m.World().watch(node),
        lambda: m.name_or(item),
        lambda: m.make_items(2),
        lambda: m.pass_(m.Item(text)),
        lambda: node.shared(),
        lambda: node.reference(),
        lambda: m.sum([node, None]),
        lambda: m.sum([node, item]),
        lambda: m.Registry.get(),
        lambda: node == item,
        lambda: m.first_of(world),
    ]
    watched = [world, item, node, text, view, None, m.Item, m.World, m.Node, m.View]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except TypeError:
                    pass
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    before = run(3)
    grown = [b - a for a, b in zip(before, run(300))]
    assert max(grown) < 100, grown


SMALL = ["Bare", "Given", "Shared", "GivenMore", "SharedMore", "Pooled"]


@pytest.mark.parametrize("name", SMALL)
def test_small_objects_are_one_object_in_both_languages(m, name):
    small = getattr(m, name)()
    small.x = 3
    itself = small.itself()
    itself.x = 4
    del itself
    assert small.x == 4
    itself = small.itself()
    del small
    gc.collect()
    assert itself.x == 4


@pytest.mark.parametrize("name", ["Given", "GivenMore"])
def test_small_objects_are_given_away_whole(m, name):
    given = getattr(m, name)()
    given.x = 5
    if name == "GivenMore":
        given.y = 6
    m.give(given)
    with pytest.raises(TAKEN):
        given.itself()
    del given
    gc.collect()
    if name == "GivenMore":
        assert m.y_of_given() == 6
    assert m.get_back().x == 5


@pytest.mark.parametrize("name", ["Shared", "SharedMore"])
def test_small_objects_are_shared_not_copied(m, name):
    shared = getattr(m, name)()
    shared.x = 5
    if name == "SharedMore":
        shared.y = 6
    m.share(shared)
    m.write_shared(7)
    assert shared.x == 7
    del shared
    gc.collect()
    if name == "SharedMore":
        assert m.y_of_shared() == 6
    m.write_shared(8)
    assert m.get_shared().x == 8
    m.share(None)


def test_a_class_with_a_memory_of_its_own_lies_there(m):
    before = m.pooled()
    pooled = m.Pooled()
    assert m.pooled() == before + 1
    del pooled
    gc.collect()
    assert m.pooled() == before


def test_the_memory_of_what_ended_is_used_again(m, kit):
    """By the next object of a wrapped class, with nothing of the last one left."""
    if not kit:
        pytest.skip("pybind11 leaves it to Python")
    first = m.Bare()
    first.x = 3
    place = id(first)
    del first
    # Would have that memory, if it were Python's again.
    other = bytes(m.Bare.__basicsize__ - bytes.__basicsize__)
    second = m.Given()
    assert id(other) != place
    assert id(second) == place and second.x == 0


@pytest.mark.parametrize("n", [1, 3, 100])
def test_ended_cpp_objects_leave_nothing_to_the_next(m, n):
    """Through constructors that throw and objects that C++ takes, too."""
    words = [f"{i} is a text that lies in memory of its own" for i in range(n)]
    for turn in range(4):
        several = [m.Marked(word) for word in words]
        with pytest.raises(ValueError, match="no text"):
            m.Marked("")
        with pytest.raises(ValueError, match="no more"):
            m.Marked("a", "")
        twice = [one.twice() for one in several[:: turn + 1]]
        lettered = [m.Lettered(word) for word in words]
        m.hold(lettered.pop())
        m.hold(m.Lettered("held", "more"))
        back = m.let_out()
        assert (back.text, back.more) == ("held", "more")
        assert [one.text for one in lettered] == words[:-1]
        assert [one.text for one in several] == words
        assert [one.more for one in several] == [""] * n
        assert [one.text for one in twice] == [w * 2 for w in words[:: turn + 1]]
        assert m.let_out() is None


def test_cpp_objects_lie_where_ended_ones_lay(m, kit):
    """Those that are made with the GIL: without it nobody may look for such a place."""
    if not kit:
        pytest.skip("pybind11 leaves it to malloc")
    first = m.Marked("a")
    place = first.address()
    del first
    without = m.Marked("b", "c")
    assert without.address() != place
    assert m.Marked("d").address() == place
    assert without.twice().address() == place


def test_an_error_that_is_on_its_way_stays_when_objects_end(m):
    for _ in range(3):
        with pytest.raises(KeyError, match="a"):
            m.Marked("a"), {}["a"]  # the object ends on the way out
    with pytest.raises(TypeError):
        m.hold(m.Marked("b"))
    with pytest.raises(TypeError):
        m.Marked(m.Marked("c"))


def test_what_cpp_lent_and_then_gives_away_is_one_object(m, kit):
    """A class that can be copied, so that two objects of one place would do no harm."""
    if not kit:
        pytest.skip("pybind11 makes a second object, which deletes that of the first")
    before = m.count_alive()
    world = m.World()
    lent = world.add("a")
    given = world.release()
    assert given is lent
    del given
    gc.collect()
    assert lent.name() == "a"
    world.adopt(lent)
    assert world.find("a").name() == "a" and world.size() == 1
    del world, lent
    gc.collect()
    assert m.count_alive() == before


def test_plain_pointers_lent_and_given_are_one_object(m, kit):
    """A lent one may not outlive what its caller owns, and both may not delete it."""
    if not kit:
        pytest.skip("pybind11's two objects of one Part delete it under each other")
    before = m.count_alive()
    stock = m.Stock()
    lent = stock.add(1)
    assert stock.at(0) is lent
    given = stock.take(0)
    assert given is lent
    del given, stock
    gc.collect()
    assert lent.size == 1
    stock = m.Stock()
    for _ in range(10):
        stock.give(lent)
        there = stock.at(0)
        lent = stock.take(0)
        assert there is lent and lent.size == 1
    del lent, there, stock
    gc.collect()
    assert m.count_alive() == before


def test_plain_pointers_that_cpp_takes(m, kit, refuses):
    before = m.count_alive()
    stock, part = m.Stock(), m.Part(2)
    stock.give(part)
    assert stock.at(0).size == 2
    with refuses(error=ValueError):
        stock.give(part)
    if kit:  # a std::unique_ptr, which stands for the pointer there, may be null
        with refuses("[Stock.give] expected a Part for 'part', got NoneType"):
            stock.give(None)
    other = m.Part(3)
    # A pointer to const takes nothing, though its parameter has the same name.
    assert not stock.holds(other) and stock.holds(stock.at(0)) and other.size == 3
    del stock, part, other
    gc.collect()
    assert m.count_alive() == before


def test_a_refused_call_leaves_the_object_to_python(m, kit, refuses):
    """The argument that does not fit stands after it; or another overload takes it."""
    if not kit:
        pytest.skip("a std::unique_ptr stands for these pointers there")
    before = m.count_alive()
    part = m.Part(2)
    with refuses("[adopt] expected an int for 'more', got str"):
        m.adopt(part, "x")
    assert part.size == 2
    assert m.adopt_any(part, "x") == "2x"
    assert m.adopt_any(m.Part(3), 4) == "7" == str(m.adopt(m.Part(3), 4))
    other = m.Part(4)
    with pytest.raises(TypeError):
        m.adopt_any(other, [])
    assert other.size == 4
    with pytest.raises(ValueError):
        m.adopt_any(part, "x")
    assert m.count_alive() == before + 1


def test_what_only_cpp_may_end_is_not_owned(m, kit):
    """Even if it was lent before it was given."""
    if not kit:
        pytest.skip("pybind11 says so of the class")
    lent = m.Hidden.one()
    given = m.Hidden.fresh()
    assert given is lent
    del given, lent
    gc.collect()
    assert m.Hidden.one().x == 3


def test_what_counts_in_itself_is_shared_when_it_is_given(m, kit):
    """Though it was lent before: C++ may have a share."""
    if not kit:
        pytest.skip("pybind11 has a share from the beginning")
    before = m.count_alive()
    lent = m.lend_rated()
    given = m.give_rated()
    assert given is lent and given.shares == 1
    m.keep_rated(given)
    assert given.shares == 2
    del given, lent
    gc.collect()
    assert m.count_alive() == before + 1
    m.keep_rated(None)
    assert m.count_alive() == before


def test_members_that_own(m, kit, refuses):
    """const ones, of const objects, in arrays."""
    before = m.count_alive()
    chest = m.Chest()
    fixed, (first, none) = chest.fixed, chest.pair
    assert (fixed.size, chest.sealed.size, first.size, none) == (7, 8, 9, None)
    assert chest.fixed is fixed and chest.plain.size == 10
    with pytest.raises(AttributeError):
        chest.fixed = m.Part(1)
    with refuses(
        "[size_of] expected an object that Python alone owns for 'part', got a "
        "lifetime.Part that C++ has a share in",
        error=ValueError,
        pybind11=Exception,
    ):
        m.size_of(fixed)
    del chest
    gc.collect()
    assert fixed.size == 7 and m.size_of(m.Part(4)) == 4
    del fixed, first
    gc.collect()
    assert m.count_alive() == before


def test_a_constructor_that_an_argument_enters_again(m, kit):
    """The first object stays, the other one ends; nothing is found under two names."""

    class Again:
        def __init__(self, node):
            self.node = node

        def __index__(self):
            self.node.__init__(1)
            return 5

    if not kit:
        pytest.skip("pybind11 forgets the first object")
    for _ in range(200):
        node = m.Node.__new__(m.Node)
        with pytest.raises(RuntimeError, match=r"Node\.__init__\(\) was called twice"):
            node.__init__(Again(node))
        assert node.value() == 1
        assert node.reference() is node

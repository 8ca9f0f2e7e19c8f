# SPDX-License-Identifier: Apache-2.0
"""Members that refer to what Python has, hold a few bits, or are of a type that cannot
be made of nothing: cases/members.h by pybind11 and the kit."""

import array
import datetime
import gc
import inspect
import pathlib
import subprocess
import sys
import time

import pytest

THEME = "members"
SECOND = datetime.timedelta(seconds=1)


def other_memory(m):
    """Takes what has just become free."""
    gc.collect()
    return [m.Leaf(99) for _ in range(20)], ["z" * 90 + str(i) for i in range(50)]


def leaves_in_use(m):
    """How many there are when what no shared object refers to any more has gone, which
    is when another one comes to Python."""
    m.grow(m.Branch())
    m.get_grown()
    m.grow(None)
    gc.collect()
    return m.leaves()


def text(i):
    """One that nobody else has."""
    return f"{'text' * 20}{i}"


PLACES = {
    "list": (
        lambda m: [m.Leaf(1), m.Leaf(2)],
        lambda t: [x.value for x in t.list],
        [1, 2],
    ),
    "two": (
        lambda m: [m.Leaf(1), m.Leaf(2)],
        lambda t: [x.value for x in t.two],
        [1, 2],
    ),
    "by_name": (lambda m: {"a": m.Leaf(3)}, lambda t: t.by_name["a"].value, 3),
    "one": (lambda m: m.Leaf(4), lambda t: t.one.value, 4),
    "pair": (lambda m: (m.Leaf(5), 6), lambda t: (t.pair[0].value, t.pair[1]), (5, 6)),
    "nested": (lambda m: [[m.Leaf(7)], []], lambda t: t.nested[0][0].value, 7),
    "last": (lambda m: m.Leaf(8), lambda t: t.last.value, 8),
    "text": (lambda m: text(1), lambda t: t.text, text(1)),
    "texts": (lambda m: [text(2), text(3)], lambda t: t.texts, [text(2), text(3)]),
    "label": (lambda m: text(4), lambda t: t.label, text(4)),
    "numbers": (lambda m: array.array("i", range(99)), lambda t: sum(t.numbers), 4851),
}


@pytest.mark.parametrize("name", PLACES)
def test_what_a_member_refers_to_stays(m, kit, name):
    if not kit:
        pytest.skip("there such a member points to nothing as soon as it is set")
    made, read, expected = PLACES[name]
    whole = m.Tree()
    # Of an object, of a part of one, of an item, and of what nobody in Python owns.
    for twig in (m.Twig(), whole.top, whole.at(1), m.Tree.the().top):
        setattr(twig, name, made(m))
        kept = other_memory(m)
        assert read(twig) == expected
        del kept
    del twig
    kept = other_memory(m)
    assert read(whole.top) == read(whole.at(1)) == read(m.Tree.the().top) == expected
    del kept
    empty = array.array("i") if name == "numbers" else getattr(m.Twig(), name)
    setattr(m.Tree.the().top, name, empty)


def test_what_a_member_referred_to_goes(m, kit):
    if not kit:
        pytest.skip("there it goes before")
    gc.collect()
    before = m.leaves()
    twig, tree = m.Twig(), m.Tree()
    for i in range(100):
        twig.list = [m.Leaf(i)]
        tree.at(0).one = m.Leaf(i)
        m.cvar.fallen = [m.Leaf(i)]
    assert twig.sum() == tree.at(0).one.value == m.cvar.fallen[0].value == 99
    gc.collect()
    assert m.leaves() == before + 3
    twig.list, m.cvar.fallen = [], []
    del tree
    gc.collect()
    assert m.leaves() == before


def test_what_was_read_may_be_assigned(m, kit):
    """Appended to, turned, merged: what C++ has lent is what was kept before."""
    if not kit:
        pytest.skip("there it points to nothing")
    tree = m.Tree()
    for twig in (m.Twig(), tree.top, tree.at(1), m.Tree.the().top):
        twig.list, twig.two = [m.Leaf(1), m.Leaf(2)], [m.Leaf(1), m.Leaf(2)]
        twig.one, twig.last, twig.by_name = m.Leaf(4), m.Leaf(5), {"a": m.Leaf(6)}
        for _ in range(3):
            twig.list = twig.list
            twig.two = list(twig.two)[::-1]
            twig.one, twig.last = twig.one, twig.last
            kept = other_memory(m)
        twig.list = [*twig.list, m.Leaf(3)]
        twig.by_name = {**twig.by_name, "b": m.Leaf(7)}
        kept = other_memory(m)
        assert twig.sum() == 6 and [x.value for x in twig.two] == [2, 1] and kept
        assert (twig.one.value, twig.last.value) == (4, 5)
        assert {k: x.value for k, x in twig.by_name.items()} == {"a": 6, "b": 7}
    m.cvar.fallen = [m.Leaf(1)]
    m.cvar.fallen = [*m.cvar.fallen, m.Leaf(2)]
    kept = other_memory(m)
    assert [x.value for x in m.cvar.fallen] == [1, 2] and kept
    top = m.Tree.the().top
    top.list, top.two, top.one, top.last, top.by_name = [], [None] * 2, None, None, {}
    m.cvar.fallen = []
    del twig, tree, top
    gc.collect()


def test_a_text_outlives_the_object_it_was_given_to(m, kit):
    """C++ copies the pointer wherever it likes."""
    if not kit:
        pytest.skip("there it points to nothing")
    vase = m.Vase()
    vase.label = text(7)
    m.show(vase)
    del vase
    kept = other_memory(m)
    assert m.cvar.shown.label == text(7) and kept


def test_members_of_odd_classes(m, kit):
    if not kit:
        pytest.skip("of the kit's setters")
    vase = m.Vase()
    vase.bunch = m.Bunch(5)
    assert vase.bunch.count() == 5
    vase.leaf = m.Leaf(3)
    kept = other_memory(m)
    assert vase.leaf.value == 3 and kept
    vase.leaf = None
    assert vase.leaf is None


def test_variables_that_refer(m, kit):
    if not kit:
        pytest.skip("pybind11 has no variables")
    m.cvar.fallen, m.cvar.motto = [m.Leaf(1)], text(5)
    kept = other_memory(m)
    assert m.cvar.fallen[0].value == 1 and m.cvar.motto == text(5) and kept
    m.cvar.fallen = []


def test_a_text_or_none(m, kit):
    if not kit:
        pytest.skip("there such a member points to nothing as soon as it is set")
    twig = m.Twig()
    assert twig.label is None
    twig.label = "a"
    twig.label = None
    assert twig.label is None


def test_pointers_to_values_are_not_set(m, kit):
    """The value that is converted lasts no longer than the assignment."""
    if not kit:
        pytest.skip("there it points to nothing")
    pointing = m.Pointing()
    for name, value in {"number": 3, "factor": 1.5, "name": "a", "list": [1]}.items():
        with pytest.raises(AttributeError) as info:
            setattr(pointing, name, value)
        assert str(info.value) == (
            f"[Pointing.{name}] C++ has the value that '{name}' points to: "
            "assign to it in C++ (%extend)"
        )
        assert getattr(pointing, name) is None
    for name in ("wide", "wider"):
        with pytest.raises(AttributeError, match="C\\+\\+ has the text of this member"):
            setattr(pointing, name, "a" * 99)
    assert pointing.wide == "wide" and pointing.wider is None


def test_bits(m, kit):
    bits = m.Bits()
    assert bits.low == 1 and bits.whole == 7
    bits.low = 7
    with pytest.raises(OverflowError) as info:
        bits.low = 9
    assert bits.low == 7
    if kit:
        said = "[Bits.low] expected what fits into 3 bits for 'low', got 9"
        assert str(info.value) == said
        bits.small = -2
        with pytest.raises(OverflowError, match="2 bits"):
            bits.small = 2
        bits.set, bits.shade = True, m.Shade.Dark
        assert bits.shade is m.Shade.Dark
        assert "**Bold** is no frame: a@brief b." in inspect.getdoc(m.Shade)
        assert "\nThe rest." in inspect.getdoc(m.Shade)
        assert bits.small == -2 and bits.set is True


def test_a_part_that_several_may_own(m, kit):
    """What is assigned lives as long as each of them."""
    if not kit:
        pytest.skip("of the kit's setters")
    for is_first in (True, False):
        trees = [m.Tree(), m.Tree()]
        twig = m.either(*trees, is_first)
        twig.list, twig.text = [m.Leaf(7)], text(9)
        own = trees[0 if is_first else 1]
        del twig, trees
        kept = other_memory(m)
        assert own.top.sum() == 7 and own.top.text == text(9) and kept


def test_a_shared_object_refers_to_what_lives_as_long(m, kit):
    """Also when C++ alone has it, and when Python has it again."""
    if not kit:
        pytest.skip("of the kit's setters")
    gc.collect()
    before = m.leaves()
    for i in range(3):
        branch = m.Branch()
        branch.leaf, branch.list, branch.text = m.Leaf(i), [m.Leaf(1)], text(i)
        m.grow(branch)
        del branch
        kept = other_memory(m)
        assert m.grown_value() == i + 1 and m.get_grown().text == text(i)
        m.get_grown().list = [m.Leaf(2)]
        del kept
        kept = other_memory(m)
        assert m.grown_value() == i + 2 and kept
        del kept
    for i in range(100):
        m.get_grown().list = [m.Leaf(i)]
    assert m.leaves() == before + 2
    m.grow(None)
    another = m.Branch()
    another.leaf = m.Leaf(3)
    m.grow(another)
    del another
    gc.collect()
    assert m.leaves() == before + 1
    m.grow(None)


def test_an_object_and_a_part_of_it_keep_what_each_refers_to(m, kit):
    """Though both have one address and one owner."""
    if not kit:
        pytest.skip("of the kit's setters")
    before = leaves_in_use(m)
    for first_ends in (True, False):
        bough = m.Bough()
        bough.tip = m.Leaf(1)
        m.saw(bough)
        branch = m.first_of(bough)
        branch.leaf = m.Leaf(2)
        if first_ends:
            del bough, branch
        else:
            del branch, bough
        kept = other_memory(m)
        assert m.sawn_value() == 3 and kept
        del kept
        # Whoever comes back first has all of it.
        bough = m.get_sawn()
        kept = other_memory(m)
        assert m.sawn_value() == 3 and kept
        del kept, bough
        gc.collect()
        assert m.sawn_value() == 3 and m.leaves() == before + 2
        m.saw(None)
    assert leaves_in_use(m) == before


def test_a_class_of_two_shared_bases_keeps_what_each_refers_to(m, kit):
    if not kit:
        pytest.skip("of the kit's setters")

    class Both(m.Branch, m.Bough):
        def __init__(self):
            m.Branch.__init__(self)
            m.Bough.__init__(self)

    before = leaves_in_use(m)
    both = Both()
    both.leaf, both.list, both.tip = m.Leaf(1), [m.Leaf(2)], m.Leaf(3)
    m.grow(both)
    m.saw(both)
    del both
    kept = other_memory(m)
    assert m.grown_value() == m.sawn_value() == 3 and kept
    del kept
    m.grow(None)
    gc.collect()
    assert m.sawn_value() == 3
    m.saw(None)
    assert leaves_in_use(m) == before


def test_many_shared_objects_cost_what_few_do(m, kit):
    """And what they refer to goes though no other such object ends."""
    if not kit:
        pytest.skip("of the kit's setters")

    def plant(count=100):
        begin = time.process_time()
        for _ in range(count):
            branch = m.Branch()
            branch.leaf = leaf
            m.plant(branch)
            del branch
        return time.process_time() - begin

    leaf = m.Leaf(1)
    m.grow(m.Branch())
    plant()
    m.fell()
    few = min(plant() for _ in range(10))
    plant(20000)
    many = min(plant() for _ in range(10))
    assert many < 10 * few
    count = sys.getrefcount(leaf)
    m.fell()
    for _ in range(30000):
        m.get_grown()
    assert sys.getrefcount(leaf) < count - 20000
    m.grow(None)


def test_an_atomic_pointer_keeps_its_object(m, kit):
    if not kit:
        pytest.skip("pybind11 has no conversion for it")
    holding = m.Holding()
    assert holding.current is None
    before = m.leaves()
    for i in range(10):
        holding.current = m.Leaf(i)
    kept = other_memory(m)
    assert holding.current.value == 9 and m.leaves() == before + 21
    holding.current = None
    del kept
    gc.collect()
    assert m.leaves() == before and holding.current is None


def test_a_reference_to_a_number_or_a_span_of_objects_is_not_set(m, kit):
    """What was converted lasts no longer than the assignment."""
    if not kit:
        pytest.skip("of the kit's setters")
    holding = m.Holding()
    for name, value in {"factor": 2.5, "leaves": [m.Leaf(1)]}.items():
        with pytest.raises(AttributeError) as info:
            setattr(holding, name, value)
        assert str(info.value) == (
            f"[Holding.{name}] C++ has the value that '{name}' points to: "
            "assign to it in C++ (%extend)"
        )
    assert holding.factor == 1 and holding.leaves == []


def test_an_object_of_pythons_in_a_member(m, kit):
    if not kit:
        pytest.skip("pybind11 takes py::object there")
    for shelf in (m.Shelf(), m.Shelf.the()):
        assert shelf.object is None
        shelf.object = [text(1)]
        del shelf
        shelf = m.Shelf.the()
    for shelf in (m.Shelf(), m.Shelf.the()):
        shelf.object = value = [text(2)]
        count = sys.getrefcount(value)
        for _ in range(10):
            assert shelf.object is value
        assert sys.getrefcount(value) == count
        shelf.object = None
        assert shelf.object is None and sys.getrefcount(value) == count - 1
        shelf.object = [text(3)]
        kept = other_memory(m)
        assert shelf.object == [text(3)] and kept
    m.Shelf.the().object = None
    with pytest.raises(
        TypeError, match="^no conversion for a PyObject[*] here: one may"
    ):
        shelf.several = [3]


def test_spans_of_objects(m, kit):
    if not kit:
        pytest.skip("pybind11 has no spans")
    assert m.total([m.Leaf(1), m.Leaf(2)]) == 3 and m.total(()) == 0
    assert m.letters(["a", "bc"]) == 3
    said = {
        "[total] expected a sequence for 'leaves', got int": lambda: m.total(3),
        "[total] expected a Leaf for 'leaves[1]', got int": (
            lambda: m.total([m.Leaf(1), 2])
        ),
        "[wither] expected what C++ may write to: take a std::vector in C++ (%extend), "
        "not a span, for 'leaves', got list": lambda: m.wither([m.Leaf(1)]),
    }
    for words, call in said.items():
        with pytest.raises(TypeError) as info:
            call()
        assert str(info.value) == words
    with pytest.raises(ValueError, match="expected 2 items for 'words', got 1"):
        m.letters(["a"])
    with pytest.raises(TypeError):
        m.total(array.array("I", [1, 2]))


def test_spans_of_objects_that_would_outlive_their_copies(m, kit):
    """As a part of something else, or as what Python returns."""
    if not kit:
        pytest.skip("pybind11 has no spans")

    class Birches(m.Grove):
        def leaves(self):
            return leaves

    leaves = [m.Leaf(1), m.Leaf(2)]
    refused = {
        "total_or] ... 'leaves'": lambda: m.total_or(leaves),
        "total_of_each] ... 'each[0]'": lambda: m.total_of_each([leaves]),
        "total_by_name] ... 'named['a']'": lambda: m.total_by_name({"a": leaves}),
        "total_of_pair] ... 'pair[0]'": lambda: m.total_of_pair((leaves, 1)),
        "total_of_shared] ... 'leaves'": lambda: m.total_of_shared(leaves),
        "total_given] ... 'give()'": lambda: m.total_given(lambda: leaves),
        "Grove.leaves] ... 'result'": lambda: m.total_in(Birches()),
    }
    words = "what lasts: take a std::vector in C++ (%extend), not a span,"
    for said, call in refused.items():
        function, place = said.split(" ... ")
        with pytest.raises(TypeError) as info:
            call()
        optional = " or None" if function == "total_or]" else ""
        text = f"[{function} expected {words}{optional} for {place}, got list"
        assert str(info.value) == text
    with pytest.raises(TypeError, match="'either', got list"):
        m.total_of_either(leaves)
    # What has none, and plain arguments of C++'s own functions.
    assert m.total_or(None) == -1 and m.total_of_either(3) == 3
    assert m.total_of_each([]) == m.total_in(m.Grove()) == 0
    assert m.get_total()(leaves) == m.total(leaves) == 3


def test_other_things_that_would_outlive_what_was_converted_for_them(m, kit):
    """Views of wide texts, lists, and references to copies of numbers."""
    if not kit:
        pytest.skip("pybind11 refuses them where it is compiled")
    text = "what lasts: take a string in C++ (%extend), not a view of a copy,"
    items = "what lasts: take a std::vector in C++ (%extend), "
    items += "not a std::initializer_list,"
    number = "an object of C++'s own"
    refused = [
        (m.text_or, "a", f"{text} or None for 'text', got str"),
        (m.text_of_each, ["a", "b"], f"{text} for 'each[0]', got str"),
        (m.text_given, lambda: "a", f"{text} for 'give()', got str"),
        (m.sum_or, [1], f"{items} or None for 'numbers', got list"),
        (m.half_or, 3.0, f"{number} or None for 'number', got float"),
    ]
    for call, one, said in refused:
        with pytest.raises(TypeError) as info:
            call(one)
        assert str(info.value) == f"[{call.__name__}] expected {said}"
    for call, one in ((m.text_of_either, "a"), (m.half_of_either, 3.0)):
        with pytest.raises(TypeError, match="for 'either', got"):
            call(one)
    # What has none, and plain arguments of C++'s own functions.
    assert m.text_or(None) == "none" and m.text_of_either(3) == "a number"
    assert m.sum_or(None) == m.half_or(None) == m.half_of_either("a") == 0
    assert m.text_of_each([]) == "" and m.get_scaled()("abc", 1.5) == 4.5


def test_times_without_their_namespace(m):
    clock = m.Clock()
    assert clock.step == 1.5 * SECOND and clock.pause is None
    clock.pause = 2 * SECOND
    clock.start = now = datetime.datetime(2020, 2, 3, 4, 5, 6, 7)
    assert clock.pause == 2 * SECOND and clock.start == now
    assert clock.total([SECOND, 2 * SECOND]) == 4.5 * SECOND
    assert m.Clock.PRIMES == [2, 3, 5]


def test_a_conversion_of_what_cannot_be_made_of_nothing(m, kit):
    if not kit:
        pytest.skip("PYBIND11_TYPE_CASTER makes one first")
    assert m.same_code("abcd") == "abcd"
    assert m.counted(["abcd", "abcd", "efgh"]) == {"abcd": 2, "efgh": 1}
    coded = m.Coded()
    assert coded.code is None
    coded.code, coded.all = "abcd", ["efgh"]
    assert coded.code == "abcd" and coded.all == ["efgh"]
    with pytest.raises(ValueError, match="expected 4 letters, got a"):
        coded.code = "a"
    with pytest.raises(TypeError) as info:
        m.counted(["abcd", 3])
    assert str(info.value) == "[counted] expected 4 letters for 'codes[1]', got int"
    assert coded.code == "abcd"


def test_operators_that_are_templates(m):
    a, b = m.Vector2d(1, 2), m.Vector2d(3, 4)
    assert (a + b).x == 4 and (b * 2).x == 6 and (2 * b).x == 6
    with pytest.raises(TypeError):
        a + 3


def test_comments(m, kit):
    assert "What others refer to." in m.Leaf.__doc__
    said = inspect.getdoc(m.doubled)
    assert "Of an int." in said and "Of a text." in said
    if kit:
        assert m.Leaf.__doc__.startswith(
            "What others refer to.\n\nHow many there are is counted."
        )
        assert said.count("Of an int.") == said.count("Of a text.") == 1


def test_an_error_that_the_c_api_has_set(m):
    assert m.length([1, 2]) == 2
    with pytest.raises(TypeError, match="has no len"):
        m.length(3)


INTERPRETERS = """
import sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
sys.path.insert(0, sys.argv[1])
if sys.argv[2] == "loaded":
    import members
try:
    second = interpreters.create("legacy")
except TypeError:
    second = interpreters.create(isolated=False)
run = getattr(interpreters, "run_string", None) or interpreters.exec
run(second, f'''
import sys
sys.path.insert(0, {sys.argv[1]!r})
try:
    import members
    print("imported", flush=True)
except ImportError as error:
    print(error, flush=True)
''')
interpreters.destroy(second)
import members
assert members.Leaf(3).value == 3
print("fine")
"""


@pytest.mark.parametrize("when", ["loaded", "first"])
def test_a_second_interpreter_is_refused(m, kit, when):
    if not kit:
        pytest.skip("pybind11 has its own answer")
    folder = str(pathlib.Path(m.__file__).parent)
    command = [sys.executable, "-c", INTERPRETERS, folder, when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines() == [
        "[members] expected the main interpreter: the module can be loaded by that "
        "one alone",
        "fine",
    ]

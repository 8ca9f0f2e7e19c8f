# SPDX-License-Identifier: Apache-2.0
"""Who owns an object that goes to C++ and comes back, what copies of it keep, and names
that clash, by the kit."""

from __future__ import annotations

import copy
import gc
import inspect
import keyword
import pickle
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kit_modules
import pytest

THEME = "copies"
COPIES: dict[str, Callable[[Any], Any]] = {
    **{f"pickle{i}": lambda x, i=i: pickle.loads(pickle.dumps(x, i)) for i in range(6)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
each_copy = pytest.mark.parametrize("made", COPIES.values(), ids=list(COPIES))


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


@pytest.fixture
def importable(m: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, as pickle finds it."""
    monkeypatch.setitem(sys.modules, THEME, m)
    return m


def local(cls: type, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class as pickle finds it: in this module."""
    cls.__qualname__ = cls.__name__
    monkeypatch.setattr(sys.modules[__name__], cls.__name__, cls, raising=False)
    return cls


# --- shares --------------------------------------------------------------------------


@pytest.mark.parametrize("finalizer", [False, True])
def test_a_share_that_is_fetched_again_has_the_owner_of_the_first(
    m: Any, finalizer: bool
) -> None:
    """A weak_ptr of it lasts as long as C++ has the object."""
    ended = []

    class Mine(m.Job):  # type: ignore[name-defined]
        def run(self) -> int:
            return 7

    if finalizer:
        Mine.__del__ = lambda self: ended.append(1)
    queue = m.Queue()
    queue.held = Mine()  # Python has no name of it
    job = queue.get()
    queue.watch(job)
    assert (queue.expired(), queue.shares(job), job.run()) == (False, True, 7)
    queue.held = job
    queue.watch(job)
    assert not queue.expired()
    gone = weakref.ref(job)
    del job
    assert not queue.expired() and gone().run() == 7
    queue.held = None
    gc.collect()
    assert gone() is None and queue.expired()
    assert ended == [1] * finalizer


@pytest.mark.parametrize("finalizer", [False, True])
def test_a_share_that_ends_before_its_python_object(m: Any, finalizer: bool) -> None:
    class Mine(m.Job):  # type: ignore[name-defined]
        pass

    if finalizer:
        Mine.__del__ = lambda self: None
    queue = m.Queue()
    queue.held = job = Mine()
    del job
    job = queue.get()
    queue.held = None
    assert job.run() == 1
    queue.held = job
    queue.watch(job)
    assert not queue.expired() and queue.shares(job)
    gone = weakref.ref(job)
    del job
    queue.held = None
    gc.collect()
    assert gone() is None


def test_what_knows_its_shared_ptr_is_given_away(m: Any) -> None:
    class Mine(m.Knowing):  # type: ignore[name-defined]
        def run(self) -> int:
            return 9

    before = m.Knowing.live
    assert m.take(m.Knowing()) == 1
    assert m.take(m.make_unique_one()) == 1
    assert m.take(Mine()) == 9
    gc.collect()
    assert m.Knowing.live == before
    box = m.Box()
    box.one = m.Knowing()
    box.all = [m.Knowing(), Mine(), m.make_unique_one()]
    assert m.Knowing.live == before + 4
    assert [one.run() for one in box.all] == [1, 9, 1]
    assert type(box.all[1]) is Mine
    del box
    gc.collect()
    assert m.Knowing.live == before


@pytest.mark.parametrize("derived", [False, True])
def test_what_cpp_did_not_take_knows_its_shared_ptr(m: Any, derived: bool) -> None:
    class Mine(m.Knowing):  # type: ignore[name-defined]
        def run(self) -> int:
            return 9

    before = m.Knowing.live
    one = Mine() if derived else m.Knowing()
    assert m.look(one) == (9 if derived else 1)
    assert one.me() is one and m.pass_(one).run() == (9 if derived else 1)
    del one
    gc.collect()
    assert m.Knowing.live == before


@pytest.mark.parametrize("derived", [False, True])
def test_what_was_given_away_and_came_back_knows_its_shared_ptr(
    m: Any, derived: bool
) -> None:
    class Mine(m.Knowing):  # type: ignore[name-defined]
        def run(self) -> int:
            return 9

    before = m.Knowing.live
    back = m.pass_(Mine() if derived else m.Knowing())
    assert type(back) is (Mine if derived else m.Knowing)
    assert back.me() is back
    assert m.take(back) == (9 if derived else 1)
    del back
    gc.collect()
    assert m.Knowing.live == before


def test_what_others_have_a_share_in_is_not_given_away(m: Any) -> None:
    box = m.Box()
    box.shared = one = m.Knowing()
    with pytest.raises(ValueError, match="C\\+\\+ has a share in"):
        m.take(one)
    box.shared = None
    assert m.take(one) == 1
    with pytest.raises(ValueError, match="made in a std::shared_ptr"):
        m.take(m.make_shared_one())
    with pytest.raises(ValueError, match="was given to C\\+\\+"):
        one.run()


def test_what_is_a_part_of_what_is_shared_is_not_given_away(m: Any) -> None:
    """Nor a base, which C++ could not end."""
    for of in (m.part_of, m.base_of):
        whole = m.Whole()
        part = of(whole)
        del whole
        with pytest.raises(ValueError, match="cannot give it away|has a share in"):
            m.take_part(part)
        assert part.n == 2
    assert m.take_part(m.Part()) == 2


@pytest.mark.parametrize("finalizer", [False, True])
def test_what_cpp_shares_is_not_given_away(m: Any, finalizer: bool) -> None:
    class Mine(m.Job):  # type: ignore[name-defined]
        def run(self) -> int:
            return 7

    if finalizer:
        Mine.__del__ = lambda self: None
    queue = m.Queue()
    queue.held = job = Mine()
    with pytest.raises(ValueError, match="has a share in"):
        m.take_job(job)
    del job
    job = queue.get()
    with pytest.raises(ValueError, match="has a share in"):
        m.take_job(job)
    queue.held = None
    assert job.run() == 7 and m.take_job(job) == 7


def test_what_a_failed_call_took_is_gone(m: Any) -> None:
    before, one = m.Knowing.live, m.Knowing()
    with pytest.raises(RuntimeError, match="not taken"):
        m.take_or_throw(one, True)
    assert m.Knowing.live == before
    with pytest.raises(ValueError, match="was given to C\\+\\+"):
        one.run()


# --- copies --------------------------------------------------------------------------


@each_copy
def test_cpp_calls_the_overrides_of_a_copy(
    importable: Any, monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], Any]
) -> None:
    m = importable

    class Mine(m.Base):  # type: ignore[name-defined]
        def who(self) -> str:
            return f"Mine{self.v}"

    local(Mine, monkeypatch)
    one = Mine(4)
    one.extra = [1]
    other = made(one)
    assert type(other) is Mine and other is not one
    assert (other.who(), m.who(other), other.extra) == ("Mine4", "Mine4", [1])


@each_copy
def test_cpp_calls_the_overrides_of_what_was_moved(
    importable: Any, monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], Any]
) -> None:
    m = importable

    class Own(m.Single):  # type: ignore[name-defined]
        def get(self) -> int:
            return 10 + self.v

    local(Own, monkeypatch)
    assert m.get(made(Own(3))) == 13
    assert m.get(made(m.Single(3))) == 3


@pytest.mark.parametrize("name", ["Plain", "CellInt"])
def test_cpp_calls_the_overrides_of_copies(m: Any, name: str) -> None:
    class Mine(getattr(m, name)):  # type: ignore[misc]
        __slots__ = ("part", "__dict__")

        def get(self) -> int:
            return 10

    one = Mine()
    one.part, one.other = [7], [8]
    flat, deep = copy.copy(one), copy.deepcopy(one)
    for other in (flat, deep):
        assert type(other) is Mine and m.get(other) == 10
        assert (other.part, other.other) == ([7], [8])
    assert flat.part is one.part and deep.part is not one.part


def test_what_has_no_copy_that_python_overrides(
    importable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = importable

    class Mine(m.Fixed):  # type: ignore[name-defined]
        pass

    class Mine2(m.Virtual):  # type: ignore[name-defined]
        pass

    class Mine3(m.Bag):  # type: ignore[name-defined]
        pass

    for cls in (Mine, Mine3):
        local(cls, monkeypatch)
    assert pickle.loads(pickle.dumps(m.Fixed())).get() == 1
    assert pickle.loads(pickle.dumps(m.Bag())).size() == 0
    refused = [(COPIES["pickle2"], Mine()), (copy.copy, Mine2())]
    refused.append((COPIES["pickle2"], Mine3()))
    for made, one in refused:
        with pytest.raises(TypeError, match="Write a __reduce__"):
            made(one)


@each_copy
def test_a_subclass_has_a_recipe_of_its_own(
    importable: Any, monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], Any]
) -> None:
    m = importable

    class Reduced(m.Point):  # type: ignore[name-defined]
        def __reduce__(self) -> Any:
            return build, (Reduced, self.x, 99)

    class Super(m.Point):  # type: ignore[name-defined]
        def __reduce__(self) -> Any:
            return super().__reduce__()

    class Unpickled(m.Bare):  # type: ignore[name-defined]
        def __reduce__(self) -> Any:
            return Unpickled, ()

    for cls in (Reduced, Super, Unpickled):
        local(cls, monkeypatch)
    other = made(build(Reduced, 1, 2))
    assert (type(other), other.x, other.y) == (Reduced, 1, 99)
    other = made(build(Super, 1, 2))
    assert (type(other), other.x, other.y) == (Super, 1, 2)
    assert type(made(Unpickled())) is Unpickled


def build(cls: type, x: float, y: float) -> Any:
    """A point of a subclass."""
    made: Any = cls()
    made.x, made.y = x, y
    return made


@each_copy
def test_what_python_has_put_into_an_object(
    importable: Any, monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], Any]
) -> None:
    m = importable

    class Slots(m.Point):  # type: ignore[name-defined]
        __slots__ = ("part",)

    class States(m.Point):  # type: ignore[name-defined]
        def __getstate__(self) -> Any:
            return {"z": 1}

        def __setstate__(self, state: Any) -> None:
            self.z = state

    class Attributes(m.Point):  # type: ignore[name-defined]
        pass

    for cls in (Slots, States, Attributes):
        local(cls, monkeypatch)
    one = build(Slots, 1, 2)
    one.part = [5]
    other = made(one)
    assert (other.x, other.y, other.part) == (1, 2, [5])
    assert made(States()).z == {"z": 1}
    one = build(Attributes, 1, 2)
    one.itself, one.part = one, [5]
    other = made(one)
    assert (other.y, other.part) == (2, [5])
    assert (other.itself is other) == (made is not copy.copy)
    assert made(Attributes()).y == 0


@each_copy
def test_states_of_the_names_that_python_has(
    importable: Any, monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], Any]
) -> None:
    m = importable

    class Mine(m.Stated):  # type: ignore[name-defined]
        pass

    class Tuple(m.Point):  # type: ignore[name-defined]
        def __getstate__(self) -> Any:
            return (self.part, 2)

        def __setstate__(self, state: Any) -> None:
            self.part = state

    for cls in (Mine, Tuple):
        local(cls, monkeypatch)
    one = m.Stated()
    one.n = 4
    assert made(one).n == 4
    mine = Mine()
    mine.n, mine.part = 5, [6]
    other = made(mine)
    assert (type(other), other.n, other.part) == (Mine, 5, [6])
    both = Tuple()
    both.part = 1
    assert made(both).part == (1, 2)


def test_copies_of_what_refers_to_itself(m: Any) -> None:
    class Mine(m.Plain):  # type: ignore[name-defined]
        pass

    for one in (Mine(), m.Dynamic()):
        one.itself, one.part = [one], [5]
        flat, deep = copy.copy(one), copy.deepcopy(one)
        assert flat.itself is one.itself and flat.part is one.part
        assert deep.itself[0] is deep and deep.part == [5]


def test_an_object_of_several_classes_is_not_copied_in_part(
    importable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = importable

    class Mine(m.Plain, m.Bare):  # type: ignore[name-defined]
        def __init__(self) -> None:
            m.Plain.__init__(self)
            m.Bare.__init__(self)

    class Mine2(m.Base, m.Bare):  # type: ignore[name-defined]
        def __init__(self) -> None:
            m.Base.__init__(self, 1)
            m.Bare.__init__(self)

    local(Mine2, monkeypatch)
    for made, one in ((copy.copy, Mine()), (COPIES["pickle2"], Mine2())):
        with pytest.raises(TypeError, match="C\\+\\+ objects of several classes"):
            made(one)


def test_why_an_object_cannot_be_pickled(m: Any) -> None:
    for made in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="__init__\\(\\) was not called"):
            made(m.Point.__new__(m.Point))
        with pytest.raises(TypeError, match="has no %pickled for it"):
            made(m.Bare())


# --- enums and numbers ----------------------------------------------------------------


def test_an_enum_without_members_is_a_class_of_ints(
    importable: Any,
) -> None:
    m = importable
    one = m.id_of(3)
    assert type(one) is m.Id and one == 3 and m.number_of(one) == 3
    assert m.number_of(m.Id(-5)) == -5
    assert type(pickle.loads(pickle.dumps(one))) is m.Id
    with pytest.raises(TypeError, match="expected an Id for 'id', got int"):
        m.number_of(3)
    with pytest.raises(OverflowError):
        m.number_of(m.Id(2**40))


def test_docs_of_an_enum(m: Any) -> None:
    assert m.Colour.__doc__ == "Colours 😀."
    assert m.Colour.Red.__doc__ == "Like blood 😀."
    assert m.Colour.Green.__doc__ == "Like grass."
    assert m.Alias.First.__doc__ == m.Alias.Second.__doc__ == "the first"
    assert m.Late.__doc__.endswith("after what has them. 😀")
    assert m.Late.name.__doc__ == "Its name 😀"


def test_a_member_of_an_enum_is_no_int_where_there_is_a_choice(m: Any) -> None:
    assert [m.which(one) for one in (1, True, m.Colour.Red, m.Other.Red)] == [
        *("int", "int", "Colour", "Other")
    ]
    assert m.red() is m.Colour.Red and m.which(m.red()) == "Colour"
    assert m.items([m.Colour.Red]) == "colours" and m.items([1]) == "ints"


def test_a_complex_number_is_no_float(m: Any) -> None:
    numpy = pytest.importorskip("numpy")
    assert m.number(2.0) == m.number(numpy.float32(2)) == "double"
    for kind in (complex, numpy.complex64, numpy.complex128, numpy.clongdouble):
        assert m.number(kind(1 + 2j)) == "complex"
    for kind in (numpy.complex64, numpy.clongdouble):
        with pytest.raises(TypeError, match="expected a number for 'x', got .*c"):
            m.half(kind(1 + 2j))
    with pytest.raises(TypeError, match="int"):
        m.number(10**400)


def test_a_lone_surrogate_for_a_string_view(m: Any) -> None:
    with pytest.raises(UnicodeEncodeError, match=r"\[length\] .* 'text'"):
        m.length("\ud800")


# --- names ---------------------------------------------------------------------------


def test_default_values_that_are_declared_later(m: Any) -> None:
    late = m.Late()
    assert (late.at, late.name, m.Late.make()) == (7, "zero()", 3)
    assert (late.many(), late.kind()) == (109, 1)


def test_default_values_that_look_like_names(m: Any) -> None:
    one = m.Letters()
    assert (one.code(), one.choose(), one.quote()) == (107, 5, "'text")
    assert m.Letters.Inner().outer() == 5


def test_templates_with_names_that_are_words_of_pythons(m: Any) -> None:
    words = m.Words()
    assert (words.as_int(), words.as_double(), words.is_int()) == (3, 3.5, False)
    assert (m.Words.from_int(2), m.Words.from_double(2)) == (2, 2.0)
    assert words.with_(in_=4) == 4
    assert [one.name for one in m.Words.Kind] == ["None_", "pass_"]


def test_the_kit_knows_pythons_words() -> None:
    """Those that C++ can say."""
    cpp = "and or not class if else for while break continue return try True False"
    text = (kit_modules.KIT / "include" / "swigkit" / "classes.i").read_text()
    said = set(re.findall(r'^%namewarn\(""\) (\w+);', text, re.M))
    assert said == set(keyword.kwlist) - set(cpp.split())


def test_default_values_in_the_signature(m: Any) -> None:
    assert str(inspect.signature(m.mode)) == "(o=420, h=31, b=3, d=1.0)"
    assert m.mode() == 420 + 31 + 3 + 1


def test_final_methods_are_not_overridden(m: Any) -> None:
    class Mine(m.Closed):  # type: ignore[name-defined]
        def g(self) -> int:
            return 99

        def k(self) -> int:
            return 8

    assert (m.sum(Mine()), m.sum(m.Closed()), m.sum(m.Open())) == (1128, 1127, 111)


def test_methods_that_differ_by_const_alone(m: Any) -> None:
    class Mine(m.One):  # type: ignore[name-defined]
        pass

    class Other(m.One):  # type: ignore[name-defined]
        def g(self) -> int:
            return 5

    assert [m.both(one) for one in (m.One(), Mine(), Other())] == [1102, 1102, 505]


def test_parameters_with_the_name_of_an_output(m: Any) -> None:
    class Mine(m.Reader):  # type: ignore[name-defined]
        def read(self, label: str) -> int:
            return 2 * len(label)

        def both(self, text: str) -> Any:
            return 3, text * 2

    assert (m.get_dims(), m.sum_of([1, 2, 3]), m.fill()) == ([1, 2, 3], 6, "filled")
    with pytest.raises(TypeError, match="expected a sequence for 'dims'"):
        m.sum_of(5)
    assert (m.read(m.Reader()), m.read(Mine())) == (314, 638)


def test_the_header_sees_the_standard_that_it_is_compiled_by(m: Any) -> None:
    assert m.standard() == 20


def test_static_methods_by_using(m: Any) -> None:
    assert (m.Uses.inherited(), m.Uses.inherited(5)) == (4, 5)
    assert m.Hides.inherited() == 4 and not issubclass(m.Hides, m.Ancestor)


def test_parameters_that_differ_by_an_underscore(m: Any) -> None:
    assert list(inspect.signature(m.Named.digits).parameters) == [
        *("self", "self__", "cls", "self_")
    ]
    assert m.Named().digits(1) == 123
    assert m.Named().digits(self__=4, cls=5, self_=6) == 456


def test_an_operator_of_a_template_beside_another_namespaces(m: Any) -> None:
    money, amount = m.Money(), m.Amount()
    money.cents, amount.n = 10, 3
    assert (money * 2.5).cents == 25 and (amount * 4).n == 12


def test_the_stub_names_what_the_module_has(m: Any, tmp_path: Path) -> None:
    mypy = pytest.importorskip("mypy")
    assert mypy
    stub = Path(kit_modules.build(THEME, "kit")).with_name(f"{THEME}.pyi")
    (tmp_path / stub.name).write_text(stub.read_text(encoding="utf-8"))
    program = tmp_path / "program.py"
    program.write_text(
        "import datetime\n"
        "import copies\n"
        "q: copies.Qualified = copies.Qualified()\n"
        "a: int = q.at(1) + q.ref()\n"
        "b: str = q.build()\n"
        "h: float = q.half(3)\n"
        "s: copies.Shadowing = copies.Shadowing()\n"
        "t: datetime.timedelta = s.wait()\n"
        "c: int = s.over('') + s.call(lambda x: x) + copies.Shadowing.seen\n"
        "i: copies.Id = copies.id_of(3)\n"
        "n: int = copies.Id(4)\n"
    )
    done = subprocess.run(
        [*(sys.executable, "-m", "mypy"), *("--strict", "--no-incremental"), program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_methods_with_a_reference_qualifier(m: Any) -> None:
    one = m.Qualified()
    assert (one.at(1), one.build(), one.ref()) == (2, "built", 1)
    assert one.half(3) == 1.5
    other = m.Shadowing()
    assert (other.typing, other.wait().seconds, other.over(""), other.call(int)) == (
        *(1, 6, 2, 1),
    )

# SPDX-License-Identifier: Apache-2.0
"""Types across the border between Python and C++, both ways.

tests/border/border.h has one function for each kind of type; its Python module is made
with the package's SWIG typemaps or with pybind11, whichever binding this run is on.
"""

import array
import enum
import gc
import inspect
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

from build import load
from pkg._binding import core

border = load()
SWIG = core.__name__ == "pkg._pywrap_core"


class wrong:  # noqa: N801  (reads as a statement)
    """A wrong argument: our text is compared, pybind11's own wording is not.

    `pybind11` is the class of its error where it has another one.
    """

    def __init__(self, text, error=TypeError, pybind11=None):
        self.text = text
        self.error = error if SWIG else pybind11 or error

    def __enter__(self):
        self.raises = pytest.raises(self.error)
        self.info = self.raises.__enter__()

    def __exit__(self, *exception):
        swallowed = self.raises.__exit__(*exception)
        if SWIG:
            assert str(self.info.value) == self.text
        return swallowed


@pytest.mark.parametrize(
    "name, bits, signed",
    [
        ("int32", 32, True),
        ("int64", 64, True),
        ("uint8", 8, False),
        ("uint64", 64, False),
    ],
)
def test_ints(name, bits, signed):
    """The whole range and no more; whatever has __index__."""
    same = getattr(border, f"same_{name}")
    low = -(2 ** (bits - 1)) if signed else 0
    high = low + 2**bits - 1
    for value in (low, 0, 1, high):
        assert same(value) == value and type(same(value)) is int
    assert same(True) == 1
    for kind in (np.int8, np.uint8, np.int64, np.uint64, np.array):
        assert same(kind(7)) == 7
    limits = f"an int of {bits} bits" + ("" if signed else ", 0 or more")
    for value in (low - 1, high + 1, 2**200, -(2**200)):
        with wrong(
            f"[same_{name}] expected {limits} for 'value', got {value}",
            OverflowError,
            pybind11=TypeError,
        ):
            same(value)
    floats = (1.5, np.float32(1)) if SWIG else (1.5,)  # pybind11 asks __int__, too
    for value in (*floats, "1", None, b"1"):
        with wrong(
            f"[same_{name}] expected an int for 'value', got {type_name(value)}"
        ):
            same(value)


def type_name(value):
    """As C sees it: NumPy's scalar types have their module in it."""
    cls = type(value)
    return f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__


def test_floats():
    """Also what has __float__; no str."""
    for value in (0.1, -0.0, 1e300, float("inf"), 3, True):
        assert border.same_double(value) == value
        assert type(border.same_double(value)) is float
    assert np.isnan(border.same_double(float("nan")))
    assert border.same_float(0.1) == np.float32(0.1)
    for value in (np.float32(1.5), np.float64(1.5), np.float16(1.5), np.array(1.5)):
        assert border.same_double(value) == 1.5
    with wrong(
        "[same_double] expected a number below 1.8e308 for 'value', got a larger int",
        OverflowError,
        pybind11=TypeError,
    ):
        border.same_double(10**400)
    for value in ("1", None, [1], 1j):
        with wrong(
            f"[same_double] expected a number for 'value', got {type_name(value)}"
        ):
            border.same_double(value)


def test_bools():
    """A real bool comes back."""
    for value in (True, False, np.bool_(True), np.bool_(False)):
        assert border.same_bool(value) is bool(value)
    if SWIG:  # what says of itself whether it is true; pybind11 takes no ints
        assert border.same_bool(1) is True and border.same_bool(0) is False
        with wrong("[same_bool] expected a bool for 'value', got list"):
            border.same_bool([1])
        with pytest.raises(ValueError, match="ambiguous"):
            border.same_bool(np.ones(2))


def test_strings():
    """UTF-8, of any length, NUL included; lone surrogates cannot pass."""
    for text in ("", "a\0b", "\0", "é€😀", "x" * 10_000_000, "ab\ud7ff"):
        assert border.same_string(text) == text
        assert border.bytes_of(text) == len(text.encode())
    for text in ("\ud800", "a\udfff"):
        where = r"position \d: \[same_string\] expected no lone surrogates for 'text'$"
        with pytest.raises(
            UnicodeEncodeError if SWIG else TypeError, match=where if SWIG else None
        ):
            border.same_string(text)
    with pytest.raises(UnicodeDecodeError):
        border.broken_string()
    for value in (None, 3, ["a"]):
        with wrong(f"[same_string] expected a str for 'text', got {type_name(value)}"):
            border.same_string(value)
    assert border.same_string("ä".encode()) == "ä"


def test_bytes():
    """bytes and every buffer without gaps."""
    for data in (b"", b"a\0b", bytearray(b"xyz"), memoryview(b"xyz"), b"\xff" * 10**6):
        assert border.reversed_bytes(data) == bytes(data)[::-1]
    assert border.reversed_bytes(array.array("H", [1])) == b"\x00\x01"
    assert border.reversed_bytes(np.array([1, 2], "u1")) == b"\x02\x01"
    with pytest.raises(BufferError, match="not (C-)?contiguous"):
        border.reversed_bytes(memoryview(b"abc")[::2])
    for value in ("s", None, 3, [1]):
        with wrong(
            f"[reversed_bytes] expected bytes for 'data', got {type_name(value)}"
        ):
            border.reversed_bytes(value)
    data = bytearray(b"abc")
    border.reversed_bytes(data)
    data.append(1)  # the buffer was given back


def test_vectors():
    """Sequences, NumPy arrays included, but no text; a list comes back."""
    for values in (
        [],
        [1, 2.5],
        (1, 2),
        range(3),
        np.arange(3.0),
        array.array("d", [2]),
    ):
        assert border.doubled(values) == [2 * v for v in values]
    assert border.transposed([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]
    assert border.transposed(np.array([[1, 2], [3, 4]])) == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match=r"^\[transposed\] ragged rows$"):
        border.transposed([[1], [2, 3]])
    for value in ("12", b"12", 3, None, {1: 2}):
        with wrong(
            f"[doubled] expected a sequence for 'values', got {type_name(value)}"
        ):
            border.doubled(value)
    with wrong("[doubled] expected a number for 'values[1]', got str"):
        border.doubled([1, "a"])
    with wrong("[transposed] expected a number for 'rows[1][0]', got NoneType"):
        border.transposed([[1], [None]])


def test_a_list_that_changes_while_it_is_read():
    """Python code of an item runs during the conversion."""
    values = [1.0] * 100

    class Shrinks:
        def __float__(self):
            del values[2:]
            return 5.0

    values[1] = Shrinks()
    assert border.doubled(values)[:2] == [2, 10]


def test_maps():
    """Ordered and hashed, also with containers in them."""
    assert border.raised({"a": 1, "é\0": 2.5}, by=1) == {"a": 2, "é\0": 3.5}
    assert border.raised({}, 1) == {}
    assert border.by_length(["a", "bb", "c"]) == {1: ["a", "c"], 2: ["bb"]}
    assert border.count_words({1: ["a"], 2: ("bb", "cc")}) == 3
    for value in ([("a", 1)], None, "ab"):
        with wrong(f"[raised] expected a mapping for 'prices', got {type_name(value)}"):
            border.raised(value, 1)
    with wrong("[raised] expected a number for 'prices['a']', got str"):
        border.raised({"a": "x"}, 1)
    with wrong("[raised] expected a str for 'prices (key 1)', got int"):
        border.raised({1: 1}, 1)
    with wrong("[count_words] expected a str for 'groups[1][1]', got int"):
        border.count_words({1: ["a", 2]})


def test_pairs_and_tuples():
    """Exactly as many items, each of its type."""
    assert border.swapped((1, "a")) == ("a", 1)
    assert border.swapped([1, "a"]) == ("a", 1)
    assert border.rotated(("a", True, 2)) == (True, 2.0, "a")
    for value in ((1,), (1, "a", 2), ()):
        with wrong(f"[swapped] expected a sequence of 2 for 'pair', got {len(value)}"):
            border.swapped(value)
    with wrong("[swapped] expected a str for 'pair[1]', got int"):
        border.swapped((1, 2))
    with wrong("[swapped] expected a sequence of 2 for 'pair', got str"):
        border.swapped("ab")


def test_optional():
    """The value or None, both ways."""
    assert border.half_of(3) == 1.5
    assert border.half_of(None) is None
    with wrong("[half_of] expected a number or None for 'value', got str"):
        border.half_of("a")


def test_enums_are_int_enums():
    """Members are ints, but ints are no members."""
    color = border.Color
    assert issubclass(color, enum.IntEnum)
    assert {c.name: c.value for c in color} == {"Red": 1, "Green": 2, "Blue": 4}
    assert border.next_color(color.Red) is color.Green
    assert border.all_colors() == list(color)
    assert color.Red | color.Blue == 5 and repr(color.Red) == "<Color.Red: 1>"
    assert color.__module__ == "border"
    for value in (1, "Red", None, enum.IntEnum("Color", {"Red": 1}).Red):
        got = type_name(value)
        with wrong(f"[next_color] expected a Color for 'color', got {got}"):
            border.next_color(value)
    with pytest.raises(ValueError, match="9 is not a valid"):
        border.no_color()


def test_callables():
    """Functions, bound methods, classes, objects with __call__."""

    class Scale:
        def times(self, x):
            return 3 * x

        __call__ = times

    for f in (lambda x: 3 * x, Scale().times, Scale(), (3.0).__mul__):
        assert border.call(f, 2) == 6
    assert border.call(float, 2) == 2
    with pytest.raises(RuntimeError, match="bad_function_call"):
        border.call(None, 2)  # an empty std::function
    for value in (3, "f"):
        with wrong(f"[call] expected a callable for 'f', got {type_name(value)}"):
            border.call(value, 2)
    with wrong("[call] expected a number for 'f()', got str", pybind11=RuntimeError):
        border.call(lambda x: "s", 2)
    with pytest.raises(TypeError, match="positional argument"):
        border.call(lambda: 1, 2)


def raise_at_three(i):
    """Fails in a line that the traceback must show."""
    if i == 3:
        raise LookupError("three", i)
    return i


def test_callables_on_worker_threads():
    """What they raise there arrives here: the same object, with its traceback."""
    names = set()

    def note(i):
        names.add(threading.get_ident())
        return i * i

    assert border.sum_on_threads(note, 5) == 30
    assert threading.get_ident() not in names
    with pytest.raises(LookupError) as info:
        border.sum_on_threads(raise_at_three, 5)
    assert info.value.args == ("three", 3)
    frames = traceback.extract_tb(info.value.__traceback__)
    assert frames[-1].name == "raise_at_three"
    assert frames[-1].line == 'raise LookupError("three", i)'
    mine = KeyError("mine")

    def raise_mine(i):
        raise mine

    with pytest.raises(KeyError) as info:
        border.sum_on_threads(raise_mine, 1)
    assert info.value is mine
    info = mine.__traceback__ = None
    with pytest.raises(KeyboardInterrupt):
        border.sum_on_threads(lambda i: (_ for _ in ()).throw(KeyboardInterrupt), 3)


def test_a_kept_callable_is_released():
    """Also when C++ drops it on a thread that does not hold the GIL."""

    class Listener:
        def __init__(self):
            self.heard = []

        def __call__(self, text):
            self.heard.append(text)

    listener = Listener()
    alive = weakref.ref(listener)
    border.listen(listener)
    border.tell("é\0")
    assert listener.heard == ["é\0"]
    del listener
    gc.collect()
    assert alive() is not None
    border.forget()
    assert alive() is None
    border.tell("nobody hears")


def test_handles():
    """Construction, use, errors of the object itself, use after close."""
    account = border.Account("Ann", balance=2)
    account.deposit(amount=3)
    assert (account.owner(), account.balance()) == ("Ann", 5)
    assert border.owner_of(account) == "Ann"
    other = border.Account("é\0")
    border.transfer(account, other, 4)
    assert (account.balance(), other.balance()) == (1, 4)
    account.close()
    with pytest.raises(
        RuntimeError, match=r"^\[Account.deposit\] the account is closed$"
    ):
        account.deposit(1)
    with pytest.raises(RuntimeError, match="the account is closed"):
        border.transfer(account, other, 1)
    alive = border.accounts_alive()
    with pytest.raises(ValueError, match=r"^\[Account\] expected a name$"):
        border.Account("")
    with wrong("[Account] expected a str for 'owner', got int"):
        border.Account(3)
    assert border.accounts_alive() == alive
    del account, other
    gc.collect()
    assert border.accounts_alive() == alive - 2


def test_none_and_wrong_classes_for_handles():
    """A pointer is never null, unless the interface says that it may be."""
    account, node = border.Account("Ann"), border.Node(1)
    assert border.owner_or_nobody(None) == "nobody"
    assert border.owner_or_nobody(account) == "Ann"
    for value in (None, 3, "Ann", [account]):
        got = type_name(value)
        with wrong(f"[owner_of] expected an Account for 'account', got {got}"):
            border.owner_of(value)
        with wrong(f"[transfer] expected an Account for 'to', got {got}"):
            border.transfer(account, value, 1)
        if value is None:
            continue  # a std::shared_ptr may be null
        with wrong(f"[linked] expected a Node for 'rest', got {got}"):
            border.linked(1, value)
        with wrong(f"[Node.set_next] expected a Node for 'next', got {got}"):
            node.set_next(value)
    with wrong("[owner_of] expected an Account for 'account', got border.Node"):
        border.owner_of(node)
    with wrong("[linked] expected a Node for 'rest', got border.Account"):
        border.linked(1, account)
    with wrong("[owner_or_nobody] expected an Account or None for 'maybe', got int"):
        border.owner_or_nobody(3)


def test_shared_pointers():
    """Ownership is shared by both sides."""
    gc.collect()
    before = border.nodes_alive()
    rest = border.Node(2)
    first = border.linked(1, rest)
    del rest
    gc.collect()
    assert border.nodes_alive() == before + 2
    second = first.next()
    assert second.value() == 2 and second.next() is None
    # Two objects of Python, one of C++; which means no more than that.
    again = first.next()
    assert second == again and hash(second) == hash(again)
    assert not second != again and {second: 1}[again] == 1
    assert second != first and second != 2 and second is not None
    assert second != border.Node(2) and second != border.Account("Ann")
    with pytest.raises(TypeError):
        second < again  # noqa: B015
    del again
    del first
    gc.collect()
    assert border.nodes_alive() == before + 1
    assert second.value() == 2
    del second
    gc.collect()
    assert border.nodes_alive() == before


CVARS = ("hits", "rate", "title")  # those that can be written


def test_global_variables():
    """Read live, written through, checked; a constant cannot be written, and nothing
    can be deleted."""
    cvar = border.cvar
    cvar.hits = 7
    assert border.read_hits() == 7
    border.hit()
    assert cvar.hits == 8
    cvar.hits = np.int16(3)
    cvar.rate = 2
    assert (cvar.hits, cvar.rate) == (3, 2.0)
    cvar.title = "né\0"
    assert cvar.title == "né\0"
    with wrong("[cvar] expected an int for 'hits', got str"):
        cvar.hits = "a"
    with wrong("[cvar] expected an int for 'hits', got float"):
        setattr(cvar, "hits", 1.5)  # noqa: B010  (another path in CPython)
    with wrong("[cvar] expected a str for 'title', got NoneType"):
        cvar.title = None
    assert (cvar.hits, cvar.title) == (3, "né\0")
    assert cvar.limit == 100
    with pytest.raises(AttributeError):
        cvar.limit = 2
    assert cvar.limit == 100
    with pytest.raises(AttributeError):
        cvar.nope  # noqa: B018
    for name in ("hits", "rate", "title", "limit", "nope"):
        text = f"cannot delete '{name}'" if SWIG and name in CVARS else None
        with pytest.raises(AttributeError, match=text):
            delattr(cvar, name)
    assert (cvar.hits, cvar.rate, cvar.title, cvar.limit) == (3, 2.0, "né\0", 100)


def test_no_call_leaks_a_reference():
    """Neither the good calls nor the failing ones, for arguments and results."""
    shared = [1.0, 2.0]
    key, text, function = "k" * 50, "t" * 50, abs
    calls = [
        lambda: border.doubled(shared),
        lambda: border.transposed([shared, shared]),
        lambda: border.raised({key: 1.0}, 1),
        lambda: border.raised({key: key}, 1),
        lambda: border.swapped((1, text)),
        lambda: border.swapped((text, text)),
        lambda: border.half_of(None),
        lambda: border.call(function, 1),
        lambda: border.call(lambda x: text, 1),
        lambda: border.sum_on_threads(function, 1),
        lambda: border.next_color(border.Color.Red),
        lambda: border.next_color(text),
        lambda: border.owner_of(text),
        lambda: border.reversed_bytes(b"abc"),
    ]
    watched = [shared, key, text, function, None, border.Color.Red, border.Color]

    def counts():
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except (TypeError, RuntimeError):
                    pass

    run(3)
    before = counts()
    run(1000)
    grown = [b - a for a, b in zip(before, counts())]
    assert max(grown) < 100, grown


@pytest.mark.skipif(not SWIG, reason="pybind11 shows its signatures in docstrings only")
def test_keyword_names_are_those_of_the_header():
    """As in border.h; wrong ones are named in the error."""
    assert border.raised(by=1, prices={"a": 1}) == {"a": 2}
    with pytest.raises(TypeError, match="unexpected keyword argument 'bye'"):
        border.raised({}, bye=1)
    with pytest.raises(TypeError, match="missing required argument 'by'"):
        border.raised({})
    assert inspect.isbuiltin(border.raised)

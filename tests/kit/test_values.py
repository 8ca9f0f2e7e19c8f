# SPDX-License-Identifier: Apache-2.0
"""Plain values both ways: cases/values.h by pybind11 and by the kit."""

import array
import datetime
import gc
import pathlib
import sys

import numpy as np
import pytest

THEME = "values"

INTS = [
    ("int8", 8, True),
    ("int16", 16, True),
    ("int32", 32, True),
    ("int64", 64, True),
    ("uint8", 8, False),
    ("uint16", 16, False),
    ("uint32", 32, False),
    ("uint64", 64, False),
    ("long_long", 64, True),
    ("size", 64, False),
]


@pytest.mark.parametrize("name, bits, signed", INTS)
def test_ints_at_their_limits(m, refuses, name, bits, signed):
    """The whole range and no more."""
    same = getattr(m, f"same_{name}")
    low = -(2 ** (bits - 1)) if signed else 0
    high = low + 2**bits - 1
    for value in (low, low + 1, 0, 1, high - 1, high):
        assert same(value) == value and type(same(value)) is int
    limits = f"an int of {bits} bits" + ("" if signed else ", 0 or more")
    for value in (low - 1, high + 1, 2**200, -(2**200)):
        with refuses(
            f"[same_{name}] expected {limits} for 'value', got {value}",
            OverflowError,
            pybind11=TypeError,
        ):
            same(value)


def test_what_is_an_int(m, refuses):
    """Whatever has __index__; no float, not even a whole one, and no text."""
    for kind in (np.int8, np.uint8, np.int64, np.uint64):
        assert m.same_int32(kind(7)) == 7
    assert m.same_int8(True) == 1

    class Seven:
        def __index__(self):
            return 7

    assert m.same_uint16(Seven()) == 7
    for value in (1.5, 1.0, "1", None, b"1", [1]):
        got = type(value).__name__
        with refuses(f"[same_int32] expected an int for 'value', got {got}"):
            m.same_int32(value)


def test_an_index_that_raises(m):
    """What the object raises arrives, if not as it is then as its cause."""

    class Bad:
        def __index__(self):
            raise LookupError("bad index")

    with pytest.raises((LookupError, TypeError)):
        m.same_int64(Bad())


def test_floats(m, refuses):
    """Whatever has __float__ or __index__; no text."""
    for value in (0.1, -0.0, 1e300, float("inf"), 3, True):
        assert m.same_double(value) == value
        assert type(m.same_double(value)) is float
    assert np.isnan(m.same_double(float("nan")))
    assert np.signbit(m.same_double(-0.0))
    assert m.same_float(0.1) == np.float32(0.1)
    assert m.same_float(2.5) == 2.5
    for value in (np.float32(1.5), np.float64(1.5), np.float16(1.5)):
        assert m.same_double(value) == 1.5
    for value in ("1", None, [1], 1j):
        got = type(value).__name__
        with refuses(f"[same_double] expected a number for 'value', got {got}"):
            m.same_double(value)


def test_complex(m, refuses):
    """Real numbers are complex ones, too."""
    for value in (1 + 2j, -3j, 1.5, 2, np.complex64(1 + 1j), np.float64(2)):
        result = m.same_complex(value)
        assert result == value and type(result) is complex
    assert m.same_complex_float(0.1j) == complex(np.complex64(0.1j))
    for value in ("1", None, [1]):
        with refuses():
            m.same_complex(value)


def test_bools(m, refuses):
    """A real bool comes back."""
    for value in (True, False, np.bool_(True), np.bool_(False)):
        assert m.same_bool(value) is bool(value)

    class Broken:
        def __bool__(self):
            raise LookupError("neither")

    with pytest.raises((LookupError, TypeError)):
        m.same_bool(Broken())
    assert m.same_bool(None) is False and m.same_bool(2) is True
    for value in ("False", [], object()):  # these merely are there
        with refuses(
            f"[same_bool] expected a bool for 'value', got {type(value).__name__}"
        ):
            m.same_bool(value)


def test_numbers_by_reference(m):
    """A reference to const is a value."""
    assert m.sum_of(1, 0.5) == 1.5
    assert m.sum_of(b=1, a=2**53) == 2.0**53 + 1


def test_no_result_is_none(m):
    assert m.nothing() is None
    with pytest.raises(TypeError):
        m.nothing(1)


def test_single_characters(m):
    """A char is a str of one character of ASCII."""
    for value in ("x", "\0", "~"):
        assert m.same_char(value) == value
    for value in ("xy", "", "€", None, 1.5):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            m.same_char(value)


def test_strings(m, refuses):
    """UTF-8, of any length, NUL included; lone surrogates cannot pass."""
    for text in ("", "a\0b", "\0", "é€😀", "x" * 1_000_000, "ab\ud7ff"):
        assert m.same_string(text) == text
        assert m.of_view(text) == text
        assert m.by_value(text) == text + "!"
        assert m.bytes_of(text) == len(text.encode())
    for text in ("\ud800", "a\udfff"):
        with refuses(None, UnicodeEncodeError, pybind11=TypeError):
            m.same_string(text)
    for value in (None, 3, ["a"]):
        got = type(value).__name__
        with refuses(f"[same_string] expected a str for 'text', got {got}"):
            m.same_string(value)
        with refuses(f"[of_view] expected a str for 'text', got {got}"):
            m.of_view(value)


def test_texts_of_c(m):
    """const char* both ways."""
    assert m.of_pointer("né") == "né" and m.literal() == "hé"
    with pytest.raises(TypeError):
        m.of_pointer(3)


def test_a_text_that_is_no_utf_8(m):
    with pytest.raises(UnicodeDecodeError):
        m.broken_string()


def test_bytes(m, kit):
    """bytes come back; every buffer without gaps goes in."""
    for data in (b"", b"a\0b", b"\xff\xfe" * 1000):
        assert m.reversed(data) == data[::-1]
        assert type(m.reversed(data)) is bytes
        assert m.reversed(bytearray(data)) == data[::-1]
    with pytest.raises(TypeError):
        m.reversed(3)
    if kit:  # the twin takes a view of characters, which a str is, too
        assert m.reversed(memoryview(b"xyz")) == b"zyx"
        assert m.reversed(array.array("B", [1, 2])) == b"\2\1"
        assert m.reversed(np.array([1, 2], "u1")) == b"\2\1"
        with pytest.raises(TypeError, match="expected bytes for 'data', got str"):
            m.reversed("s")
        with pytest.raises((BufferError, ValueError)):
            m.reversed(memoryview(b"abc")[::2])
        data = bytearray(b"abc")
        m.reversed(data)
        data.append(1)  # the buffer was given back


def test_a_text_is_no_path_where_a_text_will_do(m):
    assert m.path_or_text("a") == "text"
    assert m.path_or_text(pathlib.Path("a")) == "path"


def test_paths(m, refuses):
    """str and whatever has __fspath__; a pathlib.Path comes back."""
    want = pathlib.Path("a/b")
    for path in ("a/b/c", pathlib.Path("a/b/c"), pathlib.PurePosixPath("a/b/c")):
        result = m.parent(path)
        assert result == want and isinstance(result, pathlib.Path)
    assert m.parent("é/x") == pathlib.Path("é")

    class Where:
        def __fspath__(self):
            return "a/b/c"

    assert m.parent(Where()) == want
    for value in (None, 3, ["a"]):
        with refuses():
            m.parent(value)


def test_durations(m, refuses):
    """timedelta both ways, to the microsecond, also below zero."""
    delta = datetime.timedelta
    for time in (
        delta(0),
        delta(microseconds=1),
        delta(days=-3, seconds=5, microseconds=7),
        delta(days=10_000),
    ):
        assert m.twice(time) == 2 * time
    assert m.in_ms(delta(seconds=1, milliseconds=5)) == 1005
    assert m.seconds(1.5) == delta(seconds=1, milliseconds=500)
    for value in (None, "1", [1]):
        with refuses():
            m.twice(value)


def test_points_in_time(m, refuses):
    """datetime of the local time zone, as Python has it without one."""
    for time in (
        datetime.datetime(2020, 2, 29, 12, 30, 59, 123456),
        datetime.datetime(1970, 1, 2),
        datetime.datetime(2038, 1, 20, 1, 2, 3),
    ):
        result = m.later(time, datetime.timedelta(seconds=60))
        assert result == time + datetime.timedelta(seconds=60)
        assert result.tzinfo is None
    with refuses():
        m.later("now", datetime.timedelta())


def test_variants(m, refuses):
    """The alternative that is meant exactly comes before those that could be made."""
    for value, name in [
        (3, "int"),
        (-(2**63), "int"),
        (3.0, "double"),
        (0.5, "double"),
        ("3", "string"),
        (np.float64(3), "double"),
        (np.int16(3), "int"),
    ]:
        assert m.held(value) == name
        assert m.same_variant(value) == value
    assert type(m.same_variant(3)) is int and type(m.same_variant(3.0)) is float
    for value in (None, [1], 1j):
        with refuses():
            m.held(value)


def test_a_variant_with_nothing_in_it(m):
    """std::monostate is None."""
    for value in (None, True, False, [1, 2], []):
        assert m.same_maybe(value) == value
        assert type(m.same_maybe(value)) is type(value)


def test_optional(m, refuses):
    """The value or None, both ways and inside others."""
    assert m.half_of(4) == 2 and m.half_of(3) is None and m.half_of(None) is None
    assert m.first_of([None, "b", None, "c"]) == "b"
    assert m.first_of([None]) is None and m.first_of([]) is None
    with refuses("[half_of] expected an int or None for 'value', got str"):
        m.half_of("4")
    with refuses("[first_of] expected a str or None for 'all[1]', got int"):
        m.first_of([None, 3])


def test_no_call_leaks_a_reference(m):
    """Neither the good calls nor the failing ones, for arguments and results."""
    text, data, where = "t" * 50, b"d" * 50, pathlib.Path("a/b")
    calls = [
        lambda: m.same_string(text),
        lambda: m.same_int32(text),
        lambda: m.same_complex(1j),
        lambda: m.reversed(data),
        lambda: m.parent(where),
        lambda: m.parent(None),
        lambda: m.twice(text),
        lambda: m.same_variant(text),
        lambda: m.same_variant(None),
        lambda: m.first_of([None, text]),
        lambda: m.same_maybe(None),
    ]
    watched = [text, data, where, None, True]

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
    grown = [b - a for a, b in zip(before, run(500))]
    assert max(grown) < 100, grown


def test_times_that_do_not_fit(m, kit):
    """A silent wrap to another century would be worse than an error."""
    delta = datetime.timedelta
    assert m.ns(delta(days=100000)) == delta(days=100000)
    if not kit:
        return  # pybind11 wraps around
    for time in (delta.max, delta.min):  # in whole seconds they fit
        assert abs(m.whole(time) - time) < delta(seconds=1)
    for wrong in (delta.max, delta.min, 1e300, -1e30):
        with pytest.raises(OverflowError, match="a time that C\\+\\+'s type can hold"):
            m.ns(wrong)
    with pytest.raises(OverflowError):
        m.whole(1e300)
    with pytest.raises(OverflowError, match="no timedelta can hold"):
        m.longest()
    with pytest.raises(OverflowError):
        m.later(datetime.datetime.max, delta())

# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the standard and of CPython: cases/errors.h by pybind11 and by the
kit."""

import errno
import gc
import sys

import pytest

THEME = "errors"


@pytest.fixture(autouse=True)
def nothing_is_alive(m):
    yield
    gc.collect()
    assert m.Fragile.count() == 0


STANDARD = [
    ("invalid_argument", ValueError),
    ("domain_error", ValueError),
    ("out_of_range", IndexError),
    ("length_error", ValueError),
    ("overflow_error", OverflowError),
    ("runtime_error", RuntimeError),
    ("logic_error", RuntimeError),
]


@pytest.mark.parametrize("kind, error", STANDARD)
def test_exceptions_of_the_standard(m, kind, error):
    """CPython's own of the same meaning, with the text."""
    with pytest.raises(error, match="^näh$") as info:
        m.fail(kind, "näh")
    assert type(info.value) is error


def test_exceptions_with_texts_of_their_own(m):
    with pytest.raises(MemoryError):
        m.fail("bad_alloc", "")
    with pytest.raises((RuntimeError, TypeError)):
        m.fail("bad_cast", "")
    with pytest.raises((RuntimeError, ValueError, OverflowError)):
        m.fail("range_error", "")
    with pytest.raises(IndexError, match="1"):
        m.too_large()


def test_errors_of_the_system(m, kit):
    """With the number and the text that the system has for it."""
    with pytest.raises(OSError if kit else RuntimeError) as info:
        m.fail_noent("no/such/file")
    assert "no/such/file" in str(info.value)
    if kit:
        assert type(info.value) is FileNotFoundError
        assert info.value.errno == errno.ENOENT


def test_values_that_are_not_there(m, kit):
    for call in (m.empty_optional, m.wrong_variant):
        with pytest.raises(ValueError if kit else RuntimeError):
            call()


def test_what_is_no_exception(m):
    """C++ can throw anything; the process lives on."""
    for kind in ("Odd", "int"):
        with pytest.raises((RuntimeError, SystemError)):
            m.fail(kind, "")
    with pytest.raises(ValueError):
        m.fail("invalid_argument", "")


def test_texts_of_errors(m):
    """As they are: long ones, empty ones, percent signs; what is no UTF-8 can be
    read somehow."""
    for text in ("", "100 % {0} %s", "x" * 10_000, "né€😀", "two\nlines"):
        with pytest.raises(RuntimeError) as info:
            m.fail("runtime_error", text)
        assert str(info.value) == text


def test_texts_of_errors_that_c_would_end(m, kit):
    """What has a zero in it, or is no UTF-8."""
    if not kit:
        pytest.skip("there they end, or are another error")

    class Key:
        def __repr__(self):
            return "a\0b"

    with pytest.raises(RuntimeError) as info:
        m.throw_text("a\0b")
    assert str(info.value) == "a\0b"
    with pytest.raises(RuntimeError) as info:
        m.throw_text(b"a\xff")
    assert str(info.value) == "a\ufffd"
    with pytest.raises(FileNotFoundError, match="\ufffd"):
        m.fail_noent(b"no/\xff")
    with pytest.raises(TypeError) as info:
        m.count_of({Key(): "x"})
    assert str(info.value) == (
        r"[count_of] expected an int for 'counts[a\x00b]', got str"
    )
    with pytest.raises(ValueError, match="no NUL"):
        m.length_of("a\0b")
    assert m.held_text(ValueError("a\0b")) == "a\0b"


def test_exceptions_as_values(m, kit):
    """std::exception_ptr: of Python's the very object, of C++'s as it is raised."""
    if not kit:
        pytest.skip("pybind11 has no conversion for it")
    seen = []
    m.report("", seen.append)
    m.report("out_of_range", seen.append)
    m.report("DeepError", seen.append)
    none, standard, deep = seen
    assert none is None and type(standard) is IndexError and str(standard) == "reported"
    assert type(deep) is m.DeepError
    mine = KeyError("mine")
    m.hold(mine)
    assert m.get_held() is mine
    with pytest.raises(KeyError) as info:
        m.throw_held()
    assert info.value is mine
    for context in (None, OSError("before")):
        mine.__context__ = context
        try:
            raise LookupError("is handled")
        except LookupError:
            m.hold(mine)
        assert m.get_held() is mine and mine.__context__ is context
    m.hold(error=None)
    m.throw_held()
    assert m.get_held() is None
    with pytest.raises(TypeError) as info:
        m.hold(3)
    assert (
        str(info.value) == "[hold] expected an exception or None for 'error', got int"
    )
    m.hold(deep)
    with pytest.raises(m.DeepError):
        m.throw_held()
    count = sys.getrefcount(mine)
    for _ in range(10):
        m.hold(mine)
        m.get_held()
    m.hold(None)
    assert sys.getrefcount(mine) == count


def test_an_iterator_that_ends_by_an_exception(m, kit):
    if not kit:
        pytest.skip("the twin has no such classes")
    assert list(m.Countdown(3)) == [3, 2, 1] and sum(m.Countdown(0)) == 0


def test_an_attribute_that_is_not_there(m, kit):
    """To hasattr() and getattr() as well."""
    if not kit:
        pytest.skip("the twin has no such classes")
    assert not hasattr(m.Countdown(1), "weight")
    assert getattr(m.Countdown(1), "weight", 5) == 5
    with pytest.raises(AttributeError, match="no weight"):
        assert m.Countdown(1).weight


def test_errors_of_what_python_asks(m, kit):
    if not kit:
        pytest.skip("the twin has no such classes")
    faulty = m.Faulty()
    questions = [len, repr, str, hash, bool, float, memoryview, list]
    questions += [lambda x: 3 in x, lambda x: x == m.Faulty(), lambda x: [1][x]]
    questions += [lambda x: x[0], lambda x: f"{x}", lambda x: {x: 1}]
    for ask in questions:
        with pytest.raises(RuntimeError, match="^refused$"):
            ask(faulty)


def test_deep_recursion(m):
    """Python's own limit ends it."""

    def again():
        return m.call(again)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        with pytest.raises(RecursionError):
            again()
    finally:
        sys.setrecursionlimit(limit)

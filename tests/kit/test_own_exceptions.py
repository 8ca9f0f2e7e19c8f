# SPDX-License-Identifier: Apache-2.0
"""The module's own exceptions, and Python's on their way through C++: cases/errors.h by
pybind11 and by the kit."""

import gc
import sys
import traceback
import weakref

import pytest

THEME = "errors"


@pytest.fixture(autouse=True)
def nothing_is_alive(m):
    yield
    gc.collect()
    assert m.Fragile.count() == 0


def test_classes_of_ones_own(m):
    """With a base of Python's, in the module, to be derived from."""
    error, deep = m.GeometryError, m.DeepError
    assert error.__mro__[:2] == (error, ValueError) and deep.__bases__ == (error,)
    assert error.__module__ == "errors" and error.__name__ == "GeometryError"
    with pytest.raises(error, match="^geometry: text$") as info:
        m.fail("Error", "text")
    assert type(info.value) is error and info.value.args == ("geometry: text",)
    with pytest.raises(error, match="mine"):
        raise error("mine")


def test_the_nearest_class_is_taken(m):
    """Of those that are registered, in whatever order they came."""
    with pytest.raises(m.DeepError, match="^geometry: deep text$") as info:
        m.fail("DeepError", "text")
    assert type(info.value) is m.DeepError
    with pytest.raises(m.GeometryError, match="unknown text") as info:
        m.fail("UnknownError", "text")
    assert type(info.value) is m.GeometryError


def test_errors_of_constructors(m):
    """Nothing is left of the object; the next one is sound."""
    for kind, error in (("invalid_argument", ValueError), ("DeepError", m.DeepError)):
        with pytest.raises(error, match="constructor"):
            m.Fragile(kind)
    assert m.Fragile.count() == 0
    fragile = m.Fragile()
    assert m.Fragile.count() == 1 and fragile.value == 1


def test_errors_of_constructors_of_subclasses(m):
    class Mine(m.Fragile):
        def __init__(self):
            super().__init__("Error")

    with pytest.raises(m.GeometryError):
        Mine()


def test_errors_of_properties_operators_and_statics(m):
    fragile = m.Fragile()
    with pytest.raises(ValueError, match="^zero$"):
        fragile.value = 0
    assert fragile.value == 1
    fragile.value = -1
    with pytest.raises(m.GeometryError, match="negative"):
        fragile.value  # noqa: B018
    with pytest.raises(m.DeepError, match="sum"):
        fragile + fragile
    with pytest.raises(m.GeometryError, match="stopped"):
        m.Fragile.stop()
    with pytest.raises(m.GeometryError, match="stopped"):
        fragile.stop()


def raise_it(error):
    """Fails in a line that the traceback must show."""
    raise error


def test_exceptions_of_python_pass_through(m):
    """The same object, with the traceback of where it was raised."""
    mine = LookupError("mine", 3)
    with pytest.raises(LookupError) as info:
        m.call(lambda: raise_it(mine))
    assert info.value is mine
    frames = traceback.extract_tb(mine.__traceback__)
    assert frames[-1].name == "raise_it" and frames[-1].line == "raise error"
    info = mine.__traceback__ = None
    for error in (KeyboardInterrupt, SystemExit, StopIteration, MemoryError):
        with pytest.raises(error):
            m.call(lambda error=error: raise_it(error()))


def test_exceptions_of_ones_own_pass_through(m):
    """Raised in Python, and by C++ below Python below C++."""
    with pytest.raises(m.DeepError, match="^mine$"):
        m.call(lambda: raise_it(m.DeepError("mine")))
    with pytest.raises(m.DeepError, match="deep text"):
        m.call(lambda: m.fail("DeepError", "text"))
    with pytest.raises(IndexError, match="text"):
        m.call(lambda: m.call(lambda: m.fail("out_of_range", "text")))


def test_exceptions_that_cpp_catches(m):
    """Python has no error then, and the object is let go."""
    text = m.call_or_error(lambda: raise_it(LookupError("mine")))
    assert text.startswith("caught ") and "mine" in text
    assert m.call_or_error(lambda: 3) == "3"
    assert sys.exc_info() == (None, None, None)

    class Mine(Exception):
        pass

    mine = Mine()
    alive = weakref.ref(mine)
    m.call_or_error(lambda: raise_it(mine))
    mine = None
    gc.collect()
    assert alive() is None


def test_exceptions_that_cpp_replaces(m):
    with pytest.raises(m.GeometryError, match="replaced"):
        m.call_and_replace(lambda: raise_it(LookupError("mine")))
    assert m.call_and_replace(lambda: 3) == 3


def test_calls_of_python_while_an_exception_passes(m):
    """From destructors: neither disturbs the other."""
    seen = []
    with pytest.raises(LookupError, match="mine"):
        m.call_and_clean(
            lambda: raise_it(LookupError("mine")), lambda: seen.append(int("3"))
        )
    assert seen == [3]
    with pytest.raises(LookupError, match="mine"):
        m.call_and_clean(
            lambda: raise_it(LookupError("mine")), lambda: raise_it(KeyError("other"))
        )
    assert m.call_twice(lambda: raise_it(LookupError()), lambda: 5) == 5
    with pytest.raises(KeyError):
        m.call_twice(lambda: raise_it(LookupError()), lambda: raise_it(KeyError()))


def test_the_context_of_an_exception(m):
    """An error that C++ throws while Python handles another one remembers that."""
    try:
        try:
            raise LookupError("first")
        except LookupError:
            m.fail("Error", "second")
    except m.GeometryError as error:
        assert isinstance(error.__context__, LookupError)

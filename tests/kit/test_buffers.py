# SPDX-License-Identifier: Apache-2.0
"""Objects whose memory Python reads and writes: cases/buffers.h by pybind11 and by the
kit."""

import gc
import hashlib
import io
import sys

import numpy as np
import pytest

THEME = "buffers"


@pytest.fixture
def matrix(m):
    made = m.Matrix(2, 3)
    for i in range(6):
        made.set(i // 3, i % 3, i)
    return made


def test_memory_is_shared(matrix):
    array = np.asarray(matrix)
    assert array.dtype == np.float32 and array.tolist() == [[0, 1, 2], [3, 4, 5]]
    array[1, 2] = 50
    assert matrix.at(1, 2) == 50
    matrix.set(0, 0, -1)
    assert array[0, 0] == -1


def test_views(matrix):
    view = memoryview(matrix)
    assert (view.format, view.shape, view.itemsize) == ("f", (2, 3), 4)
    assert view.strides == (12, 4) and view.nbytes == 24 and not view.readonly
    assert view.c_contiguous and view.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bytes(matrix) == np.arange(6, dtype="f").tobytes()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no __buffer__")
def test_views_without_a_shape(kit, matrix):
    """Python 3.12 lets programs ask in every way that C may."""
    if not kit:
        pytest.skip("the process ends")
    for flags in range(1 << 9):
        try:
            view = matrix.__buffer__(flags)
        except BufferError:
            continue
        assert view.nbytes == 24 and bytes(view.cast("B")) == bytes(matrix)
        view.release()


def test_a_view_keeps_the_object(m):
    array = np.asarray(m.Matrix(300, 1000))
    gc.collect()
    array[:] = 7
    assert array.sum() == 2_100_000


def test_memory_that_cannot_be_written_to(m):
    samples = m.Samples([1, -2, 3])
    view = memoryview(samples)
    assert view.readonly and view.format == "h" and view.tolist() == [1, -2, 3]
    with pytest.raises(TypeError):
        view[0] = 5
    with pytest.raises((BufferError, TypeError, ValueError)):
        np.frombuffer(samples, np.int16)[0] = 5
    with open(__file__, "rb") as file, pytest.raises((BufferError, TypeError)):
        file.readinto(samples)


def test_no_items(m):
    assert memoryview(m.Samples([])).tolist() == []
    assert np.asarray(m.Matrix(0, 4)).shape == (0, 4)


def test_steps(m):
    """Of complex numbers, by columns with gaps."""
    array = np.asarray(m.Plane())
    wanted = (np.arange(24) * (1 - 1j))[::2].reshape(4, 3).T
    assert array.dtype == np.complex128 and np.array_equal(array, wanted)
    with pytest.raises(BufferError):
        hash_bytes(m.Plane())


def hash_bytes(buffer):
    """Asks for memory without gaps."""
    return hashlib.sha1(buffer).hexdigest()


def test_memory_of_an_object_goes_into_functions(m, matrix):
    assert m.sum(matrix) == 15.0


def test_memory_of_a_python_subclass(m):
    class Named(m.Matrix):
        name = "named"

    assert np.asarray(Named(1, 2)).shape == (1, 2)


def test_views_do_not_leak(m, matrix):
    before = sys.getrefcount(matrix)
    for _ in range(100):
        memoryview(matrix).release()
        np.asarray(matrix)
        with pytest.raises((BufferError, TypeError, ValueError)):
            hash_bytes(m.Plane())
    gc.collect()
    assert sys.getrefcount(matrix) == before


def test_memory_without_a_class(m, kit):
    """An object that shows it and nothing else, of C++'s making alone."""
    if not kit:
        pytest.skip("the kit's swigkit/memory.h")
    shown = m.numbers(2, 3, 2, True)
    view = memoryview(shown)
    assert (view.shape, view.strides, view.format) == ((2, 3), (8, 16), "d")
    np.asarray(shown)[1, 2] = 7
    assert view.tolist() == [[0, 0, 0], [0, 0, 7]] and view.f_contiguous
    with pytest.raises(BufferError, match="not contiguous"):
        hash_bytes(shown)
    assert not memoryview(m.numbers(2, 2, 4, True)).contiguous
    assert m.bytes_of(m.numbers(1, 1, 1, False)) == 8
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(bytes(8)).readinto(m.numbers(1, 1, 1, False))
    with pytest.raises(TypeError, match="cannot create 'buffers.Numbers' instances"):
        type(shown)()
    with pytest.raises(ValueError, match="the columns overlap"):
        m.numbers(3, 1, 2, True)
    del shown
    assert view.tolist()[1][2] == 7 and m.numbers_alive() == 1
    view.release()
    assert m.numbers_alive() == 0


def test_buffers_that_cpp_keeps(m, kit):
    """They are given back on whichever thread drops them."""
    if not kit:
        pytest.skip("the kit's swigkit/memory.h")
    held = bytearray(5)
    assert m.bytes_of(held) == 5
    held.append(1)  # nobody looks at it
    with pytest.raises(TypeError):
        m.bytes_of(5)
    with pytest.raises(BufferError):
        m.bytes_of(m.Plane())

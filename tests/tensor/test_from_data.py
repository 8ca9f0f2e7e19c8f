# SPDX-License-Identifier: Apache-2.0
"""tensor(data): nested sequences, arrays and numbers in them, and such as change."""

import numpy as np
import pytest

import pkg

F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64

DTYPES = [
    ([1, 2.5], pkg.float32),
    ([True, 2], pkg.int64),
    ([F64(1)], pkg.float64),
    ([F32(1), 2.5], pkg.float32),
    ([1, I32(3)], pkg.int64),
    ([np.float16(1)], pkg.float16),
    ([[F64(1), 2], [3, 4]], pkg.float64),
    ([np.ones(2), np.zeros(2)], pkg.float64),
    ([np.arange(2, dtype=I32)], pkg.int32),
    ((np.ones((2, 2), F32), [[1, 2], [3, 4]]), pkg.float32),
    ([pkg.tensor(1.0, dtype=pkg.float64)], pkg.float64),
    ([pkg.tensor(1), pkg.tensor(2.5)], pkg.float32),
    ([np.zeros(0)], pkg.float64),
    ([np.zeros(0, I32), np.zeros(0, I32)], pkg.int32),
    ([F32(1), F64(2), F32(3)], pkg.float64),
]


@pytest.mark.parametrize("data, dtype", DTYPES, ids=[str(d) for d, _ in DTYPES])
def test_the_dtype_is_what_the_entries_promote_to(data, dtype):
    """Python's numbers have the default; those of arrays and tensors their own."""
    x = pkg.tensor(data)
    assert x.dtype is dtype
    plain = [[float(n) for n in np.ravel(row)] for row in data]
    assert np.ravel(x.tolist()).tolist() == [n for row in plain for n in row]


def test_arrays_and_lists_mix_by_shape():
    """An array is a sequence like another; one that does not fit is named."""
    x = pkg.tensor([np.arange(6).reshape(2, 3), [[7, 8, 9], np.arange(3)]])
    assert x.tolist() == [[[0, 1, 2], [3, 4, 5]], [[7, 8, 9], [0, 1, 2]]]
    assert pkg.tensor([np.ones((0, 3)), np.ones((0, 3))]).shape == (2, 0)
    with pytest.raises(ValueError, match="sequence of length 2 at dim 1 .got 3"):
        pkg.tensor([np.ones(2), np.ones(3)])
    with pytest.raises(ValueError, match="sequence at dim 1, got a number"):
        pkg.tensor([np.ones(2), 1.0])


def test_nesting_without_end_is_an_error():
    """Not the end of the stack."""
    endless = []
    endless.append(endless)
    for use in (pkg.tensor, pkg.ones(3).__getitem__):
        with pytest.raises((ValueError, IndexError), match="at most 64 nested"):
            use(endless)


class Meddler:
    """A number that changes the list it is in."""

    def __init__(self, change):
        self.change = change

    def __index__(self):
        self.change()
        return 1

    __float__ = __index__


def test_a_list_that_changes_meanwhile():
    """Grown: as long as it was.  Shrunk: an error, and no unwritten memory."""
    grown = []
    grown[:] = [Meddler(lambda: grown.append(9)), 2, 3]
    assert pkg.tensor(grown).tolist() == [1, 2, 3]
    shrunk = []
    shrunk[:] = [Meddler(shrunk.clear), 2, 3]
    with pytest.raises(IndexError):
        pkg.tensor(shrunk)


def misaligned(dtype, strided):
    """An array whose elements do not lie at multiples of their size."""
    item = np.dtype(dtype).itemsize
    memory = np.zeros(24 * item + 1, np.uint8)[1:].view(dtype).reshape(6, 4)
    memory[...] = np.arange(24).reshape(6, 4) % 2
    return memory[::2, 1:].T if strided else memory


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("dtype", "bool uint8 int64 float16 float32 float64".split())
def test_memory_that_is_not_aligned_is_copied_or_refused(dtype, strided):
    """Loops read whole elements, so that no tensor may lie over it."""
    array = misaligned(dtype, strided)
    item = array.itemsize
    copies = [
        pkg.tensor(array),
        pkg.as_tensor(array),
        pkg.asarray(array),
        pkg.asarray(memoryview(array)),
        pkg.from_dlpack(array),
        pkg.from_dlpack(array, copy=True),
        pkg.zeros(array.shape, dtype=getattr(pkg, dtype)).copy_(pkg.tensor(array)),
    ]
    for x in copies:
        assert x.tolist() == array.tolist() and x.dtype.name == dtype
        assert x.data_ptr() % item == 0
        assert item == 1 or not np.may_share_memory(x.numpy(), array)
    if item == 1:
        assert pkg.from_numpy(array).tolist() == array.tolist()
        return
    with pytest.raises(ValueError, match="Make a copy first"):
        pkg.from_numpy(array)
    with pytest.raises(ValueError, match="can't alias"):
        pkg.asarray(array, copy=False)
    with pytest.raises(BufferError, match=f"at a multiple of {item} bytes"):
        pkg.from_dlpack(array, copy=False)
    assert pkg.from_numpy(array[:0]).numel() == 0

# SPDX-License-Identifier: Apache-2.0
"""Memory shared with others: DLPack both ways, asarray, and what export means."""

import array
import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import pkg
from bindings.build import build
from paths import ROOT
from pkg._binding import core

DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"]
LAYOUTS = {
    "whole": lambda x: x,
    "offset": lambda x: x[1:],
    "step": lambda x: x[:, ::2],
    "transposed": lambda x: x.T,
    "0-d": lambda x: x[1, 2],
    "empty": lambda x: x[2:2],
    "broadcast": lambda x: x[:1, :1].expand(3, 4),
    "5-d": lambda x: x.reshape(1, 2, 3, 2, 1),
}


def numbers(dtype):
    return pkg.arange(12).reshape(3, 4).to_dtype(getattr(pkg, dtype))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_to_numpy_and_back(dtype, layout):
    """Same values, dtype, layout and memory; both capsules."""
    x = LAYOUTS[layout](numbers(dtype))
    theirs = np.from_dlpack(x)
    assert theirs.dtype == dtype and theirs.shape == x.shape
    assert theirs.tolist() == x.tolist()
    strides = tuple(s * x.itemsize for s in x.stride())
    assert theirs.strides == strides or x.numel() < 2
    for back in (
        pkg.from_dlpack(theirs),
        pkg.from_dlpack(x.__dlpack__()),
        pkg.from_dlpack(x.__dlpack__(max_version=(1, 0))),
        pkg.from_dlpack(x),
    ):
        assert type(back) is pkg.Tensor and back.dtype is x.dtype
        assert (back.shape, back.tolist()) == (x.shape, x.tolist())
        if x.numel():
            assert back.data_ptr() == x.data_ptr() == theirs.ctypes.data


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_dlpack_with_torch(dtype, layout):
    """bfloat16 too, which NumPy does not know."""
    torch = pytest.importorskip("torch")
    x = LAYOUTS[layout](numbers(dtype))
    theirs = torch.from_dlpack(x)
    assert str(theirs.dtype) == f"torch.{dtype}" and theirs.tolist() == x.tolist()
    back = pkg.from_dlpack(theirs)
    assert back.dtype is x.dtype and back.tolist() == x.tolist()
    assert back.shape == x.shape
    if x.numel():
        assert theirs.data_ptr() == x.data_ptr() == back.data_ptr()
        assert theirs.stride() == x.stride() or layout == "5-d"


def test_writes_are_seen_on_both_sides():
    """There is one memory."""
    x = pkg.zeros(3)
    array_ = np.from_dlpack(x)
    array_[1] = 5
    pkg.from_dlpack(array_).add_(1)
    assert x.tolist() == [1, 6, 1]


def test_memory_outlives_its_first_owner():
    """In both directions, and is freed when the last user goes."""
    x = pkg.arange(1000.0)
    theirs = np.from_dlpack(x)
    del x
    gc.collect()
    pkg.zeros(1000)  # would reuse the memory
    assert theirs[-1] == 999
    owner = np.arange(1000.0)
    base = owner.view(Counted)
    y = pkg.from_dlpack(base)
    del base
    assert Counted.alive == 1 and y[-1].item() == 999
    z = y[3:]
    del y
    assert Counted.alive == 1 and z[0].item() == 3
    thread = threading.Thread(target=lambda box: box.clear(), args=([z],))
    del z
    thread.start()
    thread.join()
    gc.collect()
    assert Counted.alive == 0


class Counted(np.ndarray):
    """An array that counts itself."""

    alive = 0

    def __array_finalize__(self, _):
        Counted.alive += 1

    def __del__(self):
        Counted.alive -= 1


def test_a_capsule_is_used_once_or_freed_unused():
    """No memory is left in either case."""
    gc.collect()
    before = core.live_tensors()
    for options in ({}, {"max_version": (1, 1)}):
        x = pkg.ones(3)
        name = "dltensor_versioned" if options else "dltensor"
        capsule = x.__dlpack__(**options)
        assert f'"{name}"' in repr(capsule)
        y = pkg.from_dlpack(capsule)
        assert f'"used_{name}"' in repr(capsule)
        with pytest.raises(RuntimeError, match="consumed only once"):
            pkg.from_dlpack(capsule)
        assert y.tolist() == [1, 1, 1]
        x.__dlpack__(**options)  # dropped at once
        del x, y, capsule
    gc.collect()
    assert core.live_tensors() == before
    for wrong in (3, None, [1.0], "x"):
        with pytest.raises(TypeError, match="expected an object with __dlpack__"):
            pkg.from_dlpack(wrong)
    other = ctypes.pythonapi.PyCapsule_New
    other.restype = ctypes.py_object
    other.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    with pytest.raises(RuntimeError, match="invalid capsule"):
        pkg.from_dlpack(other(1, b"something", None))


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 1)}])
def test_the_context_of_a_capsule_is_its_owners(options):
    """With one, too, an unused capsule frees what it has."""
    set_context = ctypes.pythonapi.PyCapsule_SetContext
    set_context.argtypes = [ctypes.py_object, ctypes.c_void_p]
    before = core.live_tensors()
    capsule = pkg.ones(3).__dlpack__(**options)
    assert core.live_tensors() == before + 1
    assert set_context(capsule, ctypes.addressof(ctypes.create_string_buffer(8))) == 0
    del capsule
    assert core.live_tensors() == before


def test_a_failed_import_leaves_the_capsule_to_its_owner():
    """Nothing was taken, so it can still be used elsewhere."""
    theirs = np.arange(3)[::-1]
    capsule = theirs.__dlpack__()
    for _ in range(2):
        with pytest.raises(ValueError, match="expected strides of 0 or more"):
            pkg.from_dlpack(capsule)
    for bad in (np.zeros(2, "c8"), np.zeros(2, "u2"), np.zeros(2, "u8")):
        with pytest.raises(TypeError, match="no dtype has DLPack's type code"):
            pkg.from_dlpack(bad)


def test_versions_flags_and_read_only_memory():
    """Read-only memory is copied, as a tensor can be written to."""
    theirs = np.arange(3.0)
    theirs.flags.writeable = False
    x = pkg.from_dlpack(theirs)
    x.add_(1)
    assert theirs.tolist() == [0, 1, 2] and x.tolist() == [1, 2, 3]
    with pytest.raises(BufferError, match="read-only"):
        pkg.from_dlpack(theirs, copy=False)
    y = pkg.from_dlpack(x, copy=True)
    assert y.data_ptr() != x.data_ptr() and y.tolist() == x.tolist()
    assert pkg.from_dlpack(x.__dlpack__(), copy=True).data_ptr() != x.data_ptr()
    assert flags_of(x.__dlpack__(max_version=(1, 0))) == 0
    assert flags_of(x.__dlpack__(max_version=(1, 0), copy=True)) == 2
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert np.from_dlpack(x).flags.writeable


def flags_of(capsule, put=None):
    """The flags of a versioned capsule; writes another version number with `put`."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"dltensor_versioned")
    if put is not None:
        ctypes.c_uint32.from_address(address).value = put
    return ctypes.c_uint64.from_address(address + 24).value


def test_a_later_major_version_is_refused():
    """Its layout is not known."""
    capsule = pkg.ones(2).__dlpack__(max_version=(1, 0))
    flags_of(capsule, put=2)
    with pytest.raises(BufferError, match=r"expected DLPack 1\.x, got 2\.0"):
        pkg.from_dlpack(capsule)


def test_a_producer_from_before_dlpack_1():
    """It knows no max_version."""

    class Old:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

    theirs = np.arange(3.0)
    x = pkg.from_dlpack(Old(theirs))
    assert x.data_ptr() == theirs.ctypes.data

    class Elsewhere(Old):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="memory of the CPU .* got device type 2"):
        pkg.from_dlpack(Elsewhere(theirs))


def test_what_cannot_be_exported():
    """Errors are PyTorch's for gradients, and of the kinds that the protocol names."""
    leaf = pkg.ones(2, requires_grad=True)
    for x in (leaf, leaf * 2):
        with pytest.raises(
            BufferError, match=r"require gradient, use tensor.detach\(\)"
        ):
            x.__dlpack__()
    assert np.from_dlpack(leaf.detach()).tolist() == [1, 1]
    meta = pkg.ones(2, device="meta")
    with pytest.raises(BufferError, match="meta tensor"):
        meta.__dlpack__()
    with pytest.raises(BufferError, match="meta tensor"):
        meta.__dlpack_device__()
    x = pkg.ones(2)
    assert x.__dlpack_device__() == (1, 0)
    x.__dlpack__(stream=-1, dl_device=(1, 0), max_version=None, copy=None)
    with pytest.raises(ValueError, match="no streams"):
        x.__dlpack__(stream=1)
    with pytest.raises(TypeError, match="for 'stream', got str"):
        x.__dlpack__(stream="a")
    with pytest.raises(TypeError, match="for 'max_version', got int"):
        x.__dlpack__(max_version=1)
    with pytest.raises(BufferError, match="dl_device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="device None or 'cpu'"):
        pkg.from_dlpack(x, device="meta")


BOTH = """
import gc, json, sys
import numpy as np
import pkg
from pkg._binding import core
sys.path.insert(0, sys.argv[1])
import _pybind_core as other
theirs = other.tensor([[1.0, 2.0], [3.0, 4.0]])
mine = pkg.from_dlpack(theirs)
mine.add_(10)
back = other._from_dlpack(mine.T.__dlpack__(max_version=(1, 0)))
half = other._from_dlpack(pkg.ones(3, dtype=pkg.bfloat16).__dlpack__())
print(json.dumps({
    "types": [type(t).__module__ for t in (theirs, mine, back)],
    "theirs": theirs.tolist(), "mine": mine.tolist(), "back": back.tolist(),
    "strides": back.stride(), "half": [half.dtype.name, half.tolist()],
    "one memory": theirs.data_ptr() == mine.data_ptr() == back.data_ptr(),
}))
"""


@pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")), reason="loads both bindings itself"
)
def test_dlpack_between_the_two_bindings():
    """In one process, where the tensors of one are strangers to the other."""
    command = [sys.executable, "-c", BOTH, str(build())]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    answer = json.loads(done.stdout)
    assert answer["types"] == ["_pybind_core", "pkg", "_pybind_core"]
    assert answer["theirs"] == answer["mine"] == [[11, 12], [13, 14]]
    assert answer["back"] == [[11, 13], [12, 14]] and answer["strides"] == [1, 2]
    assert answer["half"] == ["bfloat16", [1, 1, 1]] and answer["one memory"]


def test_asarray_shares_what_it_can():
    """As torch.asarray: tensors, arrays, buffers and DLPack producers."""
    x = pkg.ones(3)
    assert pkg.asarray(x) is x
    for source in (
        np.ones(3, "float32"),
        array.array("f", [1, 1, 1]),
        (ctypes.c_float * 3)(1, 1, 1),
        memoryview(array.array("f", [1, 1, 1])),
    ):
        y = pkg.asarray(source)
        assert y.dtype is pkg.float32 and y.tolist() == [1, 1, 1]
        memoryview(source).cast("B").cast("f")[1] = 7
        assert y.tolist() == [1, 7, 1], source
    raw = bytearray(b"ab")
    assert pkg.asarray(raw).tolist() == [97, 98]

    class Producer:
        def __dlpack__(self, **options):
            return x.__dlpack__(**options)

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    assert pkg.asarray(Producer()).data_ptr() == x.data_ptr()
    assert pkg.asarray(x.__dlpack__()).data_ptr() == x.data_ptr()


def test_asarray_copies_the_rest():
    """Numbers, sequences, read-only memory, other dtypes."""
    assert pkg.asarray(2.5).tolist() == 2.5
    assert pkg.asarray([[1, 2], [3, 4]]).dtype is pkg.int64
    assert pkg.asarray([1, 2], dtype=pkg.float64).dtype is pkg.float64
    assert pkg.asarray(np.float32(1.5)).dtype is pkg.float32
    assert pkg.asarray(np.int64(3)).item() == 3
    assert pkg.asarray(np.bool_(True)).dtype is pkg.bool
    assert pkg.asarray(b"ab").tolist() == [97, 98]
    assert pkg.asarray([pkg.tensor(1.0), pkg.tensor(2.0)]).tolist() == [1, 2]
    locked = np.ones(2)
    locked.flags.writeable = False
    pkg.asarray(locked).zero_()
    assert locked.tolist() == [1, 1]
    free = np.ones(2)
    pkg.asarray(free, copy=True).zero_()
    pkg.asarray(free, dtype="float32").zero_()
    assert free.tolist() == [1, 1]
    x = pkg.ones(2)
    assert pkg.asarray(x, copy=True) is not x
    for wrong in ([1, 2], 1.0):
        with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
            pkg.asarray(wrong, copy=False)
    with pytest.raises(ValueError, match="dtype 'float64' into dtype 'float32'"):
        pkg.asarray(free, dtype="float32", copy=False)
    with pytest.raises(ValueError, match="read-only"):
        pkg.asarray(locked, copy=False)
    for wrong in ("text", {}, object(), np.zeros(2, "U1"), np.zeros(1, "c8")):
        with pytest.raises(TypeError):
            pkg.asarray(wrong)


def test_from_numpy_warns_of_read_only_memory():
    """As PyTorch does; the pages of a file or a bytes object must not be written."""
    with pytest.warns(UserWarning, match="not writable"):
        pkg.from_numpy(np.frombuffer(b"abc", "u1"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pkg.from_numpy(np.ones(2))
        pkg.asarray(b"abc")
        pkg.tensor(np.frombuffer(b"abc", "u1"))


def test_asarray_and_gradients():
    """requires_grad is that of the source unless given; the source is left alone."""
    leaf = pkg.ones(2, requires_grad=True)
    assert pkg.asarray(leaf) is leaf
    assert not pkg.asarray(leaf, requires_grad=False).requires_grad
    assert leaf.requires_grad
    pkg.asarray(leaf, dtype=pkg.float64).sum().backward()
    assert leaf.grad.tolist() == [1, 1]
    x = pkg.ones(2)
    y = pkg.asarray(x, requires_grad=True)
    assert y.requires_grad and not x.requires_grad
    assert y.data_ptr() == x.data_ptr()


# Each shows the memory to somebody outside, for as long as the result lives.
EXPORTS = {
    "numpy": lambda x: x.numpy(),
    "memoryview": lambda x: memoryview(core._memory(x)),
    "dlpack": lambda x: x.__dlpack__(),
    "data_ptr": lambda x: x.data_ptr(),
    "a view's numpy": lambda x: x[1:].numpy(),
}


def pending_after(x):
    """Whether work in place on the tensor was left to run later."""
    slow = pkg.ones(700, 700)
    for _ in range(5):
        slow = slow @ slow / 700  # keeps the pool busy
    x.copy_(slow)
    return not x.is_ready()


@pytest.mark.skipif(not core.async_enabled(), reason="PKG_ASYNC=0: nothing is pending")
@pytest.mark.parametrize("export", EXPORTS)
def test_exported_memory_is_not_written_behind_the_users_back(export):
    """A call that writes it is done when it returns."""
    x = pkg.zeros(700, 700)
    assert pending_after(x)
    x.wait()
    shown = EXPORTS[export](x)
    assert not pending_after(x)
    del shown
    gc.collect()
    if export != "data_ptr":  # an address is for good
        assert pending_after(x)
    x.wait()


def test_export_waits_for_pending_work():
    """Values, not what was there before."""
    for export in (np.from_dlpack, np.asarray):
        x = pkg.ones(400, 400)
        for _ in range(10):
            x = x @ x * 0.0025
        assert np.allclose(export(x), 1)


def test_an_exported_array_keeps_its_memory_when_the_tensor_gets_another():
    """x.data = y is no business of who has the old memory."""
    x = pkg.ones(1000)
    shown, capsule = x.numpy(), x.__dlpack__()
    x.data = pkg.zeros(1000)
    others = [pkg.full((1000,), 7.0) for _ in range(8)]
    assert shown.tolist() == [1] * 1000 and x.sum().item() == 0
    assert pkg.from_dlpack(capsule).tolist() == [1] * 1000
    assert others[0][0].item() == 7


def test_an_array_without_a_copy_has_the_dtype_of_the_tensor():
    """np.asarray(copy=False) of another dtype is an error, as NumPy's own are."""
    x = pkg.ones(2)
    assert x.__array__(copy=False).ctypes.data == x.data_ptr()
    assert x.__array__("float32", copy=False).ctypes.data == x.data_ptr()
    for dtype in ("float64", "int32", np.dtype(bool)):
        assert x.__array__(dtype).dtype == x.__array__(dtype, True).dtype == dtype
        with pytest.raises(ValueError, match="expected dtype float32, .*copy=False"):
            x.__array__(dtype, copy=False)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="expected dtype float32, .*got float64"):
            np.asarray(x, copy=False, dtype=float)


def test_numbers_that_no_dtype_holds():
    """Complex numbers and dates are refused, neither cut nor read as bytes."""
    t = pkg.ones(2)
    for number in (1j, np.complex64(1j), np.complex128(1j)):
        for call in (
            lambda n: t * n,
            lambda n: n * t,
            lambda n: t.add(n),
            lambda n: t.fill_(n),
            lambda n: pkg.full((2,), n),
            lambda n: pkg.tensor(n),
            lambda n: pkg.tensor([n]),
            lambda n: t.__setitem__(0, n),
        ):
            with pytest.raises(TypeError):
                call(number)
    for moment in (np.datetime64("2020-01-01"), np.timedelta64(3, "D")):
        for call in (
            lambda m: t + m,
            lambda m: t.add(m),
            lambda m: pkg.tensor(m),
            lambda m: pkg.tensor([m]),
            lambda m: pkg.asarray(m),
            lambda m: pkg.full((2,), m),
            lambda m: t.__setitem__(0, m),
        ):
            with pytest.raises(TypeError):
                call(moment)
    assert t.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["float16", "float32", "longdouble", "int8", "bool_"])
def test_numpy_scalars_are_numbers(name):
    """Of every other kind, alone and in a list."""
    number = getattr(np, name)(1)
    assert (pkg.zeros(2) + number).tolist() == [1, 1]
    assert pkg.full((1,), number).item() == 1 and pkg.tensor([number]).item() == 1


def test_strides_that_reach_nothing_may_be_any_number():
    """Of dimensions of size 1, and of what has no elements."""
    torch = pytest.importorskip("torch")
    far = [
        torch.ones(4).as_strided((1,), (2**61,)),
        torch.ones(0, 3).as_strided((0, 3), (2**62, 2**61)),
    ]
    for far_off in far:
        for copy in (None, True):
            assert pkg.from_dlpack(far_off, copy=copy).tolist() == far_off.tolist()


@pytest.mark.parametrize("name", ["int32", "int64", "float32", "float64", "uint8"])
def test_arrays_have_numpys_own_types(name):
    """Of several C types of one size the one that NumPy calls by that name."""
    tensor = pkg.zeros(2, dtype=getattr(pkg, name))
    for made in (tensor.numpy(), np.asarray(tensor)):
        assert made.dtype.char == np.dtype(name).char
        assert made.dtype.type is np.dtype(name).type
    assert tensor[0].numpy().dtype.char == np.dtype(name).char

# SPDX-License-Identifier: Apache-2.0
"""The Python face of Tensor: operators, conversion, indexing, printing, memory."""

import contextlib
import copy
import gc
import pickle
import re
import sys
import weakref

import numpy as np
import pytest

import pkg


def test_operators_take_numbers_and_arrays_in_both_orders():
    """Every result is a pkg.Tensor with the right values."""
    a = pkg.tensor([1.0, 2.0, 4.0])
    cases = [
        (a + 3.0, [4, 5, 7]),
        (3 + a, [4, 5, 7]),
        (3 - a, [2, 1, -1]),
        (8 / a, [8, 4, 2]),
        (2**a, [2, 4, 16]),
        (np.float32(2) * a, [2, 4, 8]),
        (a * np.int64(2), [2, 4, 8]),
        (np.ones(3, dtype=np.float32) + a, [2, 3, 5]),
        (a - np.ones(3, dtype=np.float32), [0, 1, 3]),
        (7 // a, [7, 3, 1]),
        (7 % a, [0, 1, 3]),
        (-a, [-1, -2, -4]),
        (~pkg.tensor([0, 1]), [-1, -2]),
        (~pkg.tensor([True, False]), [False, True]),
    ]
    for got, want in cases:
        assert type(got) is pkg.Tensor
        assert got.tolist() == want


def test_unsupported_operands_are_pythons_type_error():
    """Through NotImplemented, so that the other side gets its turn."""
    a = pkg.ones(2)
    with pytest.raises(TypeError, match="unsupported operand type"):
        a + "x"
    assert a.__add__("x") is NotImplemented

    class Other:
        def __radd__(self, left):
            return "mine"

    assert a + Other() == "mine"


WRONG_ARGUMENTS = {
    "[add] expected a Tensor or a number for 'other', got str": lambda x: x.add("a"),
    "[add_] expected a Tensor for 'self', got int": lambda x: pkg.Tensor.add_(3, x),
    "[cat] expected a list of Tensors for 'tensors', got Tensor": pkg.cat,
    "[cat] expected a Tensor for 'tensors[1]', got int": lambda x: pkg.cat([x, 3]),
    "[reshape] expected an int or a list of ints for 'shape', got str": (
        lambda x: x.reshape("a")
    ),
    "[reshape] expected an int for 'shape[1]', got float": lambda x: x.reshape(1, 2.5),
    "[sum] expected an int, a list of ints or None for 'dim', got str": (
        lambda x: x.sum(dim="a")
    ),
    "[full] expected a dtype or None for 'dtype', got int": (
        lambda x: pkg.full((2,), 3, dtype=3)
    ),
    "expected an int or a list of 2 ints for 'kernel_size', got a list of 3": (
        lambda x: pkg.nn.functional.max_pool2d(x, [1, 2, 3])
    ),
    "[register_hook] expected a callable for 'hook', got int": (
        lambda x: x.register_hook(3)
    ),
    "[grad] expected a Tensor for 'inputs[0]', got int": (
        lambda x: pkg.autograd.grad(x, [3])
    ),
}


@pytest.mark.parametrize("text", WRONG_ARGUMENTS)
def test_a_wrong_argument_is_named_with_what_was_expected(text):
    with pytest.raises(TypeError, match=re.escape(text)):
        WRONG_ARGUMENTS[text](pkg.ones(2, requires_grad=True) * 1)


def test_a_list_of_one_stands_for_all_dimensions():
    """Where a list has a fixed length, as one number does."""
    x, w = pkg.rand(1, 2, 8, 8), pkg.rand(3, 2, 3, 3)
    f = pkg.nn.functional
    for number in (1, 2):
        want = f.conv2d(x, w, stride=number, padding=number)
        got = f.conv2d(x, w, stride=[number], padding=(number,))
        assert pkg.equal(got, want)
    assert pkg.equal(f.max_pool2d(x, [2]), f.max_pool2d(x, 2))


def test_a_list_may_change_while_it_is_read():
    """What __index__ does to the list is seen; nothing that died is."""

    class Clears:
        def __index__(self):
            sizes.clear()
            return 1

    x = pkg.ones(2, 3)
    for call in (x.reshape, x.view, x.permute, pkg.zeros(2, 3).expand, x.sum):
        sizes = [Clears()] + ["x" * i for i in range(1000)]
        with contextlib.suppress(RuntimeError, TypeError):
            call(sizes)
        assert not sizes


def test_wrong_arguments_say_what_was_expected():
    """One format for every op."""
    a = pkg.ones(2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        a.add(a, foo=1)
    with pytest.raises(TypeError, match="missing required argument: 'other'"):
        a.add()
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        pkg.arange("x")
    with pytest.raises(pkg.OpLookupError, match="No op registered: pkg::nope"):
        pkg._binding.core.Operator("nope")
    with pytest.raises(TypeError):
        pkg._binding.core.Operator("add", foo=3)


def test_creation_from_data():
    """Kinds of data give PyTorch's dtypes."""
    assert pkg.tensor(3).dtype is pkg.int64
    assert pkg.tensor([1, 2.5]).dtype is pkg.float32
    assert pkg.tensor([True, False]).dtype is pkg.bool
    assert pkg.tensor([[1, 2], [3, 4]]).shape == (2, 2)
    assert pkg.tensor([]).shape == (0,)
    assert pkg.tensor(2**40).item() == 2**40
    assert pkg.tensor([1, 2], dtype=pkg.float16).dtype is pkg.float16
    with pytest.raises(ValueError, match="expected sequence of length 2 at dim 1"):
        pkg.tensor([[1, 2], [3]])
    with pytest.raises(TypeError, match="expected numbers"):
        pkg.tensor(["a"])


def test_numpy_exchange_shares_memory_and_keeps_owners():
    """Writes are seen on both sides; either may die first."""
    array = np.arange(6.0).reshape(2, 3)
    t = pkg.from_numpy(array)
    array[0, 0] = 9
    assert t[0, 0].item() == 9 and t.dtype is pkg.float64
    t[1, 2] = -1
    assert array[1, 2] == -1
    ref = weakref.ref(array)
    del array
    gc.collect()
    assert ref() is not None and t[0, 0].item() == 9
    view = pkg.ones(3).numpy()
    gc.collect()
    assert view.tolist() == [1, 1, 1]
    assert pkg.from_numpy(np.arange(6)[::2]).tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="stride is negative"):
        pkg.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match="cannot convert an array of format"):
        pkg.from_numpy(np.zeros(2, dtype=np.complex64))
    with pytest.raises(RuntimeError, match="requires grad"):
        pkg.ones(2, requires_grad=True).numpy()


INDEXES = [
    0, -1, slice(None), slice(1, None), slice(None, None, 2), Ellipsis, None,
    (1, 2), (slice(None), 1), (Ellipsis, 0), (0, Ellipsis, 1), (None, 1),
    [0, 2], [[0, 1], [1, 2]], (slice(None), [0, 0, 2]), ([0, 1], [1, 2]),
    (slice(None), [0, 1], 1),
]  # fmt: skip


@pytest.mark.parametrize("key", INDEXES, ids=str)
def test_indexing_agrees_with_numpy(key):
    """Reading and writing."""
    array = np.arange(60.0).reshape(3, 4, 5)
    t = pkg.tensor(array)
    np_key = (
        tuple(np.array(k) if isinstance(k, list) else k for k in key)
        if isinstance(key, tuple)
        else (np.array(key) if isinstance(key, list) else key)
    )
    np.testing.assert_array_equal(t[key].numpy(), array[np_key])
    t[key] = -1.0
    array[np_key] = -1.0
    np.testing.assert_array_equal(t.numpy(), array)


def test_masks_and_index_tensors():
    """Bool tensors select; index tensors gather."""
    array = np.arange(12).reshape(3, 4)
    t = pkg.tensor(array)
    np.testing.assert_array_equal(t[t > 5].numpy(), array[array > 5])
    np.testing.assert_array_equal(t[pkg.tensor([2, 0])].numpy(), array[[2, 0]])
    t[t > 5] = 0
    array[array > 5] = 0
    np.testing.assert_array_equal(t.numpy(), array)
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0"):
        t[3]
    with pytest.raises(IndexError, match="too many indices"):
        t[0, 0, 0]


def test_printing_is_as_people_know_it():
    """Widths, precision, dtype suffix, summary."""
    assert repr(pkg.tensor([[1.0, 2.0], [3.0, 4.0]])) == (
        "tensor([[1., 2.],\n        [3., 4.]])"
    )
    assert repr(pkg.tensor([1.5, -2])) == "tensor([ 1.5000, -2.0000])"
    assert repr(pkg.tensor(7)) == "tensor(7)"
    assert repr(pkg.tensor([1], dtype=pkg.int32)) == "tensor([1], dtype=pkg.int32)"
    assert repr(pkg.ones(1, requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert "..." in repr(pkg.zeros(2000))
    assert repr(pkg.tensor([float("nan"), 1.0])) == "tensor([nan, 1.])"


def test_membership_is_of_the_elements():
    """Of any dimension; what is no number is an error."""
    x = pkg.tensor([[1, 2], [3, 4]])
    assert 3 in x and 5 not in x and pkg.tensor([1, 2]) in x
    assert np.float32(4) in x and np.int64(7) not in x
    with pytest.raises(RuntimeError, match="expected a Tensor or a number, got str"):
        assert "3" in x


def test_truth_length_and_numbers():
    """One-element tensors are numbers; larger ones refuse."""
    assert bool(pkg.tensor(1)) and not pkg.tensor(0.0)
    assert float(pkg.tensor(2.5)) == 2.5 and int(pkg.tensor(3)) == 3
    assert [10, 20, 30][pkg.tensor(1)] == 20
    assert len(pkg.zeros(4, 2)) == 4
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(pkg.ones(2))
    with pytest.raises(TypeError, match="0-d"):
        len(pkg.tensor(1))
    assert [x.item() for x in pkg.arange(3)] == [0, 1, 2]


def test_identity_pickle_copy_and_subclasses():
    """What users of Python objects expect."""
    x = pkg.ones(2)
    assert x[0] is not x and x.contiguous() is x
    again = pickle.loads(pickle.dumps(x))
    assert again.tolist() == x.tolist()
    deep = copy.deepcopy(x)
    deep[0] = 5
    assert x[0].item() == 1
    assert pickle.loads(pickle.dumps(pkg.float32)) is pkg.float32

    class Mine(pkg.Tensor):
        pass

    mine = Mine._make_subclass(Mine, x)
    mine.note = "kept"
    assert isinstance(mine, pkg.Tensor) and mine.note == "kept"
    with pytest.raises(RuntimeError, match="never initialised"):
        _ = pkg.Tensor.__new__(pkg.Tensor).shape


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64", "int8", "bool"])
def test_pickle_keeps_every_bit(name):
    """Also of bfloat16, which NumPy lacks; views, and what required grad."""
    dtype = getattr(pkg, name)
    x = pkg.tensor([[1.0, -2.5], [3e5 if name == "bfloat16" else 3.0, 0.0]]).to(dtype)
    for t in (x, x.t(), x[0], x[0, 0], x[:0]):
        again = pickle.loads(pickle.dumps(t))
        assert again.dtype is dtype and again.tolist() == t.tolist()
        assert again.shape == t.shape
    if dtype.is_floating_point:
        assert pickle.loads(pickle.dumps(x.requires_grad_())).requires_grad
        twice = pickle.loads(pickle.dumps([x, x]))
        assert twice[0] is twice[1]


def test_nothing_leaks_over_many_calls():
    """Reference counts and live tensors are flat."""
    core = pkg._binding.core
    a = pkg.ones(2, 2)

    def work():
        b = a + a
        b = b * 2 - 1
        b.reshape(4)[1:].tolist()
        b.numpy()
        try:
            a.add("x")
        except TypeError:
            pass

    work()
    gc.collect()
    live, refs = core.live_tensors(), sys.getrefcount(pkg.float32)
    for _ in range(2000):
        work()
        _ = a.dtype
    gc.collect()
    assert core.live_tensors() == live
    assert abs(sys.getrefcount(pkg.float32) - refs) < 5


def test_small_ops_ask_the_system_for_nothing():
    """Steady state lives from the caches."""
    a = pkg.ones(8, 8)
    for _ in range(10):
        a + a
    before = pkg._binding.core.system_allocations()
    for _ in range(1000):
        a + a
    assert pkg._binding.core.system_allocations() == before


def test_grad_mode_guards_nest_and_decorate():
    """no_grad and enable_grad restore what was before."""
    assert pkg.is_grad_enabled()
    with pkg.no_grad():
        assert not pkg.is_grad_enabled()
        with pkg.enable_grad():
            assert pkg.is_grad_enabled()
        assert not pkg.is_grad_enabled()
    assert pkg.is_grad_enabled()
    assert pkg.no_grad()(pkg.is_grad_enabled)() is False


def test_tolist_of_meta_tensors_is_an_error():
    with pytest.raises(RuntimeError, match="meta tensor has a shape but no values"):
        pkg.empty(2, 3, device="meta").tolist()
    assert pkg.empty(2, 0, device="meta").tolist() == [[], []]


def test_tolist_reads_the_memory_that_the_tensor_had():
    """A finaliser that runs meanwhile gives it another."""
    x = pkg.zeros(300, 300)

    class Changes:
        def __del__(self):
            x.data = pkg.full((1,), 7.0)

    before = gc.get_threshold()
    gc.collect()
    knot = Changes()
    knot.itself = knot
    del knot
    gc.set_threshold(100, 1000, 1000)  # reached by the rows, not by the call
    try:
        rows = x.tolist()
    finally:
        gc.set_threshold(*before)
    assert x.tolist() == [7.0]
    assert rows == [[0.0] * 300] * 300

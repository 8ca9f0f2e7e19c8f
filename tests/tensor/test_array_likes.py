# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries: their values count, not what they are as sequences.

Every way in is tried with every array-like; fakes stand for libraries that are missing.
"""

import array
import ctypes
import operator

import numpy as np
import pytest

import pkg


class ByLabel:
    """An array whose items and length are something else, as of a shuffled Series."""

    def __init__(self, values, dtype=None):
        self.values = np.array(values, dtype=dtype)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self):
        return 99

    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        raise AssertionError("not a sequence of columns")


class ByInterface:
    """What an image of PIL is."""

    def __init__(self, values, dtype=None):
        self.kept = np.array(values, dtype=dtype)

    @property
    def __array_interface__(self):
        return self.kept.__array_interface__


class ByDlpack:
    """What another framework's tensor is."""

    def __init__(self, values, dtype=None):
        self.kept = np.array(values, dtype=dtype)

    def __dlpack__(self, **options):
        return self.kept.__dlpack__()

    def __dlpack_device__(self):
        return self.kept.__dlpack_device__()

    def __getitem__(self, key):
        raise KeyError(key)


def series(values, dtype=None):
    pandas = pytest.importorskip("pandas")
    values = np.array(values, dtype=dtype)
    if values.ndim == 2:
        return pandas.DataFrame(values, index=range(len(values))[::-1])
    return pandas.Series(values, index=range(len(values))[::-1])


def reversed_series(values, dtype=None):
    return series(values, dtype)[::-1][::-1]


def polars_like(values, dtype=None):
    polars = pytest.importorskip("polars")
    values = np.array(values, dtype=dtype)
    return polars.DataFrame(values) if values.ndim == 2 else polars.Series(values)


def of_torch(values, dtype=None):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(np.array(values, dtype=dtype))


def read_only(values, dtype=None):
    made = np.array(values, dtype=dtype)
    made.flags.writeable = False
    return made


def big_endian(values, dtype=None):
    made = np.array(values, dtype=dtype)
    return made.astype(made.dtype.newbyteorder(">"))


def backwards(values, dtype=None):
    return np.array(values, dtype=dtype)[::-1].copy()[::-1]


def of_fields(values, dtype=None):
    made = np.array(values, dtype=dtype)
    rows = np.zeros(made.shape, [("skip", "u1"), ("x", made.dtype)])
    rows["x"] = made
    return rows["x"]


def unmasked(values, dtype=None):
    return np.ma.MaskedArray(np.array(values, dtype=dtype), mask=False)


def objects(values, dtype=None):
    return np.array(values, dtype=dtype).astype(object)


KINDS = [ByLabel, ByInterface, ByDlpack, np.array, read_only, big_endian, backwards]
KINDS += [of_fields, unmasked, objects, series, reversed_series, polars_like, of_torch]
each = pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])

VECTOR, MATRIX, MASK = [3.0, 1.0, 2.0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 0, 1]


@each
@pytest.mark.parametrize("make", [pkg.tensor, pkg.as_tensor, pkg.asarray])
def test_tensors_of_arrays(kind, make):
    """Rows are rows, and the order is that of the values."""
    for values in (VECTOR, MATRIX, [[1.0]], np.zeros((0, 2)), [1, 2, 3], [True, False]):
        wanted = np.array(values)
        x = make(kind(values))
        assert x.tolist() == wanted.tolist() and x.shape == wanted.shape
        assert x.dtype.name == wanted.dtype.name
        assert make(kind(values), dtype=pkg.float32).dtype is pkg.float32
    assert kind is objects or make(kind([1.5], "float32")).dtype is pkg.float32


@each
def test_arrays_in_lists(kind):
    """Each is a row, or rows."""
    two = pkg.tensor([kind(VECTOR), kind(VECTOR)])
    assert two.tolist() == [VECTOR, VECTOR] and two.dtype is pkg.float64
    assert pkg.tensor([kind(MATRIX), MATRIX]).tolist() == [MATRIX, MATRIX]
    assert pkg.tensor([[kind(VECTOR)], (VECTOR,)]).shape == (2, 1, 3)
    with pytest.raises(ValueError, match="sequence of length 3 at dim 1 .got 2"):
        pkg.tensor([kind(VECTOR), kind([1.0, 2.0])])


@each
def test_arrays_as_indices(kind):
    """A mask chooses by place, numbers are places; both ways and beside slices."""
    x = pkg.tensor(MATRIX)
    assert x[kind(MASK, bool)].tolist() == [MATRIX[0], MATRIX[2]]
    assert x[kind([2, 0])].tolist() == [MATRIX[2], MATRIX[0]]
    assert x[kind([1])].tolist() == [MATRIX[1]]  # one row of rows, not a row
    assert x[kind([2, 0]), 1].tolist() == [6.0, 2.0]
    assert x[:, kind([1, 0])].tolist() == [[2, 1], [4, 3], [6, 5]]
    assert x[x > kind(np.full((3, 2), 4.5))].tolist() == [5.0, 6.0]
    x[kind(MASK, bool)] = 0
    x[kind([1])] = kind([7.0, 8.0])
    assert x.tolist() == [[0, 0], [7, 8], [0, 0]]


@each
def test_arrays_as_values_and_operands(kind):
    """In assignments, operators on either side, arguments of ops, comparisons."""
    x = pkg.zeros(3, dtype=pkg.float64)
    x[:] = kind(VECTOR)
    assert x.tolist() == VECTOR
    x[1:] = kind([8.0, 9.0])
    assert x.tolist() == [3, 8, 9]
    t = pkg.tensor([1.0, 2.0, 3.0])
    for y in (t + kind(VECTOR), pkg.add(t, kind(VECTOR)), pkg.add(kind(VECTOR), t)):
        assert isinstance(y, pkg.Tensor) and y.tolist() == [4, 3, 5]
        assert y.dtype is pkg.float64  # an array has its own
    assert t.mul(kind([1, 2, 3])).dtype is pkg.float32
    assert (t == kind(VECTOR)).tolist() == [False, False, False]
    assert pkg.where(kind(MASK, bool), t, kind(VECTOR)).tolist() == [1, 1, 3]
    assert pkg.mean(kind(MATRIX), 0).tolist() == [3, 4]
    t += kind([1.0, 1.0, 1.0], "float32")
    assert t.tolist() == [2, 3, 4]
    leaf = pkg.ones(3, requires_grad=True)
    (leaf * kind(VECTOR)).sum().backward()
    assert leaf.grad.tolist() == VECTOR


def test_numbers_of_no_dimension():
    """0-d arrays are numbers where numbers are wanted, and tensors where those are."""
    for zero_d in (np.array(2), ByLabel(2), ByInterface(2), np.int64(2)):
        assert pkg.tensor(zero_d).shape == ()
        assert pkg.tensor([zero_d, 3]).tolist() == [2, 3]
        assert pkg.arange(3)[zero_d].shape == () and pkg.asarray(zero_d).item() == 2
        assert (pkg.ones(2) + zero_d).tolist() == [3, 3]


def test_buffers_of_python():
    """memoryview, array.array and ctypes are read by the core itself."""
    numbers = array.array("i", [3, 1, 2])
    square = memoryview(bytes(range(4))).cast("B", (2, 2))
    for data, wanted in [
        (numbers, [3, 1, 2]),
        (memoryview(numbers)[::-1], [2, 1, 3]),
        (memoryview(numbers)[::2], [3, 2]),
        (square, [[0, 1], [2, 3]]),
        ((ctypes.c_double * 2)(1.5, 2), [1.5, 2]),
        (((ctypes.c_int * 2) * 2)((1, 2), (3, 4)), [[1, 2], [3, 4]]),
    ]:
        assert pkg.tensor(data).tolist() == wanted
        assert pkg.tensor([data, data]).tolist() == [wanted, wanted]


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int)]


def missing_values():
    """(data, error, words) of what has gaps, or holds no numbers."""
    yield np.array([1, None], object), TypeError, r"got NoneType None at \[1\]"
    yield np.array(["a", "b"]), TypeError, "got <U1"
    yield np.array(["a", 2.0], object), TypeError, r"got str 'a' at \[0\]"
    yield np.array(["2020-01-01"], "M8[D]"), TypeError, r"got datetime64\[D\]"
    yield np.array([3], "m8[s]"), TypeError, r"got timedelta64\[s\]"
    yield np.array([1j]), TypeError, "got complex128"
    yield np.array([1], "u2"), TypeError, "got uint16"
    yield np.array([2**64 - 1], "u8"), TypeError, "got uint64"
    yield np.zeros(2, [("a", "i4"), ("b", "i4")]), TypeError, "got .*'a'"
    yield (Pair * 2)(), TypeError, "expected an array of bool, uint8"
    yield array.array("H", [1]), TypeError, "got uint16"
    yield np.ma.MaskedArray([1, 2], mask=[0, 1]), ValueError, "got 1 of 2 masked"
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        gaps = pd.Series([1, None, 3], dtype="Int64")
        yield gaps, ValueError, "whole numbers without gaps, got Int64 with 1 missing"
        yield gaps.to_frame(), (TypeError, ValueError), "missing|NAType"
        yield pd.Series([True, None], dtype="boolean"), TypeError, "got NAType <NA> at"
        yield pd.Series(["a"]), TypeError, "got str 'a'"
        yield pd.Series(["x", "y"], dtype="category"), TypeError, "got str 'x'"
        yield pd.Series(pd.date_range("2020", periods=2)), TypeError, "got datetime64"
        frame = pd.DataFrame({"a": [1], "b": ["c"]})
        yield frame, TypeError, r"got str 'c' at \[0, 1\]"
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        yield pl.Series([1, None]), ValueError, "got Int64 with 1 missing"
        yield pl.Series([True, None]), TypeError, "got NoneType None"
        yield pl.Series(["a"]), TypeError, "got <U1|got str"


MISSING = list(missing_values())


@pytest.mark.parametrize("case", MISSING, ids=[words for _, _, words in MISSING])
def test_what_is_no_array_of_numbers(case):
    """A precise error by every way in, never other numbers."""
    data, error, words = case
    for use in (
        pkg.tensor,
        pkg.as_tensor,
        lambda d: pkg.tensor([d]),
        lambda d: pkg.ones(len(d)) + d,
        lambda d: pkg.ones(len(d)).__setitem__(slice(None), d),
    ):
        with pytest.raises(error, match=words):
            use(data)
    with pytest.raises((TypeError, ValueError, IndexError), match=words):
        pkg.ones(len(data))[data]
    assert pkg.from_numpy(np.ones(1)).item() == 1
    if isinstance(data, np.ndarray):
        with pytest.raises((TypeError, ValueError)):
            pkg.from_numpy(data)


def test_nullable_types_without_gaps():
    """They are plain numbers; floats say NaN."""
    pd = pytest.importorskip("pandas")
    for dtype in ("Int64", "Int32", "Float32", "boolean"):
        made = pkg.tensor(pd.Series([1, 0], dtype=dtype, index=[1, 0]))
        assert made.tolist() == [1, 0]
        assert made.dtype.name == {"boolean": "bool"}.get(dtype, dtype.lower())
    whole, floats = pd.array([1, 2], "Int64"), [1.5, 2.5]
    mixed = pd.DataFrame({"a": whole, "b": floats}, index=[1, 0])
    assert pkg.tensor(mixed).tolist() == [[1, 1.5], [2, 2.5]]
    mixed = pd.DataFrame({"a": [1, 2], "b": [True, False]})
    assert pkg.tensor(mixed).dtype is pkg.int64
    floats = pkg.tensor(pd.Series([1.5, None], dtype="Float64"))
    assert floats[0].item() == 1.5 and floats.isnan().tolist() == [False, True]
    numbers = pd.Series([20, 10, 20], dtype="category", index=[2, 0, 1])
    assert pkg.tensor(numbers).tolist() == [20, 10, 20]  # values, not codes
    vectors = pd.Series([np.arange(2), np.arange(2)], index=[1, 0])
    assert pkg.tensor(vectors).tolist() == [[0, 1], [0, 1]]


def test_parts_of_scikit_learn():
    """What train_test_split and predict give, and what estimators get of tensors."""
    pd = pytest.importorskip("pandas")
    selection = pytest.importorskip("sklearn.model_selection")
    linear_model = pytest.importorskip("sklearn.linear_model")
    columns = {"a": np.arange(20.0), "b": np.arange(20) * 2}
    table = pd.DataFrame(columns, index=range(20, 0, -1))
    target = pd.Series(np.arange(20) % 3, index=table.index)
    parts = selection.train_test_split(table, target, random_state=0)
    for part in parts:
        assert pkg.tensor(part).tolist() == part.to_numpy().tolist()
    dataset = pkg.data.TensorDataset(*(pkg.tensor(p) for p in (parts[0], parts[2])))
    assert dataset[0][0].tolist() == parts[0].iloc[0].tolist()
    x, y = pkg.tensor(table), pkg.tensor(target)
    model = linear_model.LinearRegression().fit(x, y)
    assert pkg.tensor(model.predict(x)).shape == (20,)


def test_shared_memory_of_frames():
    """as_tensor shares what may be written; tensor never does."""
    kept = ByLabel(VECTOR)
    pkg.tensor(kept).zero_()
    pkg.asarray(kept, copy=True).zero_()
    assert kept.values.tolist() == VECTOR
    pkg.as_tensor(kept).zero_()
    assert kept.values.tolist() == [0, 0, 0]
    for copied in (big_endian(VECTOR), backwards(VECTOR), objects(VECTOR)):
        before = copied.tolist()
        pkg.as_tensor(copied).zero_()
        assert copied.tolist() == before
        with pytest.raises(ValueError, match="can't alias"):
            pkg.asarray(copied, copy=False)


def test_tensors_of_torch():
    """bfloat16 by DLPack; one that requires grad says so."""
    torch = pytest.importorskip("torch")
    half = torch.tensor([1.5, 2.5], dtype=torch.bfloat16)
    assert pkg.tensor(half).dtype is pkg.bfloat16
    assert pkg.tensor([half, half]).tolist() == [[1.5, 2.5]] * 2
    with pytest.raises(RuntimeError, match="requires grad"):
        pkg.tensor(torch.ones(2, requires_grad=True))


@each
def test_batches_of_arrays(kind):
    """Samples are stacked; one with gaps is an error."""
    batch = pkg.data.default_collate([kind(VECTOR), kind(VECTOR)])
    assert batch.tolist() == [VECTOR, VECTOR] and batch.dtype is pkg.float64
    masked = np.ma.MaskedArray(VECTOR, mask=[0, 1, 0])
    with pytest.raises(ValueError, match="masked"):
        pkg.data.default_collate([masked, masked])


def test_batches_of_what_numpy_has_no_dtype_for():
    """Such as bfloat16, which stays what it is."""
    torch = pytest.importorskip("torch")
    sample = torch.tensor(VECTOR, dtype=torch.bfloat16)
    batch = pkg.data.default_collate([sample, sample])
    assert batch.dtype is pkg.bfloat16 and batch.tolist() == [VECTOR, VECTOR]


def test_operators_with_frames_are_tensors():
    """In both orders, with the gradient of the tensor."""
    pd = pytest.importorskip("pandas")
    t = pkg.tensor(VECTOR, requires_grad=True)
    values = np.array(VECTOR)
    for frame in (pd.Series(VECTOR), pd.Index(VECTOR), pd.DataFrame([VECTOR] * 2)):
        for name in "add sub mul truediv pow eq lt ge".split():
            op = getattr(operator, name)
            want = op(frame.to_numpy(), values)
            for got in (op(frame, t), op(pkg.tensor(frame.to_numpy()), t)):
                assert isinstance(got, pkg.Tensor)
                np.testing.assert_allclose(got.detach().numpy(), want)
                assert got.requires_grad == got.is_floating_point()
            assert isinstance(op(t, frame), pkg.Tensor)


def test_images():
    """Rows of pixels, of whatever channels."""
    image = pytest.importorskip("PIL.Image")
    picture = image.fromarray(np.arange(12, dtype="u1").reshape(2, 2, 3))
    assert pkg.tensor(picture).tolist() == np.arange(12).reshape(2, 2, 3).tolist()
    assert pkg.tensor([picture, picture]).shape == (2, 2, 2, 3)


def test_an_error_of_the_array_itself_stays():
    """And classes are no arrays, whatever their objects have."""

    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise OSError("the file is gone")

    for use in (pkg.tensor, pkg.as_tensor, pkg.ones(2).__add__):
        with pytest.raises(OSError, match="the file is gone"):
            use(Broken())
    for wrong in (np.ndarray, ByLabel, np.float32):
        with pytest.raises(TypeError):
            pkg.tensor(wrong)
    assert pkg.ones(1).to(np.float64).dtype is pkg.float64

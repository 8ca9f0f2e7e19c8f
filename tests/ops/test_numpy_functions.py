# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors: what is an op stays one, nothing loses a gradient."""

import operator

import numpy as np
import pytest

import pkg
from pkg import numpy_functions

VALUES = np.array([[0.25, 0.5, 0.75], [0.4, 0.1, 0.9]])
UFUNCS = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
REDUCTIONS = "sum mean prod max min amax amin any all std var argmax argmin".split()


def inputs_of(ufunc):
    """Arrays in the domain of the ufunc; None where it takes something else."""
    kinds = [t.partition("->")[0] for t in ufunc.types]
    for kind, values in (
        ("d", VALUES),
        ("l", np.array([[1, 2, 3], [4, 5, 6]])),
        ("?", VALUES > 0.4),
    ):
        if kind * ufunc.nin in kinds and ufunc.signature is None:
            return [values + (1 if ufunc.__name__ == "arccosh" else 0)] * ufunc.nin
    return None


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufuncs_give_tensors(name):
    """All that NumPy has, with its values: of tensors, and of a tensor and an array."""
    ufunc = UFUNCS[name]
    arrays = inputs_of(ufunc)
    if arrays is None:
        pytest.skip("a generalised ufunc, or of dates")
    wanted = ufunc(*arrays)
    mixed = [pkg.tensor(arrays[0]), *arrays[1:]]
    for given in ([pkg.tensor(a) for a in arrays], mixed, mixed[::-1]):
        found = ufunc(*given)
        pairs = zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]
        for got, want in pairs:
            assert isinstance(got, pkg.Tensor) or want.dtype.name not in vars(pkg)
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufuncs_keep_gradients_or_refuse(name):
    """Never a result that has forgotten where it came from."""
    ufunc = UFUNCS[name]
    arrays = inputs_of(ufunc)
    if arrays is None or arrays[0].dtype != np.float64:
        pytest.skip("not of floats")
    x = pkg.tensor(arrays[0], requires_grad=True)
    try:
        y = ufunc(x, *arrays[1:])
    except RuntimeError as error:
        assert f"[{ufunc.__name__}] expected tensors that require no grad" in str(error)
        return
    assert y.requires_grad or not y.is_floating_point() or name in ("sign",)
    if y.requires_grad:
        (ours,) = pkg.autograd.grad(y.sum(), x)
        assert ours.shape == x.shape


def test_operators_between_arrays_and_tensors():
    """Those of pkg, in both orders, with gradients and pkg's dtypes."""
    array = np.array([1.0, 2.0], "float32")
    t = pkg.tensor([3.0, 4.0], requires_grad=True)
    for name in "add sub mul truediv floordiv mod pow eq lt ge".split():
        op = getattr(operator, name)
        for got, want in [
            (op(array, t), op(array, t.detach().numpy())),
            (op(t, array), op(t.detach().numpy(), array)),
        ]:
            assert isinstance(got, pkg.Tensor) and got.tolist() == want.tolist()
            assert got.requires_grad == got.is_floating_point()
    assert (np.float64(2) * t).dtype is (t * np.float64(2)).dtype is pkg.float32
    assert (np.ones(2) * t).dtype is pkg.float64
    assert (array @ t).item() == 11 and np.matmul(t, array).requires_grad
    assert np.add(t, [1.0, 1.0]).tolist() == [4, 5]
    with pytest.raises(RuntimeError, match="size of tensor a"):
        np.ones(3) + t


def test_writing_to_arrays_and_tensors():
    """out= and += of an array are NumPy's; a tensor is written as autograd sees it."""
    array, t = np.ones(2), pkg.tensor([3.0, 4.0])
    array += t
    assert array.tolist() == [4, 5] and isinstance(array, np.ndarray)
    assert np.sqrt(t, out=array) is array and array[1] == 2
    leaf = pkg.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="require no grad"):
        array += leaf
    version = t._version
    assert np.multiply(t, 2, out=t) is t and t.tolist() == [6, 8]
    assert t._version > version
    assert np.add(t, 1, out=t, where=[True, False]).tolist() == [7, 8]
    np.add.at(t, [0, 0], 1)
    assert t.tolist() == [9, 8] and t._version > version + 2
    with pytest.raises(RuntimeError, match="leaf|require no grad"):
        np.add(t, 1, out=leaf)
    whole, part = np.divmod(t, 2)
    assert whole.tolist() == [4, 4] and part.tolist() == [1, 0]
    assert np.add.reduce(t).item() == 17 and np.multiply.outer(t, t).shape == (2, 2)
    assert np.modf(t, out=(array, None))[0] is array


def test_masks_and_starts_are_tensors_too():
    """where= as a tensor, of a ufunc and of its methods."""
    t, mask = pkg.tensor(VALUES), pkg.tensor(VALUES > 0.4)
    for a in (t, VALUES):
        got = np.add(a, 1, out=np.zeros((2, 3)), where=mask)
        assert np.array_equal(got, np.where(VALUES > 0.4, VALUES + 1, 0))
        wanted = np.sum(VALUES, where=VALUES > 0.4)
        assert np.sum(a, where=mask).item() == wanted
        assert np.add.reduce(a, axis=None, where=mask).item() == wanted
    assert np.add(t, 1, out=t, where=mask) is t


def times_two(w):
    """A graph that keeps w itself."""
    return (pkg.tensor(np.ones(w.shape), requires_grad=True) * w).sum()


WRITES = {
    "sum": lambda w: np.sum(VALUES, axis=0, out=w[0]),
    "sum of a tensor": lambda w: np.sum(pkg.tensor(VALUES), axis=0, out=w[0]),
    "mean, third": lambda w: np.mean(pkg.tensor(VALUES), 0, None, w[0]),
    "clip": lambda w: np.clip(w, 0.2, 0.5, out=w),
    "concatenate": lambda w: np.concatenate([VALUES[:1], VALUES[:1]], out=w),
    "cumsum": lambda w: np.cumsum(w, axis=0, out=w),
    "copyto": lambda w: np.copyto(w, 2 * VALUES),
    "copyto, by name": lambda w: np.copyto(src=2 * VALUES, dst=w),
    "copyto where": lambda w: np.copyto(w, 7, where=VALUES > 0.4),
    "fill_diagonal": lambda w: np.fill_diagonal(w, 0),
    "put": lambda w: np.put(w, [0, 4], [-1, -2]),
    "place": lambda w: np.place(w, VALUES > 0.4, [3, 4]),
    "putmask": lambda w: np.putmask(w, VALUES > 0.4, 5),
    "put_along_axis": lambda w: np.put_along_axis(w, np.array([[1], [2]]), 9, 1),
    "nan_to_num": lambda w: np.nan_to_num(w, copy=False, nan=1),
    "median": lambda w: np.median(w, overwrite_input=True),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_numpy_writes_autograd_sees(name):
    """A version more, so that no gradient is of values that are gone."""
    wanted, w = VALUES.copy(), pkg.tensor(VALUES)
    loss, version = times_two(w), w._version
    answer, found = WRITES[name](wanted), WRITES[name](w)
    assert np.array_equal(wanted, w.numpy()) or name == "median"
    assert w._version > version
    assert isinstance(found, pkg.Tensor) == isinstance(answer, np.ndarray)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    leaf = pkg.tensor(VALUES, requires_grad=True)
    with pytest.raises(RuntimeError, match="require no grad"):
        WRITES[name](leaf)
    assert np.array_equal(leaf.detach().numpy(), VALUES)


def test_results_are_what_out_names():
    """The object itself, for arrays as for tensors."""
    t = pkg.tensor(VALUES)
    for out in (np.zeros(3), pkg.zeros(3, dtype=pkg.float64)):
        assert np.sum(t, axis=0, out=out) is out
        assert np.array_equal(np.asarray(out), VALUES.sum(0))


def test_shapes_and_kinds_need_no_values():
    """Of a tensor that requires grad, or has no memory; values are not given away."""
    leaf = pkg.tensor(VALUES, requires_grad=True)
    for a in (leaf, pkg.empty(2, 3, device="meta")):
        assert np.shape(a) == (2, 3) and np.ndim(a) == 2
        assert np.size(a) == 6 and np.size(a, 1) == np.size(a=a, axis=1) == 3
    assert np.shape(pkg.tensor(1.0, requires_grad=True)) == ()
    for name in ("zeros_like", "ones_like", "empty_like"):
        got = getattr(np, name)(leaf)
        assert got.shape == (2, 3) and got.dtype == np.float64
    assert np.full_like(leaf, 2.0).sum() == 12
    with pytest.raises(RuntimeError, match="require no grad"):
        np.full_like(leaf, leaf)
    assert np.result_type(leaf, np.float32) == np.common_type(leaf) == np.float64
    assert np.can_cast(leaf.detach().dtype.name, "f8") and np.isrealobj(leaf)
    assert not np.iscomplexobj(leaf) and np.shares_memory(leaf, leaf.detach())


@pytest.mark.parametrize("name", REDUCTIONS[:-2])
@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_reductions_without_an_op_are_numpys(name, dtype):
    """Where no gradient is needed: of no axes, of whole numbers, of other words."""
    function, values = getattr(np, name), (VALUES * 4).astype(dtype)
    t = pkg.tensor(values)
    asked = [{}, {"axis": ()}, {"axis": (0, 1)}, {"axis": 0, "keepdims": True}]
    if name in ("std", "var"):
        asked += [{"ddof": 0.5}, {"ddof": 1, "axis": 0}]
    if name in ("sum", "mean", "prod", "std", "var"):
        asked += [{"dtype": np.float64}, {"dtype": "float32"}, {"dtype": float}]
    for options in asked:
        want = function(values, **options)
        for got in (function(t, **options), function(a=t, **options)):
            assert isinstance(got, pkg.Tensor) and got.shape == want.shape
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)
            assert not options.get("dtype") or got.numpy().dtype == want.dtype
    if dtype == "float64" and name not in ("any", "all"):
        leaf = pkg.tensor(values, requires_grad=True)
        assert function(a=leaf).requires_grad
        with pytest.raises(RuntimeError, match="require no grad"):
            function(leaf, axis=())


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_reductions_are_ops(name, axis):
    """Of the same value as NumPy's; those of axes that have gradients keep them."""
    function = getattr(np, name)
    if axis == (0, 1) and name in ("prod", "argmax", "argmin"):
        axis = 1
    x = pkg.tensor(VALUES, requires_grad=True)
    for options in ({}, {"keepdims": True}):
        given = options if axis is None else {"axis": axis, **options}
        got, want = function(x, **given), function(VALUES, **given)
        assert isinstance(got, pkg.Tensor) and got.shape == want.shape
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
        assert got.requires_grad == (name not in ("any", "all", "argmax", "argmin"))
    if name in ("std", "var"):
        np.testing.assert_allclose(function(x, ddof=1).item(), function(VALUES, ddof=1))


@pytest.mark.parametrize("name", [*REDUCTIONS, "cumsum", "cumprod"])
def test_methods_take_what_numpy_passes(name):
    """axis, keepdims, ddof, and out=None with dtype=None, which say nothing."""
    x = pkg.tensor(VALUES)
    plain = getattr(x, name)
    for options in ({"axis": 0, "out": None}, {"axis": 0, "keepdims": False}):
        if "keepdims" in options and name.startswith("cum"):
            continue
        got = plain(**options)
        want = plain(0) if name not in ("std", "var") else plain(dim=0)
        got, want = (r[0] if isinstance(r, tuple) else r for r in (got, want))
        assert got.tolist() == want.tolist()
    if not name.startswith("cum"):
        assert plain(axis=None, out=None).tolist() == plain().tolist()
        assert plain(axis=None, dtype=None, out=None).tolist() == plain().tolist()
    assert x.std(ddof=0).item() == pytest.approx(VALUES.std())
    for wrong in ({"out": x}, {"axes": None}, {"dtype": 3, "out": None}):
        with pytest.raises(TypeError):
            x.sum(**wrong)
    with pytest.raises(TypeError):
        pkg.ones(2).repeat(2, axis=None)  # NumPy's repeat is another function


def test_running_sums_without_an_axis_are_flat():
    """As NumPy's."""
    x = pkg.tensor(VALUES, requires_grad=True)
    for name in ("cumsum", "cumprod"):
        got, want = (getattr(np, name)(a) for a in (x, VALUES))
        np.testing.assert_allclose(got.detach().numpy(), want)
        assert got.requires_grad
        np.testing.assert_allclose(
            getattr(np, name)(x.detach(), 1).numpy(), getattr(np, name)(VALUES, 1)
        )


def test_other_functions_get_the_values():
    """And give arrays; a tensor that requires grad is refused."""
    x, leaf = pkg.tensor(VALUES), pkg.tensor(VALUES, requires_grad=True)
    for name in "median sort argsort clip round concatenate stack flip repeat".split():
        function = getattr(np, name)
        extra = {"clip": (0.2, 0.5), "repeat": (2,)}.get(name, ())

        def given(a, name=name):
            return [a, a] if name in ("concatenate", "stack") else a

        got, want = function(given(x), *extra), function(given(VALUES), *extra)
        assert not isinstance(got, pkg.Tensor) and np.array_equal(got, want)
        with pytest.raises(RuntimeError, match="require no grad"):
            function(given(leaf), *extra)
    assert np.size(x) == 6 and np.shape(leaf.detach()) == (2, 3) and np.ndim(x) == 2
    assert len(np.nonzero(x)) == 2 and np.linalg.norm(x) == np.linalg.norm(VALUES)
    assert np.allclose(x, VALUES) and np.where(x > 0.4, x, 0).sum() == 2.15
    np.copyto(x, np.zeros((2, 3)))
    assert x.sum().item() == 0
    assert np.sum(x, axis=0, initial=1.0).tolist() == [1, 1, 1]
    with pytest.raises(TypeError):
        np.sum(x, nonsense=1)


def test_other_libraries_get_their_turn():
    """An array that answers for ufuncs or functions itself."""

    class Other:
        def __array_ufunc__(self, *args, **options):
            return "theirs"

        def __array_function__(self, *args):
            return "theirs"

    assert np.add(pkg.ones(2), Other()) == "theirs"
    assert np.concatenate([pkg.ones(2), Other()]) == "theirs"


def test_every_op_of_the_table_is_there():
    """The ops behind NumPy's names are registered."""
    known = dict(pkg.ops.functions())
    for table in (numpy_functions._OPS, numpy_functions._REDUCING):
        assert set(table.values()) <= set(known) and len(table) > 14

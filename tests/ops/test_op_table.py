# SPDX-License-Identifier: Apache-2.0
"""Every row of support/op_table.py: values, layouts, dtypes, Meta, both gradients."""

import re
import warnings

import numpy as np
import pytest

import pkg
from op_table import CASES, LEFT_OUT
from op_values import InPlace, compare, floating, inputs_of, outputs, scattered

DIFFERENTIABLE = [case for case in CASES if case.differentiable]
#: Public ops without a row, and where they are tested instead.
ELSEWHERE = {
    "empty, empty_like, new_empty": "values are unspecified: shapes are tested below",
    "rand, randn, randint, randperm, normal, uniform, dropout": "test_layers.py, seeds",
    "rand_like, randn_like, randint_like, bernoulli": "test_sampling.py",
    "index_put_": "index_put has the row; it is defined with this one",
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values(case):
    """float64 inputs in dense and in scattered layouts, empty and 0-d where legal."""
    for makers in [case.inputs, *case.more]:
        arrays = inputs_of(case, makers)
        compare(case, case.call(pkg, *map(pkg.tensor, arrays)), arrays, 1e-10)
        if case.name not in ("view", "view_as"):
            compare(case, case.call(pkg, *map(scattered, arrays)), arrays, 1e-10)


#: What is made of a row's own inputs: no rows, no columns, one element of each, whole
#: numbers of other types.
VARIANTS = ("rows", "columns", "0-d", "int32", "int8", "uint8", "bool")


def varied(array, variant):
    """The array as the variant has it."""
    if variant == "rows":
        return array[:0]
    if variant == "columns":
        return array[..., :0]
    if variant == "0-d":
        return array.reshape(-1)[0]
    if array.dtype.kind != "f":
        return array  # indices and masks stay what they are
    whole = np.floor(np.clip(np.nan_to_num(array), -100, 100))
    if variant == "uint8":
        whole -= min(whole.min(), 0)
    return whole.astype(bool if variant == "bool" else "int64")


def derived(case, variant):
    """Inputs of a variant and what NumPy makes of them; None when it makes nothing.

    Whole numbers are given to the reference as int64, which holds every result.
    """
    arrays = inputs_of(case)
    whole = variant in VARIANTS[3:]
    if not arrays or (whole and all(a.dtype.kind != "f" for a in arrays)):
        return None
    axis = {"rows": 0, "columns": -1}.get(variant)
    if any(a.size == 0 or (not whole and a.ndim == 0) for a in arrays):
        return None
    if axis is not None and len({a.shape[axis] for a in arrays}) > 1:
        return None  # the dimension is not the same one in all of them
    inputs = [varied(a, variant) for a in arrays]
    given = [a.astype("int64") if whole and a.dtype == bool else a for a in inputs]
    given = [g if a.dtype.kind == "f" else i for g, i, a in zip(given, inputs, arrays)]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = [np.asarray(w) for w in outputs(case.reference(*given))]
    except (ValueError, IndexError, TypeError, ZeroDivisionError):
        return None
    if any(w.dtype == object for w in want):
        return None
    if whole:
        inputs = [
            i.astype(variant) if a.dtype.kind == "f" else i
            for i, a in zip(inputs, arrays)
        ]
    return inputs, want


def agrees(case, variant):
    """None, or the text of what is wrong; an op may refuse a type, never a shape."""
    inputs, want = derived(case, variant)
    try:
        got = outputs(case.call(pkg, *map(pkg.tensor, inputs)))
    except (RuntimeError, NotImplementedError, IndexError) as error:
        types = "float|integ|not implemented|support|did not match"
        refused = variant in VARIANTS[3:] and re.search(types, str(error))
        return None if refused else f"{type(error).__name__}: {error}"
    if len(got) != len(want):
        return f"{len(got)} results for {len(want)}"
    for g, w in zip(got, want):
        if type(g) is not pkg.Tensor:
            if g != w:
                return f"{g} for {w}"
            continue
        g = g.detach().numpy()
        if g.shape != w.shape:
            return f"shape {g.shape} for {w.shape}"
        if g.dtype.kind in "iub" and w.dtype.kind in "iub":
            w = w.astype(g.dtype)  # as arithmetic of that type wraps
        elif g.dtype.kind != w.dtype.kind:
            return f"{g.dtype} for {w.dtype}"
        with np.errstate(all="ignore"):
            if not np.allclose(g, w, rtol=2e-4, atol=2e-4, equal_nan=True):
                return f"{g} for {w}"
    return None


DERIVED = [(c, v) for c in CASES for v in VARIANTS if derived(c, v) is not None]


@pytest.mark.parametrize("variant", VARIANTS)
def test_derived_inputs(variant):
    """Every row on inputs that nobody wrote down for it, but for those left out."""
    wrong = {
        str(case): agrees(case, variant)
        for case, made in DERIVED
        if made == variant and (str(case), variant) not in LEFT_OUT
    }
    assert len(wrong) > 50
    assert not {name: text for name, text in wrong.items() if text}


def test_what_is_left_out_would_fail():
    """The list in the table names existing rows that do differ, and no others."""
    rows = {(str(case), variant): case for case, variant in DERIVED}
    assert [key for key in LEFT_OUT if key not in rows] == []
    assert [key for key in LEFT_OUT if not agrees(rows[key], key[1])] == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_float32(case):
    """The same in float32, whose results stay float32."""
    arrays = inputs_of(case)
    narrow = [a.astype("float32") if a.dtype.kind == "f" else a for a in arrays]
    got = case.call(pkg, *map(pkg.tensor, narrow))
    compare(case, got, narrow, 2e-4)
    if any(a.dtype == np.float32 for a in narrow) and case.name not in ("double", "to"):
        for g in outputs(got):
            assert not isinstance(g, pkg.Tensor) or g.dtype is not pkg.float64


@pytest.mark.parametrize("dtype, tolerance", [("float16", 0.02), ("bfloat16", 0.15)])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_reduced_types(case, dtype, tolerance):
    """16-bit floats come close to float32, or the op says it has no such kernel."""
    exact = [pkg.tensor(a) for a in inputs_of(case)]
    if pkg.float64 not in [t.dtype for t in exact]:
        pytest.skip("no floating input")
    reduced = getattr(pkg, dtype)
    short = [t.to(reduced) if t.dtype is pkg.float64 else t for t in exact]
    # The same rounded inputs, so that only the op's own error is left.
    wide = [t.to(pkg.float32) if t.dtype is reduced else t for t in short]
    try:
        got = outputs(case.call(pkg, *short))
    except NotImplementedError as error:
        assert "not implemented for" in str(error)
        return
    for g, w in zip(got, outputs(case.call(pkg, *wide))):
        if isinstance(g, pkg.Tensor) and w.dtype is pkg.float32:
            g, w = g.float().numpy(), w.numpy()
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_meta(case):
    """Shapes and dtypes follow without data, or the op says that it needs data."""
    arrays = inputs_of(case)
    tensors = [pkg.tensor(a) for a in arrays]
    metas = [pkg.empty(t.shape, dtype=t.dtype, device="meta") for t in tensors]
    if not case.meta:
        with pytest.raises((RuntimeError, NotImplementedError)):
            case.call(pkg, *metas)
        return
    want = outputs(case.call(pkg, *tensors))
    got = outputs(case.call(pkg, *metas))
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
    assert not metas or all(str(g.device) == "meta" for g in got)


def weighted(case, tensors, weights):
    """A number that depends on every element of every floating result."""
    results = floating(case.call(pkg, *tensors))
    return sum((r * w).sum() for r, w in zip(results, weights))


def differences(function, arrays, which, eps):
    """Central differences of a number for each element of one array."""
    grad = np.zeros_like(arrays[which])
    for place in np.ndindex(grad.shape):
        ends = []
        for sign in (1, -1):
            moved = [a.copy() for a in arrays]
            moved[which][place] += sign * eps
            ends.append(function(moved))
        grad[place] = (ends[0] - ends[1]) / (2 * eps)
    return grad


def prepare(case):
    """Inputs, which of them are floating, and random weights for the results."""
    arrays = inputs_of(case)
    rng = np.random.default_rng(7)
    which = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    results = floating(case.call(pkg, *map(pkg.tensor, arrays)))
    weights = [pkg.tensor(rng.normal(size=tuple(r.shape))) for r in results]
    return arrays, which, weights


def leaves(arrays):
    """Tensors of which the floating ones require grad."""
    return [pkg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradients(case):
    """backward() of every input against central differences."""
    arrays, which, weights = prepare(case)

    def value(moved):
        return weighted(case, [pkg.tensor(a) for a in moved], weights).item()

    tensors = leaves(arrays)
    weighted(case, tensors, weights).backward()
    for i in which:
        assert tensors[i].grad is not None, f"no gradient for input {i}"
        want = differences(value, arrays, i, 1e-6)
        np.testing.assert_allclose(tensors[i].grad.numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_double_backward(case):
    """The gradient's own gradient against central differences of the gradient."""
    arrays, which, weights = prepare(case)
    rng = np.random.default_rng(8)
    probes = [pkg.tensor(rng.normal(size=arrays[i].shape)) for i in which]

    def slope(tensors, create_graph):
        out = weighted(case, tensors, weights)
        inputs = [tensors[i] for i in which]
        grads = pkg.autograd.grad(out, inputs, create_graph=create_graph)
        return sum((g * v).sum() for g, v in zip(grads, probes))

    tensors = leaves(arrays)
    number = slope(tensors, True)
    wanted = [tensors[i] for i in which]
    if number.requires_grad:
        got = pkg.autograd.grad(number, wanted, allow_unused=True)
    else:
        got = [None] * len(which)  # the gradient does not depend on the inputs
    for i, g in zip(which, got):
        want = differences(lambda a: slope(leaves(a), False).item(), arrays, i, 1e-5)
        have = np.zeros_like(want) if g is None else g.numpy()
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradgradcheck(case):
    """Second derivatives with respect to the inputs and to the incoming gradient."""
    check_second_derivatives(case, pkg)


def check_second_derivatives(case, module):
    """The case's call, made in the module."""
    arrays, which, _ = prepare(case)

    def function(*moved):
        tensors = [pkg.tensor(a) for a in arrays]
        for i, tensor in zip(which, moved):
            tensors[i] = tensor
        results = floating(case.call(module, *tensors))
        return tuple(r for r in results if r.requires_grad)

    inputs = [leaves(arrays)[i] for i in which]
    assert pkg.autograd.gradgradcheck(function, inputs, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradient_of_some_inputs(case):
    """Whichever inputs want a gradient, it is the same: what is saved differs."""
    arrays, which, weights = prepare(case)
    tensors = leaves(arrays)
    wanted = pkg.autograd.grad(
        weighted(case, tensors, weights), [tensors[i] for i in which]
    )
    for i, want in zip(which, wanted):
        alone = [pkg.tensor(a, requires_grad=i == j) for j, a in enumerate(arrays)]
        weighted(case, alone, weights).backward()
        np.testing.assert_array_equal(alone[i].grad.numpy(), want.numpy())


def fits_into_self(case, arrays):
    """Whether the result may be written over the first input."""
    tensors = [pkg.tensor(a) for a in arrays]
    result = case.call(pkg, *tensors)
    return (result.shape, result.dtype) == (tensors[0].shape, tensors[0].dtype)


WITH_IN_PLACE = [c for c in CASES if hasattr(pkg, c.name + "_") and c.name != "where"]


@pytest.mark.parametrize(
    "case", [c for c in WITH_IN_PLACE if c in DIFFERENTIABLE], ids=str
)
def test_gradgradcheck_of_the_in_place_form(case):
    """What it saves of the values it overwrites has their history."""
    if not fits_into_self(case, prepare(case)[0]):
        pytest.skip("the result does not fit into self")
    check_second_derivatives(case, InPlace(case.name))


@pytest.mark.parametrize("case", WITH_IN_PLACE, ids=str)
def test_in_place_form(case):
    """name_() leaves in self what name() returns."""
    arrays = inputs_of(case)
    if not fits_into_self(case, arrays):
        pytest.skip("the result does not fit into self")
    tensors = [pkg.tensor(a) for a in arrays]
    want = case.call(pkg, *tensors)
    got = case.call(InPlace(case.name), *tensors)
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_empty_has_shape_and_dtype():
    """Of what was asked, of the tensor it is like, or of both."""
    x = pkg.zeros(2, 3, dtype=pkg.float64)
    assert pkg.empty((2, 0), dtype=pkg.int32).shape == (2, 0)
    assert pkg.empty_like(x).shape == x.shape and pkg.empty_like(x).dtype is x.dtype
    made = x.new_empty(4)
    assert made.shape == (4,) and made.dtype is x.dtype
    assert x.new_empty((1,), dtype=pkg.int64).dtype is pkg.int64


def test_special_values():
    """NaN where PyTorch has it, errors where a number would be wrong."""
    nan = float("nan")
    x = pkg.tensor([1.0, nan, 3.0])
    assert str(x.clamp(0, 2).tolist()) == "[1.0, nan, 2.0]"
    assert str(x.clamp(max=pkg.tensor(nan)).tolist()) == "[nan, nan, nan]"
    assert x.sort(descending=True)[1].tolist() == [1, 2, 0]
    assert x.topk(1)[1].item() == 1 and str(x.median().item()) == "nan"
    assert str(x.cummax(0)[0].tolist()) == "[1.0, nan, nan]"
    assert x.sign().isnan().tolist() == [False, False, False]
    least = pkg.tensor([-(2**63)])
    assert (least // -1).tolist() == [-(2**63)] and (least % -1).tolist() == [0]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        pkg.tensor([1]).fmod(0)
    small = pkg.tensor([1, 200], dtype=pkg.uint8)
    for zero in (256, 2**40, pkg.tensor(256)):  # as uint8
        for name in ("fmod", "remainder", "floor_divide"):
            with pytest.raises(RuntimeError, match=rf"ZeroDivision.*{name}.*uint8"):
                getattr(small, name)(zero)
    assert (small / 256).tolist() == [1 / 256, 200 / 256]
    assert (small / -1).tolist() == [-1.0, -200.0] and (512 / small)[0].item() == 512
    assert (small + 300).tolist() == [45, 244]
    with pytest.raises(RuntimeError, match="out of bounds|out of range"):
        pkg.zeros(3).topk(4)
    with pytest.raises(IndexError, match="out of bounds"):
        pkg.zeros(3).scatter(0, pkg.tensor([3]), 1.0)
    with pytest.raises(RuntimeError, match="einsum"):
        pkg.einsum("ij,jk->ik", pkg.zeros(2, 3), pkg.zeros(2, 3))
    with pytest.raises(NotImplementedError):
        pkg.ones(2).bitwise_not()


def test_empty_and_zero_dimensions():
    """What PyTorch does with no elements, and with dims of a 0-d tensor."""
    assert str(pkg.empty(0).median()) == "tensor(nan)"
    with pytest.raises(IndexError, match="at least one element"):
        pkg.empty(0, dtype=pkg.int64).median()
    assert pkg.instance_norm(pkg.zeros(0, 3, 4)).shape == (0, 3, 4)
    assert pkg.group_norm(pkg.zeros(0, 4, 2), 2).shape == (0, 4, 2)
    x = pkg.tensor(1.0)
    assert x.sum((0,)).item() == 1 and x.movedim(0, -1).item() == 1
    for call in (lambda: x.sum((0, 0)), lambda: x.amax((0, -1))):
        with pytest.raises(RuntimeError, match="appears multiple times"):
            call()
    with pytest.raises(IndexError, match="out of range"):
        x.movedim(0, 1)
    for call in (lambda: x.size(0), lambda: x.stride(-1), lambda: x.unbind(0)):
        with pytest.raises(IndexError, match="no dimensions|0-dim|0-d"):
            call()
    none = pkg.ones(3, 0)
    assert [c.shape for c in none.chunk(2, 1)] == [(3, 0)] * 2
    assert pkg.glu(none).shape == (3, 0)


def test_types_of_integer_results():
    """The operands' type where nothing is counted; bools as numbers are int64."""
    whole = pkg.ones(2, 2, 2, dtype=pkg.int32)
    assert pkg.addbmm(whole[0], whole, whole).dtype is pkg.int32
    assert pkg.einsum("ij,ij->j", whole[0], whole[0]).dtype is pkg.int32
    square = pkg.tensor([True, False]).square()
    assert square.tolist() == [1, 0] and square.dtype is pkg.int64
    with pytest.raises(NotImplementedError, match="bool"):
        pkg.avg_pool1d(whole[:1] > 0, 2)


@pytest.mark.parametrize(
    "name, call",
    [
        ("mul", lambda x, y: x * y),
        ("mul_", lambda x, y: x.mul_(y)),
        ("sub", lambda x, y: x - y),
        ("lt", lambda x, y: x < y),
        ("maximum", lambda x, y: x.maximum(y)),
        ("floor_divide", lambda x, y: x // y),
        ("remainder", lambda x, y: x % y),
        ("view", lambda x, y: x.view(7)),
        ("reshape", lambda x, y: x.reshape(7)),
        ("amin", lambda x, y: x.amin(5)),
        ("any", lambda x, y: x.any(5)),
        ("mean", lambda x, y: x.mean(5)),
        ("max", lambda x, y: x.max(5)),
        ("min", lambda x, y: x[:0].min(0)),
        ("argmin", lambda x, y: x.argmin(5)),
        ("median", lambda x, y: x.median(5)),
    ],
)
def test_errors_name_the_op_that_was_called(name, call):
    """Also where several ops share a shape rule, at once and scheduled."""
    for size in (2, 200_000):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            call(pkg.ones(size), pkg.ones(size + 1))
        assert str(caught.value).startswith(f"[{name}] ")


def test_batch_norm_moves_the_running_values():
    """Towards the batch's mean and unbiased variance, outside the graph."""
    rng = np.random.default_rng(0)
    x = rng.normal(2, 3, size=(8, 4))
    mean, var = pkg.zeros(4, dtype=pkg.float64), pkg.ones(4, dtype=pkg.float64)
    out = pkg.batch_norm(pkg.tensor(x, requires_grad=True), mean, var, training=True)
    assert out.requires_grad and not mean.requires_grad
    np.testing.assert_allclose(mean.numpy(), 0.1 * x.mean(0))
    np.testing.assert_allclose(var.numpy(), 0.9 + 0.1 * x.var(0, ddof=1))


def test_every_public_op_has_a_row():
    """The table is complete; in-place forms follow from their base."""
    covered = {case.name for case in CASES}
    covered |= {name for names in ELSEWHERE for name in names.split(", ")}
    missing = [
        name
        for name, _ in pkg.ops.functions()
        if name not in covered and name.rstrip("_") not in covered
    ]
    assert not missing, f"ops without a row in tests/support/op_table.py: {missing}"

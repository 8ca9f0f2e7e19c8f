# SPDX-License-Identifier: Apache-2.0
"""Which dtypes each op takes: one answer whatever the size, the device or the moment.

Generated from the op table.  An op's domain is in its record, so what it refuses it
refuses before anything is allocated or scheduled, in its own name.
"""

from __future__ import annotations

import contextlib
import re
import threading

import numpy as np
import pytest

import pkg
from op_table import CASES
from op_values import inputs_of
from pkg import scheduler

DTYPES = [
    getattr(pkg, name)
    for name in "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64".split()
]
#: What a refusal of a dtype looks like; other errors are about values and shapes.
REFUSAL = re.compile(
    r"expected .*(float|integer|bool|int\d|dtype)|dtype|not implemented for"
    r"|did not match|to type|integral input|same floating type|convert"
)
#: Errors in the name of another op, and why.
NAMED_OTHERWISE = {
    "div": "floor_divide|_trunc_divide|div",  # its forms with a rounding mode
}


def tensors_of(case, dtype, only=None):
    """The row's inputs in a dtype: its floating ones, or the one at place `only`."""
    made = []
    for i, array in enumerate(inputs_of(case)):
        wanted = array.dtype.kind == "f" if only is None else i == only
        if wanted and array.dtype.kind == "f" and not dtype.is_floating_point:
            array = np.floor(np.abs(np.nan_to_num(array, posinf=9, neginf=9))) + 1
        tensor = pkg.tensor(array)
        made.append(tensor.to(dtype) if wanted else tensor)
    return made


def outcome(case, tensors):
    """None, or class and text of the error, which must not wait for the result."""
    try:
        result = case.call(pkg, *tensors)
    except Exception as error:  # whatever it is, it is compared
        return type(error).__name__, str(error)
    for part in result if isinstance(result, (list, tuple)) else [result]:
        if isinstance(part, pkg.Tensor) and part.device != "meta":
            try:
                part.wait()
            except Exception as error:
                return "late " + type(error).__name__, str(error)
    return None


def is_refusal(error):
    """Whether the dtype is what the error is about."""
    return error is not None and bool(REFUSAL.search(error[1]))


def same(error):
    """Class and text without shapes, which the empty inputs have other ones of."""
    return error and (error[0], re.sub(r"\([\d, ]*\)|\d+x\d+", "()", error[1]))


def combinations(case):
    """Pairs of a label and inputs: all floating ones in a dtype, then each alone."""
    arrays = inputs_of(case)
    for dtype in DTYPES:
        yield str(dtype), dtype, None
    alone = range(len(arrays)) if len(arrays) > 1 or arrays[0].dtype.kind != "f" else ()
    for i in alone:
        for dtype in DTYPES:
            yield f"argument {i} of {dtype}", dtype, i


def emptied(tensors):
    """Without rows."""
    return [t[:0] if t.ndim else t for t in tensors]


WITH_TENSORS = [case for case in CASES if case.inputs]


@pytest.mark.parametrize("case", WITH_TENSORS, ids=str)
def test_one_answer_for_every_size_and_device(case):
    """Small, empty and meta tensors: accepted all, or refused with the same words."""
    for label, dtype, only in combinations(case):
        tensors = tensors_of(case, dtype, only)
        small = outcome(case, tensors)
        assert small is None or not small[0].startswith("late"), f"{label}: {small}"
        others = {}
        if outcome(case, emptied(map(pkg.tensor, inputs_of(case)))) is None:
            others["empty"] = outcome(case, emptied(tensors))
        if case.meta:
            others["meta"] = outcome(case, [t.to("meta") for t in tensors])
        for name, other in others.items():
            if is_refusal(small) or is_refusal(other):
                assert same(small) == same(other), f"{label}, {name}"


@pytest.mark.parametrize("case", WITH_TENSORS, ids=str)
def test_the_refusal_names_the_op(case):
    """Not the kernel it shares, nor the op that a composite is made of."""
    name = NAMED_OTHERWISE.get(case.name, case.name)
    for label, dtype, only in combinations(case):
        error = outcome(case, tensors_of(case, dtype, only))
        if error is not None and is_refusal(error):
            assert re.match(rf"(ZeroDivisionError: )?\[({name})_?\]", error[1]), (
                f"{label}: {error}"
            )


def refused():
    """Every case that is refused, with its inputs' dtypes and the error."""
    for case in WITH_TENSORS:
        for _, dtype, only in combinations(case) if case.meta else ():
            error = outcome(case, tensors_of(case, dtype, only))
            if is_refusal(error):
                yield case, dtype, only, error


@contextlib.contextmanager
def a_late_truth():
    """True, which is computed when this ends: nothing else begins before."""
    opened = threading.Event()
    began = [threading.Event() for _ in range(pkg.get_num_threads())]

    def hold(event):
        event.set()
        opened.wait(60)

    holders = [scheduler.submit(lambda event=event: hold(event)) for event in began]
    try:
        assert all(event.wait(60) for event in began)
        x = pkg.eye(700)  # so long a product is handed over
        yield (x @ x)[0, 0] > 0
    finally:
        opened.set()
        for holder in holders:
            holder.wait()
        pkg.synchronize()


def test_scheduled_calls_are_refused_at_once():
    """Not at the wait: inputs that another task has yet to compute."""
    core = pkg._binding.core
    before = core.async_enabled()
    core.set_async(True)
    try:
        late, every, some = [], list(refused()), 50  # no more may be pending than that
        for at in range(0, len(every), some):
            with a_late_truth() as truth:
                for case, dtype, only, want in every[at : at + some]:
                    inputs = tensors_of(case, dtype, only)
                    got = outcome(case, [pkg.where(truth, t, t) for t in inputs])
                    if same(got) != same(want):
                        late.append(f"{case} {dtype} {only}: {got} for {want}")
                assert not truth.is_ready()  # no call has waited
        assert not late, "\n".join(late)
    finally:
        core.set_async(before)


IN_PLACE = [
    (name, arity)
    for name in pkg._binding.core.operator_names("pkg")
    for record in pkg._binding.core.Operator(name).records
    if name.endswith("_")
    and record["dtypes"] != "any"
    and (arity := record["schema"].count("Tensor ") + record["schema"].count("(a!) "))
    and re.match(r"\w+\(Tensor\(a!\) self(, Tensor \w+)?\)", record["schema"])
]


@pytest.mark.parametrize("name", sorted({name for name, _ in IN_PLACE}))
def test_in_place_forms_are_named(name):
    """With the underscore, for the empty tensor too."""
    (record,) = pkg._binding.core.Operator(name).records
    binary = "Tensor other" in record["schema"] or "Tensor exponent" in record["schema"]
    for dtype in (pkg.bool, pkg.int64, pkg.float32):
        for n in (0, 1):
            x = pkg.ones(n).to(dtype)
            try:
                getattr(pkg.ops, name)(*[x, x] if binary else [x])
            except NotImplementedError as error:
                assert str(error).startswith(f"[{name}] expected"), error


def test_bits_of_floats_are_refused_for_the_empty_tensor():
    """As for a full one, and on the meta device."""
    meta = pkg.ones(3, device="meta")
    for x in (pkg.ones(0), pkg.ones(1), meta, pkg.ones(3_000_000)):
        with pytest.raises(NotImplementedError) as error:
            x & x
        assert str(error.value) == (
            "[bitwise_and] expected integer or bool tensors, got float32 "
            "(self=float32, other=float32). Convert first, for example with "
            ".to(pkg.int64)."
        )


def test_records_say_what_an_op_takes():
    """And help() does."""
    (record,) = pkg.bitwise_and.records
    assert record["dtypes"] == "integer or bool"
    (record,) = pkg.gather.records
    assert record["dtypes"] == "index: int64 or int32"
    assert "Tensors of these dtypes: integer or bool." in pkg.bitwise_and.__doc__
    assert "dtypes" not in pkg.add.__doc__


#: Where PyTorch takes what is refused here, and why.
STRICTER = {
    "addcmul": "a fraction times whole numbers has no whole result",
    "addmm, baddbmm, addmv, addbmm, addr": "the same of beta and alpha",
    "conv1d, conv2d": "sums of products would wrap around",
    "einsum": "bools have no sum of products",
    "mse_loss": "bools are not subtracted",
    "cosine_similarity": "both vectors are of one kind",
    "masked_fill": "a fraction is not cut off silently",
}


@pytest.mark.parametrize("case", [c for c in WITH_TENSORS if c.torch], ids=str)
def test_what_pytorch_takes_is_taken(case):
    """The reverse is not so: whole numbers become floating ones in many places."""
    torch = pytest.importorskip("torch")
    if case.name in ", ".join(STRICTER).split(", "):
        pytest.skip("stricter, and said so")
    from torch_ops import Torch

    for label, dtype, only in combinations(case):
        ours = tensors_of(case, dtype, only)
        error = outcome(case, ours)
        if error is None:
            continue
        theirs = [
            torch.tensor(t.tolist()).to(getattr(torch, str(t.dtype).split(".")[1]))
            for t in ours
        ]
        theirs = [t.reshape(tuple(o.shape)) for t, o in zip(theirs, ours)]
        try:
            case.call(Torch(), *theirs)
        except Exception:
            continue
        raise AssertionError(f"{label}: PyTorch takes it, here {error}")


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [pkg.int8, pkg.uint8, pkg.int32, pkg.int64, pkg.bool])
def test_sums_of_integers_have_no_gradient_to_give(name, dtype):
    x = pkg.ones(3, requires_grad=True)
    dims = (0,) if name.startswith("cum") else ()
    with pytest.raises(RuntimeError, match=rf"\[{name}\] expected a floating dtype"):
        getattr(x, name)(*dims, dtype=dtype)
    assert getattr(x.detach(), name)(*dims, dtype=dtype).dtype is dtype
    with pkg.no_grad():
        assert getattr(x, name)(*dims, dtype=dtype).dtype is dtype


def test_dtypes_that_are_asked_for_are_kept_or_refused():
    x = pkg.ones(2, 2)
    for name in ("softmax", "log_softmax"):
        with pytest.raises(NotImplementedError, match=rf"\[{name}\] .*floating dtype"):
            getattr(x, name)(0, dtype=pkg.int8)
    for taken, asked in [(pkg.float64, pkg.float32), (pkg.float16, pkg.bfloat16)]:
        with pytest.raises(RuntimeError, match="without narrowing"):
            x.to(taken).norm(dtype=asked)
    with pytest.raises(RuntimeError, match="Expected a floating point tensor"):
        pkg.ones(2, dtype=pkg.int64).norm(dtype=pkg.float32)
    assert x.to(pkg.float16).norm(dtype=pkg.float64).dtype is pkg.float64


def test_similarity_has_the_larger_of_two_dtypes():
    x = pkg.ones(3, dtype=pkg.bfloat16)
    for dtype in (pkg.float32, pkg.float64):
        other = pkg.tensor(1.0, dtype=dtype)
        assert pkg.nn.functional.cosine_similarity(x, other, dim=0).dtype is dtype
    with pytest.raises(RuntimeError, match="eps >= 0"):
        pkg.nn.functional.cosine_similarity(x, x, dim=0, eps=-1)


def test_factors_of_addr_are_of_the_kind_of_its_numbers():
    x = pkg.ones(2)
    for number in ("alpha", "beta"):
        with pytest.raises(RuntimeError, match=f"Boolean {number} only supported"):
            pkg.addr(pkg.ones(2, 2), x, x, **{number: True})
        with pytest.raises(RuntimeError, match=f"{number} must not be floating"):
            pkg.addr(pkg.ones(2, 2).int(), x.int(), x.int(), **{number: 1.5})


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_numbers_beyond_the_short_formula_do_not_change_others(source):
    """Vectors convert what fits; the rest is converted on its own, by way of int64."""
    rng = np.random.default_rng(5)
    edges = [2.0**31, 2.0**31 - 129, -(2.0**31), 2.0**33 + 5e8, -1e15, 2.0**51,
             -(2.0**51), 2.0**51 + 2.0**28, 2.0**62, -0.0, 0.75, -0.75,
             2.0**63, -(2.0**63), 1e30, np.nan, np.inf, -np.inf]  # fmt: skip
    for size in (5, 1023, 1024, 1025, 4000):
        x = (rng.standard_normal(size) * 1e5).astype(source)
        for edge in (None, *edges):
            if edge is not None:
                x[size // 2] = edge
            t = pkg.tensor(x)
            with np.errstate(invalid="ignore"):
                whole = x.astype("int64")  # what is beyond is the least number
            for name in ("int64", "int32", "uint8", "int8"):
                got = t.to(getattr(pkg, name)).numpy()
                np.testing.assert_array_equal(got, whole.astype(name))


def test_large_integers_beside_small_ones_as_floats():
    rng = np.random.default_rng(6)
    for edge in (
        2**51,
        2**51 - 1,
        -(2**51),
        2**53 + 1,
        2**63 - 1,
        -(2**63),
        2**60 + 2**36,
    ):
        n = rng.integers(-(2**50), 2**50, 3000)
        n[1700] = edge
        for name in ("float32", "float64"):
            got = pkg.tensor(n).to(getattr(pkg, name)).numpy()
            np.testing.assert_array_equal(got, n.astype(name))

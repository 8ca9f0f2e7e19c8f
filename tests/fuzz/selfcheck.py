# SPDX-License-Identifier: Apache-2.0
"""Relations that hold for every op, whatever it computes."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from fuzz import judge
from fuzz.changed import dense, on_meta
from fuzz.conditions import huge_given
from fuzz.generate import Call
from fuzz.values import LARGEST, Data, array_of, numbers_of, overlaps

if TYPE_CHECKING:
    from fuzz.check import Checker, Finding, Outcome

#: Ops whose result depends on how their inputs lie in memory, on purpose.
LAYOUT = ("view", "view_as", "contiguous", "_strided_view", "_strided_scatter")


#: What errors that depend on values or strides say: the Meta device does not see them.
NEEDS_VALUES = (
    "Tried to write to index", "has already been written to",  # of TensorArrays
    "out of range", "out of bounds", "division by zero", "num_classes", "non-negative",
    "negative", "loss", "must be", "without overflow", "increas",
    "should be between", "more than one element", "not compatible", "expected places",
    "0 <= p <= 1 for every element", "not all 0 in a row",
)  # fmt: skip


def same(got: list[judge.Result], want: list[judge.Result]) -> str | None:
    """None, or the difference of two results of pkg."""
    different = judge.form(got, want)
    if different:
        return different[1].replace("PyTorch", "then")
    for g, w in zip(got, want):
        if g.array is None or w.array is None:
            continue
        text = judge.near(g.array, w.array, g.dtype)
        if text:
            return judge.value_kind(text) + f" | {text}"
    return None


def layouts(checker: Checker, call: Call, ours: Outcome) -> list[Finding]:
    """Strided inputs give what dense ones give."""
    tensors = call.tensors()
    if call.schema.random or call.op in LAYOUT:
        return []
    if all(d.strides is None for d in tensors) or any(d.alias for d in tensors):
        return []
    if any(d.numel > judge.MOST or d.meta for d in tensors):
        return []
    writes = call.schema.written or call.op == "batch_norm"  # running means
    if writes and any(overlaps(d) for d in tensors):
        return []
    found = compare("layout", call, ours, checker.run_ours(dense(call)))
    if found and found[0][1].startswith("number for number"):
        found = [f for f in found if not cancels(call, f[1].partition(" | ")[2])]
    if huge_given(call):  # a vector's sum may be finite where a scalar's overflows
        found = [f for f in found if "inf" not in f[1].partition(" | ")[0]]
    return found


def cancels(call: Call, text: str) -> bool:
    """Whether two numbers differ by what the order of a sum of the inputs may do."""
    import numpy as np

    first, second = map(float, text.split(" for "))
    found = [d for d in call.tensors() if d.dtype in judge.EPS and d.numel]
    sums = [float(np.nansum(np.abs(array_of(d).astype("float64")))) for d in found]
    eps = max((judge.EPS[d.dtype] for d in found), default=0.0)
    return abs(first - second) <= 4 * eps * sum(sums)


def compare(kind: str, call: Call, ours: Outcome, then: Outcome) -> list[Finding]:
    """Two outcomes of pkg that should be equal."""
    if any(isinstance(out.error, MemoryError) for out in (ours, then)):
        return []  # the other one had just enough
    if (ours.error is None) != (then.error is None):
        text = judge.normal(str(ours.error or then.error), call.op)
        return [(kind, f"{'only ours' if ours.error else 'only then'}: {text}")]
    if ours.error is not None:
        return []
    text = same(ours.results, then.results)
    return [(kind, text)] if text else []


def meta(checker: Checker, call: Call, ours: Outcome) -> list[Finding]:
    """The Meta device gives the same shapes, dtypes and errors."""
    tensors = call.tensors()
    if not tensors or any(d.meta for d in tensors):
        return []
    then = checker.run_ours(on_meta(call))
    if then.error is not None:
        if ours.error is not None:
            return []
        text = str(then.error)
        unknown = "meta" in text.lower() or "num_classes" in text
        if unknown or isinstance(then.error, NotImplementedError):
            return []
        return [("meta", f"refuses: {judge.normal(text, call.op)}")]
    if ours.error is not None:
        text = str(ours.error)
        if isinstance(ours.error, MemoryError) or any(w in text for w in NEEDS_VALUES):
            return []
        return [("meta accepts", judge.normal(text, call.op))]
    got = [(r.shape, r.dtype) for r in ours.results]
    want = [(r.shape, r.dtype) for r in then.results]
    if got != want and all(shape is not None for shape, _ in got):
        return [("meta", f"{judge.normal(str(got), '')} then {want}")]
    return []


def scheduled(checker: Checker, call: Call, ours: Outcome) -> list[Finding]:
    """Work in the background gives the same bits as work at once."""
    if all(d.numel < 10_000 for d in call.tensors()) or call.schema.random:
        return []
    if any(d.numel > judge.MOST for d in call.tensors()):
        return []
    checker.core.set_async(False)
    try:
        then = checker.run_ours(call)
    finally:
        checker.core.set_async(True)
    return compare("async", call, ours, then)


def out_of_place(checker: Checker, call: Call, ours: Outcome) -> list[Finding]:
    """An in-place op writes what its other form returns."""
    schema = call.schema
    if not schema.written or schema.base == schema.name or schema.random:
        return []
    if schema.base not in checker.core.operator_names("pkg"):
        return []
    tensors = call.tensors()
    if ours.error is not None or any(d.alias or d.meta for d in tensors):
        return []
    if any(overlaps(d) or d.numel > judge.MOST for d in tensors):
        return []
    other = deepcopy(call)
    other.op = schema.base
    other.form = "function"
    then = checker.run_ours(other)
    if then.error is not None:
        return [("in place", f"only then: {judge.normal(str(then.error), call.op)}")]
    if len(then.results) == 1 and then.results[0].dtype != ours.results[0].dtype:
        return []
    text = same(ours.results, then.results)
    return [("in place", text)] if text else []


def digits(checker: Checker, call: Call, ours: Outcome) -> list[Finding]:
    """16-bit floats come near to what float32 gives."""
    tensors = call.tensors()
    kinds = {d.dtype for d in tensors} & set(judge.EPS)
    if ours.error is not None or call.schema.random or len(kinds) != 1:
        return []
    kind = kinds.pop()
    if kind not in ("float16", "bfloat16") or any(d.alias for d in tensors):
        return []
    if call.schema.written and any(overlaps(d) for d in tensors):
        return []
    if call.kwargs.get("dtype") is not None or call.default_dtype:
        return []
    if call.kind != "plausible" or any(moderate(d) is False for d in tensors):
        return []
    other = deepcopy(call)
    for data in other.tensors():
        if data.dtype == kind:
            data.fill, data.dtype = ("list", numbers_of(data)), "float32"
    then = checker.run_ours(other)
    if then.error is not None or len(then.results) != len(ours.results):
        return []
    eps = judge.EPS[kind]
    import numpy as np

    for g, w in zip(ours.results, then.results):
        if g.array is None or w.array is None or g.dtype != kind:
            continue
        got, want = g.array.astype("float64"), w.array.astype("float64")
        plain = np.isfinite(want) & (np.abs(want) < LARGEST[kind] / 4)
        if got.shape != want.shape or not plain.any():
            continue
        scale = np.abs(want[plain]).max()
        error = np.abs(got - want)[plain]
        allowed = (
            16 * eps * np.abs(want[plain]) + 8 * eps * scale + 16 * judge.TINY[kind]
        )
        if not (error <= allowed).all():
            worst = int(np.argmax(error / allowed))
            text = f"{got[plain][worst]} for {want[plain][worst]}"
            return [("digits", judge.value_kind(text) + f" | {text}")]
    return []


def moderate(data: Data) -> bool:
    """Whether the numbers are such that rounding them is no catastrophe."""
    return data.dtype not in judge.EPS or data.fill[0] in (
        "normal", "small", "positive", "unit", "signs", "ones",
    )  # fmt: skip


CHECKS = (layouts, meta, scheduled, out_of_place, digits)

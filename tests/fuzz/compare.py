# SPDX-License-Identifier: Apache-2.0
"""What is different between the outcomes of one call in pkg and in PyTorch."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz import judge
from fuzz.changed import (
    coarsest,
    dense,
    in_more_digits,
    nudged,
    out_of_place,
    without_signs,
)
from fuzz.conditions import given, told
from fuzz.generate import Call, tensors_in
from fuzz.picks import same_picks
from fuzz.values import overlaps

if TYPE_CHECKING:
    from fuzz.check import Checker, Outcome

Finding = tuple[str, str]  # kind, text

#: What PyTorch says when pkg found that there is not enough memory.
MEMORY = (
    "alloc",
    "memory",
    "overflow",
    "Storage size",
    "too large",
    "Invalid",
    "out of r",
)
#: What it says when there is not enough for itself: a limit of the child's.
NO_MEMORY = ("can't allocate memory", "std::bad_alloc", "array is too big")
#: Sums of products: of the absolute values they tell how much can cancel.
SUMS = (
    "sum mean cumsum dot vdot mm mv bmm matmul linear inner outer ger addmm addmv "
    "addbmm baddbmm addr conv1d conv2d avg_pool* adaptive_avg_pool* trace tensordot "
    "einsum scatter_add* index_add* index_put* kron addcmul* lerp*"
).split()

#: Ops whose constants PyTorch rounds to float32.
ROUNDED = ("hardsigmoid", "hardsigmoid_", "binary_cross_entropy")

#: Differences of numbers that may be nearly equal.
DIFFERENCES = ("*_norm", "normalize", "cosine_similarity", "var*", "std*", "logsumexp")
ONLY = {"signs": SUMS}
#: Calls that say more about the right answer.
CHANGES = {
    "digits": in_more_digits,
    "signs": without_signs,
    "nudged": nudged,
    "dense": dense,
    "out of place": out_of_place,
}
#: Those that mean the same: where PyTorch answers in two ways, either is right.
OTHER_WAYS = ("dense", "out of place")


class Comparison:
    """One call, made by both libraries."""

    def __init__(
        self, checker: Checker, call: Call, ours: Outcome, theirs: Outcome
    ) -> None:
        assert checker.torch
        self.checker, self.call = checker, call
        self.ours, self.theirs = ours, theirs
        self.torch = checker.torch.torch
        self.picks = "the same"  # elements that are named
        self._again: dict[tuple[str, bool], Outcome | None] = {}

    def findings(self) -> list[Finding]:
        """What is different."""
        found = self._results()
        empty = any(r.shape is not None and 0 in r.shape for r in self.theirs.results)
        more = ["gives nothing"] * empty
        return [(kind, told(self.call, text, *more)) for kind, text in found]

    def _results(self) -> list[Finding]:
        call, ours, theirs = self.call, self.ours, self.theirs
        if ours.error is not None or theirs.error is not None:
            return compare_errors(call, ours.error, theirs.error)
        found = judge.form(ours.results, theirs.results)
        if found:
            return [found]
        if call.schema.random or self._written_twice():
            return []
        wrong = self._values(ours.results, theirs.results)
        if wrong:
            return [("value", wrong)]
        if call.schema.written and "a!" not in call.schema.returns:
            wrong = self._written()
            if wrong:
                return [("value", f"of the argument: {wrong}")]
        if any(r.requires_grad for r in ours.results) and self.picks != "others":
            return self._gradients()
        return []

    def _values(
        self,
        got: list[judge.Result],
        want: list[judge.Result],
        gradient: bool = False,
        repeat: bool = True,
    ) -> str | None:
        """The first difference that neither more digits nor cancelling explain."""
        inputs = coarsest(self.call)
        if inputs[0] == "float64" and self.call.op in ROUNDED:
            inputs = "float32", inputs[1]
        for i, (g, w) in enumerate(zip(got, want)):
            if g.array is None or w.array is None:
                continue
            text = judge.near(g.array, w.array, g.dtype)
            if text is None:
                continue
            if not gradient and same_picks(self.call, i, g.array, w.array):
                self.picks = "others"
                continue
            more = self._array("digits", i, gradient) if repeat else None
            most = self._array("signs", i, gradient) if repeat else None
            off = self._array("nudged", i, gradient) if repeat else None
            if not self._is(DIFFERENCES) and not (gradient and near_by(off, more)):
                off = None
            text = judge.near(g.array, w.array, g.dtype, more, inputs, most, off)
            others = OTHER_WAYS if repeat and text else ()
            want_one = w.array
            for way in others:
                other = self._array(way, i, gradient)
                want_one = judge.either(g.array, want_one, other, g.dtype)
            if others:
                text = judge.near(g.array, want_one, g.dtype, more, inputs, most, off)
            if text is not None:
                return judge.value_kind(text) + f" | {text}"
        return None

    def _is(self, patterns: Sequence[str]) -> bool:
        """Whether it is one of these ops."""
        return any(fnmatch.fnmatchcase(self.call.op, p) for p in patterns)

    def _array(self, what: str, i: int, gradient: bool) -> np.ndarray | None:
        """A result of PyTorch for other numbers."""
        key = what, gradient
        if key not in self._again:
            self._again[key] = self._once_more(what, gradient)
        outcome = self._again[key]
        if outcome is None or i >= len(outcome.results):
            return None
        return outcome.results[i].array

    def _once_more(self, what: str, gradient: bool) -> Outcome | None:
        """PyTorch's answer for the call made in another way."""
        call = self.call
        if not any(d.dtype in judge.EPS for d in call.tensors()):
            return None
        # A gradient is a sum wherever an operand was repeated.
        if not gradient and not self._is(ONLY.get(what, ("*",))):
            return None
        changed = CHANGES[what](call)
        if changed is None:
            return None
        outcome = self.checker.run_torch(changed)
        if outcome is None or outcome.error is not None:
            return None
        if gradient:
            eps = judge.EPS[coarsest(call)[0]]
            grads = self.checker.gradients(outcome, self.torch, what, eps)
            if not isinstance(grads, list):
                return None
            outcome.results = grads
        return outcome

    def _written_twice(self) -> bool:
        """Whether elements that are written lie in one place, so that one is lost."""
        written = [p.name for p in self.call.schema.params if p.written]
        found = given(self.call)
        return any(overlaps(d) for n in written for d in tensors_in(found.get(n)))

    def _written(self) -> str | None:
        """The arguments after an in-place op."""
        params = self.call.schema.params
        for i, (param, _) in enumerate(zip(params, self.call.args)):
            if not param.written:
                continue
            got = judge.results(self.ours.args[i], self.checker.core.Tensor)
            want = judge.results(self.theirs.args[i], self.torch.Tensor)
            text = self._values(got, want, repeat=False)
            if text:
                return text
        return None

    def _gradients(self) -> list[Finding]:
        """backward() of both."""
        call, checker = self.call, self.checker
        if any(r.shape and math.prod(r.shape) > judge.MOST for r in self.ours.results):
            return []
        if any(r.meta for r in self.ours.results):
            return []
        checker.note(b"g")
        got = checker.gradients(self.ours, None)
        checker.note(b"h")
        want = checker.gradients(self.theirs, self.torch)
        checker.note(b"c")
        if isinstance(got, Exception) or isinstance(want, Exception):
            found = compare_errors(
                call,
                got if isinstance(got, Exception) else None,
                want if isinstance(want, Exception) else None,
            )
            if isinstance(got, Exception):
                found += checker.bad_error(call, got)
            return [(f"grad {kind}", text) for kind, text in found]
        different = judge.form(got, want)
        if different:
            return [(f"grad {different[0]}", different[1])]
        wrong = self._values(got, want, gradient=True)
        return [("grad", wrong)] if wrong else []


def near_by(nudged: np.ndarray | None, truth: np.ndarray | None) -> bool:
    """Whether arguments a little off gave results a little off: no step in between."""
    if nudged is None or truth is None or nudged.shape != truth.shape:
        return False
    with np.errstate(all="ignore"):
        off, size = np.abs(nudged - truth), np.abs(truth)
    off, size = off[np.isfinite(off)], size[np.isfinite(size)]
    return bool(off.max(initial=0) <= 1e-3 * size.max(initial=0))


def compare_errors(
    call: Call, ours: Exception | None, theirs: Exception | None
) -> list[Finding]:
    """Who refuses what."""
    if ours is not None and theirs is not None:
        if isinstance(ours, MemoryError) and not any(
            word in str(theirs) for word in MEMORY
        ):
            return [("memory", judge.normal(str(theirs), call.op))]
        return []
    if ours is None:
        text = judge.normal(str(theirs), call.op)
        if isinstance(theirs, MemoryError) or any(t in text for t in NO_MEMORY):
            return []
        return [("accepted", text)]
    if isinstance(ours, MemoryError):
        text = judge.normal(str(ours), call.op)
        return [("memory", f"PyTorch succeeds: {text}")]
    text = judge.normal(str(ours), call.op)
    return [("refused", f"{type(ours).__name__}: {text}")]


def cotangent(value: Any, library: Any, way: str = "", eps: float = 0.0) -> Any:
    """Numbers between -1 and 1 of the shape and dtype of a result."""
    numbers = np.cos(np.arange(math.prod(value.shape), dtype="float32") * 1.7 + 0.3)
    if way == "signs":
        numbers = np.abs(numbers)
    elif way == "nudged":
        numbers = numbers.astype("float64") * (1 + eps * np.cos(7 * numbers))
    made = library.tensor(numbers).reshape(tuple(value.shape))
    return made.to(value.dtype)

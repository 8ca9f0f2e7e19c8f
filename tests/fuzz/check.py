# SPDX-License-Identifier: Apache-2.0
"""Makes one call in pkg and in PyTorch, and says what is wrong with it.

Without PyTorch, and for some of the calls with it, the call is compared with itself:
other layouts, the Meta device, without scheduling, out of place, in more digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from fuzz import judge
from fuzz.generate import Call, tensors_in
from fuzz.values import ITEMSIZE, Built, DType, Foreign, Ours

Finding = tuple[str, str]  # kind, text

#: More elements than this in one tensor, by expansion, are no work for a reduction.
HUGE = 1 << 22
#: What a call may allocate at most is less than this.
NEVER = 1 << 34
MEMORY = (
    "alloc",
    "memory",
    "overflow",
    "Storage size",
    "too large",
    "Invalid",
    "out of r",
)


class Outcome:
    """What a call gave: results, or an error."""

    def __init__(self) -> None:
        self.value: Any = None
        self.results: list[judge.Result] = []
        self.error: Exception | None = None
        self.built: Built | None = None
        self.args: list[Any] = []


class Checker:
    """Makes and compares calls.  `note` is told what is about to run."""

    def __init__(self, torch: bool, note: Callable[[bytes], None] = lambda _: None):
        self.ours, self.note = Ours(), note
        self.pkg, self.core = self.ours.pkg, self.ours.core
        self.torch = None
        if torch:
            from fuzz.peer import Torch

            self.torch = Torch()
        self.calls = 0

    # --- One library -----------------------------------------------------------------

    def function(self, call: Call) -> Any:
        """Our function, method or private op."""
        if call.form == "method":
            return getattr(self.pkg.Tensor, call.op)
        return self.core.Operator(call.op, "pkg")

    def run_ours(self, call: Call, read: bool = True) -> Outcome:
        """The call in pkg."""
        out = Outcome()
        if call.default_dtype:
            self.core.set_default_dtype(call.default_dtype)
        try:
            self._run(out, self.ours, self.function(call), call, None)
            if read:
                out.results = judge.results(out.value, self.core.Tensor)
        except Exception as error:  # noqa: BLE001
            out.error = error
        finally:
            if call.default_dtype:
                self.core.set_default_dtype("float32")
        return out

    def run_torch(self, call: Call, read: bool = True) -> Outcome | None:
        """The call in PyTorch; None where it has no such op."""
        assert self.torch
        torch = self.torch.torch
        op = self.torch.op(call)
        if op is None:
            return None
        out = Outcome()
        if call.default_dtype:
            torch.set_default_dtype(self.torch.dtype(call.default_dtype))
        try:
            self._run(out, self.torch, op, call, self.torch.arguments)
            if read:
                out.results = judge.results(out.value, torch.Tensor)
        except Exception as error:  # noqa: BLE001
            out.error = error
        finally:
            if call.default_dtype:
                torch.set_default_dtype(torch.float32)
        return out

    @staticmethod
    def _run(out: Outcome, library: Any, op: Any, call: Call, places: Any) -> None:
        built = out.built = Built(library)
        args = out.args = [built.value(a) for a in call.args]
        named = {name: built.value(value) for name, value in call.kwargs.items()}
        if places:
            args, named = places(call, args, named)
        out.value = op(*args, **named)

    # --- Both ------------------------------------------------------------------------

    def check(self, call: Call, thorough: bool = False) -> tuple[bool, list[Finding]]:
        """Whether the call succeeded, and the findings."""
        self.calls += 1
        size = self.size(call)
        if size == "work":
            return False, []
        self.note(b"o")
        ours = self.run_ours(call)
        found: list[Finding] = []
        if ours.error is not None:
            found += self.bad_error(call, ours.error)
        theirs = None
        if self.torch and size != "refused":
            self.note(b"t")
            theirs = self.run_torch(call)
            self.note(b"c")
        if theirs is not None:
            found += self.compare(call, ours, theirs)
        if theirs is None or thorough or self.calls % 8 == 0:
            self.note(b"s")
            found += self.compare_with_itself(call, ours)
        return ours.error is None, found

    def size(self, call: Call) -> str:
        """ "work" when huge views would be read element by element, for hours.

        "refused" when they are there but pkg refuses the call; PyTorch might not.
        """
        tensors = call.tensors()
        if all(d.numel <= HUGE for d in tensors):
            return ""
        if call.schema.written:
            return "work"
        self.note(b"m")
        outcome = self.run_ours(on_meta(call))
        if outcome.error is not None:
            text = str(outcome.error).lower()
            unknown = isinstance(outcome.error, NotImplementedError) or "meta" in text
            return "work" if unknown else "refused"
        sizes = [
            math.prod(r.shape) * ITEMSIZE[r.dtype]
            for r in outcome.results
            if r.shape is not None
        ]
        return "work" if not sizes or max(sizes) < NEVER else ""

    def bad_error(self, call: Call, error: Exception) -> list[Finding]:
        """What no error may be."""
        text = judge.normal(str(error), call.op)
        if isinstance(error, self.core.InternalError) or isinstance(
            error, (SystemError, AssertionError)
        ):
            return [("internal", f"{type(error).__name__}: {text}")]
        if not str(error):
            return [("empty error", type(error).__name__)]
        head = str(error)
        if head.startswith("[") and call.form != "wild":
            name = head[1:].partition("]")[0].partition(":")[0]
            names = {call.op, call.schema.base, call.schema.full, "Tensor", "device"}
            if name not in names and name in UNKNOWN_NAMES(self.core):
                return [("names no op", f"[{name}]")]
        return []

    def compare(self, call: Call, ours: Outcome, theirs: Outcome) -> list[Finding]:
        """The two libraries."""
        if ours.error is not None or theirs.error is not None:
            return self.compare_errors(call, ours.error, theirs.error)
        found = judge.form(ours.results, theirs.results)
        if found:
            return [found]
        if call.schema.random:
            return []
        assert self.torch
        truth: list[Outcome | None] = []
        wrong = self.compare_values(call, ours.results, theirs.results, truth, False)
        if wrong:
            return [("value", wrong)]
        if call.schema.written and "a!" not in call.schema.returns:
            wrong = self.compare_written(call, ours, theirs)
            if wrong:
                return [("value", f"of the argument: {wrong}")]
        if any(r.requires_grad for r in ours.results):
            return self.compare_gradients(call, ours, theirs)
        return []

    def compare_values(
        self,
        call: Call,
        got: list[judge.Result],
        want: list[judge.Result],
        truth: list[Outcome | None],
        gradient: bool,
    ) -> str | None:
        """The first difference that more digits do not explain."""
        inputs = coarsest(call)
        for i, (g, w) in enumerate(zip(got, want)):
            if g.array is None or w.array is None:
                continue
            text = judge.near(g.array, w.array, g.dtype)
            if text is None:
                continue
            if not truth:
                truth.append(self.exact(call, gradient))
            exact = truth[0]
            better = None
            if exact is not None and i < len(exact.results):
                better = exact.results[i].array
            text = judge.near(g.array, w.array, g.dtype, better, inputs)
            if text is not None:
                return judge.value_kind(text) + f" | {text}"
        return None

    def exact(self, call: Call, gradient: bool) -> Outcome | None:
        """PyTorch's answer in more digits."""
        assert self.torch
        if not any(d.dtype in judge.EPS for d in call.tensors()):
            return None
        outcome = self.run_torch(in_more_digits(call))
        if outcome is None or outcome.error is not None:
            return None
        if gradient:
            grads = self.gradients(outcome, self.torch.torch)
            if not isinstance(grads, list):
                return None
            outcome.results = grads
        return outcome

    def compare_written(self, call: Call, ours: Outcome, theirs: Outcome) -> str | None:
        """The arguments after an in-place op."""
        assert self.torch and ours.built and theirs.built
        written = [
            i
            for i, (p, v) in enumerate(zip(call.schema.params, call.args))
            if p.written
        ]
        for i in written:
            got = judge.results(ours.args[i], self.core.Tensor)
            want = judge.results(theirs.args[i], self.torch.torch.Tensor)
            text = self.compare_values(call, got, want, [None], False)
            if text:
                return text
        return None

    def gradients(self, outcome: Outcome, torch: Any) -> list[judge.Result] | Exception:
        """Gradients of all leaves, for fixed cotangents; an error as an object."""
        assert outcome.built
        tensor = self.core.Tensor if torch is None else torch.Tensor
        outputs = [
            v
            for v in judge.flat(outcome.value)
            if isinstance(v, tensor) and v.requires_grad
        ]
        weights = [cotangent(v, torch or self.pkg) for v in outputs]
        grad = (torch or self.pkg).autograd.grad
        try:
            found = grad(outputs, outcome.built.leaves, weights, allow_unused=True)
            zeros = (torch or self.pkg).zeros_like
            found = [
                zeros(leaf) if g is None else g
                for g, leaf in zip(found, outcome.built.leaves)
            ]
            return judge.results(found, tensor)
        except Exception as error:  # noqa: BLE001
            return error

    def compare_gradients(self, call: Call, ours: Outcome, theirs: Outcome) -> list:
        """backward() of both."""
        assert self.torch
        if any(r.shape and math.prod(r.shape) > judge.MOST for r in ours.results):
            return []
        if any(r.meta for r in ours.results):
            return []
        self.note(b"g")
        got = self.gradients(ours, None)
        self.note(b"h")
        want = self.gradients(theirs, self.torch.torch)
        self.note(b"c")
        if isinstance(got, Exception) or isinstance(want, Exception):
            found = self.compare_errors(
                call,
                got if isinstance(got, Exception) else None,
                want if isinstance(want, Exception) else None,
            )
            if isinstance(got, Exception):
                found += self.bad_error(call, got)
            return [(f"grad {kind}", text) for kind, text in found]
        different = judge.form(got, want)
        if different:
            return [(f"grad {different[0]}", different[1])]
        wrong = self.compare_values(call, got, want, [], True)
        return [("grad", wrong)] if wrong else []

    def compare_errors(
        self, call: Call, ours: Exception | None, theirs: Exception | None
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
            return [("accepted", text)]
        if isinstance(ours, MemoryError):
            return [("memory", "PyTorch succeeds")]
        text = judge.normal(str(ours), call.op)
        return [("refused", f"{type(ours).__name__}: {text}")]

    # --- One library against itself --------------------------------------------------

    def compare_with_itself(self, call: Call, ours: Outcome) -> list[Finding]:
        """Other ways to the same result."""
        from fuzz.selfcheck import CHECKS

        found: list[Finding] = []
        for check in CHECKS:
            if not found:
                found += check(self, call, ours)
        return found


_NAMES: set[str] = set()


def UNKNOWN_NAMES(core: Any) -> Any:  # noqa: N802
    """Everything that is no op."""

    class Others:
        def __contains__(self, name: str) -> bool:
            if not _NAMES:
                _NAMES.update(core.operator_names("pkg"))
            return name not in _NAMES

    return Others()


def cotangent(value: Any, library: Any) -> Any:
    """Numbers between -1 and 1 of the shape and dtype of a result."""
    numbers = np.cos(np.arange(math.prod(value.shape), dtype="float32") * 1.7 + 0.3)
    made = library.tensor(numbers).reshape(tuple(value.shape))
    return made.to(value.dtype)


def coarsest(call: Call) -> tuple[str, float]:
    """The floating dtype of the call with the fewest digits, and the size of numbers.

    Sizes beyond 100 count as that: larger errors shall be seen.
    """
    from fuzz.values import numbers_of

    kinds = [d.dtype for d in call.tensors() if d.dtype in judge.EPS]
    for value in call.all():
        if isinstance(value, DType) and value.name in judge.EPS:
            kinds.append(value.name)
    if not kinds:
        return "", 0.0
    size = 0.0
    for data in call.tensors():
        if data.dtype in judge.EPS and not data.meta and data.alias is None:
            numbers = np.abs(numbers_of(data).astype("float64"))
            size = max(size, np.where(np.isfinite(numbers), numbers, 0).max(initial=0))
    return max(kinds, key=lambda kind: judge.EPS[kind]), min(size, 100.0)


def on_meta(call: Call) -> Call:
    """The same call with tensors on Meta."""
    changed = deepcopy(call)
    for data in changed.tensors():
        data.meta, data.alias = True, None
    return changed


def in_more_digits(call: Call) -> Call:
    """The same call on float64, float16 on float32."""
    changed = deepcopy(call)
    wide = {"float32": "float64", "float16": "float64", "bfloat16": "float64"}
    for value in changed.all():
        for item in [value, *tensors_in(value)]:
            if isinstance(item, DType):
                item.name = wide.get(item.name, item.name)
    if changed.default_dtype:
        changed.default_dtype = "float64"
    for data in changed.tensors():
        if data.dtype in wide and data.alias is None:
            from fuzz.values import numbers_of

            data.fill = ("list", numbers_of(data))
        data.dtype = wide.get(data.dtype, data.dtype)
    return changed


__all__ = ["Call", "Checker", "Finding", "Foreign", "Outcome"]

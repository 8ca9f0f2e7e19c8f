# SPDX-License-Identifier: Apache-2.0
"""Makes one call in pkg and in PyTorch, and says what is wrong with it.

Without PyTorch, and for some of the calls with it, the call is compared with itself:
other layouts, the Meta device, without scheduling, out of place, in more digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fuzz import judge
from fuzz.changed import on_meta
from fuzz.compare import Comparison, Finding, cotangent
from fuzz.generate import Call
from fuzz.values import ITEMSIZE, Built, Ours

#: More elements than this in one tensor, by expansion, are no work for a reduction.
HUGE = 1 << 22
#: Composites that sum over huge views before they ask for memory.
SUMS_FIRST = ("normalize",)
#: What a call may allocate at most is less than this.
NEVER = 1 << 34


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
            found += Comparison(self, call, ours, theirs).findings()
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
        if call.schema.written or call.op in SUMS_FIRST:
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

    def gradients(
        self, outcome: Outcome, torch: Any, way: str = "", eps: float = 0.0
    ) -> list[judge.Result] | Exception:
        """Gradients of all leaves, for fixed cotangents; an error as an object."""
        assert outcome.built
        tensor = self.core.Tensor if torch is None else torch.Tensor
        outputs = [
            v
            for v in judge.flat(outcome.value)
            if isinstance(v, tensor) and v.requires_grad
        ]
        weights = [cotangent(v, torch or self.pkg, way, eps) for v in outputs]
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


__all__ = ["Call", "Checker", "Finding", "Outcome"]

# SPDX-License-Identifier: Apache-2.0
"""Runs a program of autograd with one library, and compares two runs."""

import gc
import math
import re
from pathlib import Path

from programs_generate import Generator, is_pass
from programs_prelude import SOURCE

_PRELUDE = compile(SOURCE, "prelude", "exec")
_templates = {}
MANY = 24  # tensors of a program
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "differences.md"


def refused(column):
    """The errors that a column of the page's last table names: raises `text`."""
    table = _PAGE.read_text(encoding="utf-8").partition("## Autograd")[2]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")]
    return [text for row in rows for text in re.findall("raises `(.+?)`", row[column])]


#: What pkg refuses and PyTorch does not, the other way round, and what PyTorch refuses
#: only until somebody looks at the view.
REFUSED_HERE, REFUSED = refused(2), refused(3)
UNSEEN = "a leaf Variable that requires grad is being used in an in-place operation"


def names_for(lib):
    """What a program finds defined."""
    if lib.__name__ not in _templates:
        names = {"lib": lib}
        exec(_PRELUDE, names)
        _templates[lib.__name__] = names
    names = dict(_templates[lib.__name__])
    names["log"].clear()
    return names


class Run:
    """One program in one library, line by line."""

    def __init__(self, lib, watch):
        self.names = names_for(lib)
        self.watch = watch  # whether to look at all tensors after each line
        self.outcomes = []  # None, or the error, of each line
        self.states = []
        self.versions = {}  # of each tensor when it was made
        self.ended = False  # by an error inside a pass: what it did is unspecified

    def step(self, line):
        """Runs a line."""
        error = None
        try:
            exec(compile(line, "line", "exec"), self.names)
        except Exception as raised:
            error = raised.with_traceback(None)
        self.outcomes.append(error)
        self.ended = self.ended or (error is not None and is_pass(line))
        for name, tensor in self.tensors().items():
            self.versions.setdefault(name, tensor._version)
        if self.watch:
            self.states.append(self.state())

    def tensors(self):
        """The tensors by name."""
        found = {n: t for n, t in self.names.items() if n[0] == "t" and n[1:].isdigit()}
        return {n: t for n, t in found.items() if t is not None}

    def state(self):
        """What a tensor says of itself but its values."""
        return {
            name: (
                tuple(t.shape), t.requires_grad, t.is_leaf, t.grad_fn is None,
                t._version - self.versions[name],
                t.retains_grad and not t.is_leaf,
            )
            for name, t in self.tensors().items()
        }  # fmt: skip

    def finish(self):
        """The values at the end: of tensors, gradients and what hooks saw."""
        numbers = self.names["numbers"]
        self.last = self.state()
        self.values = {n: numbers(t) for n, t in self.tensors().items()}
        self.grads = {
            n: numbers(t.grad)
            for n, t in self.tensors().items()
            if t.is_leaf or t.retains_grad
        }
        self.log = {}
        for name, seen in self.names["log"]:
            self.log.setdefault(name, []).append(seen)
        # Threads come in any order.
        key = lambda seen: (seen is None, [round(v, 6) for v in seen or ()])  # noqa: E731
        self.log = {name: sorted(seen, key=key) for name, seen in self.log.items()}
        return self


def same(a, b):
    """Whether the numbers agree; NaN equals NaN."""
    if a == b:
        return True
    if a is None or b is None or isinstance(a, float) or isinstance(b, float):
        return isinstance(a, float) and isinstance(b, float) and (
            math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-8) or (a != a and b != b)
        )  # fmt: skip
    return len(a) == len(b) and all(map(same, a, b))


def family(error):
    """The class of an error, as far as the two libraries have the same."""
    if isinstance(error, RuntimeError):
        return "RuntimeError"
    return type(error).__name__


def compare(ours, theirs, lines):
    """What differs, as (line number, text); None where nothing does."""
    for i, (got, want) in enumerate(zip(ours.outcomes, theirs.outcomes)):
        if family(got) != family(want):
            known = got is None and any(text in str(want) for text in REFUSED)
            if got is None and UNSEEN in str(want):
                known = taken_when_seen(theirs, lines, i)
            if want is None and any(text in str(got) for text in REFUSED_HERE):
                known = True
            if known:  # what comes later is another program; what came before is not
                return compare(cut(ours, lines, i), cut(theirs, lines, i), lines[:i])
            return i, f"error: got {got!r}, PyTorch {want!r}"
        if theirs.watch and i < len(ours.states) and i < len(theirs.states):
            odd = difference(ours.states[i], theirs.states[i])
            if odd:
                return i, f"state: {odd}"
    checks = ["last", "values"] if theirs.ended else ["last", "values", "grads", "log"]
    for what in checks:
        got, want = getattr(ours, what), getattr(theirs, what)
        for name in sorted(set(got) | set(want)):
            nothing = None if what == "grads" else "nothing"  # of a leaf there is None
            a, b = got.get(name, nothing), want.get(name, nothing)
            if not (alike if what == "last" else same)(a, b):
                return len(lines), f"{what} of {name}: got {a}, PyTorch {b}"
    return None


def cut(run, lines, i):
    """The lines before line i alone."""
    return replay(lines[:i], run.names["lib"], run.watch)


def taken_when_seen(run, lines, i):
    """Whether line i passes where somebody looks at all histories after each line."""
    seen = replay(lines[: i + 1], run.names["lib"], watch=True)
    return len(seen.outcomes) > i and seen.outcomes[i] is None


def alike(a, b):
    """Whether the states of a tensor agree: PyTorch drops graphs over no elements."""
    if a == b or "nothing" in (a, b):
        return a == b
    return 0 in a[0] and a[1] and not b[1] and (a[0], a[4]) == (b[0], b[4])


def difference(got, want):
    """The tensors whose state differs."""
    pairs = {n: (got.get(n, "nothing"), want.get(n, "nothing")) for n in {*got, *want}}
    return "; ".join(
        f"{n}: got {a}, PyTorch {b}"
        for n, (a, b) in sorted(pairs.items()) if not alike(a, b)
    )  # fmt: skip


def watches(n):
    """Whether to look at tensors after each line, which may itself renew things."""
    return n % 2 == 0


def generate(seed, watch, lib, length=16, numbers_only=False):
    """A program that fits the library.

    Its run here is no yardstick: the generator looks at tensors, which may renew
    their histories.
    """
    run = Run(lib, watch)
    generator = Generator(seed, run.names, numbers_only, watch)
    lines = []
    for _ in range(4 * length):
        if len(lines) == length or run.ended:
            break
        line = generator.line()
        if line is None or len(run.tensors()) > MANY:
            continue
        lines.append(line)
        run.step(line)
    return lines


def replay(lines, lib, watch):
    """The program in another library."""
    run = Run(lib, watch)
    for line in lines:
        if run.ended:
            break
        run.step(line)
    return run.finish()


def leaks(lines, pkg, watch):
    """What a program leaves behind: live tensors and nodes, beyond those before."""
    core = pkg._binding.core
    gc.collect()
    before = core.live_tensors(), core.live_nodes()
    run = replay(lines, pkg, watch)
    # A .grad with a graph owns its leaf, and a function its globals, which own results.
    tensor = None
    for tensor in run.tensors().values():
        tensor.grad = None
    run.names.clear()
    del run, tensor
    names_for(pkg)
    gc.collect()
    return core.live_tensors() - before[0], core.live_nodes() - before[1]

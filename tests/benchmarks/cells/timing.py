# SPDX-License-Identifier: Apache-2.0
"""One cell: both libraries run it, results are compared, then it is timed."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import time
from dataclasses import dataclass

import numpy as np

import pkg

from .recipe import Cell
from .world import world

TOLERANCE = {"float32": 2e-3, "float64": 1e-6, "float16": 3e-2, "bfloat16": 1.5e-1}
#: One rounding of a term of a sum; those of 16 bits are added in float32.
EPSILON = dict.fromkeys(TOLERANCE, 2**-24) | {"float64": 2**-53}
#: Runs of one function in a row, in seconds: on several threads PyTorch's spin some ms
#: after their last work, which the first of them pay.
BLOCK = {1: 0.004, 2: 0.025}
RUN = 0.0015
MOST = 0.5
#: Ratios below need no further runs, as noise does not decide.
CLEAR = 0.6
#: A glance: seconds of one side, and the ratio up to which it is believed.
GLANCE = 0.001
BELIEVED = 0.85


class Refused(Exception):
    """A library does not take the call; ``sides`` says which."""

    def __init__(self, sides, said):
        super().__init__(said)
        self.sides = sides


class Wrong(Exception):
    """Results differ."""


class Lock:
    """A file's lock, held while something is timed, so that others' work waits."""

    def __init__(self, path):
        self.file = open(path, "w") if path else None

    @contextlib.contextmanager
    def held(self):
        if self.file:
            fcntl.flock(self.file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            if self.file:
                fcntl.flock(self.file, fcntl.LOCK_UN)


@dataclass
class Side:
    """A library's function for a cell, and what waits for it."""

    call: object
    wait: object

    def once(self, count):
        start = time.perf_counter()
        for _ in itertools.repeat(None, count):
            self.call()
        self.wait()
        return (time.perf_counter() - start) / count


def _nothing():
    pass


def prepare(cell: Cell, torch):
    """Both sides, ready to be called; the results of a first call are compared."""
    sides, results, said = [], [], {}
    for library, functional, call in (
        (pkg, pkg.nn.functional, cell.call),
        (torch, torch.nn.functional, cell.torch_call),
    ):
        ours = library is pkg
        names = world(library, functional, ours)
        try:
            exec(cell.setup, names)  # noqa: S102
            statement = " = " in call.split("(")[0] or call.endswith(("] = y", "] = z"))
            function = _function(call, names, statement)
            results.append(function())
            wait = pkg.synchronize if ours else _nothing
            wait()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the other may take it
            said["ours" if ours else "torch"] = f"{type(error).__name__}: {error}"
            continue
        sides.append(Side(function, wait))
        if not ours:
            numpys = names
    if said:
        raise Refused(
            tuple(said), "; ".join(f"{k}: {v}"[:200] for k, v in said.items())
        )
    terms = 0.0
    if cell.terms:
        terms = float(eval(cell.terms, names))  # noqa: S307  PyTorch's names
    compare(cell, *results, terms * EPSILON.get(cell.dtype, 0.0))
    if cell.numpy_call:
        with contextlib.suppress(Exception):
            sides.append(_numpy(cell, numpys, results[1]))
    return sides


def _function(call, names, statement):
    if not statement:
        return eval(f"lambda: {call}", names)  # noqa: S307
    exec(f"def _call():\n    {call}", names)  # noqa: S102
    return names["_call"]


def _numpy(cell, names, wanted):
    """NumPy's side, on views of PyTorch's memory, if its result is the same."""
    there = {k: v.numpy() for k, v in names.items() if k in cell.variables}
    function = eval(f"lambda: {cell.numpy_call}", {"np": np, **there})  # noqa: S307
    got, want = flat(function()), flat(wanted)
    if cell.values:
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2)
    return Side(function, _nothing)


def flat(result):
    """The tensors, or numbers, in a result as float64 arrays."""
    if isinstance(result, (list, tuple)) and not _numbers(result):
        return [a for item in result for a in flat(item)]
    if hasattr(result, "detach"):
        result = result.detach()
        if "bfloat16" in str(result.dtype):
            result = result.float()
        result = result.numpy()
    return [] if result is None else [np.asarray(result, dtype=np.float64)]


def _numbers(result):
    first = result
    while isinstance(first, list) and first:
        first = first[0]
    return isinstance(first, (int, float, bool))


def compare(cell, ours, theirs, slack=0.0):
    """Whether both sides did the same; random and in-place cells compare shapes.

    ``slack`` is what rounding alone may make of sums that cancel.
    """
    a, b = flat(ours), flat(theirs)
    if len(a) != len(b) or any(x.shape != y.shape for x, y in zip(a, b)):
        raise Wrong(f"shapes {[x.shape for x in a]} and {[y.shape for y in b]}")
    if not cell.values:
        return
    limit = TOLERANCE.get(cell.dtype, 2e-3)
    for x, y in zip(a, b):
        scale = np.abs(y[np.isfinite(y)]).max(initial=1.0)
        with np.errstate(all="ignore"):
            same = np.abs(x - y) <= limit * scale + slack
        same |= (x == y) | (np.isnan(x) & np.isnan(y))
        # Discontinuous functions may differ where inputs are rounded otherwise.
        if np.mean(~same) > 1e-3:
            worst = int(np.argmin(same))
            raise Wrong(f"values {x.flat[worst]} and {y.flat[worst]}")


def glance(sides):
    """The seconds of each side in a short look, or None if that does not decide."""
    seconds = []
    for side in sides:
        one = side.once(1)
        count = max(2, min(1000, int(GLANCE / max(one, 1e-8))))
        seconds.append(min(side.once(count), side.once(2)))
    return seconds if seconds[0] < BELIEVED * min(seconds[1:]) else None


def measure(sides, threads, thorough=False):
    """The fastest seconds of each side; more rounds where the ratio is not clear."""
    counts = []
    for side in sides:
        one = min(side.once(1), side.once(1))
        counts.append(max(1, min(20000, int(RUN / max(one, 1e-8)))))
    fastest = [float("inf")] * len(sides)
    start = time.perf_counter()
    rounds = 0
    while True:
        for i, side in enumerate(sides):
            end = time.perf_counter() + BLOCK[min(threads, 2)]
            while True:
                fastest[i] = min(fastest[i], side.once(counts[i]))
                if time.perf_counter() > end:
                    break
        rounds += 1
        ratio = fastest[0] / min(fastest[1:])
        spent = time.perf_counter() - start
        wanted = 2 if ratio < CLEAR else 5 if ratio < 0.9 else 9
        if rounds >= wanted * (2 if thorough else 1) or (rounds >= 2 and spent > MOST):
            return fastest

# SPDX-License-Identifier: Apache-2.0
"""Mini dispatcher (single CPU backend)

A list of names in front of pkg's dispatcher: every op is double(double, double), as the
article assumes. Ops of any signature are in ``pkg.ops``.
"""

from __future__ import annotations

import atexit
import difflib
import sys
import threading
from collections.abc import Callable
from typing import Any

from .. import ops
from .._binding import core
from ._numbers import Number, as_double

_Key = tuple[str, str]  # name, backend
_lock = threading.Lock()


class _Kernel:
    """A registered function, and where that was."""

    def __init__(self, function: Callable[..., Any], place: str) -> None:
        self.function = function
        self.place = place


# Replaced as a whole, so readers need no lock.
_table: dict[_Key, _Kernel] = {}


class Registration:
    """What register_op returned; remove() brings back what was there before."""

    def __init__(self, key: _Key, kernel: _Kernel, before: _Kernel | None) -> None:
        self._key, self._kernel, self._before = key, kernel, before

    def remove(self) -> None:
        """RuntimeError when the op has been registered anew, or removed, meanwhile."""
        global _table
        with _lock:
            if _table.get(self._key) is not self._kernel:
                raise RuntimeError(
                    f"[remove] expected {self._key[0]!r} as registered at "
                    f"{self._kernel.place}, got another registration."
                )
            table = dict(_table)
            del table[self._key]
            if self._before is not None:
                table[self._key] = self._before
            _table = table


def register_op(
    name: str,
    fn: Callable[..., Any],
    *,
    backend: str = "CPU",
    overwrite: bool = False,
) -> Registration:
    """Registers fn(a: float, b: float) -> float as the op `name` of `backend`.

    RuntimeError naming both places when it exists, unless `overwrite`.
    """
    global _table
    if not callable(fn):
        kind = type(fn).__name__
        raise TypeError(f"[register_op] expected a callable for 'fn', got {kind}")
    caller = sys._getframe(1)
    kernel = _Kernel(fn, f"{caller.f_code.co_filename}:{caller.f_lineno}")
    key = (name, backend)
    with _lock:
        before = _table.get(key)
        if before is not None and not overwrite:
            raise RuntimeError(
                f"[register_op] expected a new op, got {name!r} of {backend}, "
                f"registered at {before.place} and now at {kernel.place}. "
                "Hint: overwrite=True."
            )
        _table = {**_table, key: kernel}
    return Registration(key, kernel, before)


def run_op(name: str, a: Number, b: Number, *, backend: str = "CPU") -> float:
    """Run an op by name, e.g. run_op('add',3,4)

    OpLookupError (a RuntimeError and LookupError) for an unknown name.
    """
    kernel = _table.get((name, backend))
    if kernel is None:
        raise core.OpLookupError(_missing(name, backend))
    a, b = as_double(f"run_op {name}", "a", a), as_double(f"run_op {name}", "b", b)
    return as_double(f"run_op {name}", "result", kernel.function(a, b))


def _missing(name: str, backend: str) -> str:
    table = _table
    backends = sorted(b for n, b in table if n == name)
    if backends:
        return (
            f"No op registered: {name} for backend {backend}. It exists for: "
            f"{', '.join(backends)}."
        )
    names = sorted({n for n, _ in table})
    near = difflib.get_close_matches(str(name), names, cutoff=0.3) or names
    return (
        f"No op registered: {name}. Nearest: {', '.join(near)}. "
        f"{len(names)} ops are registered."
    )


def _core_op(name: str, op: Callable[..., Any]) -> Callable[[float, float], Any]:
    def kernel(a: float, b: float) -> Any:
        print(f"[C++] executing {name}({a:g},{b:g})")
        return op(core.tensor(a, dtype=core.float64), b).item()

    return kernel


def init_ops() -> None:
    """Registers `add` and `mul`; called at import, and harmless when called again."""
    for name, op in (("add", ops.add), ("mul", ops.mul)):
        if (name, "CPU") not in _table:
            register_op(name, _core_op(name, op))


def _drop() -> None:
    """Kernels die while the interpreter lives."""
    global _table
    _table = {}


init_ops()
atexit.register(_drop)

# SPDX-License-Identifier: Apache-2.0
"""Makes the call of a finding small: fewer arguments, dimensions, sizes and values."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from fuzz.check import Checker
from fuzz.conditions import without
from fuzz.generate import Call, generate
from fuzz.report import NEVER_KNOWN, Kind, Report
from fuzz.run import limit_memory
from fuzz.text import line
from fuzz.values import Data, numbers_of

Still = Callable[[Call], bool]  # whether the finding is still there
LIMIT = 4.0  # seconds for one call to be shrunk
FATAL = ("crash", "hang", "sanitizer")


def smaller(call: Call) -> Iterator[Call]:
    """Calls that are a little less, most promising first."""
    for name in list(call.kwargs):
        yield _changed(call, lambda c, n=name: c.kwargs.pop(n))
    if call.args:
        yield _changed(call, lambda c: c.args.pop())
    if call.default_dtype:
        yield _changed(call, lambda c: setattr(c, "default_dtype", ""))
    if call.form == "method":
        yield _changed(call, lambda c: setattr(c, "form", "function"))
    count = len(call.tensors())
    for place in range(count):
        for step in STEPS:
            other = deepcopy(call)
            if step(other.tensors()[place]):
                yield other
    if count > 1:  # the same dimension of all
        for dim in range(-3, 3):
            other = deepcopy(call)
            if all([_shorter(d, dim) for d in other.tensors()]):
                yield other
    for key in [*range(len(call.args)), *call.kwargs]:
        yield from _plainer(call, key)


def _changed(call: Call, change: Callable[[Call], Any]) -> Call:
    other = deepcopy(call)
    change(other)
    return other


def _plainer(call: Call, key: Any) -> Iterator[Call]:
    """Numbers nearer to 0, shorter lists."""
    where = "args" if isinstance(key, int) else "kwargs"
    value = getattr(call, where)[key]
    tries: list[Any] = []
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        tries = [n for n in (0, 1, 2, -1) if n != value and abs(n) < abs(value)]
    elif isinstance(value, (list, tuple)):
        tries = [type(value)([*value[:i], *value[i + 1 :]]) for i in range(len(value))]
        for i, item in enumerate(value):
            if isinstance(item, int) and not isinstance(item, bool):
                for n in (0, 1):
                    if abs(n) < abs(item):
                        tries.append(type(value)([*value[:i], n, *value[i + 1 :]]))
    for item in tries:
        other = deepcopy(call)
        getattr(other, where)[key] = deepcopy(item)
        yield other


def _dense(data: Data) -> bool:
    if data.strides is None or data.alias is not None or data.numel > 100_000:
        return False
    data.strides, data.offset, data.length = None, 0, data.numel
    return True


def _plain(data: Data) -> bool:
    if data.alias is not None:
        data.alias, data.strides, data.offset = None, None, 0
        data.length, data.fill = data.numel, ("normal", 0)
        return data.numel < 100_000
    return False


def _no_grad(data: Data) -> bool:
    had, data.grad, data.clone = data.grad, False, False
    return had


def _no_clone(data: Data) -> bool:
    had, data.clone = data.clone, False
    return had


def _fewer_dims(data: Data) -> bool:
    return _reshaped(data, data.shape[1:]) if data.shape else False


def _fewer_last(data: Data) -> bool:
    return _reshaped(data, data.shape[:-1]) if data.shape else False


def _reshaped(data: Data, shape: tuple[int, ...]) -> bool:
    if data.strides is not None or data.alias is not None:
        return False
    data.shape = shape
    data.length = data.numel
    return True


def _shorter(data: Data, dim: int) -> bool:
    if not -len(data.shape) <= dim < len(data.shape) or data.strides is not None:
        return False
    shape = list(data.shape)
    if shape[dim] < 2:
        return False
    shape[dim] = 1 if shape[dim] < 4 else shape[dim] // 2
    return _reshaped(data, tuple(shape))


def _shorter_at(dim: int) -> Callable[[Data], bool]:
    return lambda data: _shorter(data, dim)


def _float32(data: Data) -> bool:
    if data.dtype == "float32":
        return False
    data.dtype = "float32"
    return True


def _values(kind: str) -> Callable[[Data], bool]:
    def change(data: Data) -> bool:
        if data.alias is not None or data.meta or data.length > 4096:
            return False
        if kind == "ones":
            if data.fill == ("list", [1]):
                return False
            data.fill = ("list", [1])
            return data.length > 0
        numbers = numbers_of(data)
        if kind == "listed":
            if data.fill[0] == "list" or data.length > 24:
                return False
            data.fill = ("list", numbers.tolist())
            return True
        if data.fill[0] != "list" or data.length > 24 or not data.length:
            return False
        half = [round(float(n), 1) for n in numbers.tolist()]
        if half == list(numbers.tolist()):
            return False
        data.fill = ("list", half)
        return True

    return change


STEPS = (
    _plain, _dense, _no_grad, _no_clone, _fewer_dims, _fewer_last, _values("ones"),
    _shorter_at(0), _shorter_at(1), _shorter_at(-1), _shorter_at(2), _float32,
    _values("listed"), _values("rounded"),
)  # fmt: skip


def shrink(call: Call, still: Still, limit: float = LIMIT) -> Call:
    """The smallest call found in which the finding is still there."""
    end = time.monotonic() + limit
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for other in smaller(call):
            if time.monotonic() > end:
                break
            try:
                line(other)
                if still(other):
                    call, progress = other, True
                    break
            except Exception:  # noqa: BLE001, S112  (no call at all)
                continue
    return call


def still_found(checker: Checker, kind: str, text: str) -> Still:
    """Whether a call gives this finding, in this process."""
    head = without(text.partition(" | ")[0])

    def still(call: Call) -> bool:
        found = checker.check(call, thorough=True)[1]
        return any(
            k == kind and without(t.partition(" | ")[0]) == head for k, t in found
        )

    return still


def still_dies(checker: Checker, seconds: float = 5) -> Still:
    """Whether a call ends its process, or does not end: tried in a fork."""

    def still(call: Call) -> bool:
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            checker.check(call, thorough=True)
            os._exit(0)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.WIFSIGNALED(status)
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return True

    return still


def shrink_case(case: str, torch: bool, kind: str = "", text: str = "") -> str:
    """The line of the smallest call like this one."""
    op, _, number = case.partition(":")
    call = generate(op, number)
    fatal = kind.split(" ")[0] in FATAL
    checker = Checker(torch and not fatal)
    limit_memory()
    if not kind:
        # Whatever it does first, in a fork: it may crash.
        dies = still_dies(checker)
        if dies(call):
            return line(shrink(call, dies, 30))
        found = checker.check(call, thorough=True)[1]
        if not found:
            return line(call)
        kind, text = found[0]
        return line(shrink(call, still_found(checker, kind, text), 30))
    if fatal:
        return line(shrink(call, still_dies(checker), 20))
    return line(shrink(call, still_found(checker, kind, text)))


def shrink_all(report: Report, torch: bool) -> None:
    """Gives each kind of finding a short line, in a child that may die."""
    wanted = [k for k in report.new if k.cases]
    with_torch = [k for k in wanted if k.kind.split(" ")[0] not in FATAL]
    fatal = [k for k in wanted if k not in with_torch]
    _in_children(with_torch, torch)
    _in_children(fatal, False)


def _in_children(kinds: list[Kind], torch: bool) -> None:
    left = list(kinds)
    while left:
        rows = [[k.cases[0], k.kind, k.text] for k in left]
        program = (
            "import sys; sys.path[:0] = [sys.argv[1]]; sys.path.append(sys.argv[2]);"
            "from fuzz.shrink import main; main()"
        )
        tests = Path(__file__).resolve().parents[1]
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(tests), str(tests.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        told = 0
        out, _ = child.communicate(json.dumps([torch, rows]))
        for kind, said in zip(left, out.splitlines()):
            kind.line, told = json.loads(said), told + 1
        left = left[told + 1 :] if told < len(left) else []


def main() -> None:
    """The child: a line for each finding."""
    from fuzz.run import warm

    torch, rows = json.load(sys.stdin)
    checker = Checker(torch)
    if torch:
        warm(checker)
    limit_memory()
    for case, kind, text in rows:
        op, _, number = case.partition(":")
        call = generate(op, number)
        fatal = kind.split(" ")[0] in FATAL
        still = still_dies(checker) if fatal else still_found(checker, kind, text)
        signal.alarm(60)
        print(json.dumps(line(shrink(call, still))), flush=True)


__all__ = ["NEVER_KNOWN", "shrink", "shrink_all", "shrink_case", "smaller"]

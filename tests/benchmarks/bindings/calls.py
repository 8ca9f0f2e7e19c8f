# SPDX-License-Identifier: Apache-2.0
"""The calls that are timed, and their timing in interleaved rounds.

Used by compare.py.  Every binding makes the same call from its own copy of the same
loop (CPython specialises a loop for what it calls), all in one process; each round runs
each binding once, in turning order.  The time of the empty loop is taken off.  There
are several processes, as where a module's code lies in one can cost it a third of a
short call's time.  Each of them is this file, asked on its standard input.
"""

from __future__ import annotations

import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from types import ModuleType

PROCESSES = 5


@dataclass(frozen=True)
class Call:
    """A statement in a loop.  `before` is run once; `check` must be true."""

    name: str
    statement: str
    check: str
    before: str = "pass"


CALLS = [
    Call("add(1.0, 2.0)", "f(1.0, 2.0)", "f(1.0, 2.0) == 3.0", "f = m.add"),
    Call("add(a=1.0, b=2.0)", "f(a=1.0, b=2.0)", "f(a=1.0, b=2.0) == 3.0", "f = m.add"),
    Call("twice(21)", "f(21)", "f(21) == 42", "f = m.twice"),
    Call("clamp(2.0)", "f(2.0)", "f(2.0) == 1.0", "f = m.clamp"),
    Call("clamp(2.0, high=1.5)", "f(2.0, high=1.5)", "f(2.0, high=1.5) == 1.5",
         "f = m.clamp"),
    Call("greet('Grüße')", "f('Grüße')", "f('Grüße') == 'Hello, Grüße'", "f = m.greet"),
    Call("scaled of 4 floats", "f(v, 2.0)", "list(f(v, 2.0)) == [0.0, 2.0, 4.0, 6.0]",
         "f = m.scaled; v = [0.0, 1.0, 2.0, 3.0]"),
    Call("scaled of 1000 floats", "f(v, 2.0)", "sum(f(v, 2.0)) == 999000.0",
         "f = m.scaled; v = [float(i) for i in range(1000)]"),
    Call("divide(1.0, 0.0), caught", """try:
                f(1.0, 0.0)
            except ValueError:
                pass""", "raises(ValueError, f, 1.0, 0.0)", "f = m.divide"),
    Call("apply(python_function, 1.0)", "f(g, 1.0)", "f(g, 1.0) == 2.0",
         "f = m.apply; g = callback(lambda x: x + 1.0)"),
    Call("Point(1.0, 2.0)", "f(1.0, 2.0)", "f(1.0, 2.0).x == 1.0", "f = m.Point"),
    Call("p.norm2()", "p.norm2()", "p.norm2() == 5.0", "p = m.Point(1.0, 2.0)"),
    Call("p.dot(q)", "p.dot(q)", "p.dot(q) == 11.0",
         "p = m.Point(1.0, 2.0); q = m.Point(3.0, 4.0)"),
    Call("p.move(1.0, 2.0)", "p.move(1.0, 2.0)", "p.move(1.0, 2.0) is None",
         "p = m.Point(1.0, 2.0)"),
    Call("p.x", "p.x", "p.x == 1.0", "p = m.Point(1.0, 2.0)"),
    Call("p.x = 3.0", "p.x = 3.0", "p.x == 1.0", "p = m.Point(1.0, 2.0)"),
    Call("p + q", "p + q", "(p + q).y == 6.0",
         "p = m.Point(1.0, 2.0); q = m.Point(3.0, 4.0)"),
    Call("p == q", "p == q", "(p == q) is False and p == m.Point(1.0, 2.0)",
         "p = m.Point(1.0, 2.0); q = m.Point(3.0, 4.0)"),
]  # fmt: skip
EMPTY = Call("the empty loop", "pass", "True")

LOOP = """
def make(m, callback, raises):
    {before}
    assert {check}, "wrong result"
    def run(count):
        for _ in count:
            {statement}
    return run
"""


def raises(kind: type, function: Callable, *args: object) -> bool:
    try:
        function(*args)
    except kind:
        return True
    return False


def callback_of(module: ModuleType) -> Callable[[Callable], object]:
    """What makes a Python function fit for apply(): in stock SWIG, a derived class."""
    if not hasattr(module, "Callback"):
        return lambda function: function

    class Callback(module.Callback):
        def __init__(self, function: Callable) -> None:
            super().__init__()
            self.function = function

        def run(self, x: float) -> float:
            return self.function(x)

    return Callback


def loop(call: Call, module: ModuleType | None) -> Callable | str:
    """The loop of a call, checked once; or why the binding cannot make it."""
    scope: dict = {}
    exec(LOOP.format(**vars(call)), scope)  # own code for each binding
    try:
        return scope["make"](module, callback_of(module), raises)
    except (TypeError, NotImplementedError) as err:
        return f"{type(err).__name__}: {str(err).splitlines()[0]}"


def seconds(run: Callable, count: int) -> float:
    began = time.perf_counter()
    run(repeat(None, count))
    return time.perf_counter() - began


def time_calls(
    modules: dict[str, tuple[Path, str]],
    rounds: int,
    sample: float,
    calls: Sequence[Call] = CALLS,
) -> dict[str, dict]:
    """Per call and binding: ns, median of `rounds` samples of about `sample` seconds.

    modules: folder and name of each binding's.  Where a binding cannot make the call
    there is its error instead.
    """
    each = -(-rounds // PROCESSES)
    asked = {
        "modules": {name: (str(folder), m) for name, (folder, m) in modules.items()},
        "calls": [vars(call) for call in calls],
        "sample": sample,
        "rounds": each,
    }
    results: dict[str, dict] = {}
    for process in range(PROCESSES):
        asked["first"] = process * each
        child = subprocess.run(
            [sys.executable, __file__],
            input=json.dumps(asked),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for call, result in json.loads(child.stdout.splitlines()[-1]).items():
            whole = results.setdefault(call, {**result, "rounds": {}})
            for name, times in result["rounds"].items():
                whole["rounds"].setdefault(name, []).extend(times)
    for result in results.values():
        medians = {n: statistics.median(times) for n, times in result["rounds"].items()}
        result["ns"] = medians
    return results


def time_here(
    modules: dict[str, ModuleType],
    rounds: range,
    sample: float,
    calls: Sequence[Call],
) -> dict[str, dict]:
    """The times of these rounds, in this process; each begins with another binding."""
    empty = loop(EMPTY, None)
    results: dict[str, dict] = {}
    for call in calls:
        made = {name: loop(call, module) for name, module in modules.items()}
        loops = {name: run for name, run in made.items() if not isinstance(run, str)}
        counts = {}
        for name, run in loops.items():
            seconds(run, 200)  # warm up
            counts[name] = max(50, int(200 * sample / seconds(run, 200)))
        taken: dict[str, list[float]] = {name: [] for name in loops}
        names = list(loops)
        for i in rounds:
            base = seconds(empty, 20000) / 20000
            turn = i % len(names)
            for name in names[turn:] + names[:turn]:
                each = seconds(loops[name], counts[name]) / counts[name]
                taken[name].append(max(each - base, 1e-10) * 1e9)
        results[call.name] = {
            "rounds": taken,
            "unsupported": {n: run for n, run in made.items() if isinstance(run, str)},
        }
    return results


def ratio(result: dict, ours: str, peer: str) -> float | None:
    """Median over the rounds of ours by the peer's; None where one is absent."""
    pairs = zip(result["rounds"].get(ours, []), result["rounds"].get(peer, []))
    quotients = [a / b for a, b in pairs]
    return statistics.median(quotients) if quotients else None


def answer(asked: dict) -> dict[str, dict]:
    """What time_calls has asked this process for."""
    modules = {}
    for name, (folder, module) in asked["modules"].items():
        sys.path.insert(0, folder)
        sys.modules.pop(module, None)  # another binding's of the same name
        modules[name] = importlib.import_module(module)
    rounds = range(asked["first"], asked["first"] + asked["rounds"])
    calls = [Call(**call) for call in asked["calls"]]
    return time_here(modules, rounds, asked["sample"], calls)


if __name__ == "__main__":
    print(json.dumps(answer(json.load(sys.stdin))))

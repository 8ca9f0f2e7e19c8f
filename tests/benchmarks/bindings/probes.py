# SPDX-License-Identifier: Apache-2.0
"""What each binding supports, found by trying, and its texts for wrong arguments.

Used by compare.py, which runs this file once for each binding and question, in its own
process: ``probes.py FOLDER MODULE QUESTION`` prints the answer.  Some bindings crash.
"""

from __future__ import annotations

import abc
import gc
import importlib
import inspect
import signal
import subprocess
import sys
import time
import typing
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

from calls import callback_of


def raises(kind: type | tuple, function: Callable, *args: object) -> bool:
    """Whether the call raises exactly so; another exception gets through."""
    try:
        function(*args)
    except kind:
        return True
    return False


class Canary:
    """Can be watched dying."""


def collects_cycles(m: ModuleType) -> bool:
    class Derived(m.Point):
        pass

    point, canary = Derived(1.0, 2.0), Canary()
    point.itself, point.canary = point, canary
    watch = weakref.ref(canary)
    del point, canary
    gc.collect()
    return watch() is None


def class_attributes(m: ModuleType) -> bool:
    class Derived(m.Point):
        pass

    Derived.extra = 1
    T = typing.TypeVar("T")

    class Box(m.Point, typing.Generic[T]):
        pass

    return Derived.extra == 1 and Box(1.0, 2.0).norm2() == 5.0


def abstract_base(m: ModuleType) -> bool:
    class Abstract(m.Point, abc.ABC):
        pass

    return Abstract(1.0, 2.0).norm2() == 5.0


def forgotten_init(m: ModuleType) -> bool:
    class Derived(m.Point):
        def __init__(self) -> None:
            pass

    try:
        point = Derived()
    except TypeError:
        return True
    return raises((TypeError, RuntimeError, ValueError, AttributeError), point.norm2)


def class_references_flat(m: ModuleType) -> bool:
    before = sys.getrefcount(m.Point)
    for _ in range(1000):
        m.Point(1.0, 2.0)
    return sys.getrefcount(m.Point) - before < 10


def exception_object(m: ModuleType) -> bool:
    error = KeyError("ours")

    def fail(x: float) -> float:
        raise error

    try:
        m.apply(callback_of(m)(fail), 1.0)
    except KeyError as caught:
        return caught is error and caught.__traceback__.tb_next is not None
    return False


def numpy_scalars(m: ModuleType) -> bool:
    import numpy as np

    return m.twice(np.int64(2)) == 4 and m.add(np.float32(1.0), np.float64(2.0)) == 3.0


PROBES: dict[str, Callable[[ModuleType], bool]] = {
    "keyword arguments": lambda m: m.add(b=2.0, a=1.0) == 3.0,
    "keywords with default values": lambda m: m.clamp(2.0, high=1.5) == 1.5,
    "keywords of methods and constructors": lambda m: (
        m.Point(y=2.0, x=1.0).move(dx=1.0, dy=2.0) is None
    ),
    "docstrings": lambda m: "Sum of two" in (m.add.__doc__ or ""),
    "`inspect.signature` shows the names": lambda m: (
        list(inspect.signature(m.add).parameters) == ["a", "b"]
    ),
    "NumPy scalars": numpy_scalars,
    "`str` with NUL and non-ASCII": lambda m: m.greet("a\0é") == "Hello, a\0é",
    "`int` out of range is refused": lambda m: raises(
        (OverflowError, TypeError), m.twice, 2**40
    ),
    "a vector comes back as `list`": lambda m: type(m.scaled([1.0], 2.0)) is list,
    "C++ exception becomes `ValueError`": lambda m: raises(
        ValueError, m.divide, 1.0, 0.0
    ),
    "a plain function as callback": lambda m: m.apply(lambda x: x + 1.0, 1.0) == 2.0,
    "a callback's own exception comes back": exception_object,
    "`None` for an object: TypeError": lambda m: raises(
        TypeError, m.Point(1.0, 2.0).dot, None
    ),
    "`__init__` not called: an error": forgotten_init,
    "subclass in Python": lambda m: (
        type("Derived", (m.Point,), {})(1.0, 2.0).norm2() == 5.0
    ),
    "class attributes and `Generic` in it": class_attributes,
    "`ABC` in it": abstract_base,
    "new attributes on an instance": lambda m: (
        setattr(m.Point(1.0, 2.0), "tag", 1) is None
    ),
    "weak references": lambda m: bool(weakref.ref(m.Point(1.0, 2.0)) or True),
    "reference cycles are collected": collects_cycles,
    "objects give back their class reference": class_references_flat,
    "`p + 1`: TypeError by the operator protocol": lambda m: raises(
        TypeError, lambda: m.Point(1.0, 2.0) + 1
    ),
}

WRONG: dict[str, Callable[[ModuleType], object]] = {
    'add("x", 2.0)': lambda m: m.add("x", 2.0),
    "add(1.0)": lambda m: m.add(1.0),
    "add(1.0, c=2.0)": lambda m: m.add(1.0, c=2.0),
    "greet(3)": lambda m: m.greet(3),
    'scaled([1.0, "x"], 2.0)': lambda m: m.scaled([1.0, "x"], 2.0),
    "apply(3, 1.0)": lambda m: m.apply(3, 1.0),
    "Point(1.0, 2.0).dot(3)": lambda m: m.Point(1.0, 2.0).dot(3),
    "Point(1.0, 2.0) + 3": lambda m: m.Point(1.0, 2.0) + 3,
    "divide(1.0, 0.0)": lambda m: m.divide(1.0, 0.0),
}


def answer(module: ModuleType, question: str) -> str:
    """One question's answer in words."""
    try:
        if question in PROBES:
            return "yes" if PROBES[question](module) else "no"
        return f"no error: {WRONG[question](module)!r}"
    except Exception as err:
        if question in PROBES:
            return f"no ({type(err).__name__})"
        return f"{type(err).__name__}: {err}"


def import_seconds(module: str) -> float:
    began = time.perf_counter()
    importlib.import_module(module)
    return time.perf_counter() - began


def ask(folder: Path, module: str, question: str) -> str:
    """Puts a question in a process of its own, which may crash."""
    command = [sys.executable, __file__, str(folder), module, question]
    done = subprocess.run(command, capture_output=True)
    if done.returncode < 0:
        return f"crash ({signal.Signals(-done.returncode).name})"
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr.decode()}")
    return done.stdout.decode().removesuffix("\n")


def ask_all(folder: Path, module: str, questions: list[str]) -> dict[str, str]:
    with ThreadPoolExecutor(2) as pool:
        return dict(
            zip(questions, pool.map(lambda q: ask(folder, module, q), questions))
        )


def main(folder: str, module: str, question: str) -> None:
    sys.path.insert(0, folder)
    if question == "import":
        print(import_seconds(module))
    else:
        sys.stdout.reconfigure(encoding="utf-8")
        print(answer(importlib.import_module(module), question))


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Calls everything that the modules of tests/kit/cases offer, and reports what grows.

    python tests/kit/soak.py [--calls N] [--seconds S] [--sanitize] [THEME...]

CALLS (default 2000; 1000000 is the full run) is how often each construct is called,
its calls shared out over all the ways to call it, wrong ones too: soak_table.py makes
them.  A way that takes longer than S seconds (default 60) gets as many as fit; the
report says so.  Watched are Python's blocks, malloc's bytes, and the reference counts
of None, True and the module's classes.

`--sanitize` compiles the modules with AddressSanitizer and UndefinedBehaviorSanitizer,
and runs itself under them (build/kit/address-*); of more than 100,000 calls without a
look at uses of the stack after a return.  test_soak.py calls less.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import repeat
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kit_modules import CASES, BuildError, build, load  # noqa: E402
from soak_table import RESET, Construct, Kept, Table, Variant  # noqa: E402

BLOCK = 100  # calls of one object, and of the same arguments
FRESH = 5  # one of so many calls gets fresh arguments where the same can be given again
SHORT = 100_000  # calls, of a run that looks at the stack, too
LEAST = 30  # of each way: less would hide in what is kept once
SANITIZERS = "-fsanitize=address,undefined"
OPTIONS = {
    "CXXFLAGS": f"{SANITIZERS} -fno-omit-frame-pointer -g1",
    "LDFLAGS": SANITIZERS,
    "PYTHONMALLOC": "malloc",
    # What Python itself leaves at its end is no leak of ours: growth is measured.
    "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=6",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
THEMES = sorted(path.stem for path in CASES.glob("*.i"))


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks "
        "fordblks keepcost".split()
    ]


def byte_counter() -> Callable[[], int]:
    """The bytes that malloc has given out: AddressSanitizer's where it is there."""
    process = ctypes.CDLL(None)
    try:
        counter = process.__sanitizer_get_current_allocated_bytes
        counter.restype = ctypes.c_size_t
        return counter
    except AttributeError:
        process.mallinfo2.restype = Mallinfo

    def count() -> int:
        info = process.mallinfo2()
        return info.uordblks + info.hblkhd

    return count


class Soak:
    """The run of one module."""

    def __init__(self, theme: str, module: ModuleType, stub: str, seconds: float):
        self.theme, self.seconds = theme, seconds
        self.constructs = Table(theme, module, stub).constructs()
        self.bytes = byte_counter()
        self.watched = [None, True, False, *vars(module).values()]
        reset = RESET.get(theme)
        self.code = compile(reset, "reset", "exec") if reset else None
        self.names = {"m": module}
        self.calls = self.failed = 0  # failed: that raised an exception

    def reset(self) -> None:
        for kept in Kept.all:
            kept.object = None
        if self.code:
            exec(self.code, self.names)

    def run(self, variant: Variant, n: int) -> int:
        """Calls n times, or as often as the time allows; how often it was."""
        done, end = 0, time.monotonic() + self.seconds
        while done < n:
            block = min(BLOCK, n - done)
            self._block(variant, block)
            done += block
            if time.monotonic() > end:
                break
        self.calls += done
        return done

    def _block(self, variant: Variant, n: int) -> None:
        self.reset()
        try:
            function, makers, named = variant.make()
            for _ in repeat(None, 2):
                args = [make() for make in makers]
                options = {key: make() for key, make in named.items()}
                function(*args, **options)
                good = True
        except Exception:  # noqa: BLE001
            good = False
        try:
            if good:  # the same arguments can be given again
                for _ in repeat(None, n - n // FRESH):
                    function(*args, **options)
        except Exception:  # noqa: BLE001  (given away: fresh ones below)
            pass
        for _ in repeat(None, n // FRESH if good else n):
            try:
                function(
                    *[make() for make in makers],
                    **{key: make() for key, make in named.items()},
                )
            except Exception:  # noqa: BLE001
                self.failed += 1

    def state(self) -> list[int]:
        self.reset()
        gc.collect()
        counts = [sys.getrefcount(thing) for thing in self.watched]
        return [sys.getallocatedblocks(), self.bytes(), *counts]

    def grown(self, variant: Variant, n: int) -> str:
        """What every call leaves behind, in words; empty if nothing."""
        failed, said = self.failed, ""
        self._block(variant, min(n, BLOCK))
        self.failed = failed
        # What is kept once, or by Python's caches, is no leak: the last round calls
        # so often that what a cache can hold is no longer a share of each call.
        for more in (1, 1, 1, 1, 1, 1, 20):
            before = self.state()
            done = self.run(variant, n * more)
            blocks, size, *counts = map(int.__sub__, self.state(), before)
            found = []
            if blocks > done / 4 + 20:
                found.append(f"{blocks} blocks")
            if size > 8 * done + 8192:
                found.append(f"{size} bytes")
            for thing, count in zip(self.watched, counts):
                if abs(count) > done / 4 + 20:
                    found.append(f"{count} references of {thing!r:.60}")
            if not found:
                return ""
            said = f"{', '.join(found)} in {done} calls"
        return said

    def raises(self, variant: Variant) -> bool:
        failed = self.failed
        self._block(variant, 1)
        raised = self.failed > failed
        self.failed = failed
        return raised

    def construct(self, construct: Construct, calls: int) -> tuple[int, list[str]]:
        """A call that raises takes as long as ten others, and there are more ways to
        do it wrong: the wrong ones together get a twentieth of the calls, where some
        way is right."""
        wrong = [self.raises(variant) for variant in construct.variants]
        good = 1.0 if not any(wrong) else 0.95 if not all(wrong) else 0.0
        before, faults = self.calls, []
        for variant, raised in zip(construct.variants, wrong):
            share = (1 - good if raised else good) / wrong.count(raised)
            each = max(math.ceil(calls * share), min(calls, LEAST))
            said = self.grown(variant, each)
            if said:
                faults.append(f"{self.theme}.{construct.name} [{variant.name}]: {said}")
        return self.calls - before, faults


def soak(
    theme: str, calls: int, seconds: float = 60, report: Any = None
) -> tuple[int, list[str]]:
    """Calls all of a module; how many constructs there are, and what grew."""
    module = load(theme, "kit")
    if isinstance(module, BuildError):
        raise module
    sys.modules[theme] = module  # pickle looks for it
    sys.unraisablehook = lambda _: None  # destructors that throw, and say so
    stub = Path(module.__file__).with_name(f"{theme}.pyi").read_text(encoding="utf-8")
    run = Soak(theme, module, stub, seconds)
    gc.collect()
    gc.freeze()  # collections look at what is new only
    faults = []
    for construct in run.constructs:
        start, failed = time.perf_counter(), run.failed
        done, grown = run.construct(construct, calls)
        failed = run.failed - failed
        faults += grown
        if report:
            ns = (time.perf_counter() - start) / done * 1e9
            report(
                f"{theme}.{construct.name}: {done} calls, {failed} raised, {ns:.0f} ns"
            )
    return len(run.constructs), faults


def sanitized(arguments: list[str], calls: int) -> int:
    """This program under the sanitizers, by modules that were compiled for them."""
    # That doubles the time of calls that raise: a run of many calls does without it.
    stack = f"detect_stack_use_after_return={calls <= SHORT:d}"
    checks = {"ASAN_OPTIONS": f"{OPTIONS['ASAN_OPTIONS']}:{stack}"}
    os.environ.update(OPTIONS | checks, KIT_BUILD="address")
    compiler = os.environ.get("CXX", "g++").split()[-1]
    names = ("libasan.so", "libubsan.so", "libstdc++.so.6")
    found = [
        subprocess.check_output([compiler, f"-print-file-name={name}"], text=True)
        for name in names
    ]
    for theme in arguments[2:] or THEMES:
        if theme in THEMES:
            build(theme, "kit")
    os.environ.update(LD_PRELOAD=" ".join(map(str.strip, found)))
    return subprocess.call([sys.executable, __file__, *arguments])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("themes", nargs="*")
    given = parser.parse_args()
    themes = given.themes or THEMES
    if given.sanitize:
        options = ["--calls", str(given.calls), "--seconds", str(given.seconds)]
        return sanitized([*options, *themes], given.calls)
    os.environ.setdefault("KIT_BUILD", "optimized")
    faults = []
    for theme in themes:
        start = time.perf_counter()
        # Line by line, so that the last one is the one before a crash.
        count, grown = soak(
            theme, given.calls, given.seconds, partial(print, flush=True)
        )
        faults += grown
        took = time.perf_counter() - start
        print(
            f"{theme}: {count} constructs, {took:.0f} s, {len(grown)} grow", flush=True
        )
    print(*faults, sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

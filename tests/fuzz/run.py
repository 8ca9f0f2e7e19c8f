# SPDX-License-Identifier: Apache-2.0
"""A child: makes a range of calls, notes which one it is at, and prints what it finds.

The note is in a file that the parent maps too, so that a crash names its call.
"""

from __future__ import annotations

import faulthandler
import fnmatch
import gc
import json
import mmap
import os
import resource
import struct
import sys
from collections import Counter
from typing import Any

from fuzz.check import Checker
from fuzz.generate import Call, generate
from fuzz.schema import schemas

NOTE = struct.Struct("<qc")
NOTE_SIZE = 64
#: Address space beyond what the libraries take: larger allocations fail.
ROOM = 1 << 30
SHOWN = 2  # findings of one kind that a child prints; the rest is counted


def chosen(pattern: str, skipped: frozenset[str] = frozenset()) -> list[str]:
    """The names of the ops of a run."""
    patterns = pattern.split(",")
    names = [n for n in schemas() if any(fnmatch.fnmatchcase(n, p) for p in patterns)]
    return [n for n in names if n not in skipped]


def case_of(names: list[str], seed: int, index: int) -> tuple[str, str]:
    """Op and number of the call at this place of a run."""
    return names[index % len(names)], f"{seed}.{index // len(names)}"


def limit_memory(room: int = ROOM) -> None:
    """Lets larger allocations fail; sanitizers have limits of their own."""
    with open("/proc/self/maps") as file:
        if "libasan" in file.read():
            return
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = now + room if hard == resource.RLIM_INFINITY else min(now + room, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def warm(checker: Checker) -> None:
    """Starts threads and loads what is loaded late."""
    pkg = checker.pkg
    large = pkg.ones(600, 600)
    (large @ large).sum().item()
    pkg.ones(2, requires_grad=True).sum().backward()
    if checker.torch:
        torch = checker.torch.torch
        torch.ones(2, requires_grad=True).sum().backward()
        (torch.ones(9, 9) @ torch.ones(9, 9)).sort()


class Child:
    """The state of one child process."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.names = chosen(options.op)
        self.skipped = set(filter(None, options.skip.split(",")))
        self.stats: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.more: Counter[str] = Counter()
        file = os.open(options.journal, os.O_RDWR)
        self.journal = mmap.mmap(file, NOTE_SIZE)
        self.index = options.start
        self.checker = Checker(not options.no_torch, self.note)

    def note(self, stage: bytes) -> None:
        NOTE.pack_into(self.journal, 0, self.index, stage)

    def run(self) -> None:
        """All calls of the range."""
        self.note(b"w")
        warm(self.checker)
        limit_memory()
        gc.collect()
        gc.freeze()
        for index in range(self.options.start, self.options.end):
            self.index = index
            op, number = case_of(self.names, self.options.seed, self.index)
            if op in self.skipped:
                continue
            self.one(op, number)
            if self.index % 500 == 499:
                self.flush()
        self.flush()
        self.say(done=self.options.end)

    def one(self, op: str, number: str) -> None:
        """One call."""
        self.note(b"b")
        call = Call(op, schemas()[op][0])
        try:
            call = generate(op, number)
            succeeded, found = self.checker.check(call)
        except MemoryError:  # of the fuzzer: the call took most of what there is
            succeeded, found = False, []
        except Exception as error:  # noqa: BLE001  (a fault of the fuzzer)
            where = error.__traceback__
            while where and where.tb_next:
                where = where.tb_next
            line = (
                f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}"
                if where
                else ""
            )
            succeeded, found = (
                False,
                [("fuzzer", f"{error!r:.80} {os.path.basename(line)}")],
            )
        self.stats[f"{op} {call.kind} calls"] += 1
        self.stats[f"{op} {call.kind} good"] += succeeded
        for kind, text in found:
            self.found(call, number, kind, text)
        if self.index % 64 == 0 or any(d.numel > 10_000 for d in call.tensors()):
            self.settle()

    def settle(self) -> None:
        """Errors of scheduled work belong to the call that made it."""
        try:
            self.checker.core.synchronize()
        except Exception:  # noqa: BLE001, S110
            pass
        self.checker.core.empty_cache()

    def found(self, call: Call, number: str, kind: str, text: str) -> None:
        key = f"{call.op} {kind} {text.partition(' | ')[0]}"
        self.seen[key] += 1
        if self.seen[key] > SHOWN:
            self.more[f"{call.op}\t{kind}\t{text.partition(' | ')[0]}"] += 1
            return
        self.say(case=f"{call.op}:{number}", kind=kind, text=text, mode=call.kind)

    def flush(self) -> None:
        self.say(stats=self.stats, more=self.more, at=self.index)
        self.stats, self.more = Counter(), Counter()

    @staticmethod
    def say(**message: Any) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def main(options: Any) -> None:
    """Runs the range of the options."""
    faulthandler.enable()
    Child(options).run()

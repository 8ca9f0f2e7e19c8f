# SPDX-License-Identifier: Apache-2.0
"""What a run found: known differences put aside, the rest as a short table."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from fuzz import judge
from fuzz.conditions import without

PAGE = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
#: Calls after which a row that covered nothing is told.
ENOUGH = 200_000
#: What is never a known difference.
NEVER_KNOWN = ("crash", "hang", "sanitizer", "internal", "fuzzer", "memory")


@dataclass(frozen=True)
class Known:
    """A row of docs/differences.md."""

    ops: tuple[str, ...]
    kinds: tuple[str, ...]
    texts: tuple[str, ...]
    why: str

    def covers(self, op: str, kind: str, text: str) -> bool:
        return (
            any(fnmatch.fnmatchcase(op, pattern) for pattern in self.ops)
            and kind in self.kinds
            and any(
                _matches(form, pattern, op)
                for pattern in self.texts
                for form in (text, without(text))
            )
        )


@lru_cache(None)
def _matches(text: str, pattern: str, op: str) -> bool:
    """Whether a row's text covers this one, word for word or without its details."""
    return any(
        fnmatch.fnmatchcase(text, re.sub(r"\[", "[[]", form))
        for form in (pattern, judge.normal(pattern, op))
    )


def known_differences(page: Path = PAGE) -> list[Known]:
    """The rows of the page's tables whose columns are ops, kind, text and why."""
    found, inside = [], False
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    for line in lines:
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells == ["ops", "kind", "text", "why"]:
            inside = True
        elif not cells:
            inside = False
        elif inside and set(cells[0]) - set("-: "):
            ops, kinds, texts, why = (c.replace("\\|", "|") for c in cells)
            ticked = [tuple(re.findall(r"`([^`]+)`", c)) for c in (ops, texts)]
            kinds_of = tuple(re.split(r", *", kinds))
            found.append(Known(ticked[0], kinds_of, ticked[1], why))
    return found


@dataclass
class Kind:
    """Findings that are told as one."""

    kind: str
    text: str
    ops: Counter[str] = field(default_factory=Counter)
    cases: list[str] = field(default_factory=list)
    example: str = ""
    line: str = ""
    known: Known | None = None
    always: set[str] | None = None  # the conditions of all calls


class Report:
    """Collects findings and statistics of all children."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[str, str, bool], Kind] = {}
        self.stats: Counter[str] = Counter()
        self.known = known_differences()
        self.used: set[Known] = set()
        self.skipped: set[str] = set()
        self.calls = 0

    def add(
        self, op: str, kind: str, text: str, case: str = "", count: int = 1
    ) -> Kind:
        """One finding, or `count` of one kind."""
        head, _, example = text.partition(" | ")
        known = None
        if kind.split()[0] not in NEVER_KNOWN:
            known = next((k for k in self.known if k.covers(op, kind, head)), None)
        elif kind == "memory":  # PyTorch's other error is one that we have not
            known = next(
                (k for k in self.known if k.covers(op, "accepted", head)), None
            )
        if known:
            self.used.add(known)
        short = without(head)
        key = kind, short, known is not None
        group = self.kinds.setdefault(key, Kind(kind, short))
        group.known = known
        names = set(head[len(short) :].strip(" {}").split(", ")) - {""}
        group.always = names if group.always is None else group.always & names
        group.ops[op] += count
        if case and len(group.cases) < 50:
            group.cases.append(case)
            group.example = group.example or example
        return group

    @property
    def new(self) -> list[Kind]:
        """What is no known difference, worst first."""
        order = ("crash", "sanitizer", "hang", "internal", "memory", "fuzzer", "value")
        found = [k for k in self.kinds.values() if not k.known and k.kind != "PyTorch"]

        def rank(kind: Kind) -> tuple[int, str, int]:
            first = kind.kind.split()[0]
            place = order.index(first) if first in order else len(order)
            return place, kind.kind, -sum(kind.ops.values())

        return sorted(found, key=rank)

    def shares(self) -> dict[str, float]:
        """The share of an op's plausible calls that succeed."""
        calls: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for key, count in self.stats.items():
            op, mode, what = key.split(" ")
            if mode == "plausible":
                calls[op][what == "calls"] += count
        return {op: good / max(total, 1) for op, (good, total) in calls.items()}

    def lines(self) -> list[str]:
        """The report."""
        out = []
        for kind in self.new:
            ops = [op for op, _ in kind.ops.most_common()]
            names = ", ".join(ops[:8]) + (
                f" and {len(ops) - 8} more" if ops[8:] else ""
            )
            out.append(
                f"{kind.kind:<13} {sum(kind.ops.values()):>6}  {kind.text}\n"
                f"    ops: {names}\n"
                f"    case: {' '.join(kind.cases[:3])}  {kind.example}"
            )
            if kind.always:
                out.append(f"    always: {', '.join(sorted(kind.always))}")
            if kind.line:
                out.append(f"    {kind.line}")
        shares = self.shares()
        low = sorted((share, op) for op, share in shares.items() if share < 0.3)
        never = [op for share, op in low if not share]
        known = [k for k in self.kinds.values() if k.known]
        torch = sum(
            sum(k.ops.values()) for k in self.kinds.values() if k.kind == "PyTorch"
        )
        if low:
            out.append(
                "ops whose plausible calls seldom succeed: "
                + ", ".join(f"{op} {share:.0%}" for share, op in low)
            )
        if never:
            out.append(f"ops whose plausible calls never succeed: {', '.join(never)}")
        if self.skipped:
            out.append(
                f"left out after many crashes: {', '.join(sorted(self.skipped))}"
            )
        idle = [k for k in self.known if k not in self.used]
        if self.calls >= ENOUGH and idle:
            out.append("rows of docs/differences.md that nothing needed:")
            out += [f"    {', '.join(k.ops)}: {', '.join(k.texts)}" for k in idle]
        mean = sum(shares.values()) / max(len(shares), 1)
        out.append(
            f"{self.calls} calls, {mean:.0%} of the plausible ones succeed; "
            f"{len(self.new)} kinds of findings, {len(known)} known kinds "
            f"({sum(sum(k.ops.values()) for k in known)} calls); PyTorch itself "
            f"crashed or hung {torch} times"
        )
        return out

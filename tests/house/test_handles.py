# SPDX-License-Identifier: Apache-2.0
"""Typed handles of ops: each stands in cpp/ops/functions.h, once, and is used.

Those of the namespace horovod, which is above ops, stand in one header of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from paths import ROOT
from pkg._binding import core

HANDLES = ROOT / "cpp" / "ops" / "functions.h"
COLLECTIVES = ROOT / "cpp" / "collectives" / "collectives.h"
HANDLE = re.compile(r'(\w+)\{"([\w.]+)"\}')
# A handle wherever it stands: a variable of type Op<...>, or of a name for such a type.
DECLARED = (
    r"^\s*(?:inline |static )*const\s+(?:\w+::)*(?:Op\s*<.*?>|\w+)\s+(\w+)\s*\{\s*\""
)
ALIAS = re.compile(r"using\s+(\w+)\s*=\s*(?:\w+::)*Op\s*<")


def code(path: Path) -> str:
    """The text without comments."""
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


def sources(*more: str) -> list[Path]:
    """The library and both bindings; tests of handles may have their own."""
    folders = [ROOT / name for name in ("cpp", "swig", "tests/bindings", *more)]
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".h", ".cc", ".i") and path not in (HANDLES, COLLECTIVES)
    ]


def local_handles(text: str, aliases: set[str]) -> list[str]:
    """The handles that a file declares."""
    found = []
    for match in re.finditer(DECLARED, text, re.MULTILINE | re.DOTALL):
        words = set(re.findall(r"\w+", match.group(0).split("{")[0]))
        if "Op" in words or words & aliases:
            found.append(match.group(1))
    return found + re.findall(r"\bDispatcher::get\(\)\.find\(\s*\"(\w+)\"", text)


def used_names(text: str) -> Counter[str]:
    """Names as a handle is used: alone or behind ops::, and not declared there."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    return Counter(re.findall(r"(?:\bops::|(?<![\w.:>]))(\w+)(?=\s*[(,)>:])", text))


def test_every_handle_stands_in_one_place() -> None:
    """No file has one of its own."""
    aliases = set(ALIAS.findall(code(HANDLES)))
    assert {"UnaryOp", "BinaryOp"} <= aliases
    found = []
    for path in sources():
        text = code(path)
        names = local_handles(text, aliases | set(ALIAS.findall(text)))
        found += [f"{path.relative_to(ROOT)}: {name}" for name in names]
    assert not found, "move to cpp/ops/functions.h: " + ", ".join(found)


def test_a_local_handle_would_be_found() -> None:
    """Of every form that there was, on several lines too."""
    for text in (
        'const Op<Tensor(const Tensor&)> twice{"twice"};',
        'inline const Op<Tensor(const Tensor&, const Tensor&)>\n    twice{"twice"};',
        'static const pkg::Op<Tensor(const Tensor&)> twice{\n    "twice"};',
        'const UnaryOp twice{"twice"};',
        'const ops::UnaryOp twice{"twice"};',
        'const Operator& op = Dispatcher::get().find("twice", "mine");',
    ):
        assert local_handles(text, {"UnaryOp"}) == ["twice"], text
    assert not local_handles('const Argument where{"submit", "deps"};', {"UnaryOp"})


def test_handles_are_unique_and_used() -> None:
    """One name for one op, and every handle has a caller."""
    handles = HANDLE.findall(code(HANDLES))
    assert len(handles) > 150
    names, ops = Counter(n for n, _ in handles), Counter(op for _, op in handles)
    twice = [n for count in (names, ops) for n in count if count[n] > 1]
    assert not twice, f"said twice: {twice}"
    missing = [op for op in ops if op.split(".")[0] not in core.operator_names("pkg")]
    assert not missing, f"handles of ops that are not there: {missing}"
    used: Counter[str] = Counter()
    for path in sources("tests/cpp"):
        used += used_names(code(path))
    unused = [name for name in names if not used[name]]
    assert not unused, f"handles that nobody calls: {unused}"

# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/: their fenced blocks."""

import re
from dataclasses import dataclass
from pathlib import Path

from paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"(?:<!-- (?P<mark>[^\n]*?) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is that of its first line of code."""

    language: str
    mark: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The page's fenced blocks in order."""
    content = page.read_text(encoding="utf-8")
    return [
        Block(
            m["language"],
            m["mark"] or "",
            m["text"],
            content.count("\n", 0, m.start("text")) + 1,
        )
        for m in FENCE.finditer(content)
    ]

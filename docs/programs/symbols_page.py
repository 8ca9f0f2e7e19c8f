# SPDX-License-Identifier: Apache-2.0
"""Writes docs/symbols.md, the page of what the built module exports.

Run by hand after a change of that; tests/binding/test_symbols.py compares:

    python docs/programs/symbols_page.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pkg._symbols import Symbol

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "symbols.md"

HEAD = """\
# Symbols of the low-level module

Written by `docs/programs/symbols_page.py` from `pkg.symbols()`: what `pkg._pywrap_core`
exports. The Python layer (`pkg`) stands on these names; programs use that.

GIL: *kept*; *waits*, given up while the call waits; *released* all the time. Result:
*none*; *value*, which shares nothing with C++; *shared*, an object that holds a
reference to the C++ one; *memory*, one over the memory of the argument, which it keeps
alive. For a class both are about its objects and their methods.

| name | C++ | GIL | result |
|---|---|---|---|
"""


def page(symbols: list[Symbol]) -> str:
    """The text of docs/symbols.md."""
    rows = [f"| `{s.name}` | `{s.signature}` | {s.gil} | {s.result} |" for s in symbols]
    return HEAD + "\n".join(rows) + "\n"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import pkg

    PAGE.write_text(page(pkg.symbols()), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What the low-level module exports, and what stands behind each name in C++ and C.

The build writes the stub ``_pywrap_core.pyi`` from the same table, and
docs/programs/symbols_page.py writes docs/symbols.md.
"""

from __future__ import annotations

from ._binding import core
from ._symbol_table import Symbol, table_of

__all__ = ["Symbol", "symbols"]


def symbols() -> list[Symbol]:
    """Every exported name of the low-level module, sorted; and the methods of its
    classes that call functions of c_api.h, as "Class.method".

    NotImplementedError on another binding than SWIG's: only that one has the table.
    """
    rows = table_of(core)
    if not rows:
        raise NotImplementedError(
            f"[symbols] expected the SWIG binding, got {core.__name__}. "
            "Unset PKG_BINDING."
        )
    return rows

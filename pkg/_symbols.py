# SPDX-License-Identifier: Apache-2.0
"""What the low-level module exports, and what stands behind each name in C++.

The table is the wrapper's own: SWIG's functions enter it as they are compiled. The
build writes the stub ``_pywrap_core.pyi`` from it, and swig/build/symbols_page.py
writes docs/symbols.md.
"""

from __future__ import annotations

from typing import NamedTuple

from ._binding import core

__all__ = ["Symbol", "symbols"]


class Symbol(NamedTuple):
    """One exported name.

    signature: the C++ declaration behind it.
    gil: "kept"; "waits" when it is given up while the call waits; or "released" all the
    time.
    result: "none"; "value", which shares nothing with C++; "shared", an object that
    holds a reference to the C++ one; or "memory", one over the memory of the argument,
    which it keeps alive. For a class this is about its objects.
    """

    name: str
    signature: str
    gil: str
    result: str


def symbols() -> list[Symbol]:
    """Every exported name of the low-level module, sorted.

    NotImplementedError on another binding than SWIG's: only that one has the table.
    """
    if not hasattr(core, "_symbols"):
        raise NotImplementedError(
            f"[symbols] expected the SWIG binding, got {core.__name__}. "
            "Unset PKG_BINDING."
        )
    return sorted(Symbol(*row) for row in core._symbols())

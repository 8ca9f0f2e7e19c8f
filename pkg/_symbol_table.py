# SPDX-License-Identifier: Apache-2.0
"""The table of what a binding exports: Python name, C++ declaration, C functions.

It is the wrapper's own: SWIG's functions enter it as they are compiled, and the C
functions where they are called (cpp/c_api/c_calls.h). ``pkg.symbols()`` shows it,
``PKG_TRACE=calls`` reads it.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

__all__ = ["Symbol", "c_functions_of", "table_of"]


class Symbol(NamedTuple):
    """One exported name, "name", or a method that calls a C function, "Class.name".

    signature: the C++ declaration behind it; of a method its name in C++.
    gil: "kept"; "waits" when it is given up while the call waits; or "released" all the
    time.
    result: "none"; "value", which shares nothing with C++; "shared", an object that
    holds a reference to the C++ one; or "memory", one over the memory of the argument,
    which it keeps alive. For a class this is about its objects.
    c_functions: those of c_api.h that it calls; of a class what makes and ends objects.
    """

    name: str
    signature: str
    gil: str
    result: str
    c_functions: tuple[str, ...] = ()


def c_functions_of(core: ModuleType) -> dict[str, tuple[str, ...]]:
    """The functions of c_api.h by what calls them: "Class.method", "function".

    "Class" is its constructor, "~Class" its destructor. Every binding has this.
    """
    found: dict[str, tuple[str, ...]] = {}
    for caller, function in core._c_calls():
        found[caller] = (*found.get(caller, ()), function)
    return found


def table_of(core: ModuleType) -> list[Symbol]:
    """All rows, sorted; none for a binding that keeps its signatures to itself."""
    if not hasattr(core, "_symbols"):
        return []
    called = c_functions_of(core)
    rows = []
    for name, signature, gil, result in core._symbols():
        functions = (*called.pop(name, ()), *called.pop(f"~{name}", ()))
        rows.append(Symbol(name, signature, gil, result, functions))
    by_name = {row.name: row for row in rows}
    for caller, functions in called.items():
        owner, _, method = caller.partition(".")
        row = by_name[owner]
        signature = f"{row.signature.split()[-1]}::{method}"
        rows.append(Symbol(caller, signature, row.gil, row.result, functions))
    return sorted(rows)

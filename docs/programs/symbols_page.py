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
    from collections.abc import Iterable

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

Methods have a row where they call functions of [c_api.h](c_api.md), which then come
last; of a class those that make and end an object do.

| name | C++ | GIL | result | C |
|---|---|---|---|---|
"""
TAIL = """
## Functions of c_api.h that the module does not call

All others are in the table above.

| function | why not |
|---|---|
"""
# * stands for the rest of a name; tests/binding/test_c_functions.py compares.
UNCALLED = {
    "pkg_abi pkg_version": "a program in C compares what it was compiled for; the "
    "module is built and shipped with its core",
    "pkg_status_* pkg_code_name": "errors come to Python as exceptions: "
    "`cpp/c_api/graph_handles.cc` throws what a status says",
    "pkg_tensor_borrow pkg_tensor_copy_out pkg_tensor_data pkg_tensor_delete "
    "pkg_tensor_device pkg_tensor_dtype pkg_tensor_empty pkg_tensor_from_data "
    "pkg_tensor_grad pkg_tensor_is_* pkg_tensor_mutable_data pkg_tensor_ndim "
    "pkg_tensor_numel pkg_tensor_requires_grad pkg_tensor_retain pkg_tensor_set_* "
    "pkg_tensor_sizes pkg_tensor_strides pkg_tensor_wait pkg_dtype_*": "Python's "
    "Tensor holds the C++ one itself, so that an op costs no more than in C++",
    "pkg_value_clear pkg_op_* pkg_graph_call": "Operator matches Python's arguments "
    "and calls the dispatcher; a call with a symbol adds to its graph by that road",
    "pkg_specs_set pkg_register_* pkg_load_library": "ops are registered by the "
    "libraries that have them; `load_library` and the C function call the same C++",
    "pkg_backward pkg_grad pkg_grad_enabled pkg_set_grad_enabled": "passes run hooks "
    "and functions of Python, which the C functions know nothing of",
    "pkg_session_run": "a Session keeps what was looked up: `pkg_callable_run`",
    "pkg_live_tensors pkg_num_threads pkg_set_num_threads pkg_async_enabled "
    "pkg_set_async pkg_pending_tasks pkg_synchronize pkg_shutdown": "the wrapped "
    "function is the C++ one that the C function calls as well",
}


def page(symbols: list[Symbol]) -> str:
    """The text of docs/symbols.md."""
    rows = [
        f"| `{s.name}` | `{s.signature}` | {s.gil} | {s.result} |"
        f"{code(s.c_functions)} |"
        for s in symbols
    ]
    others = [f"|{code(names.split())} | {why} |" for names, why in UNCALLED.items()]
    return HEAD + "\n".join(rows) + "\n" + TAIL + "\n".join(others) + "\n"


def code(names: Iterable[str]) -> str:
    """Names in a cell of a table."""
    return "".join(f" `{name}`" for name in names)


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import pkg

    PAGE.write_text(page(pkg.symbols()), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

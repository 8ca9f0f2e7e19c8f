# SPDX-License-Identifier: Apache-2.0
"""What the code of a function names and assigns to, by a look at its bytecode."""

from __future__ import annotations

import dis
import functools
import types

__all__ = ["Reads", "reads"]

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {
    "LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD", "IMPORT_FROM",
}  # fmt: skip


class Reads:
    """The names in a function's code, and in that of the functions within it.

    Attributes are kept without what they are of: a value may take any way to the place
    where it is asked, and no instruction that stands between hides one.
    """

    def __init__(self, code: types.CodeType) -> None:
        self.names: set[str] = set()  # of globals
        self.attributes: set[str] = set()
        self.imports: set[str] = set()
        self.stored: set[str] = set()  # globals that it assigns to
        self.stored_cells: set[str] = set()
        self.stored_attributes: set[str] = set()
        self._look(code, set())

    def _look(self, code: types.CodeType, own: set[str]) -> None:
        # own: variables of the functions around this code, which are within the whole.
        for step in dis.get_instructions(code):
            name, argument = step.opname, step.argval
            if name in _GLOBALS:
                self.names.add(argument)
            elif name in _ATTRIBUTES:
                self.attributes.add(argument)
            elif name == "IMPORT_NAME":
                self.imports.add(argument)
            elif name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.stored.add(argument)
            elif name in ("STORE_DEREF", "DELETE_DEREF"):
                if argument in code.co_freevars and argument not in own:
                    self.stored_cells.add(argument)
            elif name in ("STORE_ATTR", "DELETE_ATTR"):
                self.stored_attributes.add(argument)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._look(constant, own | set(code.co_cellvars))


reads = functools.lru_cache(maxsize=4096)(Reads)

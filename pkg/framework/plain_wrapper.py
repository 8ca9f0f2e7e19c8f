# SPDX-License-Identifier: Apache-2.0
"""The wrapper of an op without a definition, by its schema."""

from __future__ import annotations

import inspect
import keyword

from .._binding import core
from .naming import BODY_NAMES, free, safe
from .source_text import docstring, filled, literal, wrapped

__all__ = ["Plain"]


class Plain:
    """The parts of the wrapper of an op that has a schema alone."""

    def __init__(self, qualified: str) -> None:
        self.space, _, self.name = qualified.partition("::")
        self.function = safe(self.name)
        op = core.Operator(self.name, self.space)
        self.raw = f"_{self.name}"
        self.schemas = op.schemas
        self.docs = [record["doc"] for record in op.records]
        self.parts, self.call = self._from_schema(op)

    def claim(self, taken: set[str]) -> None:
        """Gives it names that the module has not yet."""
        self.raw = free(self.raw, taken)
        self.function = free(self.function, taken)
        self.parts, self.call = self._from_schema(core.Operator(self.name, self.space))

    def _from_schema(self, op: core.Operator) -> tuple[list[str], list[str]]:
        # Of one overload what its signature says; of several, whatever comes.
        general = ["*args: Any", "name: str | None = None", "**options: Any"]
        try:
            parameters = inspect.signature(op).parameters.values()
        except ValueError:  # a name of Python's among those of its parameters
            return general, ["*args", "**options"]
        if len(self.schemas) != 1:
            return general, ["*args", "**options"]
        parts, call, starred = [], [], False
        used = {"name", self.raw, *BODY_NAMES}
        for item in parameters:
            if keyword.iskeyword(item.name) or item.name in used:
                return general, ["*args", "**options"]
            if item.kind is item.KEYWORD_ONLY and not starred:
                parts.append("*")
                starred = True
            has_default = item.default is not item.empty
            default = f" = {literal(item.default)}" if has_default else ""
            parts.append(f"{item.name}: Any{default}")
            call.append(f"{item.name}={item.name}" if starred else item.name)
        return [*parts, "name: str | None = None"], call

    def signature(self) -> str:
        """Its first line."""
        return wrapped(f"def {self.function}(", self.parts, ") -> Any:")

    def text(self) -> str:
        """The function."""
        rows = []
        for schema, doc in zip(self.schemas, self.docs):
            rows += [*filled(schema), *(["", *filled(doc)] if doc else []), ""]
        inside = "\n".join(f"    {row}".rstrip() for row in rows).strip()
        inside = docstring(inside)
        direct = wrapped(f"return {self.raw}(", self.call, ")", "        ")
        general = self.call == ["*args", "**options"]
        flat = [item for item in self.call if "=" not in item]
        options = [item for item in self.call if "=" in item]
        values = "args" if general else f"[{', '.join(flat)}]"
        named = "options" if general else f"dict({', '.join(options)})"
        last = wrapped("return _named(", ["name", self.raw, values, named], ")", "    ")
        return (
            f'{self.signature()}\n    """{inside}\n    """\n'
            f"    if name is None:\n{direct}\n{last}\n"
        )

    def stub(self) -> str:
        """Its types."""
        return f"{self.signature()} ...\n"

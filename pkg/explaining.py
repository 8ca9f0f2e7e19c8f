# SPDX-License-Identifier: Apache-2.0
"""Where a call of an op would go, and why: ``print(pkg.explain(pkg.add, x, y))``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._binding import core

__all__ = ["Explanation", "KeyRow", "explain"]


@dataclass(frozen=True)
class KeyRow:
    """What one op has at one dispatch key.

    registered: "kernel" (of the op's own), "fallback" (of all ops), "falls through",
    "off" (a fallback that waits for somebody to ask for it) or "nothing".  where:
    "file:line" of the registration, or "".  in_call: whether the call has the key.
    """

    key: str
    in_call: bool
    registered: str
    where: str


@dataclass(frozen=True)
class Explanation:
    """What ``explain`` found; as text it is a table.

    op: qualified name of the overload that fits.  where: "file:line" of its definition.
    arguments: (parameter, dtype and shape, keys) of each tensor.  keys_of_arguments,
    added_keys, removed_keys: their union, and what the thread puts to it and takes from
    it; keys: what is left of it for this op, highest first.  table: a row for each key.
    chosen: the row that the call goes to first; layers redispatch to those below it.
    kernel: the row that computes.  library: the shared library with that kernel.
    refused: why the op does not take such arguments, or "".
    """

    op: str
    schema: str
    kind: str
    where: str
    arguments: list[tuple[str, str, list[str]]]
    keys_of_arguments: list[str]
    added_keys: list[str]
    removed_keys: list[str]
    keys: list[str]
    table: list[KeyRow]
    chosen: KeyRow
    kernel: KeyRow
    library: str
    refused: str

    def __str__(self) -> str:
        """The table, a line for each fact."""
        lines = [self.schema, f"  {self.kind}, defined at {self.where}"]
        for name, text, keys in self.arguments:
            lines.append(f"  {name}: {text}, keys {_words(keys)}")
        lines.append(f"keys of the arguments: {_words(self.keys_of_arguments)}")
        lines.append(f"  added by the thread: {_words(self.added_keys)}")
        lines.append(f"  removed by the thread: {_words(self.removed_keys)}")
        lines.append(f"keys of the call: {_words(self.keys)}")
        width = max(len(row.registered) for row in self.table)
        for row in self.table:
            mark = ">" if row is self.chosen else "*" if row.in_call else " "
            text = f"{mark} {row.key:<9} {row.registered:<{width}} {row.where}"
            lines.append(text.rstrip())
        lines.append(f"goes first to: {self.chosen.key} ({self.chosen.registered})")
        computes = f"{self.kernel.registered} at {self.kernel.key}"
        if self.kernel.where:
            computes += f", registered at {self.kernel.where}, in {self.library}"
        lines.append(f"computed by: {computes}")
        if self.refused:
            lines.append(f"refused: {self.refused}")
        return "\n".join(lines)


def _words(words: list[str]) -> str:
    return " ".join(words) or "none"


def explain(op: Any, /, *args: Any, **kwargs: Any) -> Explanation:
    """Where ``op(*args, **kwargs)`` would go on this thread now; nothing is computed.

    op: an op such as ``pkg.add``, or its name ("add", "library::op").
    The arguments are matched as in the call: TypeError where no overload takes them,
    OpLookupError (a LookupError) for a name that no op has.
    """
    if isinstance(op, str):
        namespace, _, name = op.rpartition("::")
        op = core.Operator(name, namespace or "pkg")
    owner, called = getattr(op, "__self__", None), getattr(op, "__name__", "")
    if isinstance(owner, core.Tensor) and isinstance(
        getattr(type(owner), called, None), core.Operator
    ):
        raise TypeError(
            f"[explain] expected an op, got the method {called!r} of a tensor. Give "
            f'the tensor as the first argument: explain("{called}", tensor, ...).'
        )
    if not isinstance(op, core.Operator):
        raise TypeError(
            "[explain] expected an op, such as pkg.add, or its name, got "
            f"{getattr(op, '__name__', type(op).__name__)!r}. What is written in "
            "Python calls ops: explain those."
        )
    rows = op._explain(*args, **kwargs)

    def of(what: str) -> list[list[str]]:
        return [row[1:] for row in rows if row[0] == what]

    ((name, kind, where, schema),) = of("op")
    keys = {which: names.split() for which, names in of("keys")}
    table = [KeyRow(key, bool(in_call), *rest) for key, in_call, *rest in of("key")]
    by_key = {row.key: row for row in table}
    ((computes, _, library),) = of("kernel")
    return Explanation(
        op=name,
        schema=schema,
        kind=kind,
        where=where,
        arguments=[(name, text, keys.split()) for name, text, keys in of("argument")],
        keys_of_arguments=keys["arguments"],
        added_keys=keys["added"],
        removed_keys=keys["removed"],
        keys=keys["call"],
        table=table,
        chosen=by_key[of("chosen")[0][0]],
        kernel=by_key[computes],
        library=library,
        refused="".join(text for (text,) in of("refused")),
    )

# SPDX-License-Identifier: Apache-2.0
"""Writes the stub _op_types.pyi, the ops as type checkers see them, from their schemas.

The build runs it (products.py) on the extension it has just linked:

    python swig/build/op_stubs.py EXTENSION STUB

There is no module _op_types at run time, where pkg/ops.py makes the functions and
methods out of the registry.  The stub has the functions, of which __all__ lists those
that are names of pkg too, and the methods of Tensor as the class OpMethods.
"""

from __future__ import annotations

import ast
import keyword
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from stubs import load

ROOT = Path(__file__).resolve().parents[2]

# What each type of a schema takes; see cpp/dispatcher/read.h.
TAKES = {
    "Tensor": "TensorLike",
    "Scalar": "Number",
    "float": "Number",
    "int": "Int",
    "bool": "_bool",
    "str": "str",
    "DType": "DTypeLike",
    "Device": "DeviceLike",
}
# What the items of a list are.
ITEMS = {
    "Tensor": "Tensor",
    "Tensor?": "Tensor | None",
    "int": "Int",
    "bool": "_bool",
    "str": "str",
}
GIVES = {"Tensor": "Tensor", "Tensor[]": "tuple[Tensor, ...]", "bool": "_bool"}

HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Written by swig/build/op_stubs.py from the schemas of the ops: do not edit.
# mypy: disable-error-code="overload-overlap,overload-cannot-match,misc,override"
# (The ops take the first overload that fits, as type checkers do.)
import builtins
from collections.abc import Sequence
from typing import (
    Any,
    NamedTuple,
    SupportsFloat,
    Union,
    overload,
    type_check_only,
)

import numpy as np

from pkg._pywrap_core import device, dtype
from pkg.tensor import Tensor

_bool = builtins.bool  # the names of types are ops too
# Not all with __index__: tensors have it, and max(x, y) is not max(x, dim).
Int = Union[builtins.int, np.integer[Any]]
Ints = Union[Int, Sequence[Int]]  # one number for all, or a list
Number = SupportsFloat  # NumPy's scalars and 0-d tensors too
TensorLike = Union[Tensor, Number, np.ndarray[Any, Any]]
DTypeLike = Union[dtype, str, type, np.dtype[Any]]
DeviceLike = Union[device, str]

"""


class Parameter(NamedTuple):
    """One of a schema: ``int[2] stride=1``."""

    name: str
    kind: str  # without the marks of writing and of None
    none: bool
    written: bool
    default: str | None
    keyword_only: bool

    def annotation(self) -> str:
        """The type of what is passed for it."""
        if "[" in self.kind:
            item = self.kind[: self.kind.index("[")]
            item = ITEMS.get(item) or TAKES[item]
            text = "Ints" if item == "Int" else f"Sequence[{item}]"
        else:
            text = "Tensor" if self.written else TAKES[self.kind]
        return f"{text} | None" if self.none else text

    def text(self, name: str) -> str:
        written = f"{name}: {self.annotation()}"
        if self.default is None:
            return written
        plain = re.fullmatch(r"True|False|None|-?[\d.e+-]+|'\w*'", self.default)
        return f"{written} = {self.default if plain else '...'}"


class Schema(NamedTuple):
    """``max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)``."""

    name: str
    parameters: list[Parameter]
    result: str


def parse(text: str) -> Schema:
    """One schema, as the core prints it."""
    name, parameters, result = re.fullmatch(
        r"(\w+)(?:\.\w+)?\((.*)\) -> (.+)", text
    ).groups()
    found = []
    keyword_only = False
    for part in re.split(r", (?![^\[(]*[\])])", parameters) if parameters else []:
        if part == "*":
            keyword_only = True
            continue
        kind, name_of, default = re.fullmatch(r"(\S+) (\w+)(?:=(.*))?", part).groups()
        bare = re.sub(r"\(\w+!?\)", "", kind)
        found.append(
            Parameter(
                name=name_of,
                kind=bare.removesuffix("?"),
                none=bare.endswith("?"),
                written="!" in kind,
                default=default,
                keyword_only=keyword_only,
            )
        )
    return Schema(name, found, re.sub(r"\(\w+!?\)", "", result))


def is_method(schema: Schema) -> bool:
    first = schema.parameters[0] if schema.parameters else None
    return bool(first) and (first.name, first.kind) == ("self", "Tensor")


def result_of(schema: Schema, tuples: dict[str, str]) -> str:
    """The type of the result; named ones get a class in `tuples`."""
    if not schema.result.startswith("(") or schema.result == "()":
        return GIVES[schema.result]
    parts = [part.split() for part in schema.result[1:-1].split(", ")]
    if any(len(part) == 1 for part in parts):
        return f"tuple[{', '.join(GIVES[part[0]] for part in parts)}]"
    name = "_" + "".join(part[1].capitalize() for part in parts)
    fields = "".join(f"    {field}: {GIVES[kind]}\n" for kind, field in parts)
    tuples[name] = f"@type_check_only\nclass {name}(NamedTuple):\n{fields}"
    return name


def signatures(schema: Schema, method: bool) -> list[str]:
    """The parameter lists; two where the last list may be spread: x.reshape(2, 3)."""
    shown: list[str] = []
    positional = [p for p in schema.parameters if not p.keyword_only]
    only = [p.text(p.name) for p in schema.parameters if p.keyword_only]
    for i, p in enumerate(positional):
        if method and i == 0:
            shown.append("self")
            continue
        # PyTorch's word for the first tensor of a function.
        name = "input" if p.name == "self" else p.name
        shown.append(p.text(f"{name}_" if keyword.iskeyword(name) else name))
    lists = [shown + (["*", *only] if only else [])]
    last = positional[-1] if positional else None
    if last and last.default is None and last.kind in ("int[]", "Tensor[]"):
        item = ITEMS[last.kind[:-2]]
        lists.append([*shown[:-1], f"*{last.name}: {item}", *only])
    return [", ".join(parts) for parts in lists]


def functions_of(schemas: list[Schema], method: bool, tuples: dict[str, str]) -> str:
    """The definitions of one op, an overload each."""
    indent = "    " if method else ""
    lines = [
        f"def {s.name}({parameters}) -> {result_of(s, tuples)}: ..."
        for s in schemas
        if is_method(s) or not method
        for parameters in signatures(s, method)
    ]
    head = f"{indent}@overload\n{indent}" if len(lines) > 1 else indent
    return "".join(f"{head}{line}\n" for line in lines)


def not_exported() -> tuple[str, ...]:
    """The constant of pkg/ops.py, which cannot be imported yet."""
    text = (ROOT / "pkg" / "ops.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        assigned = ast.unparse(node).startswith("NOT_EXPORTED =")
        if assigned and isinstance(node, ast.Assign):
            found: tuple[str, ...] = ast.literal_eval(node.value)
            return found
    raise LookupError("pkg/ops.py has no NOT_EXPORTED")


def stub(core: ModuleType) -> str:
    """The text of _op_types.pyi."""
    functions, methods = [], []
    tuples: dict[str, str] = {}
    exported, hidden = [], not_exported()
    for name in core.operator_names("pkg"):
        if name.startswith("_"):
            continue
        op = core.Operator(name)
        schemas = [parse(text) for text in op.schemas]
        functions.append(functions_of(schemas, False, tuples))
        if op.is_method:
            methods.append(functions_of(schemas, True, tuples))
        if name not in hidden:
            exported.append(name)
    listed = "".join(f'    "{name}",\n' for name in exported)
    return (
        f"{HEADER}__all__ = [\n{listed}]\n\n"
        + "\n".join(tuples[name] for name in sorted(tuples))
        + "\n@type_check_only\nclass OpMethods:\n"
        + "".join(methods)
        + "\n"
        + "".join(functions)
    )


def main() -> None:
    extension, output = map(Path, sys.argv[1:])
    output.write_text(stub(load(extension)), encoding="utf-8")


if __name__ == "__main__":
    main()

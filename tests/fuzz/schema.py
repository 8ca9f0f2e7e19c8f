# SPDX-License-Identifier: Apache-2.0
"""The schemas of the registry as Python objects."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

#: Ops whose numbers are drawn, or not set at all: only shape and dtype are compared.
RANDOM = re.compile(
    r"_?(rand|normal|uniform|dropout|bernoulli|integers|permutation|choices|empty"
    r"|new_empty|reserve_numbers)"
)
RANDOM_EXCEPT = ("normalize",)


@dataclass(frozen=True)
class Param:
    """One parameter: "int[2]? stride=None"."""

    name: str
    type: str  # Tensor, Scalar, int, float, bool, str, DType, Device
    list: bool = False
    length: int = 0  # int[2]
    optional: bool = False
    optional_item: bool = False  # Tensor?[]
    has_default: bool = False
    default: Any = None
    keyword_only: bool = False
    written: bool = False


@dataclass(frozen=True)
class Schema:
    """One overload of an op."""

    name: str
    overload: str
    params: tuple[Param, ...]
    returns: str
    is_method: bool

    @property
    def base(self) -> str:
        """The name of the out-of-place form."""
        name = self.name[:-1] if self.written and self.name[-1] == "_" else self.name
        return name

    @property
    def full(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def written(self) -> bool:
        return any(p.written for p in self.params)

    @property
    def random(self) -> bool:
        found = RANDOM.match(self.name) and self.base not in RANDOM_EXCEPT
        return bool(found)

    def param(self, name: str) -> Param | None:
        return next((p for p in self.params if p.name == name), None)


_TYPE = re.compile(
    r"(?P<type>\w+)(\((?P<write>a!)\))?(?P<item>\?)?"
    r"(?P<list>\[(?P<length>\d*)\])?(?P<optional>\?)? (?P<name>\w+)(=(?P<default>.*))?$"
)
_DEFAULTS = {"None": None, "True": True, "False": False}


def _parameter(text: str, keyword_only: bool) -> Param:
    found = _TYPE.match(text)
    if not found:
        raise ValueError(f"no parameter: {text!r}")
    is_list = found["list"] is not None
    default = found["default"]
    return Param(
        found["name"],
        found["type"],
        is_list,
        int(found["length"] or 0),
        bool(found["optional"] or (found["item"] and not is_list)),
        bool(found["item"] and is_list),
        default is not None,
        ast.literal_eval(default) if default is not None else None,
        keyword_only,
        found["write"] is not None,
    )


def parse(text: str, is_method: bool) -> Schema:
    """A schema from the text that the registry gives."""
    head, _, returns = text.partition(") -> ")
    name, _, inside = head.partition("(")
    name, _, overload = name.partition(".")
    params, keyword_only = [], False
    for part in re.split(r", (?![^\[]*\])", inside) if inside else []:
        if part == "*":
            keyword_only = True
        else:
            params.append(_parameter(part, keyword_only))
    return Schema(name, overload, tuple(params), returns, is_method)


@lru_cache(None)
def schemas() -> dict[str, tuple[Schema, ...]]:
    """Every op of pkg by name, with its overloads."""
    from pkg._binding import core

    found = {}
    for name in core.operator_names("pkg"):
        op = core.Operator(name, "pkg")
        found[name] = tuple(parse(text, op.is_method) for text in op.schemas)
    return found

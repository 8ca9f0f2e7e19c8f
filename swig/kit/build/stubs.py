# SPDX-License-Identifier: Apache-2.0
"""Writes NAME.pyi, the types of the whole module, from SWIG's parse tree.

    stubs.py TREE STUB

Type checkers then know functions, classes, overloads, properties, enums, exceptions and
constants.  What stands where is step.py's choice, which C++ type is which in Python is
that of python_types.py.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from .declared import Declared, declared, operators
from .python_types import ANY, ARRAY, PythonTypes, parse, split
from .slots import COMPARE
from .tree import (
    Class,
    Enum,
    Function,
    Module,
    Parameter,
    TreeError,
    Variable,
    distinct,
    read,
)

__all__ = ["main", "stub"]

HEADER = """\
# Written from {name}.i: do not edit.
# What C++ may do and Python's typing frowns at: overrides that take other parameters,
# overloads that overlap, == without a hash.
# mypy: disable-error-code="assignment, misc, overload-cannot-match, overload-overlap"
# mypy: disable-error-code="override"
"""
MODULES = (
    "_typeshed",
    "builtins",
    "collections.abc",
    "datetime",
    "enum",
    "os",
    "pathlib",
    "typing",
)
ARRAY_CLASS = f"""\
class {ARRAY}(typing.Protocol):
    @builtins.property
    def __array_interface__(self) -> builtins.dict[builtins.str, {ANY}]: ...
"""
LITERALS = {"true": "True", "false": "False"}
NULLS = {"nullptr", "NULL", "0", "std::nullopt", "{}"}
# Results that the language fixes; of parameters, == takes any object.
RESULTS = {
    **dict.fromkeys(("__len__", "__hash__", "__int__", "__index__"), "builtins.int"),
    **dict.fromkeys(("__repr__", "__str__"), "builtins.str"),
    **dict.fromkeys(("__setitem__", "__delitem__"), "None"),
    "__bool__": "builtins.bool",
    "__contains__": "builtins.bool",
    "__float__": "builtins.float",
}
EQUAL = ("__eq__", "__ne__")
NAMED = ("__init__", "__call__", "__enter__", "__exit__")  # these take keywords
RENAMED = {"__div__": "__truediv__", "__rdiv__": "__rtruediv__"}
RENAMED["__idiv__"] = "__itruediv__"
# Narrow before wide, so that a checker finds the overload that runs.
NUMBERS = ("bool", "int", "float", "complex")
WIDTH = {f"builtins.{name}": i for i, name in enumerate(NUMBERS)}


def stub(module: Module, also: Declared) -> str:
    """The text of NAME.pyi."""
    return _Stub(module, also).text()


class _Stub:
    def __init__(self, module: Module, also: Declared) -> None:
        self.module = module
        self.also = also
        self.free, self.operators = operators(module)
        self.full = {c.cpp: _full_name(module, c) for c in module.classes}
        own = dict(self.full)
        for enum in module.enums:
            home = f"{enum.imported}." if enum.imported else ""
            own[enum.cpp] = home + enum.name
        for cls in module.classes:
            own |= {e.cpp: f"{self.full[cls.cpp]}.{e.name}" for e in cls.enums}
            if "intrusive" in cls.features:
                pointer = str(parse(cls.features["intrusive"].strip('"')))
                own[pointer] = f"{self.full[cls.cpp]} | None"
        self.types = PythonTypes(own, module.typedefs.types, module.typedefs.aliases)
        for cls in module.classes:
            if "implicit" in cls.features:
                self.types.implicit[cls.cpp] = list(self._implicit(cls))
        self.bases = {self.full[c.cpp]: self._base_names(c) for c in module.classes}

    def text(self) -> str:
        """Of the whole stub."""
        module = self.module
        parts = [
            *(self._exception(*row) for row in self.also.exceptions),
            *(
                part
                for enum in module.enums
                if not enum.imported
                for part in self._enum(enum, "")
            ),
            *self._globals(),
            *(
                self._class(cls)
                for cls in module.classes
                if not self._outer(cls) and not cls.imported
            ),
            *self._functions(self.free),
        ]
        if any(re.search(rf"\b{ARRAY}\b", part) for part in parts):
            parts.insert(0, ARRAY_CLASS)
        body = "\n".join(self._without_builtins(self._unhidden(parts)))
        used = [m for m in MODULES if re.search(rf"(?<![\w.]){re.escape(m)}\.", body)]
        others = {c.imported for c in module.classes}
        others |= {e.imported for e in module.enums}
        used += sorted(others - {""})
        imports = ""
        names = _defined(body, indent=" *")
        for name in used:
            if name.partition(".")[0] in names:  # C++'s is nearer
                alias = f"_{name.replace('.', '_')}"
                while alias in names:
                    alias = f"_{alias}"
                imports += f"import {name} as {alias}\n"
                body = _renamed(body, f"{name}.", f"{alias}.")
            else:
                imports += f"import {name}\n"
        return f"{HEADER.format(name=module.name)}{imports}\n{body}\n"

    def _without_builtins(self, parts: list[str]) -> list[str]:
        """Python's types by their names, but where others of these are seen."""
        everywhere = {n for part in parts for n in _defined(part, indent="")}

        def plain(part: str) -> str:
            hidden = everywhere | _defined(part, indent=" *")
            return re.sub(
                r"\bbuiltins\.(\w+)",
                lambda found: found[0] if found[1] in hidden else found[1],
                part,
            )

        return [plain(part) for part in parts]

    def _unhidden(self, parts: list[str]) -> list[str]:
        """A class by another name, inside of one with a method of its name."""
        everywhere = {n for part in parts for n in _defined(part, indent="")}
        aliases, found = set(), []
        for part in parts:
            modules = {name.partition(".")[0] for name in MODULES}
            for name in (_defined(part, indent=" +") & everywhere) - modules - {""}:
                part, count = re.subn(
                    rf"(?<=[:>|,] ){name}\b|(?<=\[){name}\b", f"_{name}_class", part
                )
                aliases |= {name} if count else set()
            found.append(part)
        return found + [f"_{name}_class = {name}" for name in sorted(aliases)]

    def _implicit(self, cls: Class) -> Iterator[str]:
        """What a constructor takes as its only argument."""
        for function in cls.constructors:
            if function.given and function.required <= 1:
                yield self.types.taken(function.given[0].type, cls.cpp)

    # --- functions -------------------------------------------------------------------

    def _functions(self, functions: Iterable[Function]) -> Iterator[str]:
        for name, group in _grouped(functions).items():
            yield self._overloads(name, group, None)

    def _overloads(self, name: str, group: list[Function], cls: Class | None) -> str:
        """The function of this name: with @overload where there are several."""
        indent = self._indent(cls)
        if cls and name in EQUAL:
            taken = "self, other: builtins.object, /"
            return f"{indent}def {name}({taken}) -> builtins.bool: ..."
        lines: dict[
            str, list[str]
        ] = {}  # by parameters: what is told twice stands once
        for function in self._sorted(group, cls):
            signature = self._signature(name, function, cls)
            lines.setdefault(signature.rpartition(" -> ")[0], [signature])
        written = []
        for (signature,) in lines.values():
            decorators = ["@typing.overload"] if len(lines) > 1 else []
            if cls and group[0].static:
                decorators.append("@builtins.staticmethod")
            written += [f"{indent}{d}" for d in decorators]
            written.append(f"{indent}def {RENAMED.get(name, name)}{signature}: ...")
        return "\n".join(written)

    def _signature(self, name: str, function: Function, cls: Class | None) -> str:
        """(self, a: int, b: float = 1.5) -> float"""
        scope = cls.cpp if cls else function.cpp.rpartition("::")[0]
        shown = [] if cls is None or function.static else ["self"]
        # An override takes what C++ gives.
        overridden = cls is not None and cls.overridable and function.virtual
        types = self.types.given if overridden else self.types.taken
        for i, parameter in enumerate(function.parameters):
            if parameter is function.rest:
                shown.append(f"*{parameter.name}: {ANY}")
                continue
            if i == function.positional:
                shown.append("*")
            kind = types(parameter.type, scope)
            if function.is_operator:  # None is no operand
                kind = kind.removesuffix(" | None")
            shown.append(self._parameter(parameter, kind))
            if i + 1 == function.positional_only:
                shown.append("/")
        hidden = cls and name.startswith("__") and name not in NAMED
        if hidden and shown and shown[-1] != "/":
            shown.append("/")
        result = RESULTS.get(name) if cls else None
        if result is None:
            result = self.types.given(function.result, scope)
            if function.wrapper in self.also.new or name.startswith("__i"):
                result = result.removesuffix(" | None")
        if name == "__iter__":  # of a container: its iterator
            result = re.sub(r"^builtins\.list\[", "collections.abc.Iterator[", result)
        if function.outputs:  # after the result, if there is one
            parts = [] if result == "None" else [result]
            parts += [self.types.given(output, scope) for output in function.outputs]
            many = f"builtins.tuple[{', '.join(parts)}]"
            result = parts[0] if len(parts) == 1 else many
        return f"({', '.join(shown)}) -> {result}"

    def _parameter(self, parameter: Parameter, kind: str) -> str:
        if parameter.is_null and "None" not in kind.split(" | "):
            kind += " | None"
        shown = f"{parameter.name}: {kind}"
        if parameter.default is None:
            return shown
        return f"{shown} = {_default(parameter.default, kind.split(' | '))}"

    def _sorted(self, group: list[Function], cls: Class | None) -> list[Function]:
        """As they stand, but narrower ones before wider ones."""
        scope = cls.cpp if cls else ""
        kinds = {
            id(f): [self.types.taken(p.type, scope) for p in f.parameters]
            for f in group
        }
        found: list[Function] = []
        for function in group:
            mine = kinds[id(function)]
            wider = [
                i for i, f in enumerate(found) if self._narrower(mine, kinds[id(f)])
            ]
            found.insert(wider[0] if wider else len(found), function)
        return found

    def _narrower(self, one: list[str], other: list[str]) -> bool:
        """Whether every call that fits the one fits the other, which takes more."""
        if len(one) != len(other) or one == other:
            return False
        return all(a == b or self._is_a(a, b) for a, b in zip(one, other))

    def _is_a(self, a: str, b: str) -> bool:
        if a in WIDTH and b in WIDTH:
            return WIDTH[a] < WIDTH[b]
        return any(base == b or self._is_a(base, b) for base in self.bases.get(a, ()))

    # --- classes ---------------------------------------------------------------------

    def _class(self, cls: Class) -> str:
        indent = self._indent(cls)
        bases = ", ".join(self.bases[self.full[cls.cpp]])
        lines = [part for e in cls.enums for part in self._enum(e, cls.cpp)]
        lines += [self._class(c) for c in self.module.classes if self._outer(c) == cls]
        lines += self._constructors(cls)
        for variable in cls.variables:
            lines += self._attribute(variable, cls)
        groups = _grouped([*cls.methods, *self.operators.get(cls.cpp, [])])
        for name, group in groups.items():  # an interface's own instead of an operator
            if name.startswith("__"):
                groups[name] = [f for f in group if f.extended] or group
            if any(not f.static for f in group):  # static ones beside it are left out
                groups[name] = [f for f in groups[name] if not f.static]
            groups[name] = distinct(groups[name])
        ordered = groups.pop("__order__", [])
        for name in COMPARE if ordered else ():
            own = groups.setdefault(name, [])
            said = {f.given[0].type for f in own}
            own += [
                dataclasses.replace(f, name=name, result="bool")
                for f in ordered
                if f.given[0].type not in said
            ]
        if cls.is_range:
            hidden = {m.name for m in cls.methods if cls.is_end(m)}
            groups = {n: group for n, group in groups.items() if n not in hidden}
        lines += [self._overloads(name, group, cls) for name, group in groups.items()]
        if cls.is_range and not {"__iter__", "__next__"} & set(groups):
            item = self._item(cls)
            kind = f"collections.abc.Iterator[{item}]"
            lines.append(f"{indent}def __iter__(self) -> {kind}: ...")
        elif {"__getitem__", "__len__"} <= set(groups) and "__iter__" not in groups:
            lines += self._iteration(groups["__getitem__"], cls)
        if "buffer" in cls.features:
            lines.append(
                f"{indent}def __buffer__(self, flags: builtins.int, /) -> "
                "builtins.memoryview: ..."
            )
        if "dynamic" in cls.features or cls.points:
            name = f"{indent}def __%sattr__(self, name: builtins.str, %s/) -> %s: ..."
            lines.append(name % ("get", "", ANY))
            lines.append(name % ("set", f"value: {ANY}, ", "None"))
        if "hash" in cls.features:
            lines.append(f"{indent}def __hash__(self) -> builtins.int: ...")
        elif "__eq__" in groups and "__hash__" not in groups:
            lines.append(f"{indent}__hash__: typing.ClassVar[None]")
        head = f"{indent[4:]}class {cls.name}" + (f"({bases}):" if bases else ":")
        if "final" in cls.features:
            head = f"{indent[4:]}@typing.final\n{head}"
        return "\n".join([head, *(lines or [f"{indent}..."])])

    def _item(self, cls: Class) -> str:
        """What a class with begin() and end() gives."""
        for method in cls.methods:
            if method.name == "begin":
                listed = re.match(r"std::\w+<(.*)>::\w*iterator$", method.result)
                if listed and not method.result.startswith(("std::map", "std::unord")):
                    return self.types.given(split(listed[1])[0], cls.cpp)
                if method.result.endswith("*"):
                    return self.types.given(method.result[:-1].strip(), cls.cpp)
        return ANY

    def _iteration(self, group: list[Function], cls: Class) -> Iterator[str]:
        """What has a length and items by number is a sequence to iter()."""
        for function in group:
            if self.types.taken(function.parameters[0].type, cls.cpp) == "builtins.int":
                item = self.types.given(function.result, cls.cpp)
                kind = f"collections.abc.Iterator[{item}]"
                yield f"{self._indent(cls)}def __iter__(self) -> {kind}: ..."
                return

    def _constructors(self, cls: Class) -> Iterator[str]:
        makers = [cls.maker] if cls.maker else cls.constructors
        if makers and (cls.overridable or not cls.abstract):
            group = [
                Function(
                    *("__init__", f.cpp, f.wrapper, f.parameters, "void"),
                    features=f.features,
                )
                for f in makers
            ]
            yield self._overloads("__init__", group, cls)
        else:  # nothing fits a parameter of this type
            indent = self._indent(cls)
            yield f"{indent}def __init__(self, _: typing.Never, /) -> None: ..."

    def _attribute(self, variable: Variable, cls: Class) -> Iterator[str]:
        indent, name = self._indent(cls), variable.name
        given = self.types.given(variable.type, cls.cpp)
        taken = self.types.taken(variable.type, cls.cpp)
        if re.match(r"std::(function|unique_ptr)<", variable.type):  # may be empty
            given, taken = f"{given} | None", f"{taken} | None"
        if variable.type.endswith("*") and given == f"{taken} | None":
            taken = given
        if variable.static:
            yield f"{indent}{name}: typing.ClassVar[{given}]"
        elif not variable.readonly and given == taken:
            yield f"{indent}{name}: {given}"
        else:
            yield f"{indent}@builtins.property"
            yield f"{indent}def {name}(self) -> {given}: ..."
            if not variable.readonly:
                yield f"{indent}@{name}.setter"
                yield f"{indent}def {name}(self, value: {taken}) -> None: ..."

    def _enum(self, enum: Enum, owner: str) -> Iterator[str]:
        cls = self.module.class_of(owner) if owner else None
        indent = self._indent(cls) if cls else ""
        base = "enum.IntFlag" if enum.flags else "enum.IntEnum"
        if not enum.members:
            base = "builtins.int"
        lines = [f"{indent}class {enum.name}({base}):"]
        lines += [f"{indent}    {name} = ..." for name, _ in enum.members]
        yield "\n".join(lines if enum.members else [*lines, f"{indent}    ..."])
        if not enum.scoped:  # its members stand beside it as well
            full = self.types.given(enum.cpp)
            kind = f"typing.ClassVar[{full}]" if cls else full
            yield from (f"{indent}{name}: {kind}" for name, _ in enum.members)

    # --- the rest --------------------------------------------------------------------

    def _globals(self) -> Iterator[str]:
        """Constants are attributes of the module, variables of its `cvar`."""
        changing = []
        for variable in self.module.variables:
            line = f"{variable.name}: {self.types.given(variable.type)}"
            if variable.readonly:
                yield line
            else:
                changing.append(line)
        if changing:
            yield "\n    ".join(["class _Variables:", *changing])
            yield "cvar: _Variables"

    def _exception(self, cpp: str, name: str, base: str) -> str:
        found = re.search(r'"(\w+)"', base)
        parent = found[1] if found else base.strip().removeprefix("PyExc_")
        parent = "Exception" if parent in NULLS else parent
        return f"class {name}({parent}): ..."

    def _outer(self, cls: Class) -> Class | None:
        return self.module.class_of(cls.outer) if cls.outer else None

    def _base_names(self, cls: Class) -> list[str]:
        return [self.full[base] for base in cls.bases if base in self.full]

    def _indent(self, cls: Class | None) -> str:
        """Of what stands in the class."""
        return "    " * (self.full[cls.cpp].count(".") + 1) if cls else ""


def _full_name(module: Module, cls: Class) -> str:
    outer = module.class_of(cls.outer) if cls.outer else None
    if outer:
        return f"{_full_name(module, outer)}.{cls.name}"
    return f"{cls.imported}.{cls.name}" if cls.imported else cls.name


def _defined(part: str, indent: str) -> set[str]:
    """Names of functions, classes and attributes of this indentation."""
    names = re.findall(rf"^{indent}(?:(?:def|class) (\w+)|(\w+):)", part, re.MULTILINE)
    return {name for pair in names for name in pair}


def _renamed(body: str, name: str, other: str) -> str:
    """With another name everywhere but in texts."""
    pattern = rf'("(?:[^"\\]|\\.)*")|(?<![\w.]){re.escape(name)}'
    return re.sub(pattern, lambda found: found[1] or other, body)


def _grouped(functions: Iterable[Function]) -> dict[str, list[Function]]:
    groups: dict[str, list[Function]] = {}
    for function in functions:
        groups.setdefault(function.name, []).append(function)
    return groups


def _default(value: str, kinds: list[str]) -> str:
    """A default value where Python writes it alike, else three points."""
    if "None" in kinds and value in NULLS:
        return "None"
    if "builtins.bool" in kinds and value in LITERALS:
        return LITERALS[value]
    if "builtins.int" in kinds and re.fullmatch(r"-?(0|[1-9]\d*)[uUlL]*", value):
        return value.rstrip("uUlL")
    if "builtins.float" in kinds and re.fullmatch(
        r"-?\d+(\.\d*)?(e[-+]?\d+)?[fF]?", value
    ):
        return value.rstrip("fF")
    if "builtins.str" in kinds and re.fullmatch(r'"(?:[^"\\]|\\["\\nt])*"', value):
        return value
    return "..."


def main(arguments: list[str]) -> int:
    """Of the files TREE and STUB."""
    parsed, output = map(Path, arguments)
    try:
        text = stub(read(parsed), declared(parsed))
    except TreeError as error:
        print(f"swigkit: {error}.", file=sys.stderr)
        return 1
    output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""C++ types as Python's: what swigkit/*.h converts, in one table for type stubs.

A type has two faces: what a parameter takes ("in") and what a result is ("out").  A
vector takes any sequence and comes out as a list.  Python's own types have their module
before them, as a module may have a function `list`: stubs.py takes it away elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .notation import is_ostream

__all__ = ["ARRAY", "Alias", "PythonTypes", "Type", "parse", "split"]

ARRAY = "_Array"  # a protocol that the stub declares: NumPy's arrays and others like it
ANY = "typing.Any"
INTS = {
    *("short", "int", "long", "long long", "signed char", "unsigned char"),
    *("unsigned short", "unsigned", "unsigned int", "unsigned long"),
    *("unsigned long long", "size_t", "ptrdiff_t", "ssize_t", "intptr_t", "uintptr_t"),
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
FLOATS = {"float", "double", "long double"}
STRINGS = {
    "std::string",
    "std::string_view",
    "std::wstring",
    "std::u8string",
    "std::u16string",
    "std::u32string",
}
STRINGS |= {f"{name}_view" for name in STRINGS if name != "std::string_view"}
CHARACTERS = {"char", "wchar_t", "char8_t", "char16_t", "char32_t"}
STRINGS |= CHARACTERS
# Of no parameters: what it takes, what it gives.
PLAIN = {
    **dict.fromkeys(INTS | {f"std::{name}" for name in INTS}, ("builtins.int",) * 2),
    **dict.fromkeys(FLOATS, ("builtins.float",) * 2),
    **dict.fromkeys(STRINGS, ("builtins.str",) * 2),
    "bool": ("builtins.bool",) * 2,
    "std::byte": ("builtins.int",) * 2,
    "void": ("None", "None"),
    "PyObject": (ANY, ANY),
    "swigkit::PyCallable": (f"collections.abc.Callable[..., {ANY}]",) * 2,
    "std::exception_ptr": ("builtins.BaseException | None",) * 2,
    "std::monostate": ("None", "None"),
    "std::nullptr_t": ("None", "None"),
    "std::filesystem::path": (
        "builtins.str | os.PathLike[builtins.str]",
        "pathlib.Path",
    ),
}
# Whose one parameter is the element.
SEQUENCES = {
    f"std::{name}"
    for name in (
        "vector",
        "list",
        "deque",
        "array",
        "valarray",
        "forward_list",
        "initializer_list",
    )
} | {"[]"}
SETS = {"std::set", "std::unordered_set"}
MAPS = {"std::map", "std::unordered_map"}
MULTISETS = {"std::multiset", "std::unordered_multiset"}
MULTIMAPS = {"std::multimap", "std::unordered_multimap"}
OWNERS = {"std::unique_ptr", "std::reference_wrapper", "std::atomic"}
NUMBERS = {"builtins.int", "builtins.float", "builtins.bool"}
TIMES = {"nanoseconds", "microseconds", "milliseconds", "seconds", "minutes", "hours"}
TIMES |= {"days", "weeks", "months", "years", "duration"}
BYTES = ("std::vector<std::byte>", "std::span<std::byte>")


@dataclass(frozen=True)
class Type:
    """A C++ type, its const left out but where it says what a pointer may change.

    `marks` are the & and * behind the name, the outermost last.  A function's name is
    "()", its arguments are its result and its parameters; an array's is "[]".
    """

    name: str
    arguments: tuple[Type, ...] = ()
    marks: str = ""
    const: bool = False

    @property
    def bare(self) -> Type:
        """Without references and pointers."""
        return Type(self.name, self.arguments)

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.arguments))
        return self.name + (f"<{inner}>" if inner else "") + self.marks


@dataclass(frozen=True)
class Alias:
    """`template <class A, class B = int> using Name = type;`"""

    names: tuple[str, ...]
    defaults: tuple[str, ...]  # empty where there is none
    type: str

    def of(self, arguments: tuple[Type, ...]) -> Type:
        """The type with these for its parameters."""
        missing = [parse(text) for text in self.defaults[len(arguments) :]]
        given = dict(zip(self.names, (*arguments, *missing)))
        return _replaced(parse(self.type), given)


def _replaced(type_: Type, given: Mapping[str, Type]) -> Type:
    inner = tuple(_replaced(argument, given) for argument in type_.arguments)
    found = given.get(type_.name)
    if found is None or inner:
        return Type(type_.name, inner, type_.marks, type_.const)
    const = found.const or type_.const
    return Type(found.name, found.arguments, found.marks + type_.marks, const)


def parse(text: str) -> Type:
    """Of C++'s notation: `const std::vector<int> &`."""
    text, marks, const = text.strip(), "", False
    while True:
        before = text
        for word in ("const", "volatile", "enum", "class", "struct", "typename"):
            if text.startswith(f"{word} "):
                text, const = text[len(word) :].strip(), const or word == "const"
        if text.endswith((" const", "*const")):
            text = text[: -len("const")].strip()
            const |= not text.endswith("*")  # else it is the pointer that is constant
        if text.endswith(("*", "&")):
            text, marks = text[:-1].strip(), text[-1] + marks
        if text == before:
            break
    text = text.removesuffix(" noexcept")
    if text.endswith(")"):
        return _function(text, marks)
    array = re.fullmatch(r"(.*?)\s*\[\w*\]", text, re.DOTALL)
    if array:
        item = parse(array[1])
        # C's text is an array of characters.
        plain = item.name in CHARACTERS and not item.marks
        return item if plain else Type("[]", (item,), marks, const)
    found = re.fullmatch(r"([^<>]*)<(.*)>", text, re.DOTALL)
    if found and _balanced(found[2]):
        arguments = tuple(map(parse, split(found[2])))
        return Type(found[1].strip(), arguments, marks, const)
    return Type(re.sub(r"\s+", " ", text).removeprefix("::"), (), marks, const)


def _function(text: str, marks: str) -> Type:
    """`R(A, B)`, also as `R (*)(A, B)` and `R()(A, B)`."""
    depth, begin = 0, len(text)
    for begin in range(len(text) - 1, -1, -1):
        depth += (text[begin] == ")") - (text[begin] == "(")
        if depth == 0:
            break
    result = re.sub(r"\([*&]*\)$", "", text[:begin].strip())
    parameters = [p for p in split(text[begin + 1 : -1]) if p.strip() != "void"]
    return Type("()", tuple(map(parse, (result, *parameters))), marks)


def split(text: str) -> list[str]:
    """At the commas outside all brackets."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [*parts, text[begin:].strip()] if text.strip() else []


def _balanced(text: str) -> bool:
    """Whether no bracket is closed that was not opened in it."""
    depth = 0
    for letter in text:
        depth += (letter in "(<") - (letter in ")>")
        if depth < 0:
            return False
    return depth == 0


class PythonTypes:
    """With a module's own classes and enums, by their C++ names, and its typedefs."""

    def __init__(
        self,
        own: Mapping[str, str],
        typedefs: Mapping[str, str],
        aliases: Mapping[str, Alias],
    ) -> None:
        self.aliases = aliases
        self.typedefs = {name: parse(text) for name, text in typedefs.items()}
        self.own: dict[str, str] = {}
        self.implicit: dict[str, list[str]] = {}  # what their constructors take
        for cpp, name in own.items():
            type_ = parse(cpp)
            self.own[str(type_)] = name
            self.own[str(self._resolved(type_, ""))] = name  # Box<my_int> is Box<int>
            if type_.arguments and type_.name in self.aliases:
                full = self.aliases[type_.name].of(type_.arguments)
                if full.name == type_.name:
                    self.own.setdefault(str(full.bare), name)

    def own_class(self, text: str, scope: str) -> str:
        """The name of the class that C++ has by this name in the scope, "" for none."""
        return self.own.get(str(self._resolved(parse(text), scope).bare), "")

    def is_ostream(self, text: str, scope: str) -> bool:
        """Whether it is what C++ prints to."""
        return is_ostream(str(self._resolved(parse(text), scope).bare))

    def operand_class(self, text: str, scope: str) -> str:
        """The same of what pointers to it and shares in it point to."""
        type_ = self._resolved(parse(text), scope)
        if type_.name == "std::shared_ptr" and len(type_.arguments) == 1:
            type_ = type_.arguments[0]
        return self.own.get(str(type_.bare), "")

    def taken(self, text: str, scope: str = "") -> str:
        """What a parameter of this C++ type takes; `scope` is where it is named."""
        return self._in(self._resolved(parse(text), scope))

    def given(self, text: str, scope: str = "") -> str:
        """What a result of this C++ type is."""
        if text.startswith("decltype("):  # C++ alone knows
            return ANY
        type_ = self._resolved(parse(text), scope)
        result = self._out(type_)
        pointer = type_.marks.startswith("*") and type_.bare.name != "char"
        if pointer or type_.bare.name == "()":
            result = _optional(result)
        return result

    def _resolved(self, type_: Type, scope: str) -> Type:
        """Without typedefs."""
        arguments = tuple(self._resolved(a, scope) for a in type_.arguments)
        here = Type(type_.name, arguments, type_.marks, type_.const)
        if here.name in PLAIN:  # <stdint.i> has typedefs of these
            return here
        names, around = [type_.name], scope
        while around:
            names.insert(-1, f"{around}::{type_.name}")
            around = around.rpartition("::")[0]
        for name in names:
            full = Type(name, arguments, here.marks, here.const)
            if str(full.bare) in self.own:
                return full
            found = self.typedefs.get(name)
            if arguments and found:  # another name of the template itself, by `using`
                plain = not found.arguments and not found.marks
                found = Type(found.name, arguments) if plain else None
            if arguments and name in self.aliases:
                found = self.aliases[name].of(arguments)
                if str(found.bare) in self.own:
                    return Type(found.name, found.arguments, here.marks, here.const)
            if found is not None and found.name != type_.name:
                found = self._resolved(found, name.rpartition("::")[0])
                marks, const = found.marks + here.marks, found.const or here.const
                return Type(found.name, found.arguments, marks, const)
        return here

    def _item(self, type_: Type, face: Callable[[Type], str]) -> str:
        """What containers hold: of pointers to numbers the kit has none."""
        item = face(type_)
        return ANY if type_.marks == "*" and item in NUMBERS else item

    def _in(self, type_: Type) -> str:
        bare, arguments = type_.bare, type_.arguments
        name = bare.name
        if str(bare) in self.implicit:
            own = self._either(bare, self._in, self._out, 0)
            return " | ".join(dict.fromkeys([own, *self.implicit[str(bare)]]))
        if name == "void" and type_.marks:  # an address: a capsule
            return ANY
        if name == "std::span" and arguments and self._has_memory(arguments[0]):
            kind = "Readable" if arguments[0].const else "Writeable"
            return f"_typeshed.{kind}Buffer | {ARRAY}"
        if str(bare) in BYTES:
            return "_typeshed.ReadableBuffer"
        if name in SEQUENCES | {"std::span"} and arguments:
            item = self._item(arguments[0], self._in)
            array = f" | {ARRAY}" if item in NUMBERS else ""
            return f"collections.abc.Sequence[{item}]{array}"
        if name == "swigkit::Several" and arguments:
            item = self._in(arguments[0])
            several = f"collections.abc.Iterable[{_optional(item)}]"
            return _optional(f"{item} | {several}")
        if name in SETS | MULTISETS and arguments:
            item = self._in(arguments[0])
            sequence = f"collections.abc.Sequence[{item}]"
            return f"collections.abc.Set[{item}] | {sequence}"
        if name in MAPS | MULTIMAPS and len(arguments) >= 2:
            key, value = (self._item(one, self._in) for one in arguments[:2])
            mapping = f"collections.abc.Mapping[{key}, {value}]"
            pair = f"builtins.tuple[{key}, {value}]"
            pairs = f"collections.abc.Sequence[{pair}]"
            return mapping if name in MAPS else f"{mapping} | {pairs}"
        if name in ("std::shared_ptr", "std::weak_ptr", "std::unique_ptr"):
            return _optional(self._in(arguments[0]))
        if name == "std::function":
            return _optional(self._either(bare, self._in, self._out, 0))
        return self._either(bare, self._in, self._out, 0)

    def _has_memory(self, item: Type) -> bool:
        """Whether Python has memory of such items: numbers, characters and bytes."""
        numbers = NUMBERS | {"builtins.complex"}
        return item.bare.name in CHARACTERS or self._in(item.bare) in numbers

    def _out(self, type_: Type) -> str:
        bare, arguments = type_.bare, type_.arguments
        name = bare.name
        if name == "void" and type_.marks:
            return ANY
        if str(bare) in BYTES:
            return "builtins.bytes"
        if name in MULTIMAPS and len(arguments) >= 2:
            key, value = map(self._out, arguments[:2])
            return f"builtins.list[builtins.tuple[{key}, {value}]]"
        if name in SEQUENCES | MULTISETS | {"std::span"} and arguments:
            return f"builtins.list[{self._item(arguments[0], self._out)}]"
        if name in SETS and arguments:
            return f"builtins.set[{self._out(arguments[0])}]"
        if name in MAPS and len(arguments) >= 2:
            key, value = (self._item(one, self._out) for one in arguments[:2])
            return f"builtins.dict[{key}, {value}]"
        if name == "std::shared_ptr":
            return self._out(arguments[0])
        if name == "std::weak_ptr":
            return _optional(self._out(arguments[0]))
        return self._either(bare, self._out, self._in, 1)

    def _either(
        self,
        bare: Type,
        same: Callable[[Type], str],
        other: Callable[[Type], str],
        face: int,
    ) -> str:
        """Of types that are alike in both directions."""
        name, arguments = bare.name, bare.arguments
        if str(bare) in self.own:
            return self.own[str(bare)]
        if name in PLAIN:
            return PLAIN[name][face]
        if name in OWNERS and arguments:
            return same(arguments[0])
        if name == "std::optional":
            return _optional(same(arguments[0]))
        if name == "std::variant":
            return " | ".join(dict.fromkeys(map(same, arguments)))
        if name in ("std::pair", "std::tuple"):
            return f"builtins.tuple[{', '.join(map(same, arguments)) or '()'}]"
        if name == "std::complex":
            return "builtins.complex"
        if name == "()" or (name == "std::function" and arguments):
            # Its parameters come from C++, its result goes there.
            result, *parameters = arguments if name == "()" else arguments[0].arguments
            listed = ", ".join(map(other, parameters))
            return f"collections.abc.Callable[[{listed}], {same(result)}]"
        head, _, last = name.rpartition("::")
        if head == "std::chrono" and last in TIMES:
            return "datetime.timedelta" + ("" if face else " | builtins.float")
        if "system_clock" in str(bare):
            return "datetime.datetime" + ("" if face else " | datetime.date")
        if head == "std::chrono::steady_clock":
            return "datetime.timedelta" + ("" if face else " | builtins.float")
        return ANY


def _optional(text: str) -> str:
    return text if {"None", ANY} & set(text.split(" | ")) else f"{text} | None"

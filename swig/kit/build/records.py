# SPDX-License-Identifier: Apache-2.0
"""What SWIG has read of an interface, as plain records: tree.py fills them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .notation import pointee, scope, split_arguments
from .python_types import FLOATS, INTS, PythonTypes
from .typedefs import Typedefs

# What a free operator is called in the class of its operand.
UNARY = {"__sub__": "__neg__", "__add__": "__pos__"}
MIRRORED = {
    "__lt__": "__gt__",
    "__le__": "__ge__",
    "__eq__": "__eq__",
    "__ne__": "__ne__",
    "__gt__": "__lt__",
    "__ge__": "__le__",
}


@dataclass
class Parameter:
    """Of a function; `type` in C++'s notation, `default` as the header has it."""

    name: str
    type: str
    default: str | None = None

    @property
    def is_null(self) -> bool:
        """A pointer or a std::function that is null when it is left out."""
        holders = ("std::function<", "std::unique_ptr<")
        holds = self.type.endswith("*") or self.type.startswith(holders)
        holds |= self.type.startswith("const std::function<")
        null = self.default == "nullptr"  # of a typedef as well
        return null or (holds and self.default in ("NULL", "0"))


@dataclass
class Function:
    """One signature of a function, method or constructor."""

    name: str  # in Python
    cpp: str  # in C++, with its namespaces where it is no member
    wrapper: str  # SWIG's function
    parameters: list[Parameter]
    result: str  # C++ type
    static: bool = False
    virtual: bool = False
    const: bool = False  # a method for const objects, too
    doc: str = ""
    features: dict[str, str] = field(default_factory=dict)
    extended: bool = False  # by %extend
    implicit: bool = False  # a constructor that nobody has declared
    outputs: list[str] = field(default_factory=list)  # types of OUTPUT parameters
    gives: bool = False  # what it gives is the caller's (%newobject)
    operand: int = 0  # of a free operator: which one is the object, 1 or 2
    made: str = ""  # where SWIG has none, the kit's C++ function: {title} is its name

    @property
    def keeps(self) -> list[tuple[int, int]]:
        """The numbers of those that keep others alive (%keeps_alive), and of these."""
        names = (re.fullmatch(r"keeps_(\d+)_(\d+)", key) for key in self.features)
        return [(int(name[1]), int(name[2])) for name in names if name]

    @property
    def given(self) -> list[Parameter]:
        """The parameters without the object that a free operator belongs to."""
        if not self.operand:
            return self.parameters
        return [p for i, p in enumerate(self.parameters, 1) if i != self.operand]

    @property
    def declaration(self) -> str:
        """As a header has it."""
        return f"{self.result} {self.cpp}({', '.join(p.type for p in self.parameters)})"

    @property
    def is_operator(self) -> bool:
        """Whether C++ calls it by a sign: one that is no member."""
        return "operator" in self.cpp and self.name.startswith("__")

    @property
    def rest(self) -> Parameter | None:
        """The parameter that takes all further positional arguments, or None."""
        last = self.given[-1] if self.given else None
        return last if last and last.type == "swigkit::Args" else None

    @property
    def named(self) -> list[Parameter]:
        """What is given, without the rest."""
        return self.given[:-1] if self.rest else self.given

    @property
    def takes_one(self) -> bool:
        """Whether it takes one argument, which cannot be named: METH_O."""
        one = len(self.parameters) == len(self.named) == self.required == 1
        return one and self.positional_only == 1

    @property
    def required(self) -> int:
        """How many parameters have no default."""
        return sum(p.default is None for p in self.named)

    @property
    def positional_only(self) -> int:
        """How many parameters cannot be named."""
        return min(int(self.features.get("positional_only", "0")), self.positional)

    @property
    def positional(self) -> int:
        """How many parameters may be passed by position."""
        names = [p.name for p in self.named]
        first = self.features.get("keyword_only", "")
        return names.index(first) if first in names else len(names)


@dataclass
class Variable:
    """A member, static or not, a global variable or a constant."""

    name: str
    cpp: str
    type: str
    wrapper: str  # SWIG's getter; empty for a constant
    readonly: bool
    static: bool = False
    doc: str = ""
    value: str = ""
    enumerator: bool = False  # of an enum without a name
    protected: bool = False  # seen by %module(allprotected="1")
    bits: str = ""  # how many it has, if it is a bit-field
    getter: Function | None = None  # of a %property
    setter: Function | None = None


@dataclass
class Enum:
    """An enumeration; `members` are (name in Python, value in C++)."""

    name: str
    cpp: str
    scoped: bool
    members: list[tuple[str, str]]
    flags: bool = False
    doc: str = ""
    docs: dict[str, str] = field(default_factory=dict)  # of members, by their names
    imported: str = ""  # the module that has it, of %import


ENDS = {f"{kind}{end}" for kind in ("", "c", "r", "cr") for end in ("begin", "end")}


def is_iterator(cpp: str) -> bool:
    """Whether a type is that of an iterator, by its name."""
    return cpp.endswith("*") or "iterator" in cpp.lower()


def distinct(overloads: list[Function]) -> list[Function]:
    """Without those that take what one before takes: to Python a method for const
    objects is no other, and the one for others is what C++ calls."""
    found: dict[tuple[object, ...], Function] = {}
    for function in overloads:
        key = (function.static, function.operand, *(p.type for p in function.given))
        first = found.setdefault(key, function)
        if first.const and not function.const:
            found[key] = function
        doc = first.doc or function.doc
        found[key].doc = doc
    return list(found.values())


@dataclass
class Declaration:
    """A method as its class declares it, wrapped or not."""

    name: str  # in C++
    python: str
    types: list[str]  # of its parameters
    pure: bool
    private: bool
    ignored: bool  # by %ignore
    gives: bool  # its result is a new object of the caller's (%newobject)
    throws: bool  # as `noexcept(false)` says
    virtual: bool
    const: bool = False
    final: bool = False
    static: bool = False

    @property
    def is_open(self) -> bool:
        """Whether Python may have it."""
        return not (self.private or self.ignored)


@dataclass
class Class:
    """A class or struct; functions of one name are its overloads, in their order."""

    name: str
    cpp: str
    bases: list[str]  # C++ names of public ones
    outer: str = ""  # C++ name of the class around it
    flat: str = ""  # SWIG's name where it is another
    abstract: bool = False
    overridable: bool = False
    constructors: list[Function] = field(default_factory=list)
    maker: Function | None = None  # of %made_by
    methods: list[Function] = field(default_factory=list)
    hidden: list[Function] = field(default_factory=list)  # behind properties
    variables: list[Variable] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    declared: list[Declaration] = field(default_factory=list)
    used: list[str] = field(
        default_factory=list
    )  # names of bases (`using Base::name;`)
    single: bool = False  # has a container of what is not copied
    private: set[str] = field(default_factory=set)  # names that only C++ may say
    doc: str = ""
    features: dict[str, str] = field(default_factory=dict)
    imported: str = ""  # the module that has it, of %import
    has_iterators: bool = False  # begin() gives one that the module wraps

    @property
    def is_range(self) -> bool:
        """Whether C++ iterates over it, by begin() and end()."""
        if "iterable" in self.features or self.has_iterators:
            return True
        plain = {one.name for one in self.declared if one.is_open and not one.types}
        # Of a number's or a std::string's C++ has none.
        return {"begin", "end"} <= plain and not any(
            m.name == "begin" and not is_iterator(m.result) and "::" not in m.result
            for m in self.methods
        )

    @property
    def is_iterator(self) -> bool:
        """Whether C++ finds an item by it: `*at` (SWIG leaves `++at` out)."""
        return any(
            one.name.replace(" ", "") == "operator*" and one.is_open and not one.types
            for one in self.declared
        )

    @property
    def points(self) -> bool:
        """Whether it is a smart pointer, by operator->()."""
        names = {one.name.replace(" ", "") for one in self.declared if not one.private}
        return "operator->" in names

    @staticmethod
    def is_end(method: Function) -> bool:
        """Whether it gives an iterator, which Python does not need."""
        return method.name in ENDS and is_iterator(method.result)

    @property
    def symbol(self) -> str:
        """What SWIG calls it in the names of its functions."""
        return self.flat or self.name


@dataclass
class Module:
    """A whole interface."""

    name: str
    functions: list[Function] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    exceptions: list[tuple[str, str, str]] = field(default_factory=list)
    typedefs: Typedefs = field(default_factory=Typedefs)
    types: PythonTypes = field(default_factory=lambda: PythonTypes({}, {}, {}))
    doc: str = ""
    left_out: list[str] = field(default_factory=list)  # what, and what to write instead
    variadic: list[str] = field(default_factory=list)  # SWIG's functions of such ones

    def is_derived(self, cpp: str, base: str) -> bool:
        """Whether C++'s class is derived from the other."""
        cls = self.class_of(cpp)
        bases = cls.bases if cls else []
        return base in bases or any(self.is_derived(b, base) for b in bases)

    def chain(self, cls: Class) -> list[Class]:
        """The class and its bases, the nearest first."""
        chain, seen = [cls], []
        while chain:
            here = chain.pop(0)
            seen.append(here)
            chain += [c for c in map(self.class_of, here.bases) if c and c not in seen]
        return seen

    def pure_methods(self, cls: Class) -> list[str]:
        """What C++ leaves to classes derived from it, by the names in Python."""
        found: dict[tuple[str, int], Declaration] = {}
        for here in self.chain(cls):
            for one in here.declared:
                found.setdefault((one.name, len(one.types)), one)
        return sorted({one.python for one in found.values() if one.pure})

    def class_of(self, cpp: str) -> Class | None:
        """The class of this C++ name."""
        return next((c for c in self.classes if c.cpp == cpp), None)

    def class_by_symbol(self, symbol: str) -> Class | None:
        """The class of SWIG's name."""
        return next((c for c in self.classes if c.symbol == symbol), None)

    def is_narrower(self, cpp: str, other: str) -> bool:
        """Whether Python's objects of the one type are of the other, too."""
        if other in FLOATS and cpp in INTS:
            return True
        if other in INTS | FLOATS:
            return self._is_enum(cpp)
        return self._has_enums(cpp, other) or self.is_derived(cpp, other)

    def _is_enum(self, cpp: str) -> bool:
        inner = (e for cls in self.classes for e in cls.enums)
        return any(enum.cpp == cpp for enum in (*self.enums, *inner))

    def _has_enums(self, cpp: str, other: str) -> bool:
        """Whether it is the same container, but of enums where that has numbers."""
        own, its = (re.fullmatch(r"([\w:]+) *<(.*)>", one) for one in (cpp, other))
        if not own or not its or own[1] != its[1]:
            return False
        own_items, its_items = (list(split_arguments(one[2])) for one in (own, its))
        return len(own_items) == len(its_items) and all(
            a == b or (b in INTS | FLOATS and self._is_enum(a)) or self._has_enums(a, b)
            for a, b in ((a.strip(), b.strip()) for a, b in zip(own_items, its_items))
        )

    def prints(self, cls: Class) -> bool:
        """Whether C++ prints it by `out << object`: str() is what that writes.  SWIG
        has no functions of template instances: of those C++ knows (slots.h)."""
        return "<" in cls.cpp or any(
            function.is_operator
            and function.name == "__lshift__"
            and len(function.parameters) == 2
            and self._is_printed(function) is cls
            for function in self.functions
        )

    def _is_printed(self, function: Function) -> Class | None:
        """What `operator<<(std::ostream&, object)` prints."""
        around = scope(function.cpp)
        out, object_ = (parameter.type for parameter in function.parameters)
        if not self.types.is_ostream(out, around):
            return None
        known = self.types.operand_class(object_, around)
        return self.class_of(known or pointee(object_))

    def is_dynamic(self, cls: Class) -> bool:
        """Whether its objects have attributes that C++ knows nothing of."""
        bases = [found for found in map(self.class_of, cls.bases) if found]
        return "dynamic" in cls.features or any(map(self.is_dynamic, bases))

    def counted_by(self, cls: Class) -> str:
        """The pointer that counts in its objects (%intrusive), or ""."""
        bases = [found for found in map(self.class_of, cls.bases) if found]
        own = cls.features.get("intrusive", "").strip('"')
        return own or next(filter(None, map(self.counted_by, bases)), "")

    def operator_of(self, function: Function) -> tuple[Class, str, int] | None:
        """The class of a free operator, its name there, and which operand it is.

        1 or 2: `2 * point` is __rmul__ of the second's class.
        """
        if not function.is_operator:
            return None
        name = function.name
        if len(function.parameters) == 1:
            name = UNARY.get(name, name)
        for place, parameter in enumerate(function.parameters[:2], 1):
            around = scope(function.cpp)
            if self.types.is_ostream(parameter.type, around):
                return None
            known = self.types.operand_class(parameter.type, around)
            cls = self.class_of(known or pointee(parameter.type))
            if cls and not cls.imported:
                mirrored = MIRRORED.get(name, f"__r{name[2:]}")
                return cls, name if place == 1 else mirrored, place
        return None

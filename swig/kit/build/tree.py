# SPDX-License-Identifier: Apache-2.0
"""SWIG's parse tree of an interface (``-xmlout``) as the records of records.py.

Read by step.py, which makes the classes, and by stubs.py, which writes their types.
"""

from __future__ import annotations

import inspect
import keyword
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from .nested import PREFIX, operator_name
from .notation import cpp_type, pointee, scope, split_function
from .python_types import PythonTypes
from .records import (
    Class,
    Declaration,
    Enum,
    Function,
    Module,
    Parameter,
    Variable,
    distinct,
)
from .said import unknown_names
from .typemaps import Typemaps
from .xml_tree import attributes, parse

__all__ = [
    "EXCEPTION",
    "Class",
    "Declaration",
    "Enum",
    "Function",
    "Module",
    "Parameter",
    "TreeError",
    "Variable",
    "distinct",
    "read",
]


class TreeError(Exception):
    """An interface says what the kit does not do."""


# What %exceptions writes (swigkit/errors.i).
EXCEPTION = re.compile(
    r"swigkit::add_exception\s*<\s*(.+?)\s*>\s*\(\s*\w+,\s*\"(\w+)\",\s*(.+)\)\)"
)
# Parameters by which C passes as many as it likes.
OPEN_ENDED = {"...", "va_list", "std::va_list"}
# The prefixes of methods that %property adds (swigkit/classes.i).
ADDED = ("swigkit_get_", "swigkit_set_")


def read(path: Path) -> Module:
    """The module of a parse tree."""
    reader = _Reader()
    root = parse(path)
    reader.visit(root, None)
    reader.module.typedefs.read(root)
    top, text = root if root.tag == "top" else root.find("top"), ""
    if top is not None:
        interface = Path(attributes(top).get("inputfile", ""))
        if interface.is_file():
            text = interface.read_text(encoding="utf-8")
            reader.module.doc = _module_doc(text)
    reader.name_nested()
    reader.make_properties()
    reader.module.left_out += [
        *unknown_names(text, reader.module),
        *reader.typemaps.unused(),
    ]
    for cls in reader.module.classes:
        cls.methods += _item_setters(cls)
        reader.module.left_out += _never_overridden(reader.module, cls)
        _check_defaults(cls)
    return reader.module


MODULE_DOC = re.compile(
    r"^[ \t]*%module[ \t]*\((?:[^)\"]|\"(?:[^\"\\]|\\.)*\")*?\bdocstring[ \t]*=[ \t]*"
    r"(?:\"((?:[^\"\\]|\\.)*)\"|(\w+))",
    re.MULTILINE | re.DOTALL,
)


def _module_doc(interface: str) -> str:
    """Of `%module(docstring="text") name`, or of a text that %define names: SWIG's tree
    does not have it."""
    found = MODULE_DOC.search(interface)
    text = found[1] if found else ""
    if found and found[2]:
        named = re.search(
            rf"^[ \t]*%define[ \t]+{found[2]}\b(.*?)%enddef", interface, re.M | re.S
        )
        text = "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", named[1])) if named else ""
    text = text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    return text.strip()


class _Reader:
    def __init__(self) -> None:
        self.module = Module("")
        self.imported = ""  # the module around, of %import
        self.using = False  # inside of `using Base::Base;`
        self.typemaps = Typemaps()

    def visit(self, node: ElementTree.Element, inside: Class | None) -> None:
        """Reads what is below the node, which belongs to this class or to none."""
        for child in node:
            handler = getattr(self, "_" + child.tag, None)
            if handler:
                handler(child, attributes(child), inside)
            elif child.tag in ("include", "namespace", "extend", "extern"):
                self.visit(child, inside)
            elif child.tag == "using":
                self.using = True
                self.visit(child, inside)
                self.using = False
            elif child.tag == "top":
                self.visit(child, inside)

    def name_nested(self) -> None:
        """Which class a class lies in, by their C++ names."""
        for cls in self.module.classes:
            outer = scope(cls.cpp)
            if self.module.class_of(outer):
                cls.outer = outer
        names = {cls.cpp: cls.cpp for cls in self.module.classes}
        typedefs = self.module.typedefs
        types = PythonTypes(names, typedefs.types, typedefs.aliases)
        self.module.types = types
        for cls in self.module.classes:
            found = [types.own_class(base, scope(cls.cpp)) for base in cls.bases]
            cls.bases = [base for base in found if base]
        for cls in self.module.classes:
            ends = ("begin", "end")
            given = [m for m in cls.methods if m.name in ends and not m.parameters]
            results = (types.own_class(m.result, cls.cpp) for m in given)
            known = [c.is_iterator for c in map(self.module.class_of, results) if c]
            both = len({m.name for m in given}) == 2
            cls.has_iterators = both and any(known)

    def make_properties(self) -> None:
        """Attributes of what %property has added to the classes."""
        for cls in self.module.classes:
            added = {m.name: m for m in cls.methods if m.name.startswith(ADDED)}
            cls.methods = [m for m in cls.methods if m.name not in added]
            maker = cls.features.get("made_by", "").strip('"')
            for found in [m for m in cls.methods if m.static and m.name == maker]:
                cls.maker = found
                cls.methods.remove(found)
            self._methods_as_attributes(cls)
            for key, method in cls.features.items():
                name = key.removeprefix("property_")
                getter = added.get(f"{ADDED[0]}{name}")
                if not key.startswith("property_") or not getter:
                    continue
                method = method.strip('"')
                docs = [m.doc for m in cls.methods if m.name == method and m.doc]
                setter = added.get(f"{ADDED[1]}{name}")
                cls.variables.append(
                    Variable(
                        name,
                        name,
                        getter.result,
                        getter.wrapper,
                        readonly=not setter,
                        doc=docs[0] if docs else "",
                        getter=getter,
                        setter=setter,
                    )
                )
                # A property of its method's name takes its place.
                cls.hidden += [m for m in cls.methods if m.name == name]
                cls.methods = [m for m in cls.methods if m.name != name]

    def _methods_as_attributes(self, cls: Class) -> None:
        """What %properties names."""
        for key in [k for k in cls.features if k.startswith("properties_")]:
            name = key.removeprefix("properties_")
            found = [
                m
                for m in cls.methods
                if m.name == name and not m.parameters and not m.static
            ]
            if not found:
                raise TreeError(
                    f"%properties({cls.cpp}, {name}): expected a method without "
                    "parameters"
                )
            for getter in found[:1]:
                kind, code, doc = getter.result, getter.wrapper, getter.doc
                cls.variables.append(
                    Variable(name, name, kind, code, True, doc=doc, getter=getter)
                )
                others = [m for m in cls.methods if m.name == name and m is not getter]
                cls.hidden += others
                cls.methods = [m for m in cls.methods if m.name != name]

    def _insert(self, node: object, has: dict[str, str], inside: object) -> None:
        if self.imported:  # whose C++ exceptions are raised here as well
            self.module.exceptions += [
                (cpp, name, self.imported)
                for cpp, name, _ in EXCEPTION.findall(has.get("code", ""))
            ]
        if has.get("section") in ("python", "pythoncode", "pythonbegin"):
            line = has.get("code", "").strip().partition("\n")[0]
            raise TreeError(
                f"%pythoncode {{ {line} }}: a module of the kit has no Python file: "
                "write it in C++ (%inline, %extend), or in a module that imports it. "
                "SWIG's own std_*.i are not needed here"
            )

    def _typemap(self, node: ElementTree.Element, has: object, inside: object) -> None:
        self.typemaps.add(node)

    def _apply(self, node: ElementTree.Element, has: object, inside: object) -> None:
        self.typemaps.apply(node)

    def _module(self, node: object, has: dict[str, str], inside: object) -> None:
        self.module.name = self.module.name or has["name"]

    def _import(
        self, node: ElementTree.Element, has: dict[str, str], inside: Class | None
    ) -> None:
        """Another module's interface: its classes and enums are used here."""
        around = self.imported
        names = [attributes(module)["name"] for module in node.iter("module")]
        self.imported = around or (names[0] if names else "")
        self.visit(node, inside)
        self.imported = around

    def _class(
        self, node: ElementTree.Element, has: dict[str, str], inside: Class | None
    ) -> None:
        if "feature_ignore" in has or "sym_name" not in has:
            return
        if "   ::" in has["name"]:  # SWIG takes nothing of it
            self.module.left_out.append(
                f"{has['sym_name']} is left out: it is in a namespace without a name"
            )
            return
        if "has_destructor" not in has and "allocate_visit" not in has:
            return
        bases = []
        for base in node.findall("attributelist/baselist/base"):
            bases.append(cpp_type(base.get("name", "")))
        nested = has["sym_name"].startswith(PREFIX)
        last = has["name"].split("::")[-1]
        name = python_name(last) if nested else _symbol(has)
        cls = Class(
            name=name,
            flat=has["sym_name"] if has["sym_name"] != name else "",
            cpp=cpp_type(has["name"]),
            bases=bases,
            abstract="abstracts" in has and "feature_notabstract" not in has,
            overridable=has.get("feature_director", "0") not in ("", "0"),
            doc=_doc(has),
            features=_features(has),
            imported=self.imported,
        )
        self.module.classes.append(cls)
        self.visit(node, cls)

    def _constructor(
        self, node: ElementTree.Element, has: dict[str, str], inside: Class | None
    ) -> None:
        if not inside or "wrap_name" not in has:
            return
        function = _function(node, has, self.typemaps)
        # C++ inherits all constructors but those that copy or move.
        inherited = self.using or has.get("hidden") == "1"
        alone = len(function.parameters) == 1
        if (
            inherited
            and alone
            and pointee(function.parameters[0].type) in self._bases(inside)
        ):
            if function.parameters[0].type.endswith("&"):  # && as well
                inside.hidden.append(function)
                return
        types = _plain_types(function)
        if OPEN_ENDED & set(types):
            raise TreeError(
                f"{inside.cpp}: expected a constructor with a number of parameters: "
                f"%ignore {inside.cpp}::{function.name}({', '.join(types)});"
            )
        inside.constructors.append(function)

    def _bases(self, cls: Class) -> set[str]:
        """Names of base classes, with and without their namespaces."""
        around = scope(cls.cpp)
        return {name for base in cls.bases for name in (base, f"{around}::{base}")}

    def _destructor(
        self, node: object, has: dict[str, str], inside: Class | None
    ) -> None:
        if inside and "GilRelease" in has.get("feature_except", ""):
            inside.features["released_end"] = "1"

    def _cdecl(
        self, node: ElementTree.Element, has: dict[str, str], inside: Class | None
    ) -> None:
        friend = "friend" in has.get("storage", "").split()
        if inside and has.get("kind") == "function" and not friend:
            inside.declared.append(_declaration(node, has))
        hidden = has.get("access", "public") == "private" and not friend
        if inside and hidden:
            inside.private.add(has["name"])
        if "feature_ignore" in has or hidden:
            return
        if self.imported:
            return
        if has.get("kind") == "function":
            if "wrap_name" not in has:
                return
            function = _function(node, has, self.typemaps)
            types = _plain_types(function)
            if open_ended := OPEN_ENDED & set(types):
                if "sym_overloaded" in has:
                    listed = ", ".join(types)
                    raise TreeError(
                        f"{function.cpp}: expected no overloads beside {listed}: "
                        f"%ignore {function.cpp}({listed});"
                    )
                self.module.left_out.append(
                    f"{function.cpp}({open_ended.pop()}) is left out: for Python write "
                    "one with the parameters that are needed (%inline, %extend)"
                )
                self.module.variadic.append(function.wrapper)
                return
            # A friend that is defined in its class is a function of the namespace.
            if inside and not friend:
                inside.methods.append(function)
            else:
                self.module.functions.append(function)
        elif has.get("kind") == "variable" and "sym_name" in has:
            variable = _variable(has, inside)
            if variable and inside:
                inside.variables.append(variable)
            elif variable:
                self.module.variables.append(variable)

    def _constant(self, node: object, has: dict[str, str], inside: object) -> None:
        if "sym_name" in has and "feature_ignore" not in has and not self.imported:
            kind = cpp_type(has.get("type", "int"))
            self.module.variables.append(
                Variable(
                    *(has["sym_name"], has["name"], kind, "", True),
                    value=has.get("value", has["name"]),  # a function has none
                )
            )

    def _enum(
        self, node: ElementTree.Element, has: dict[str, str], inside: Class | None
    ) -> None:
        if "feature_ignore" in has:
            return
        if has.get("sym_name", "$unnamed").startswith("$unnamed"):
            self._integers(node, inside)
            return
        members = []
        for item in node.findall("enumitem"):
            of = attributes(item)
            if "sym_name" in of and "feature_ignore" not in of:
                member = _symbol(of)
                # enum.Enum has this one itself.
                members.append(
                    (f"{member}_" if member == "mro" else member, of["value"])
                )
        enum = Enum(
            name=_symbol(has),
            cpp=cpp_type(has["enumtype"]),
            scoped="scopedenum" in has,
            members=members,
            flags="feature_swigkit_flags" in has,
            doc=_doc(has),
            imported=self.imported,
        )
        if inside:
            inside.enums.append(enum)
        else:
            self.module.enums.append(enum)

    def _integers(self, node: ElementTree.Element, inside: Class | None) -> None:
        """Members of an enum without a name are ints."""
        for of in map(attributes, node.findall("enumitem")):
            if "sym_name" not in of or "feature_ignore" in of or self.imported:
                continue
            member = Variable(_symbol(of), of["value"], "int", "", True)
            member.enumerator = True
            member.static = inside is not None
            (inside or self.module).variables.append(member)


# Of `T& operator[](Key key)`, where the interface says nothing of __setitem__.
ITEM_SETTER = """\
static PyObject *{name}(PyObject *, PyObject **slots, swigkit::Matching *matching) {{
  return swigkit::set_item_by<{cls}, std::remove_cvref_t< {key} > >(
      slots, matching, "{{title}}", "{key_name}", "{value_name}");
}}"""
# Not a pointer, whose object somebody would have to keep.
PLACE = re.compile(r"(?!const )([^*&]*[^*& ]) *&")


# What such a place holds refers to the value that was given, or owns what Python views.
NO_PLACE = re.compile(
    r"std::(unique_ptr|basic_string_view|span|reference_wrapper)\b<.*"
)
NO_PLACES = {"std::string_view", "std::wstring_view"}


def _never_overridden(module: Module, cls: Class) -> Iterator[str]:
    """What C++ may override and Python cannot."""
    bases = module.chain(cls)[1:]
    known = {one.name for base in bases for one in base.declared}
    for one in cls.declared:
        hidden = one.private and one.virtual and not one.pure and not one.ignored
        if cls.overridable and not cls.imported and hidden and one.name not in known:
            yield (
                f"{cls.cpp}::{one.name}() is private: C++ does not call what Python "
                "overrides it with. Make it protected"
            )


def _item_setters(cls: Class) -> list[Function]:
    """x[key] = value by what x[key] refers to, where no interface says other things."""
    getters = [m for m in cls.methods if m.name == "__getitem__"]
    if cls.imported or any(m.extended for m in getters):
        return []
    if any(m.name == "__setitem__" for m in cls.methods):
        return []
    made: list[Function] = []
    for getter in getters:
        place = PLACE.fullmatch(getter.result)
        if not place or len(getter.parameters) != 1:
            continue
        if place[1] in NO_PLACES or NO_PLACE.fullmatch(place[1]):
            continue
        key = getter.parameters[0]
        name = f"swigkit_set_item_{cls.symbol}_{len(made) + 1}"
        value = Parameter("value" if key.name != "value" else "item", place[1])
        setter = Function("__setitem__", getter.cpp, name, [key, value], "void")
        setter.made = ITEM_SETTER.format(
            name=name,
            cls=cls.cpp,
            key=key.type,
            key_name=key.name,
            value_name=value.name,
        )
        made.append(setter)
    return made


def _check_defaults(cls: Class) -> None:
    """Python has to say a default that C++ leaves out, from outside of the class."""
    around = "|".join([re.escape(cls.cpp), re.escape(cls.cpp.rpartition("::")[2])])
    for function in [*cls.methods, *cls.constructors]:
        for parameter in function.parameters:
            text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', parameter.default or "")
            text = re.sub(rf"\b(?:{around})\s*::\s*", "", text)
            for name in re.findall(r"(?<![\w.>:])[A-Za-z_]\w*", text):
                if name in cls.private:
                    what = f"{cls.cpp}::{function.cpp.rpartition('::')[2]}"
                    raise TreeError(
                        f"{what}: expected a default for '{parameter.name}' that "
                        f"others may say as well, got the private {name}: write "
                        f"%ignore {what}; and the method as Python shall have it in "
                        f"%extend {cls.cpp} {{ ... }}"
                    )


def _features(has: dict[str, str]) -> dict[str, str]:
    """What the kit's own lines say: feature_swigkit_X without its prefix."""
    prefix = "feature_swigkit_"
    return {k.removeprefix(prefix): v for k, v in has.items() if k.startswith(prefix)}


# SWIG translates the comments of functions, and leaves those of classes and enums.
DOXYGEN_BRIEF = re.compile(r"(?m)(?:^|(?<=\s))[@\\]brief\s+")
FRAME = re.compile(r"^\*(?=\s|$) ?")


def _doc(has: dict[str, str]) -> str:
    text = has.get("python_docstring") or has.get("feature_docstring") or ""
    text = text.replace("\\\\", "\\")  # SWIG wrote it for a Python string
    if text:
        return inspect.cleandoc(text)
    text = has.get("doxygen", "").replace("\\\\", "\\")
    lines = [FRAME.sub("", line.strip()) for line in text.strip().splitlines()]
    return DOXYGEN_BRIEF.sub("", "\n".join(lines))


def _symbol(has: dict[str, str]) -> str:
    """The name in Python: SWIG puts an underscore before a word of Python's, where the
    kit puts it behind, as Python itself does; `self` is none to a caller."""
    name = has["sym_name"]
    if name.startswith(PREFIX) and operator_name(name):
        return operator_name(name)
    word = name.removeprefix("_")
    prefixed = word == "self" or keyword.iskeyword(word)
    if name == word or not prefixed or has["name"].rpartition("::")[2] != word:
        return python_name(name)
    return word if word == "self" else python_name(word)


def python_name(name: str) -> str:
    """The name, with an underscore behind it where it is a word of Python's."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _plain_types(function: Function) -> list[str]:
    """Of the parameters, as C++ has them."""
    return [re.sub(r"^v\(\.\.\.\).*", "...", p.type) for p in function.given]


def _function(
    node: ElementTree.Element, has: dict[str, str], typemaps: Typemaps
) -> Function:
    if has.get("feature_kwargs", "0") not in ("", "0"):
        raise TreeError(
            f'{has["name"]}: %feature("kwargs") is not needed, all functions take '
            "keywords: leave it out"
        )
    parameters, outputs = [], []
    for number, parm in enumerate(node.findall("attributelist/parmlist/parm"), 1):
        of = attributes(parm)
        if of.get("type") in ("void", "swigkit::Self"):
            continue
        if typemaps.is_output(of):
            outputs.append(re.sub(r"[*&]$", "", cpp_type(of["type"])).strip())
        if typemaps.is_left_out(of):
            continue
        name = of.get("name", "") or f"arg{number}"
        if "swigkit::" in of.get("tmap_in", "swigkit::"):  # no typemap of the user's
            _check_dimensions(f"{has['name']}, {name}", cpp_type(of["type"]))
        parameters.append(
            Parameter(
                # Methods call their object so.
                "self_" if name == "self" else python_name(name),
                cpp_type(of["type"]),
                _source_text(of.get("value")),
            )
        )
    const = has.get("decl", "").startswith("q(const).")
    declared = has.get("decl", "").removeprefix("q(const).")
    _, rest = split_function(declared)
    return Function(
        name=_symbol(has),
        cpp=has["name"],
        wrapper=has["wrap_name"],
        parameters=parameters,
        result=cpp_type(rest + has.get("type", "void")),
        static="static" in has.get("storage", "").split(),
        virtual="virtual" in has.get("storage", "").split(),
        const=const,
        doc=_doc(has),
        features=_features(has),
        extended="feature_extend" in has,
        implicit="default_constructor" in has,
        outputs=outputs,
        gives="feature_new" in has,
    )


def _declaration(node: ElementTree.Element, has: dict[str, str]) -> Declaration:
    parameters = map(attributes, node.findall("attributelist/parmlist/parm"))
    types = [cpp_type(of["type"]) for of in parameters if of.get("type") != "void"]
    private = has.get("access") == "private"
    name = has["name"]
    python = _symbol(has) if "sym_name" in has else name
    pure, ignored = has.get("abstract") == "1", "feature_ignore" in has
    gives = "feature_new" in has
    throws = has.get("noexcept") == "false"
    virtual = "virtual" in has.get("storage", "").split()
    return Declaration(
        name, python, types, pure, private, ignored, gives, throws, virtual
    )


def _variable(has: dict[str, str], inside: Class | None) -> Variable | None:
    storage = has.get("storage", "").split()
    constant = "wrappedasconstant" in has
    wrapper = has.get("wrap_name", "")
    if not wrapper and not constant:
        return None
    kind = cpp_type(has.get("decl", "") + has["type"])
    _check_dimensions(has["name"], kind)
    return Variable(
        name=_symbol(has),
        cpp=has["name"],
        type=kind,
        wrapper=wrapper,
        readonly="feature_immutable" in has or kind.startswith("const "),
        static="static" in storage,
        doc=_doc(has),
        value=has.get("value", ""),
        protected=has.get("access") == "protected",
        bits=has.get("bitfield", ""),
    )


def _check_dimensions(name: str, kind: str) -> None:
    if re.search(r"(\[\w*\]){3}", kind):
        raise TreeError(
            f"{name}: expected an array of at most two dimensions, got {kind}. "
            "%ignore it, and %extend what takes a std::array of arrays"
        )


def _source_text(value: str | None) -> str | None:
    """A default as C++ has it: -xmlout doubles each backslash."""
    return value.replace("\\\\", "\\") if value else value

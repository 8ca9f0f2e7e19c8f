# SPDX-License-Identifier: Apache-2.0
"""SWIG's parse tree of an interface (``-xmlout``) as the records of records.py.

Read by step.py, which makes the classes, and by stubs.py, which writes their types.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from .completion import complete
from .nested import PREFIX
from .nodes import (
    plain_types,
    python_name,
    python_symbol,
    read_declaration,
    read_doc,
    read_features,
    read_function,
    read_variable,
)
from .notation import cpp_type, pointee, scope
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
from .xml_tree import TreeError, attributes, parse

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
    "python_name",
    "read",
]


# What %exceptions writes (swigkit/errors.i).
EXCEPTION = re.compile(
    r"swigkit::add_exception\s*<\s*(.+?)\s*>\s*\(\s*\w+,\s*\"(\w+)\",\s*(.+)\)\)"
)
# Parameters by which C passes as many as it likes.
OPEN_ENDED = {"...", "va_list", "std::va_list"}


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
    complete(reader.module)
    reader.module.left_out += [
        *unknown_names(text, reader.module),
        *reader.typemaps.unused(),
    ]
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
                if inside and (name := attributes(child).get("uname")):
                    inside.used.append(cpp_type(name))
                self.visit(child, inside)
                self.using = False
            elif child.tag == "top":
                self.visit(child, inside)

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
        name = python_name(last) if nested else python_symbol(has)
        cls = Class(
            name=name,
            flat=has["sym_name"] if has["sym_name"] != name else "",
            cpp=cpp_type(has["name"]),
            bases=bases,
            abstract="abstracts" in has and "feature_notabstract" not in has,
            overridable=has.get("feature_director", "0") not in ("", "0"),
            doc=read_doc(has),
            features=read_features(has),
            imported=self.imported,
        )
        self.module.classes.append(cls)
        self.visit(node, cls)

    def _constructor(
        self, node: ElementTree.Element, has: dict[str, str], inside: Class | None
    ) -> None:
        if not inside or "wrap_name" not in has:
            return
        function = read_function(node, has, self.typemaps)
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
        types = plain_types(function)
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
            inside.declared.append(read_declaration(node, has))
        hidden = has.get("access", "public") == "private" and not friend
        if inside and has.get("kind") == "variable":
            found = re.search(r"<.*\bunique_ptr<", has.get("type", ""))
            inside.single |= found is not None
        if inside and hidden:
            inside.private.add(has["name"])
        if "feature_ignore" in has or hidden:
            return
        if self.imported:
            return
        if has.get("kind") == "function":
            if "wrap_name" not in has:
                return
            function = read_function(node, has, self.typemaps)
            types = plain_types(function)
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
            variable = read_variable(has)
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
        members, docs = [], {}
        for item in node.findall("enumitem"):
            of = attributes(item)
            if "sym_name" in of and "feature_ignore" not in of:
                member = python_symbol(of)
                # enum.Enum has this one itself.
                member = "mro_" if member == "mro" else member
                members.append((member, of["value"]))
                if doc := read_doc(of):
                    docs[member] = doc
        enum = Enum(
            name=python_symbol(has),
            cpp=cpp_type(has["enumtype"]),
            scoped="scopedenum" in has,
            members=members,
            flags="feature_swigkit_flags" in has,
            doc=read_doc(has),
            docs=docs,
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
            member = Variable(python_symbol(of), of["value"], "int", "", True)
            member.enumerator = True
            member.static = inside is not None
            (inside or self.module).variables.append(member)

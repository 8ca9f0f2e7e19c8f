# SPDX-License-Identifier: Apache-2.0
"""Nodes of SWIG's tree as records: functions, declarations and variables, and what all
of them have, names, comments and features."""

from __future__ import annotations

import inspect
import keyword
import re
import xml.etree.ElementTree as ElementTree

from .nested import PREFIX, operator_name
from .notation import cpp_type, split_function
from .records import Declaration, Function, Parameter, Variable
from .typemaps import Typemaps
from .xml_tree import TreeError, attributes


def read_features(has: dict[str, str]) -> dict[str, str]:
    """What the kit's own lines say: feature_swigkit_X without its prefix."""
    prefix = "feature_swigkit_"
    return {k.removeprefix(prefix): v for k, v in has.items() if k.startswith(prefix)}


# SWIG translates the comments of functions, and leaves those of classes and enums.
DOXYGEN_BRIEF = re.compile(r"(?m)(?:^|(?<=\s))[@\\]brief\s+")
FRAME = re.compile(r"^\*(?=\s|$) ?")


def read_doc(has: dict[str, str]) -> str:
    """What the interface says of it, or the comment above it."""
    text = has.get("python_docstring") or has.get("feature_docstring") or ""
    text = text.replace("\\\\", "\\")  # SWIG wrote it for a Python string
    if text:
        return inspect.cleandoc(text)
    text = has.get("doxygen", "").replace("\\\\", "\\")
    lines = [FRAME.sub("", line.strip()) for line in text.strip().splitlines()]
    return DOXYGEN_BRIEF.sub("", "\n".join(lines))


def python_symbol(has: dict[str, str]) -> str:
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


def _parameter_name(name: str, others: set[str]) -> str:
    """Methods call their object `self`, and words of Python's cannot be said."""
    if name != "self" and not keyword.iskeyword(name):
        return name
    return _unused(f"{name}_", others)


def _unused(name: str, others: set[str]) -> str:
    while name in others:
        name += "_"
    return name


def plain_types(function: Function) -> list[str]:
    """Of the parameters, as C++ has them."""
    return [re.sub(r"^v\(\.\.\.\).*", "...", p.type) for p in function.given]


# Of a method, before its parameters: `int at(int) const &` is r.q(const).f(int).
QUALIFIERS = re.compile(
    r"(?:[rz]\.)?(?:q\((?:volatile )?(?P<const>const)?(?: ?volatile)?\)\.)?(?=f\()"
)


def read_function(
    node: ElementTree.Element, has: dict[str, str], typemaps: Typemaps
) -> Function:
    """What is wrapped; TreeError for parameters that the kit does not know."""
    if has.get("feature_kwargs", "0") not in ("", "0"):
        raise TreeError(
            f'{has["name"]}: %feature("kwargs") is not needed, all functions take '
            "keywords: leave it out"
        )
    parameters, outputs = [], []
    parms = list(map(attributes, node.findall("attributelist/parmlist/parm")))
    given = {of.get("name", "") for of in parms}
    for number, of in enumerate(parms, 1):
        if of.get("type") in ("void", "swigkit::Self"):
            continue
        if typemaps.is_output(of):
            outputs.append(re.sub(r"[*&]$", "", cpp_type(of["type"])).strip())
        if typemaps.is_left_out(of):
            continue
        name = of.get("name", "") or _unused(f"arg{number}", given)
        if "swigkit::" in of.get("tmap_in", "swigkit::"):  # no typemap of the user's
            _check_dimensions(f"{has['name']}, {name}", cpp_type(of["type"]))
        parameters.append(
            Parameter(
                _parameter_name(name, given),
                cpp_type(of["type"]),
                _source_text(of.get("value")),
            )
        )
    qualifiers = QUALIFIERS.match(has.get("decl", ""))
    const = bool(qualifiers and qualifiers["const"])
    _, rest = split_function(
        has.get("decl", "")[qualifiers.end() if qualifiers else 0 :]
    )
    return Function(
        name=python_symbol(has),
        cpp=has["name"],
        wrapper=has["wrap_name"],
        parameters=parameters,
        result=cpp_type(rest + has.get("type", "void")),
        static="static" in has.get("storage", "").split(),
        virtual="virtual" in has.get("storage", "").split(),
        const=const,
        doc=read_doc(has),
        features=read_features(has),
        extended="feature_extend" in has,
        implicit="default_constructor" in has,
        outputs=outputs,
        gives="feature_new" in has,
    )


def read_declaration(node: ElementTree.Element, has: dict[str, str]) -> Declaration:
    """A method as its class has it, wrapped or not."""
    parameters = map(attributes, node.findall("attributelist/parmlist/parm"))
    types = [cpp_type(of["type"]) for of in parameters if of.get("type") != "void"]
    private = has.get("access") == "private"
    name = has["name"]
    python = python_symbol(has) if "sym_name" in has else name
    pure, ignored = has.get("abstract") == "1", "feature_ignore" in has
    gives = "feature_new" in has
    throws = has.get("noexcept") == "false"
    qualifiers = QUALIFIERS.match(has.get("decl", ""))
    return Declaration(
        *(name, python, types, pure, private, ignored, gives, throws),
        virtual="virtual" in has.get("storage", "").split(),
        const=bool(qualifiers and qualifiers["const"]),
        final="final" in has,
        static="static" in has.get("storage", "").split(),
    )


def read_variable(has: dict[str, str]) -> Variable | None:
    """A member, a global or a constant; None for what SWIG has not wrapped."""
    storage = has.get("storage", "").split()
    constant = "wrappedasconstant" in has
    wrapper = has.get("wrap_name", "")
    if not wrapper and not constant:
        return None
    kind = cpp_type(has.get("decl", "") + has["type"])
    _check_dimensions(has["name"], kind)
    return Variable(
        name=python_symbol(has),
        cpp=has["name"],
        type=kind,
        wrapper=wrapper,
        readonly="feature_immutable" in has or kind.startswith("const "),
        static="static" in storage,
        doc=read_doc(has),
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

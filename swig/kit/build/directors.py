# SPDX-License-Identifier: Apache-2.0
"""Directors: what SWIG writes for virtual methods that Python may override.

C++ calls them on any thread.  A method that Python does not override is C++'s own, and
gets the arguments as they are: references, and what can only be moved.
"""

from __future__ import annotations

import itertools
import re

from .notation import pointee
from .python_types import split
from .records import Class, Declaration, Module
from .wrapper import StepError

__all__ = ["director", "guard", "is_copied"]

METHOD = re.compile(
    r"^(?:\S.*?\b)?SwigDirector_(\w+)::"
    r"(operator ?\(\)|operator ?[^\w\s(]+|operator [\w:<>, ]+?[&* ]*|\w+)"
    r"\((.*?)\)(?: ?(?:throw|noexcept) ?\([^()\n]*\))?[^()\n]*\{\n",
    re.MULTILINE,
)
END = re.compile(r"^SwigDirector_(\w+)::~SwigDirector_\1\(\) \{\n", re.M)
LENT = re.compile(r"swigkit_lent_ ?## ?(\w+)")
LENT_NAME = re.compile(r"\bswigkit_lent_(\w+)\.hold")
CALL = re.compile(r"= (PyObject_Call\w*\(.*\));$", re.MULTILINE)
NAME = re.compile(
    r'swig::SwigVar_PyObject swig_method_name = PyUnicode_FromString\("(\w+)"\);'
)
RESULT = re.compile(r"^  (?:SwigValueWrapper< ?(.+?) ?>|(\S.*?)) c_result ?;\n", re.M)
# SWIG counts the calls of a protected method in a std::map, on any thread.
INNER = re.compile(r'^ *swig_set_inner\("\w+", \w+\);\n', re.MULTILINE)
# What `%output` writes of an override's result, and where conversions of it begin.
WRITTEN = "swigkit::written("
FROM_RESULT = re.compile(r"(\bload|\bto_cpp(?:<.*?>)?)\(result,")
# SWIG counts parameters as outputs that only have the names of such.
NO_TUPLE = re.compile(
    r"^ *PyObject \*output;\n|^ *if \(!PyTuple_Check\(result\)\) \{\n[^{}]*\}\n", re.M
)
OUTPUT_ITEM = re.compile(r"^ *output = PyTuple_GetItem\(result, \d+\);\n", re.M)
# An override's result by pointer; of a %newobject method it is the caller's.
KEPT = "swigkit::keep_result(swig_get_self(), result);\n    c_result = pointer"
FIRST_OUTPUT = re.compile(r"^  \{\n(?=[^\n]*\(swigkit_items)", re.MULTILINE)
WHERE = re.compile(r'(\bswigkit::Argument)\{\s*"\w+", "(\w*)"(, true)?\s*\}')
BEGIN = """\
  static constinit swigkit::Overridable swigkit_method{{"{name}",
                                                       swigkit::class_of<{cpp}>}};
  std::optional<swigkit::GilAcquire> gil(std::in_place);
  swigkit::check_director(swig_get_self(), dynamic_cast<const void *>(this));
  {otherwise}
"""
OWN = """\
if (!swigkit_method.is_overridden(swig_get_self())) {{
    gil.reset();
    return {cpp}::{method}({arguments});
  }}"""
# An override of a method that throws nothing may raise nevertheless.
NOTHING_THROWN = re.compile(
    r"\)\s*(?:const\s*)?(?:noexcept(?: ?\(true\))?|throw ?\(\))\s*\{\n$"
)
CAUGHT = """\
  try {{
{body}
  }} catch (...) {{ swigkit::show_lost_error(); }}
  return swigkit::nothing< {result} >();"""
PURE = "swigkit_method.check_overridden(swig_get_self());"


# Of a director as a copy (swigkit/pickling.h).
COPIED = """\
    template <class From>
    {director}(PyObject *self, swigkit::Original<From> from)
        : {cpp}(std::forward<From>(from.object)), Swig::Director(self) {{
      SWIG_DIRECTOR_RGTR(({cpp} *)this, this);
    }}
"""


def director(cls: Class) -> str:
    """SWIG's class, derived from this one, that calls what Python overrides."""
    return f"SwigDirector_{cls.symbol}"


def is_copied(cls: Class, module: Module) -> bool:
    """Whether there are objects of Python subclasses that are made of others.  C++ does
    not know that a container of what is not copied cannot be copied either."""
    single = any(one.single for one in module.chain(cls))
    return "copyable" in cls.features or ("state" in cls.features and not single)


def guard(text: str, module: Module) -> str:
    """The wrapper's text with these methods changed."""
    text = _copied(text, module)
    text = END.sub(
        r"\g<0>  swigkit::end_director(swig_get_self(), dynamic_cast<void *>(this));\n",
        text,
    )
    for one in module.classes:
        for function in one.hidden:
            if function.cpp == one.name and len(function.parameters) == 1:
                # A constructor that is not inherited after all.
                name = director(one)
                base = pointee(function.parameters[0].type)
                head = rf"^{name}::{name}\(PyObject \*self, ?(?:const )?{base} "
                text = re.sub(head + r".*?^\}\n", "", text, flags=re.M | re.S)
        for name in {d.name for c in module.chain(one) for d in c.declared if d.throws}:
            # SWIG leaves `(false)` out, in the class and before the method's body.
            own = rf"{director(one)}\b"
            for place in (
                rf"(?:class|struct) {own}(?:(?!\n\}};).)*?\n *virtual [^;\n]*\b",
                rf"^\S[^\n]*\b{own}::",
            ):
                head = rf"({place}{name}\([^;\n]*) noexcept(?=;$| \{{$)"
                text = re.sub(head, r"\1", text, flags=re.M | re.S)
    classes = {cls.symbol: cls for cls in module.classes}
    pieces, at = [], 0
    finals = []
    for found in METHOD.finditer(text):
        end = text.index("\n}\n", found.end())
        body, cls = text[found.end() : end], classes.get(found[1])
        if "swig_get_self()" in body and cls:
            const = re.match(r"\)\s*const\b", text[found.end(3) :]) is not None
            declared = _declaration(module, cls, found[2], _types(found[3]), const)
            if declared and declared[1].final:
                pieces.append(text[at : found.start()])
                at = end + len("\n}\n")
                finals.append(found)
                continue
            body = _guarded(body, cls, found[2], found[3], declared)
            if NOTHING_THROWN.search(found[0]):
                result = found[0].partition(f"SwigDirector_{found[1]}::")[0].strip()
                result = result or found[2].removeprefix("operator ")
                body = CAUGHT.format(body=body, result=result)
            pieces += [text[at : found.end()], body]
            at = end
    text = "".join(pieces) + text[at:]
    for found in finals:  # C++ does not let them be overridden
        line = found[0].replace(f"SwigDirector_{found[1]}::", "").rpartition("{")[0]
        start = text.index(f"struct SwigDirector_{found[1]} ")
        before, _, after = text[start:].partition(f" virtual {line.strip()};\n")
        text = text[:start] + before + after
    return text


def _copied(text: str, module: Module) -> str:
    """With one more constructor in the directors of classes that are copied."""
    for cls in module.classes:
        if cls.overridable and not cls.imported and is_copied(cls, module):
            head = rf"^(?:class|struct) {director(cls)}\b[^{{;]*\{{\s*public:\n"
            found = re.search(head, text, re.M)
            if not found:
                raise StepError(f"{cls.cpp}: found no director")
            new = COPIED.format(director=director(cls), cpp=cls.cpp)
            text = text[: found.end()] + new + text[found.end() :]
    return text


def _parameters(taken: str) -> list[str]:
    return [p for p in split(taken) if p not in ("", "void")]


def _types(taken: str) -> list[str]:
    return [_squashed(p) for p in _parameters(taken)]


def _guarded(
    body: str,
    cls: Class,
    method: str,
    taken: str,
    declared: tuple[str, Declaration] | None,
) -> str:
    named = NAME.search(body)
    name = declared[1].python if declared else named[1] if named else method
    otherwise = ""
    if declared and declared[1].pure:
        otherwise = PURE
    elif declared and "..." not in taken:
        names = (
            re.search(r"(\w+)(?:\)\(.*\)|\[\w*\])*$", p) for p in _parameters(taken)
        )
        arguments = [f"std::forward<decltype({n[1]})>({n[1]})" for n in names if n]
        otherwise = OWN.format(
            cpp=declared[0], method=method, arguments=", ".join(arguments)
        )
    body = NAME.sub("PyObject *swig_method_name = swigkit_method.name;", body)
    if declared and declared[1].gives:
        given = f'swigkit::give_result(pointer, result, "{cls.name}.{name}")'
        if KEPT not in body and "c_result = pointer" in body:  # else deleted twice
            raise StepError(f"{cls.name}.{name}: found no result of %newobject")
        body = body.replace(KEPT, f"c_result = {given}")
    body = INNER.sub("", body)
    body = CALL.sub(r"= swigkit::call_python([&] { return \1; });", body)
    body = _with_outputs(body)
    body = WHERE.sub(rf'\1{{"{cls.name}.{name}", "\2"\3}}', body)
    body = LENT.sub(r"swigkit_lent_\1", body)
    lent = "".join(
        f"  swigkit::Lent< std::remove_cvref_t< decltype({name}) > > "
        f"swigkit_lent_{name};\n"
        for name in dict.fromkeys(LENT_NAME.findall(body))
    )
    # A class need not have a constructor without arguments.
    plain = RESULT.search(body)
    if plain and "c_result = held" in body:
        kind = plain[1] or plain[2]
        body = RESULT.sub(f"  std::optional< {kind} > c_result;\n", body)
        body = body.replace("c_result = held", "c_result.emplace(held")
        body = re.sub(r"(c_result\.emplace\(held\w*\.take\(\))", r"\1)", body)
        body = re.sub(r"return .*\bc_result;", "return *std::move(c_result);", body)
    return BEGIN.format(name=name, cpp=cls.cpp, otherwise=otherwise) + lent + body


def _with_outputs(body: str) -> str:
    """An override's result and what C++ gets beside it are items of a tuple."""
    body = OUTPUT_ITEM.sub("", NO_TUPLE.sub("", body)).replace("(output,", "(result,")
    count = body.count(WRITTEN) + ("c_result" in body)
    where = WHERE.search(body)
    if WRITTEN not in body or count < 2 or not where:
        return body
    number = iter(range(count))
    body = FROM_RESULT.sub(
        lambda found: f"{found[1]}(swigkit_items[{next(number)}],", body
    )
    items = f"  const swigkit::Items swigkit_items(result, {count}, {where[0]});\n"
    return FIRST_OUTPUT.sub(lambda found: items + found[0], body, count=1)


def _declaration(
    module: Module, cls: Class, method: str, types: list[str], const: bool
) -> tuple[str, Declaration] | None:
    """The class, this or a base, whose method the director's is; None: not known."""
    plain = method.replace(" ", "")
    seen = module.chain(cls)
    for alike, exact in itertools.product((True, False), repeat=2):
        for here in seen:
            for one in here.declared:
                if alike and one.const != const:
                    continue
                same = [_squashed(f"{t} name") for t in one.types]
                fits = same == types if exact else len(same) == len(types)
                if one.name.replace(" ", "") == plain and fits:
                    return None if one.private else (here.cpp, one)
    return None


def _squashed(parameter: str) -> str:
    """A parameter's type to be compared: without its name, const and blanks."""
    plain = re.sub(r"\b(const|struct|class|enum)\b", "", parameter).strip()
    return re.sub(r"\s+", "", re.sub(r"\w+$", "", plain))

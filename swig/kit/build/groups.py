# SPDX-License-Identifier: Apache-2.0
"""Groups: all functions of one name, and how Python shows their parameters.

A group is a C++ class with one function `call` (swigkit/slots.h), which sorts arguments
or chooses among overloads.
"""

from __future__ import annotations

import re

from . import tree
from .notation import cpp_text, pointee
from .python_types import FLOATS, INTS
from .wrapper import Wrapper

PYTHON_LITERAL = re.compile(
    r"-?(?!0\d)\d+(?:\.\d*)?(?:e[-+]?\d+)?|0[xX][0-9a-fA-F]+|0[bB][01]+|0o[0-7]+"
)
# swigkit::ArgumentKind: what a plain type takes as it is.
INT, FLOAT, TEXT, BOOL, SEQUENCE, DICT, OBJECT = (1 << i for i in range(7))
ALL = (1 << 7) - 1
KINDS = {
    **dict.fromkeys(INTS, INT),
    **dict.fromkeys(FLOATS, FLOAT),
    **dict.fromkeys(("std::string", "std::string_view"), TEXT),
    # What is of a wrapped class may be a sequence, and be called.
    **dict.fromkeys(("std::vector", "std::list", "std::deque"), SEQUENCE | OBJECT),
    "std::function": OBJECT,
    "bool": BOOL,
}
MOST = 32  # parameters: swigkit::kMaxParameters


class Groups:
    """Writes groups behind SWIG's functions."""

    def __init__(self, wrapper: Wrapper) -> None:
        self.wrapper = wrapper
        self.module = wrapper.module
        self.parts: list[str] = []  # what is written
        self.operators: dict[str, dict[str, list[tree.Function]]] = {}
        self.free: dict[str, list[tree.Function]] = {}
        self._count = 0
        self._sort_functions()

    def _sort_functions(self) -> None:
        """Free functions by name, but for operators, which become their classes'."""
        for function in self.module.functions:
            found = self.module.operator_of(function)
            if found:
                cls, name, function.operand = found
                group = self.operators.setdefault(cls.cpp, {}).setdefault(name, [])
                group.append(function)
            elif function.is_operator:  # that of an enum is its class's in Python
                self.wrapper.drop_function(function)
            else:
                self.free.setdefault(function.name, []).append(function)

    def write(self, title: str, overloads: list[tree.Function], member: bool) -> str:
        """Writes the group of functions of one name; returns its C++ name."""
        overloads = self._nearest_first(overloads)
        title = overloads[0].features.get("error_name", title).strip('"')
        self._count += 1
        group = f"swigkit_group_{self._count}"
        tables = [
            self._table(group, i, f, title, member) for i, f in enumerate(overloads)
        ]
        size = 2 + max(len(f.parameters) for f in overloads)
        if len(overloads) == 1:
            call = _ONE.format(
                parameters=tables[0],
                size=size,
                run=self._run(overloads[0]),
                rest=_REST if overloads[0].rest else "",
            )
        elif any(f.rest for f in overloads):
            raise tree.TreeError(f"{title}: expected no overloads beside swigkit::Args")
        else:
            rows = ",\n      ".join(
                f"{{{table}, {self._run(f)}, {cpp_text(_signature(f))}, "
                f"{self._refused(f)}}}"
                for f, table in zip(overloads, tables)
            )
            call = _SEVERAL.format(rows=rows, count=len(overloads))
        self.parts.append(_GROUP.format(group=group, call=call))
        return group

    def _nearest_first(self, overloads: list[tree.Function]) -> list[tree.Function]:
        """Those that take a derived class before those that take its base, and an enum
        before an int, which its members are in Python."""
        found: list[tree.Function] = []
        for function in overloads:
            wider = (i for i, f in enumerate(found) if self._is_nearer(function, f))
            found.insert(next(wider, len(found)), function)
        return found

    def _is_nearer(self, one: tree.Function, other: tree.Function) -> bool:
        pairs = [
            (pointee(a.type), pointee(b.type)) for a, b in zip(one.given, other.given)
        ]
        same = len(one.given) == len(other.given) and bool(pairs)
        return (
            same
            and any(a != b for a, b in pairs)
            and all(a == b or self.module.is_narrower(a, b) for a, b in pairs)
        )

    def _refused(self, function: tree.Function) -> int:
        """The kinds (swigkit/call.h) that the first parameter does not take as they
        are: where they are known, the overload need not be tried."""
        if not function.given:
            return 0
        cpp = re.sub(r"^const |\s*[&*]+$", "", function.given[0].type)
        if self.module.class_of(cpp):
            return ALL & ~OBJECT
        takes = KINDS.get(re.sub(r"<.*", "", cpp))
        return ALL & ~takes if takes is not None else 0

    def _table(
        self, group: str, number: int, function: tree.Function, title: str, member: bool
    ) -> str:
        if function.made:
            self.parts.append(function.made.replace("{title}", title))
        else:
            self.wrapper.take_array(function, title, member)
        names = [p.name for p in function.named]
        if len(names) > MOST:
            raise tree.TreeError(f"{title}: expected at most {MOST} parameters")
        for i in range(min(function.positional_only, len(names))):
            names[i] = f"/{names[i]}"
        entries = ", ".join(f'{{"{n}"}}' for n in names) or "{nullptr}"
        variable = f"{group}_names_{number}"
        self.parts.append(f"static swigkit::Name {variable}[] = {{{entries}}};")
        rest = ", true" if function.rest else ""
        return (
            f'{{"{title}", {variable}, {function.required}, {len(names)}, '
            f"{function.positional}{rest}}}"
        )

    def _run(self, function: tree.Function) -> str:
        """The function, or what turns the operands of a free operator round for it."""
        if function.operand != 2:
            return function.wrapper
        name = f"{function.wrapper}_turned"
        text = _TURNED.format(name=name, wrapper=function.wrapper)
        if text not in self.parts:
            self.parts.append(text)
        return name


_ONE = """\
static const swigkit::Parameters parameters = {parameters};
    PyObject *slots[{size}];
    const bool first = self != nullptr;
    slots[0] = self;
    if (is_operator) {{
      swigkit::Matching matching{{false, false, true}};
      if (!swigkit::fit(parameters, args, nargs, keywords, slots + first)) {{
        Py_RETURN_NOTIMPLEMENTED;
      }}
      PyObject *result = {run}(object, slots, &matching);
      if (!matching.refused) return result;
      Py_RETURN_NOTIMPLEMENTED;
    }}
    if (!swigkit::take_arguments(parameters, args, nargs, keywords, slots + first)) {{
      return nullptr;
    }}{rest}
    return {run}(object, slots, nullptr);"""
_REST = """
    swigkit::PyRef rest(swigkit::rest_of(args, nargs, parameters.positional));
    if (!rest) return nullptr;
    slots[first + parameters.total] = rest.get();"""
_SEVERAL = """\
static const swigkit::Overload overloads[] = {{
      {rows}}};
    return swigkit::call_overload(overloads, {count}, object, self, args, nargs,
                                  keywords, is_operator);"""
_GROUP = """\
struct {group} {{
  static PyObject *call(PyObject *object, PyObject *self, PyObject *const *args,
                        Py_ssize_t nargs, PyObject *keywords, bool is_operator) {{
    {call}
  }}
}};"""
_TURNED = """\
static PyObject *{name}(PyObject *self, PyObject **slots,
                        swigkit::Matching *matching) {{
  PyObject *turned[2] = {{slots[1], slots[0]}};
  return {wrapper}(self, turned, matching);
}}"""


def documented(name: str, overloads: list[tree.Function], member: bool) -> str:
    """name(a, b=1.5), which inspect.signature() reads, the comment, and before it what
    overloads take, as C++ has it."""
    first = ["$self"] if member else []
    if len(overloads) == 1:
        shown = first + python_parameters(overloads[0])
    else:
        shown = [*first, "*args", "**kwargs"]
    texts = comments(overloads)
    if len(overloads) > 1:
        texts.insert(0, "\n".join(f"{name}{_signature(f)}" for f in overloads))
    return f"{name}({', '.join(shown)})\n--\n\n" + "\n\n".join(texts)


def comments(overloads: list[tree.Function]) -> list[str]:
    """SWIG gives one of several that of all."""
    texts = [f.doc for f in overloads if f.doc]
    return [t for t in texts if t.startswith("*Overload 1:*")] or texts


def _signature(function: tree.Function) -> str:
    return "(" + ", ".join(_shown(p) for p in function.given) + ")"


def _shown(p: tree.Parameter) -> str:
    return f"{p.type} {p.name}" + ("" if p.default is None else f" = {p.default}")


def python_parameters(function: tree.Function) -> list[str]:
    """All parameters in Python's notation, with / and * where they belong."""
    shown = [python_parameter(p) for p in function.named]
    if function.rest:
        shown.append(f"*{function.rest.name}")
    elif function.positional < len(shown):
        shown.insert(function.positional, "*")
    if function.positional_only:
        shown.insert(function.positional_only, "/")
    return shown


def python_parameter(p: tree.Parameter) -> str:
    """A parameter in Python's notation."""
    if p.default is None:
        return p.name
    if p.is_null:
        return f"{p.name}=None"
    known = {"true": "True", "false": "False", "nullptr": "None", "NULL": "None"}
    known |= {"std::nullopt": "None", "Py_None": "None"}
    value = known.get(p.default, p.default)
    if re.fullmatch(r"0[0-7]+", value):
        value = f"0o{value[1:]}"
    if re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?[fFuUlL]+", value):
        value = value.rstrip("fFuUlL")
    if value not in known.values() and not PYTHON_LITERAL.fullmatch(value):
        value = value if re.fullmatch(r'"(?:[^"\\]|\\[\'"\\nt])*"', value) else "..."
    return f"{p.name}={value}"

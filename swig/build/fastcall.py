# SPDX-License-Identifier: Apache-2.0
"""Gives SWIG's wrappers CPython's fast calling convention.

Run by swig/build/products.py on SWIG's output, as ``fastcall.py WRAPPER OUTPUT``.
SWIG 4.5.1 makes METH_VARARGS functions, so each call builds a tuple, and often a dict,
to have them taken apart again.  This rewrites each such function and its line in the
method table to METH_FASTCALL; swig/python/fastcall.h sorts the arguments.

Nothing is guessed: a function in a method table that does not look exactly as SWIG
4.5.1 writes it stops the build with the function's name.  Constructors, which CPython
calls with a tuple and a dict, only get the quicker sorting.  Left as they are:
functions behind a type slot (SWIG calls them with a tuple) and METH_O.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

INCLUDE = '#include "python/fastcall.h"\n\n'
# Stands once in every wrapper, after the #includes and outside extern "C".
INCLUDE_BEFORE = "/* -------- TYPES TABLE (BEGIN) -------- */"

# { "name", _wrap_name, METH_...,  in a table of functions or of a class's methods
TABLE_ROW = re.compile(
    r'^(?P<start>[ \t]+\{ "(?P<name>\w+)", )'
    r"(?:\(PyCFunction\)\(void\(\*\)\(void\)\))?(?P<function>_wrap_\w+), "
    r"(?P<flags>METH_[A-Z_|]+)(?P<end>, )",
    re.MULTILINE,
)
# The same with the docstring after it.
DOCUMENTED_ROW = re.compile(
    r'^[ \t]+\{ "(?P<name>\w+)", (?:\(PyCFunction\)\(void\(\*\)\(void\)\))?'
    r"(?P<function>_wrap_\w+), (?P<flags>METH_[A-Z_|]+), "
    r'(?P<doc>NULL|(?:"(?:\\.|[^"\\])*"\s*)+)\}',
    re.MULTILINE,
)
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
PYTHON_LITERAL = re.compile(r"True|False|-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
# Lines that may have METH_VARARGS in the end: those of SWIG's runtime.
RUNTIME_ROW = re.compile(r"^ *\{\"\w+\", +SwigPyObject_\w+, +METH_VARARGS,")
# SWIG's functions between a type slot and a wrapper: they pass a tuple.
CLOSURE = re.compile(r"^SWIGPY_\w+_CLOSURE\((_wrap_\w+)\)", re.MULTILINE)
DEFINITION = (
    r"^SWIGINTERN PyObject \*%s\(PyObject \*self, PyObject \*args"
    r"(?P<keywords>, PyObject \*kwargs)?\) \{\n(?P<body>.*?)^\}\n"
)
CONSTRUCTOR = re.compile(
    r"^SWIGINTERN int (?P<function>_wrap_new_\w+)\(PyObject \*self, PyObject \*args, "
    r"PyObject \*kwargs\) \{\n(?P<body>.*?)^\}\n",
    re.MULTILINE | re.DOTALL,
)
PARSE_KEYWORDS = re.compile(
    r"if \(!PyArg_ParseTupleAndKeywords\(args, kwargs, "
    r'"(?P<format>[^"]*):(?P<function>\w+)", kwnames(?P<targets>(?:, &\w+)*)\)\) '
    r"SWIG_fail;"
)
KEYWORD_NAMES = re.compile(r"char \* kwnames\[\] = \{\n(?P<names>[^}]*)\};")
UNPACK = re.compile(
    r"(?P<head>if \(!(?P<count>\(argc = )?)"
    r'SWIG_Python_UnpackTuple\(args, "(?P<function>\w+)", '
    r"(?P<required>\d+), (?P<total>\d+), (?P<slots>\w+(?:\+1)?)\)"
    r"(?P<tail>\)?\) SWIG_fail;)"
)
# {"$symname", "$1_name"} of our typemaps, as SWIG lays it out.
WHERE = re.compile(r'(?P<start>\{\s*)"(?P<symbol>\w+)", "(?=\w+"\s*\})')
NO_PARAMETERS = ", 0, 0, 0)) SWIG_fail;"  # the end of SWIG_Python_UnpackTuple(...)


class FastcallError(Exception):
    """SWIG's output is not what this step was written for."""


@dataclass(frozen=True)
class Rewritten:
    """What was done: the new text, the functions changed and those left."""

    text: str
    changed: list[str]
    kept: list[str]


def rewrite(text: str) -> Rewritten:
    """Rewrites a wrapper's text; FastcallError names what it does not recognise."""
    if INCLUDE in text:
        raise FastcallError("this wrapper has been rewritten before")
    if text.count(INCLUDE_BEFORE) != 1:
        raise FastcallError(
            f"expected one line {INCLUDE_BEFORE!r}, got {text.count(INCLUDE_BEFORE)}"
        )
    text = _add_signatures(text)
    rows = list(TABLE_ROW.finditer(text))
    closures = set(CLOSURE.findall(text))

    changed, kept = [], []
    for row in rows:
        function, flags = row["function"], row["flags"].split("|")
        if "METH_VARARGS" not in flags:
            continue
        if function in closures:
            kept.append(function)
            continue
        uses = len(re.findall(rf"\b{function}\b", text))
        if uses != 2:
            raise FastcallError(
                f"{function}: expected its definition and one row in a method table, "
                f"got {uses} uses"
            )
        text, convention = _rewrite_definition(text, function, row["name"])
        text = _rewrite_row(text, row, flags, convention)
        changed.append(function)
    for line in text.splitlines():
        if "METH_VARARGS" not in line or RUNTIME_ROW.match(line):
            continue
        row = TABLE_ROW.match(line)
        if not row or row["function"] not in kept:
            raise FastcallError(f"method table: unknown row {line.strip()!r}")
    text = CONSTRUCTOR.sub(_rewrite_constructor, text)
    text = _rename_in_errors(text, rows)
    text = text.replace(INCLUDE_BEFORE, INCLUDE + INCLUDE_BEFORE)
    return Rewritten(text, changed, kept)


def _add_signatures(text: str) -> str:
    """Docstrings that begin with "name(a, b=1.0)\\n--\\n\\n", which CPython shows as
    the signature; where a function takes keywords or nothing, as others have no
    names."""
    rows = list(DOCUMENTED_ROW.finditer(text))
    for row in reversed(rows):
        parameters = _parameters(text, row)
        if parameters is None:
            continue
        found = STRING.findall(row["doc"])
        doc = "".join(found).removeprefix("\\n")
        signed = f'"{row["name"]}({parameters})\\n--\\n\\n{doc}"'
        text = text[: row.start("doc")] + signed + text[row.end("doc") :]
    return text


def _parameters(text: str, row: re.Match) -> str | None:
    """The parameters in Python's notation; None when they have no names."""
    own = ["$self"] if "_wrap_" + row["name"] != row["function"] else []
    if row["flags"] == "METH_NOARGS":
        return ", ".join(own)
    found = re.search(DEFINITION % row["function"], text, re.MULTILINE | re.DOTALL)
    if not found or "METH_STATIC" in row["flags"]:
        return None
    body = found["body"]
    if NO_PARAMETERS in body:
        return ", ".join(own)
    table, parse = KEYWORD_NAMES.search(body), PARSE_KEYWORDS.search(body)
    if not table or not parse:
        return None
    names = re.findall(r'\(char \*\)"([^"]*)"', table["names"])
    required = len(parse["format"].partition("|")[0])
    first = 2 if own else 1
    parameters = names[:required]
    for i, name in enumerate(names[required:], required):
        parameters.append(f"{name}={_default(body, i + first)}")
    return ", ".join(own + parameters)


def _default(body: str, number: int) -> str:
    """The default value of SWIG's variable argN, where Python writes it alike."""
    found = re.search(rf"\barg{number} = (?:\([^()]*\) ?)?(.+?) ;", body)
    value = found[1] if found else ""
    value = {"true": "True", "false": "False"}.get(value, value)
    return value if PYTHON_LITERAL.fullmatch(value) else "..."


def _rename_in_errors(text: str, rows: list[re.Match]) -> str:
    """Our typemaps' errors with "C.f" for SWIG's "C_f", and "C" for "new_C"."""
    names = {row["function"][len("_wrap_") :]: row["name"] for row in rows}
    for found in CONSTRUCTOR.finditer(text):
        symbol = found["function"][len("_wrap_") :]
        names[symbol] = symbol[len("new_") :]
    return WHERE.sub(lambda found: _where(found, names), text)


def _where(found: re.Match, names: dict[str, str]) -> str:
    symbol = found["symbol"]
    title = _title(symbol, names[symbol]) if symbol in names else symbol
    return f'{found["start"]}"{title}", "'


def _rewrite_row(text: str, row: re.Match, flags: list[str], convention: str) -> str:
    new = [f for f in flags if f not in ("METH_VARARGS", "METH_KEYWORDS")]
    for flag in new:
        if flag not in ("METH_STATIC", "METH_CLASS"):
            raise FastcallError(f"{row['function']}: unknown flag {flag}")
    return text.replace(
        row.group(),
        f"{row['start']}(PyCFunction)(void(*)(void)){row['function']}, "
        f"{'|'.join([*new, convention])}{row['end']}",
    )


def _rewrite_definition(text: str, function: str, name: str) -> tuple[str, str]:
    """The text with the function's new definition, and its calling convention."""
    found = re.search(DEFINITION % function, text, re.MULTILINE | re.DOTALL)
    if not found:
        raise FastcallError(f"{function}: found no definition as SWIG 4.5.1 writes it")
    body, keywords = found["body"], bool(found["keywords"])
    if not keywords and NO_PARAMETERS in body:
        # SWIG says METH_VARARGS|METH_KEYWORDS for methods; the body is right for null.
        return text, "METH_NOARGS"
    if keywords:
        body = _keywords_body(
            function, name, body, "take_arguments(%s, args, nargs, keywords, slots)"
        )
    else:
        body = _positional_body(function, name, body)
    code = re.sub(r"//.*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", "", body, flags=re.DOTALL)
    for word in ("args", "kwargs", "kwnames"):
        # take_arguments(..., args, nargs, ...) is ours; any other use is not known.
        if len(re.findall(rf"\b{word}\b", code)) != (word == "args"):
            raise FastcallError(f"{function}: its body has another use of {word!r}")
    extra = ", PyObject *keywords" if keywords else ""
    definition = (
        f"SWIGINTERN PyObject *{function}(PyObject *self, PyObject *const *args, "
        f"Py_ssize_t nargs{extra}) {{\n{body}}}\n"
    )
    convention = "METH_FASTCALL|METH_KEYWORDS" if keywords else "METH_FASTCALL"
    return text[: found.start()] + definition + text[found.end() :], convention


def _rewrite_constructor(found: re.Match) -> str:
    function, body = found["function"], found["body"]
    # Overloads, and constructors without keywords, do not use PyArg_Parse...
    if "PyArg_ParseTupleAndKeywords" in body:
        call = "take_tuple(%s, args, kwargs, slots)"
        name = function.removeprefix("_wrap_new_")
        body = _keywords_body(function, name, body, call)
    return found.group().replace(found["body"], body)


def _keywords_body(function: str, name: str, body: str, call: str) -> str:
    """The body with `call`, given the parameters, instead of PyArg_Parse..."""
    parse = _only(PARSE_KEYWORDS, body, function, "PyArg_ParseTupleAndKeywords line")
    table = _only(KEYWORD_NAMES, body, function, "kwnames table")
    names = re.findall(r'\(char \*\)"([^"]*)"', table["names"])
    targets = re.findall(r"&(\w+)", parse["targets"])
    required, bar, optional = parse["format"].partition("|")
    if (
        set(required + optional) - {"O"}
        or (bar and not optional)
        or not len(names) == len(targets) == len(required + optional)
        or not all(n.isidentifier() and n.isascii() for n in names)
    ):
        raise FastcallError(
            f"{function}: format {parse['format']!r} does not fit names {names} and "
            f"variables {targets}"
        )
    title = _title(parse["function"], name)
    lines = [
        f"static const pkg::python::Parameters parameters = "
        f'{{"{title}", names, {len(required)}, {len(names)}}};',
        f"PyObject *slots[{len(names)}];",
        f"if (!pkg::python::{call % 'parameters'}) SWIG_fail;",
        *(f"{target} = slots[{i}];" for i, target in enumerate(targets)),
    ]
    block = "{\n    " + "\n    ".join(lines) + "\n  }"
    entries = ", ".join(f'{{"{n}"}}' for n in names)
    static = f"static pkg::python::Name names[] = {{{entries}}};"
    body = body[: parse.start()] + block + body[parse.end() :]
    return body.replace(table.group(), static)


def _positional_body(function: str, name: str, body: str) -> str:
    unpack = _only(UNPACK, body, function, "SWIG_Python_UnpackTuple line")
    if bool(unpack["count"]) != unpack["tail"].startswith("))"):
        raise FastcallError(f"{function}: cannot read {unpack.group()!r}")
    slots = unpack["slots"]
    title = _title(unpack["function"], name)
    parameters = f'{{"{title}", nullptr, {unpack["required"]}, {unpack["total"]}}}'
    call = f"pkg::python::take_arguments({parameters}, args, nargs, nullptr, {slots})"
    if unpack["count"]:  # an overload: SWIG counts from one, so that nought is failure
        call += " ? nargs + 1 : 0"
    line = f"{unpack['head']}{call}{unpack['tail']}"
    return body[: unpack.start()] + line + body[unpack.end() :]


def _title(function: str, name: str) -> str:
    """What errors call the function: SWIG's name for C.f is "C_f", for C() "new_C"."""
    if function == f"new_{name}":
        return name
    if function.endswith(f"_{name}"):
        return f"{function[: -len(name) - 1]}.{name}"
    return function


def _only(pattern: re.Pattern, body: str, function: str, what: str) -> re.Match:
    found = list(pattern.finditer(body))
    if len(found) != 1:
        raise FastcallError(f"{function}: expected one {what}, got {len(found)}")
    return found[0]


def main(arguments: list[str]) -> int:
    source, output = map(Path, arguments)
    try:
        result = rewrite(source.read_text(encoding="utf-8"))
    except FastcallError as err:
        print(
            f"fastcall: {source}: {err}.\nThe output of SWIG has changed: adapt "
            "swig/build/fastcall.py and tests/binding/test_fastcall.py to it.",
            file=sys.stderr,
        )
        return 1
    output.write_text(result.text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

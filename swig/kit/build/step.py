# SPDX-License-Identifier: Apache-2.0
"""Makes of SWIG's functions Python's functions, methods and classes.

    step.py WRAPPER TREE OUTPUT [SHIM]

SWIG (``-noproxy``) writes one C++ function for each function, method and attribute, to
be called with a tuple.  This step lets them take their arguments from an array, and
writes what calls them: entries in CPython's fast calling convention, the choice among
overloads, and the tables of the classes.  swigkit/*.h has the code; here is only what
differs from class to class, from SWIG's parse tree (tree.py).

With SHIM the extension is called _NAME, and SHIM is the Python module NAME beside it,
in the same package, that has all its names.

Nothing is guessed: a function that does not look as SWIG 4.5.1 writes it stops the
build with its name.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

if not __package__:  # run by its path, as pkg's own build does
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    __package__ = "kit.build"

from . import directors, tree
from .classes import Classes, enum_statement, import_statement, method_row
from .groups import Groups, documented
from .notation import cpp_text
from .wrapper import StepError, Wrapper

METHODS = re.compile(
    r"^static PyMethodDef SwigMethods\[\] = \{\n.*?^\};\n", re.M | re.S
)
# SWIG writes the pointer of `int f(int) noexcept` so: int noexcept (*)(int)
NOEXCEPT = re.compile(r"\bnoexcept (\(\*\w*\)\([^()]*\))")
LISTED = '#include "swigkit/listed.h"'
# The headers of what stands behind all else.
LAST = ("iteration", "pickling")
BEFORE = "/* -------- TYPES TABLE (BEGIN) -------- */"


def rewrite(text: str, module: tree.Module) -> str:
    """The wrapper's text with entries and classes."""
    wrapper = Wrapper(text, module)
    groups = Groups(wrapper)
    rows = [_function_row(groups, name) for name in groups.free]
    if any("state" in cls.features for cls in module.classes):
        rows.append('  {"_rebuild", swigkit::rebuild, METH_VARARGS, nullptr},')
    statements = ""
    if module.doc:
        text = cpp_text(module.doc)
        statements = f"  if (PyModule_SetDocString(module, {text}) < 0) return -1;\n"
    statements += (
        Classes(groups).make() + _enums_and_constants(module) + _public(groups)
    )
    wrapper.drop_variadic()
    wrapper.drop_dispatchers()
    wrapper.drop_rows()
    wrapper.check()
    if LISTED in wrapper.text:
        groups.parts.append(_listing(groups))
    block = _BLOCK.format(
        home=module.name,
        parts="\n".join(groups.parts),
        statements=statements,
        rows="\n".join(rows),
    )
    text = NOEXCEPT.sub(r"\1 noexcept", directors.guard(wrapper.text, module))
    if len(METHODS.findall(text)) != 1:
        raise StepError("expected one table SwigMethods")
    text = METHODS.sub(lambda _: block, text)
    if text.count(BEFORE) != 1:
        raise StepError(f"expected one line {BEFORE!r}, got {text.count(BEFORE)}")
    included = "".join(f'#include "swigkit/{name}.h"\n' for name in LAST)
    return text.replace(BEFORE, f"{included}\n{BEFORE}")


_BLOCK = """\
extern "C++" {{
static const char *const swigkit_home = "{home}";
{parts}
static int swigkit_make_classes(PyObject *module) {{
  if (swigkit::was_made(module)) return 0;
  if (!swigkit::make_root(module)) return -1;
{statements}  return 0;
}}
}}
static PyMethodDef SwigMethods[] = {{
{rows}
  {{nullptr, nullptr, 0, nullptr}}
}};
"""


def _function_row(groups: Groups, name: str) -> str:
    overloads = groups.free[name]
    group = groups.write(name, overloads, member=False)
    flags, entry = "METH_FASTCALL | METH_KEYWORDS", f"swigkit::function<{group}>"
    if len(overloads) == 1 and not overloads[0].parameters:
        flags = "METH_NOARGS"
        entry = f"swigkit::function_alone<{overloads[0].wrapper}>"
    elif len(overloads) == 1 and overloads[0].takes_one:
        flags = "METH_O"
        entry = f"swigkit::function_one<{overloads[0].wrapper}>"
    return method_row(name, entry, flags, documented(name, overloads, member=False))


def _enums_and_constants(module: tree.Module) -> str:
    """Globals that cannot change are attributes of the module, too."""
    lines = []
    for enum in module.enums:
        made = enum_statement(enum, "module")
        found = import_statement(enum, enum.imported)
        lines.append(f"  {found if enum.imported else made}\n")
    for variable in module.variables:
        value = f"{variable.wrapper}()"
        if variable.enumerator:
            value = f"swigkit::to_python(+{variable.cpp})"
        elif not (variable.readonly and variable.wrapper):
            continue
        lines.append(
            f'  if (!swigkit::add_constant(module, "{variable.name}", {value})) '
            "return -1;\n"
        )
    for cpp, name, home in module.exceptions:
        lines.append(
            f'  if (!swigkit::import_exception<{cpp}>(module, "{home}", "{name}")) '
            "return -1;\n"
        )
    return "".join(lines)


def _public(groups: Groups) -> str:
    """What `from module import *` takes."""
    module = groups.module
    enums = [e for e in module.enums if not e.imported]
    classes = [c for c in module.classes if not c.outer and not c.imported]
    public = [*groups.free, *(c.name for c in classes)]
    public += [e.name for e in enums]
    public += [m for e in enums if not e.scoped for m, _ in e.members]
    public += [v.name for v in module.variables if v.readonly]
    if any(not v.readonly for v in module.variables):
        public.append("cvar")
    listed = ", ".join(f'"{name}"' for name in public)
    return f"  if (!swigkit::set_public(module, {{{listed}}})) return -1;\n"


def _listing(groups: Groups) -> str:
    """The table of swigkit/listed.h."""
    rows = [
        (name, function.declaration, function.features)
        for name, overloads in groups.free.items()
        for function in overloads
    ]
    for cls in groups.module.classes:
        if not cls.outer and not cls.imported:
            rows.append((cls.name, f"class {cls.cpp}", cls.features))
    listed = ""
    for name, cpp, said in rows:
        remark = said.get("remark", "").removeprefix('"').removesuffix('"')
        listed += f"    {{{', '.join(map(cpp_text, (name, cpp, remark)))}}},\n"
    return f"""\
static const swigkit::Listed swigkit_listed[] = {{
{listed}}};
std::span<const swigkit::Listed> swigkit::listed() {{ return swigkit_listed; }}
"""


def _renamed(text: str, name: str) -> str:
    """The extension's own name with an underscore before it."""
    for line in (f'#define SWIG_name    "{name}"', f"PyInit_{name}\n"):
        if text.count(line) != 1:
            raise StepError(f"expected one {line!r}, got {text.count(line)}")
        text = text.replace(line, line.replace(name, f"_{name}"))
    return text


SHIM = """\
# Written by swig/kit/build/step.py: do not edit.
from ._{name} import *
from ._{name} import __all__
"""


def main(arguments: list[str]) -> int:
    """Of the files WRAPPER, TREE, OUTPUT and perhaps SHIM."""
    wrapper, parsed, output, *shim = map(Path, arguments)
    try:
        source = wrapper.read_text(encoding="utf-8")
        header = wrapper.with_suffix(".h")  # of the directors
        include = f'#include "{header.name}"\n'
        if include in source:
            source = source.replace(include, header.read_text(encoding="utf-8"))
        module = tree.read(parsed)
        text = rewrite(module.typedefs.spelled_out(source), module)
        for said in module.left_out:
            print(f"swigkit: warning: {said}")
        for path in shim:
            text = _renamed(text, module.name)
            path.write_text(SHIM.format(name=module.name), encoding="utf-8")
    except tree.TreeError as error:
        print(f"swigkit: {error}.", file=sys.stderr)
        return 1
    except StepError as error:
        print(
            f"swigkit: {wrapper}: {error}.\nThe output of SWIG is not as expected of "
            "SWIG 4.5.1.",
            file=sys.stderr,
        )
        return 1
    output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

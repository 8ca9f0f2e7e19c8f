# SPDX-License-Identifier: Apache-2.0
"""Makes of SWIG's functions Python's functions, methods and classes.

    step.py WRAPPER TREE OUTPUT [SHIM]

SWIG (``-noproxy``) writes one C++ function for each function, method and attribute, to
be called with a tuple.  This step lets them take their arguments from an array, and
writes what calls them: entries in CPython's fast calling convention, the choice among
overloads, and the tables of the classes.  swigkit/*.h has the code; here is only what
differs from class to class, from SWIG's parse tree (tree.py).

With SHIM the extension is called _NAME, and SHIM is the Python module NAME beside it, in
the same package, that has all its names.

Nothing is guessed: a function that does not look as SWIG 4.5.1 writes it stops the build
with its name.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

if __package__:
    from . import tree
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import tree  # type: ignore[import-not-found,no-redef]


class StepError(Exception):
    """SWIG's output is not what this step was written for."""


DEFINITION = (
    r"^SWIGINTERN PyObject \*{name}\(PyObject \*(?:self|SWIGUNUSEDPARM\(self\)), "
    r"(?:PyObject \*(?:args|SWIGUNUSEDPARM\(args\))"
    r"|Py_ssize_t nobjs, PyObject \*\*(?:swig_obj|SWIGUNUSEDPARM\(swig_obj\)))\) \{{\n"
    r"(?P<body>.*?)^\}}\n"
)
SLOTS_ARRAY = re.compile(r"^  PyObject \*swig_obj\[\d+\] ;\n", re.MULTILINE)
UNPACK = (
    re.compile(r"  if \(!args\) SWIG_fail;\n  swig_obj\[0\] = args;\n"),
    re.compile(
        r'  if \(!SWIG_Python_UnpackTuple\(args, "\w+", \d+, \d+, (?:swig_obj|0)\)\) '
        r"SWIG_fail;\n"
    ),
    re.compile(r"  if \(\(nobjs < \d+\) \|\| \(nobjs > \d+\)\) SWIG_fail;\n"),
)
MAYBE = re.compile(
    r"fail:\n(?:  if \(PyErr_Occurred\(\) && .*\) \{\n    return NULL;\n  \}\n)?"
    r"(?:  PyErr_Clear\(\);\n)?"
    r"  SWIG_Py_INCREF\(Py_NotImplemented\);\n  return Py_NotImplemented;\n"
)
METHODS = re.compile(r"^static PyMethodDef SwigMethods\[\] = \{\n.*?^\};\n", re.M | re.S)
WHERE = re.compile(r'\{\s*"(\w+)", "(\w*)"(, true)?\s*\}')
CONSTANT = re.compile(r'^  SWIG_Python_SetConstant\(d, "(\w+)",.*\);\n', re.MULTILINE)
VARIABLE = re.compile(r'^  SWIG_addvarlink\(globals, "(\w+)", (\w+), (\w+)\);\n', re.M)
DIRECTOR = re.compile(r"^\S.*\bSwigDirector_\w+::(\w+)\(.*\{\n", re.MULTILINE)
DIRECTOR_CALL = re.compile(r"= (PyObject_Call\w*\(.*\));$", re.MULTILINE)
RESULT = re.compile(r"^  (?:SwigValueWrapper< ?(.+?) ?>|(\S.*?)) c_result ?;\n", re.M)
PYTHON_LITERAL = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
BEFORE = "/* -------- TYPES TABLE (BEGIN) -------- */"

UNARY = {
    "__neg__": "nb_negative",
    "__pos__": "nb_positive",
    "__invert__": "nb_invert",
    "__abs__": "nb_absolute",
    "__int__": "nb_int",
    "__float__": "nb_float",
    "__index__": "nb_index",
    "__repr__": "tp_repr",
    "__str__": "tp_str",
    "__iter__": "tp_iter",
}
BINARY = {
    "add": "nb_add",
    "sub": "nb_subtract",
    "mul": "nb_multiply",
    "truediv": "nb_true_divide",
    "div": "nb_true_divide",
    "floordiv": "nb_floor_divide",
    "mod": "nb_remainder",
    "divmod": "nb_divmod",
    "pow": "nb_power",
    "lshift": "nb_lshift",
    "rshift": "nb_rshift",
    "and": "nb_and",
    "or": "nb_or",
    "xor": "nb_xor",
    "matmul": "nb_matrix_multiply",
}
IN_PLACE = {
    "add": "nb_inplace_add",
    "sub": "nb_inplace_subtract",
    "mul": "nb_inplace_multiply",
    "truediv": "nb_inplace_true_divide",
    "div": "nb_inplace_true_divide",
    "floordiv": "nb_inplace_floor_divide",
    "mod": "nb_inplace_remainder",
    "lshift": "nb_inplace_lshift",
    "rshift": "nb_inplace_rshift",
    "and": "nb_inplace_and",
    "or": "nb_inplace_or",
    "xor": "nb_inplace_xor",
}
COMPARE = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
MIRRORED = dict(zip(COMPARE, ("__gt__", "__ge__", "__eq__", "__ne__", "__lt__", "__le__")))


def rewrite(text: str, module: tree.Module) -> str:
    """The wrapper's text with entries and classes."""
    return _Step(text, module).run()


class _Step:
    def __init__(self, text: str, module: tree.Module) -> None:
        self.text = text
        self.module = module
        self.parts: list[str] = []  # what is written behind SWIG's functions
        self.groups = 0

    def run(self) -> str:
        self.operators: dict[str, dict[str, list[tree.Function]]] = {}
        free = self._take_operators()
        rows = self._functions(free)
        makers = [self._class(c) for c in self._in_order()]
        self._statics_and_constants()
        self._directors()
        table = "\n".join(["static PyMethodDef SwigMethods[] = {", *rows])
        if any("state" in c.features for c in self.module.classes):
            table += '\n  {"_rebuild", swigkit::rebuild, METH_VARARGS, nullptr},'
        table += "\n  {nullptr, nullptr, 0, nullptr}\n};\n"
        home = f'static const char *const swigkit_home = "{self.module.name}";'
        written = "\n".join([home, *self.parts])
        body = [f"  if (!swigkit::make_root(module)) return -1;\n{''.join(makers)}"]
        body.append(self._module_enums())
        body.append(self._module_constants())
        public = [*free, *(c.name for c in self.module.classes if not c.outer)]
        public += [e.name for e in self.module.enums]
        public += [m for e in self.module.enums if not e.scoped for m, _ in e.members]
        public += [v.name for v in self.module.variables if v.readonly]
        listed = ", ".join(f'"{name}"' for name in public)
        body.append(f"  if (!swigkit::set_public(module, {{{listed}}})) return -1;\n")
        make = (
            "static int swigkit_make_classes(PyObject *module) {\n"
            f"{''.join(body)}  return 0;\n}}\n"
        )
        if len(METHODS.findall(self.text)) != 1:
            raise StepError("expected one table SwigMethods")
        block = f'extern "C++" {{\n{written}\n{make}}}\n{table}'
        text = METHODS.sub(lambda _: block, self.text)
        if text.count(BEFORE) != 1:
            raise StepError(f"expected one line {BEFORE!r}, got {text.count(BEFORE)}")
        include = '#include "swigkit/slots.h"\n\n'
        return text.replace(BEFORE, include + BEFORE)

    # --- functions ----------------------------------------------------------------------

    def _take_operators(self) -> dict[str, list[tree.Function]]:
        """Free functions by name, but for operators, which become their classes'."""
        free: dict[str, list[tree.Function]] = {}
        for function in self.module.functions:
            if "operator" in function.cpp and function.name.startswith("__"):
                owner, name = self._owner(function)
                if owner:
                    group = self.operators.setdefault(owner, {}).setdefault(name, [])
                    group.append(function)
                    continue
            free.setdefault(function.name, []).append(function)
        return free

    def _owner(self, function: tree.Function) -> tuple[str, str]:
        """The class of a free operator, and its name there."""
        name = function.name
        types = [_plain(p.type) for p in function.parameters]
        for position, cpp in enumerate(types[:2]):
            cls = self.module.class_of(cpp)
            if not cls:
                continue
            if position == 0:
                return cls.cpp, name
            if name in MIRRORED:
                return cls.cpp, MIRRORED[name]
            return cls.cpp, f"__r{name[2:]}"
        return "", name

    def _functions(self, free: dict[str, list[tree.Function]]) -> list[str]:
        rows = []
        for name, overloads in free.items():
            group = self._group(name, overloads, member=False)
            flags = "METH_FASTCALL | METH_KEYWORDS"
            entry = f"swigkit::function<{group}>"
            if len(overloads) == 1 and not overloads[0].parameters:
                flags, entry = "METH_NOARGS", f"swigkit::function_alone<{overloads[0].wrapper}>"
            doc = self._documented(name, overloads, member=False)
            rows.append(_row(name, entry, flags, doc))
        return rows

    def _group(
        self, title: str, overloads: list[tree.Function], member: bool, turned: bool = False
    ) -> str:
        """Writes the group of functions of one name; returns its C++ name."""
        self.groups += 1
        group = f"swigkit_group_{self.groups}"
        lines = []
        tables = []
        for number, function in enumerate(overloads):
            self._rewrite(function, title, member, turned)
            parameters = list(function.parameters)
            if member and not function.static and function in self._free_operators():
                parameters = parameters[:1] if turned else parameters[1:]
            names = [p.name for p in parameters]
            if len(names) > 32:
                raise StepError(f"{title}: more than 32 parameters")
            required = sum(p.default is None for p in parameters)
            entries = ", ".join(f'{{"{n}"}}' for n in names) or "{nullptr}"
            lines.append(f"static swigkit::Name {group}_names_{number}[] = {{{entries}}};")
            tables.append(
                (
                    f'{{"{title}", {group}_names_{number}, {required}, {len(names)}}}',
                    function.wrapper,
                    "(" + ", ".join(_shown(p) for p in parameters) + ")",
                )
            )
        size = 1 + max(len(f.parameters) for f in overloads)
        if len(overloads) == 1:
            call = (
                f"static const swigkit::Parameters parameters = {tables[0][0]};\n"
                f"    PyObject *slots[{size + 1}];\n"
                "    const bool first = self != nullptr;\n"
                "    slots[0] = self;\n"
                "    if (is_operator) {\n"
                "      swigkit::Matching matching{false};\n"
                "      if (!swigkit::fit(parameters, args, nargs, keywords, slots + first)) "
                "Py_RETURN_NOTIMPLEMENTED;\n"
                f"      PyObject *result = {_run(overloads[0], turned)}(object, slots, &matching);\n"
                "      if (!matching.refused) return result;\n"
                "      Py_RETURN_NOTIMPLEMENTED;\n"
                "    }\n"
                "    if (!swigkit::take_arguments(parameters, args, nargs, keywords, "
                "slots + first)) return nullptr;\n"
                f"    return {_run(overloads[0], turned)}(object, slots, nullptr);"
            )
        else:
            rows = ",\n      ".join(
                f"{{{p}, {_run(f, turned)}, {json.dumps(s)}}}"
                for f, (p, _, s) in zip(overloads, tables)
            )
            call = (
                f"static const swigkit::Overload overloads[] = {{\n      {rows}}};\n"
                f"    return swigkit::call_overload(overloads, {len(overloads)}, object, "
                "self, args, nargs, keywords, is_operator);"
            )
        lines.append(
            f"struct {group} {{\n"
            "  static PyObject *call(PyObject *object, PyObject *self, "
            "PyObject *const *args, Py_ssize_t nargs,\n"
            "                        PyObject *keywords, bool is_operator) {\n"
            f"    {call}\n  }}\n}};"
        )
        self.parts.append("\n".join(lines))
        return group

    def _free_operators(self) -> list[tree.Function]:
        return [f for by in self.operators.values() for fs in by.values() for f in fs]

    def _rewrite(
        self, function: tree.Function, title: str, member: bool, turned: bool = False
    ) -> None:
        """SWIG's function takes its arguments from an array; once for each."""
        name = function.wrapper
        found = re.search(DEFINITION.format(name=name), self.text, re.M | re.S)
        if not found:
            if f"static PyObject *{name}(" in self.text:
                return
            raise StepError(f"{name}: found no definition as SWIG 4.5.1 writes it")
        body = self._body(found["body"], function, title, member)
        if turned:
            self.parts.append(
                f"static PyObject *{name}_turned(PyObject *self, PyObject **slots, "
                "swigkit::Matching *matching) {\n"
                "  PyObject *turned[2] = {slots[1], slots[0]};\n"
                f"  return {name}(self, turned, matching);\n}}"
            )
        new = (
            f"static PyObject *{name}(PyObject *self, PyObject **swig_obj, "
            f"swigkit::Matching *matching) {{\n{body}}}\n"
        )
        self.text = self.text[: found.start()] + new + self.text[found.end() :]
        self._drop_dispatcher(name)

    def _body(
        self, body: str, function: tree.Function, title: str, member: bool
    ) -> str:
        body = SLOTS_ARRAY.sub("", body)
        # Of operators SWIG makes every failure NotImplemented, what C++ throws as well.
        body = MAYBE.sub("fail:\n  return NULL;\n", body)
        removed = 0
        for pattern in UNPACK:
            body, count = pattern.subn("", body)
            removed += count
        if removed != 1:
            raise StepError(f"{function.wrapper}: expected one unpacking, got {removed}")
        nulls = {p.name for p in function.parameters if p.is_null}

        def where(at: re.Match[str]) -> str:
            optional = "true" if at[3] or at[2] in nulls else "false"
            return f'{{"{title}", "{at[2]}", {optional}, matching}}'

        body = WHERE.sub(where, body)
        scope = self._scope(function)
        if scope:
            body = f"  using namespace {scope};\n{body}"
        count = len(function.parameters) + (member and not function.static)
        arguments = f"swig_obj, {count}" if count else "nullptr, 0"
        body = body.replace("SWIGKIT_ARGUMENTS", arguments)
        if function.name.startswith("__i") and "operator" in function.cpp:
            body = body.replace("refer(result, SWIG_POINTER_OWN", "refer(result, 0")
        if "kept" in function.features:
            holder, kept = (
                _argument(int(function.features[key])) for key in ("holder", "kept")
            )
            keep = f"  if (!swigkit::keep_alive({holder}, {kept})) SWIG_fail;\n"
            body = body.replace("  return resultobj;\n", f"{keep}  return resultobj;\n")
        return body

    def _scope(self, function: tree.Function) -> str:
        """The namespace whose names the default values may have, if there are any."""
        defaults = [p.default for p in function.parameters if p.default is not None]
        if all(re.fullmatch(r"[-+\d.a-fx]+|\"[^\"]*\"|true|false|nullptr", d) for d in defaults):
            return ""
        scope = tree.scope(function.cpp)
        for cls in self.module.classes:
            if function in (*cls.methods, *cls.constructors):
                scope = tree.scope(cls.cpp)
        while self.module.class_of(scope):
            scope = tree.scope(scope)
        return scope

    def _drop_dispatcher(self, wrapper: str) -> None:
        name, overload, _ = wrapper.partition("__SWIG_")
        if not overload:
            return
        self.text = re.sub(DEFINITION.format(name=name), "", self.text, flags=re.M | re.S)

    def _documented(
        self, name: str, overloads: list[tree.Function], member: bool
    ) -> str:
        """name(a, b=1.5), which inspect.signature() reads, and the comment."""
        first = ["$self"] if member else []
        if len(overloads) == 1:
            shown = first + [_python(p) for p in overloads[0].parameters]
        else:
            shown = [*first, "*args", "**kwargs"]
        texts = [f.doc for f in overloads if f.doc]
        return f"{name}({', '.join(shown)})\n--\n\n" + "\n\n".join(texts)

    # --- classes ------------------------------------------------------------------------

    def _in_order(self) -> list[tree.Class]:
        """Outer and base classes first."""
        done: list[tree.Class] = []

        def add(cls: tree.Class) -> None:
            if cls in done:
                return
            for other in [*cls.bases, cls.outer]:
                found = self.module.class_of(other)
                if found:
                    add(found)
            done.append(cls)

        for cls in self.module.classes:
            add(cls)
        return done

    def _full_name(self, cls: tree.Class) -> str:
        outer = self.module.class_of(cls.outer)
        return f"{self._full_name(outer)}.{cls.name}" if outer else cls.name

    def _class(self, cls: tree.Class) -> str:
        """Writes the class's tables; returns what makes it."""
        title = self._full_name(cls)
        tag = "swigkit_class_" + re.sub(r"\W", "_", cls.cpp)
        methods: dict[str, list[tree.Function]] = {}
        for function in cls.methods:
            methods.setdefault(function.name, []).append(function)
        for name, functions in self.operators.get(cls.cpp, {}).items():
            methods.setdefault(name, []).extend(functions)
        groups: dict[str, str] = {}
        rows = []
        free = self._free_operators()
        for name, all_ in methods.items():
            # What an interface adds is meant instead of the operator.
            overloads = [f for f in all_ if f.extended] or all_
            if name.startswith("__"):
                for function in all_:
                    if function not in overloads:
                        self._rewrite(function, f"{title}.{name}", True)
            else:
                overloads = all_
            static = overloads[0].static
            turned = overloads[0] in free and name.startswith("__r")
            turned |= overloads[0] in free and _plain(overloads[0].parameters[0].type) != cls.cpp
            group = self._group(f"{title}.{name}", overloads, not static, turned)
            groups[name] = group
            if self._is_slot(name):
                continue
            flags, entry = "METH_FASTCALL | METH_KEYWORDS", f"swigkit::method<{group}>"
            alone = len(overloads) == 1 and not overloads[0].parameters
            if static:
                flags += " | METH_STATIC"
                entry = f"swigkit::function<{group}>"
            elif alone:
                flags, entry = "METH_NOARGS", f"swigkit::method_alone<{overloads[0].wrapper}>"
            doc = self._documented(name, overloads, not static)
            rows.append(_row(name, entry, flags, doc))
        if "state" in cls.features:
            rows.append(self._reduce(cls, tag))
        self.parts.append(_table("PyMethodDef", f"{tag}_methods", rows, 4))
        getset, statics = self._attributes(cls, title)
        self.parts.append(_table("PyGetSetDef", f"{tag}_getset", getset, 5))
        if statics:
            self.parts.append(_table("PyGetSetDef", f"{tag}_statics", statics, 5))
        construct = self._constructor(cls, title, tag)
        slots = list(self._slots(cls, groups))
        if "hash" in cls.features:
            self.parts.append(
                f"static const char *const {tag}_hash = \"{_last(cls.features['hash'])}\";"
            )
            slots.append(
                f"{{Py_tp_hash, (void *)swigkit::hash_by<swigkit_home, {tag}_hash>}}"
            )
        doc = self._documented_class(cls)
        hashable = "__eq__" not in groups or "__hash__" in groups or "hash" in cls.features
        self.parts.append(
            f"static PyType_Slot {tag}_slots[] = {{\n"
            f"  {{Py_tp_methods, {tag}_methods}},\n  {{Py_tp_getset, {tag}_getset}},\n"
            f"  {{Py_tp_doc, (void *){json.dumps(doc)}}},\n"
            + "".join(f"  {slot},\n" for slot in slots)
            + "  {0, nullptr}\n};"
        )
        return self._make(cls, tag, construct, bool(statics), hashable)

    def _make(
        self, cls: tree.Class, tag: str, construct: str, statics: bool, hashable: bool
    ) -> str:
        outer = self.module.class_of(cls.outer)
        owner = f"(PyObject *)swigkit::class_of<{outer.cpp}>.type" if outer else "module"
        bases = ", ".join(
            f"{{&swigkit::class_of<{base}>, [](void *p) -> void * {{ "
            f"return static_cast<{base} *>(static_cast<{cls.cpp} *>(p)); }}}}"
            for base in cls.bases
        )
        full = f"{self.module.name}.{self._full_name(cls)}"
        vectorcall = f"swigkit::make_object<{construct}>" if construct else "nullptr"
        record = f"swigkit::class_of<{cls.cpp}>"
        lines = []
        if "value" in cls.features:
            lines.append(f"{record}.tracked = false;")
        if "tracked" in cls.features:
            lines.append(f"{record}.tracked = true;")
        lines.append(
            f"PyObject *type = swigkit::make_class(module, {{{record}, \"{full}\", {owner}, "
            f"{tag}_slots, {construct or 'nullptr'}, "
            f"{tag + '_statics' if statics else 'nullptr'}, {str(hashable).lower()}}}, "
            f"{vectorcall}, {{{bases}}});"
        )
        lines.append("if (!type) return -1;")
        for enum in cls.enums:
            lines.append(_enum(enum, "type"))
        for variable in cls.variables:
            if variable.static and not variable.wrapper:
                value = f"{cls.cpp}::{variable.cpp.rpartition('::')[2]}"
                lines.append(
                    f'if (!swigkit::add_constant(type, "{variable.name}", '
                    f"swigkit::Convert<std::remove_cvref_t<decltype({value})>>::cast({value})))"
                    " return -1;"
                )
        return "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"

    def _is_slot(self, name: str) -> bool:
        middle = name.strip("_")
        if not (name.startswith("__") and name.endswith("__")):
            return False
        return (
            name in UNARY
            or name in COMPARE
            or middle in BINARY
            or (middle[:1] == "r" and middle[1:] in BINARY)
            or (middle[:1] == "i" and middle[1:] in IN_PLACE)
            or name
            in (
                *("__len__", "__bool__", "__hash__", "__next__", "__getitem__"),
                *("__setitem__", "__delitem__", "__contains__", "__call__"),
            )
        )

    def _slots(self, cls: tree.Class, groups: dict[str, str]) -> Iterable[str]:
        none = "swigkit::None"

        def slot(kind: str, function: str) -> str:
            return f"{{Py_{kind}, (void *)swigkit::{function}}}"

        for name, kind in UNARY.items():
            if name in groups:
                yield slot(kind, f"unary<{groups[name]}>")
        done = set()
        for middle, kind in BINARY.items():
            plain, reflected = groups.get(f"__{middle}__"), groups.get(f"__r{middle}__")
            if (plain or reflected) and kind not in done:
                done.add(kind)
                template = "power" if kind == "nb_power" else "binary"
                yield slot(
                    kind, f"{template}<{cls.cpp}, {plain or none}, {reflected or none}>"
                )
        for middle, kind in IN_PLACE.items():
            if f"__i{middle}__" in groups:
                yield slot(kind, f"in_place<{groups[f'__i{middle}__']}>")
        if any(name in groups for name in COMPARE):
            used = ", ".join(groups.get(name, none) for name in COMPARE)
            yield slot("tp_richcompare", f"compare<{used}>")
        if "__len__" in groups:
            yield slot("sq_length", f"length<{groups['__len__']}>")
            yield slot("mp_length", f"length<{groups['__len__']}>")
        if "__bool__" in groups:
            yield slot("nb_bool", f"truth<{groups['__bool__']}>")
        if "__hash__" in groups:
            yield slot("tp_hash", f"hash<{groups['__hash__']}>")
        if "__next__" in groups:
            yield slot("tp_iternext", f"next<{groups['__next__']}>")
            if "__iter__" not in groups:
                yield slot("tp_iter", "iterate_itself")
        if "__getitem__" in groups:
            yield slot("mp_subscript", f"item<{groups['__getitem__']}>")
            yield slot("sq_item", f"item_at<{groups['__getitem__']}>")
        if "__setitem__" in groups or "__delitem__" in groups:
            pair = f"{groups.get('__setitem__', none)}, {groups.get('__delitem__', none)}"
            yield slot("mp_ass_subscript", f"set_item<{pair}>")
        if "__contains__" in groups:
            yield slot("sq_contains", f"contains<{groups['__contains__']}>")
        if "__call__" in groups:
            yield slot("tp_call", f"call_object<{groups['__call__']}>")

    def _attributes(self, cls: tree.Class, title: str) -> tuple[list[str], list[str]]:
        getset, statics = [], []
        for variable in cls.variables:
            if not variable.wrapper:
                continue
            doc = json.dumps(variable.doc) if variable.doc else "nullptr"
            setter = "nullptr"
            if variable.wrapper.startswith("Swig_var_"):
                stem = variable.wrapper.removesuffix("_get")
                if not variable.readonly:
                    setter = f"swigkit::set_static<{stem}_set>"
                row = (
                    f'  {{"{variable.name}", swigkit::get_static<{stem}_get>, {setter}, '
                    f"{doc}, nullptr}},"
                )
                statics.append(row)
                getset.append(row)
                continue
            getter = variable.wrapper
            one = tree.Function(variable.name, "", getter, [], variable.type)
            self._rewrite(one, f"{title}.{variable.name}", True)
            other = getter.removesuffix("_get") + "_set"
            if f"PyObject *{other}(" in self.text:
                value = tree.Parameter("value", variable.type)
                two = tree.Function(variable.name, "", other, [value], "void")
                self._rewrite(two, f"{title}.{variable.name}", True)
                setter = f"swigkit::set<{other}>"
            getset.append(
                f'  {{"{variable.name}", swigkit::get<{getter}>, {setter}, {doc}, nullptr}},'
            )
        return getset, statics

    def _constructor(self, cls: tree.Class, title: str, tag: str) -> str:
        """Writes what makes the C++ object; returns its name, or nothing."""
        overloads = [f for f in cls.constructors]
        if cls.abstract and not cls.overridable or not overloads:
            return ""
        for function in overloads:
            found = re.search(
                DEFINITION.format(name=function.wrapper), self.text, re.M | re.S
            )
            if not found:
                raise StepError(f"{function.wrapper}: found no definition")
            if cls.overridable:
                function.parameters.insert(0, tree.Parameter("_self", "PyObject *"))
            # The result becomes the object that Python has made before.
            body = re.sub(
                r"resultobj = swigkit::refer\(result, [^;]*\);",
                f"return swigkit::finish_construction<{cls.cpp}>(self, result, "
                f"{'arg1 != Py_None' if cls.overridable else 'false'}) == 0 "
                "? swigkit::new_ref(Py_None) : nullptr;",
                found["body"],
            )
            if body == found["body"]:
                raise StepError(f"{function.wrapper}: found no result as it is written")
            if "value" in cls.features:
                body = re.sub(
                    rf"\bnew ({re.escape(_spelled(cls.cpp))})\(",
                    r"::new (swigkit::room_of<\1>(self)) \1(",
                    body,
                )
            if "kept" in function.features:
                holder, kept = (
                    _argument(int(function.features[key]), True)
                    for key in ("holder", "kept")
                )
                body = body.replace(
                    "return swigkit::finish",
                    f"if (!swigkit::keep_alive({holder}, {kept})) SWIG_fail;\n"
                    "    return swigkit::finish",
                )
                function.features.pop("kept")
            self.text = self.text.replace(found["body"], body, 1)
        self._construct_group(cls, title, tag, overloads)
        return f"{tag}_construct"

    def _construct_group(
        self, cls: tree.Class, title: str, tag: str, overloads: list[tree.Function]
    ) -> None:
        # Of a class that Python may override, `_self` is the first argument.
        own = "self"
        if cls.overridable:
            own = (
                f"Py_TYPE(self) == swigkit::class_of<{cls.cpp}>.type ? Py_None : self"
            )
            for function in overloads:
                function.parameters.pop(0)
        group = self._group(title, overloads, member=cls.overridable)
        first = f"first" if cls.overridable else "nullptr"
        self.parts.append(
            f"static int {tag}_construct(PyObject *self, PyObject *const *args, "
            "Py_ssize_t nargs, PyObject *keywords) {\n"
            + (f"  PyObject *first = {own};\n" if cls.overridable else "")
            + f"  PyObject *done = {group}::call(self, {first}, args, nargs, keywords, "
            "false);\n"
            "  Py_XDECREF(done);\n  return done ? 0 : -1;\n}"
        )

    def _reduce(self, cls: tree.Class, tag: str) -> str:
        state, from_state = (
            _last(cls.features[key]) for key in ("state", "from_state")
        )
        self.parts.append(
            f"static PyObject *{tag}_reduce(PyObject *self, PyObject *) {{\n"
            f'  return swigkit::reduce(self, "{self.module.name}", "{state}", '
            f'"{from_state}");\n}}'
        )
        return _row("__reduce_ex__", f"{tag}_reduce", "METH_O", "")

    def _documented_class(self, cls: tree.Class) -> str:
        if not cls.constructors:
            return cls.doc
        if len(cls.constructors) == 1:
            shown = [_python(p) for p in cls.constructors[0].parameters]
        else:
            shown = ["*args", "**kwargs"]
        texts = [cls.doc, *(f.doc for f in cls.constructors)]
        return f"{cls.name}({', '.join(shown)})\n--\n\n" + "\n\n".join(t for t in texts if t)

    # --- enums, constants, directors ------------------------------------------------------

    def _module_enums(self) -> str:
        return "".join(f"  {_enum(enum, 'module')}\n" for enum in self.module.enums)

    def _module_constants(self) -> str:
        """Globals that cannot change are attributes of the module, too."""
        lines = []
        for variable in self.module.variables:
            if variable.readonly and variable.wrapper:
                lines.append(
                    f'  if (!swigkit::add_constant(module, "{variable.name}", '
                    f"{variable.wrapper}())) return -1;\n"
                )
        return "".join(lines)

    def _statics_and_constants(self) -> None:
        """SWIG's own rows for what stands in enums and classes now."""
        gone = set()
        for enum in self.module.enums:
            gone |= {n for m, _ in enum.members for n in (m, f"{enum.name}_{m}")}
        for cls in self.module.classes:
            for enum in cls.enums:
                for member, _ in enum.members:
                    gone |= {f"{cls.name}_{member}", f"{cls.name}_{enum.name}_{member}"}
            gone |= {f"{cls.name}_{v.name}" for v in cls.variables}
        self.text = CONSTANT.sub(
            lambda found: "" if found[1] in gone else found[0], self.text
        )
        self.text = VARIABLE.sub(
            lambda found: "" if found[1] in gone else found[0], self.text
        )

    def _directors(self) -> None:
        """Calls from C++ take the GIL, on any thread."""
        pieces, at = [], 0
        for found in DIRECTOR.finditer(self.text):
            end = self.text.index("\n}\n", found.end())
            body = self.text[found.end() : end]
            if "swig_get_self()" not in body:
                continue
            body = DIRECTOR_CALL.sub(
                r"= swigkit::call_python([&] { return \1; });", body
            )
            body = WHERE.sub(r'{"\1", "\2"}', body)
            # A class need not have a constructor without arguments.
            plain = RESULT.search(body)
            if plain and "c_result = held" in body:
                kind = plain[1] or plain[2]
                body = RESULT.sub(f"  std::optional< {kind} > c_result;\n", body)
                body = body.replace("c_result = held", "c_result.emplace(held")
                body = re.sub(r"(c_result\.emplace\(held\w*\.take\(\))", r"\1)", body)
                body = re.sub(r"return .*\bc_result;", "return *std::move(c_result);", body)
            pieces += [self.text[at : found.end()], "  swigkit::GilAcquire gil;\n", body]
            at = end
        self.text = "".join(pieces) + self.text[at:]


def _run(function: tree.Function, turned: bool) -> str:
    return function.wrapper + ("_turned" if turned else "")


def _spelled(cpp: str) -> str:
    """A class as SWIG writes it, with blanks in the brackets of a template."""
    return re.sub(r"<(?! )", "< ", re.sub(r"(?<! )>", " >", cpp)).replace(", ", ",")


def _last(name: str) -> str:
    """The name without its namespaces."""
    return name.rpartition("::")[2]


def _argument(number: int, constructor: bool = False) -> str:
    if number == 0:
        return "resultobj"
    if constructor:
        return "self" if number == 1 else f"swig_obj[{number - 2}]"
    return f"swig_obj[{number - 1}]"


def _plain(type_: str) -> str:
    """Without const, & and *."""
    return re.sub(r"\bconst\b|[&*]", "", type_).strip()


def _shown(p: tree.Parameter) -> str:
    return f"{p.type} {p.name}" + ("" if p.default is None else f" = {p.default}")


def _python(p: tree.Parameter) -> str:
    """A parameter in Python's notation."""
    if p.default is None:
        return p.name
    known = {"true": "True", "false": "False", "nullptr": "None", "NULL": "None"}
    known["std::nullopt"] = "None"
    value = known.get(p.default, p.default)
    if re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?[fFuUlL]+", value):
        value = value.rstrip("fFuUlL")
    if value not in known.values() and not PYTHON_LITERAL.fullmatch(value):
        value = value if re.fullmatch(r'"[^"\\]*"', value) else "..."
    return f"{p.name}={value}"


def _enum(enum: tree.Enum, owner: str) -> str:
    members = ", ".join(f'{{"{name}", {value}}}' for name, value in enum.members)
    base = "IntFlag" if enum.flags else "IntEnum"
    spread = "false" if enum.scoped else "true"
    return (
        f'if (!swigkit::add_enum<{enum.cpp}>(module, {owner}, "{enum.name}", '
        f'{{{members}}}, "{base}", {spread}, {json.dumps(enum.doc)})) return -1;'
    )


def _row(name: str, entry: str, flags: str, doc: str) -> str:
    text = json.dumps(doc, ensure_ascii=False) if doc else "nullptr"
    return (
        f'  {{"{name}", (PyCFunction)(void (*)(void)){entry}, {flags}, {text}}},'
    )


def _table(type_: str, name: str, rows: list[str], width: int) -> str:
    end = "  {" + ", ".join(["nullptr", "nullptr", "0", "nullptr", "nullptr"][:width]) + "}"
    if type_ == "PyGetSetDef":
        end = "  {nullptr, nullptr, nullptr, nullptr, nullptr}"
    return "\n".join([f"static {type_} {name}[] = {{", *rows, end, "};"])


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
    wrapper, parsed, output, *shim = map(Path, arguments)
    try:
        source = wrapper.read_text(encoding="utf-8")
        module = tree.read(parsed)
        text = rewrite(source, module)
        for path in shim:
            text = _renamed(text, module.name)
            path.write_text(SHIM.format(name=module.name), encoding="utf-8")
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

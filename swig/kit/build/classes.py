# SPDX-License-Identifier: Apache-2.0
"""The classes of a module: their tables of methods, attributes and type slots."""

from __future__ import annotations

import re

from . import tree
from .directors import director, is_copied
from .groups import Groups, comments, documented, python_parameters
from .notation import cpp_text, pointee
from .python_types import INTS
from .slots import Order, is_slot, slots as slots_of

UNIQUE = "std::unique_ptr<"


class Classes:
    """Writes tables behind the groups; make() is what the module does with them."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.wrapper = groups.wrapper
        self.module = groups.module
        self.parts = groups.parts
        self.tags: set[str] = set()

    def make(self) -> str:
        """The C++ statements that make all classes of the module."""
        return "".join(
            self._import(cls) if cls.imported else self._class(cls)
            for cls in self._in_order()
        )

    def _import(self, cls: tree.Class) -> str:
        """What finds the class, and its enums, in the module that has made it."""
        name = self._full_name(cls)
        flags = [f"swigkit::g_owned_singly< {cls.cpp} >", "false"]
        if "value" not in cls.features:
            flags[1] = f"swigkit::g_found_again< {cls.cpp} >"
        lines = [
            f"if (!swigkit::import_class(module, swigkit::class_of<{cls.cpp}>, "
            f"{', '.join(flags)}, "
            f'"{cls.imported}", "{name}")) return -1;'
        ]
        lines += [import_statement(e, cls.imported, f"{name}.") for e in cls.enums]
        return "".join(f"  {line}\n" for line in lines)

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
        for function in cls.hidden:
            self.wrapper.drop_function(function)
        tag = "swigkit_class_" + re.sub(r"\W", "_", cls.cpp)
        while tag in self.tags:  # of T<int&> and T<int*>
            tag += "_"
        self.tags.add(tag)
        methods: dict[str, list[tree.Function]] = {}
        for function in cls.methods:
            if cls.is_range and cls.is_end(function):
                self.wrapper.drop_function(function)
                continue  # Python has the iteration
            methods.setdefault(function.name, []).append(function)
        for name, functions in self.groups.operators.get(cls.cpp, {}).items():
            methods.setdefault(name, []).extend(functions)
        ordered = Order(cls, methods.pop("__order__", []), methods)
        for function in ordered.functions:
            self.wrapper.drop_function(function)
        groups: dict[str, str] = {}
        rows = []
        for name, all_ in methods.items():
            overloads = self._chosen(name, all_, title)
            overloads = self._of_one_kind(overloads, title)
            overloads = self._distinct(overloads, title)
            static = overloads[0].static
            group = self.groups.write(f"{title}.{name}", overloads, not static)
            groups[name] = group
            if is_slot(name):
                continue
            flags, entry = "METH_FASTCALL | METH_KEYWORDS", f"swigkit::method<{group}>"
            if static:
                flags += " | METH_STATIC"
                entry = f"swigkit::function<{group}>"
            elif len(overloads) == 1 and not overloads[0].parameters:
                flags = "METH_NOARGS"
                entry = f"swigkit::method_alone<{overloads[0].wrapper}>"
            elif len(overloads) == 1 and overloads[0].takes_one:
                flags = "METH_O"
                entry = f"swigkit::method_one<{overloads[0].wrapper}>"
            doc = documented(name, overloads, not static)
            rows.append(method_row(name, entry, flags, doc))
        if "copyable" in cls.features:
            copy = f"swigkit::copy_value<{cls.cpp}>"
            for name, flags in (
                ("__copy__", "METH_NOARGS"),
                ("__deepcopy__", "METH_O"),
            ):
                if name not in groups:
                    rows.append(method_row(name, copy, flags, ""))
        if "state" in cls.features:
            rows += self._reduce(cls, tag)
        self.parts.append(_table("PyMethodDef", f"{tag}_methods", rows, 4))
        getset, statics = self._attributes(cls, title)
        self.parts.append(_table("PyGetSetDef", f"{tag}_getset", getset, 5))
        if statics:
            self.parts.append(_table("PyGetSetDef", f"{tag}_statics", statics, 5))
        construct = self._constructor(cls, title, tag)
        maker = ""
        if cls.maker:
            group = self.groups.write(title, [cls.maker], member=False)
            maker = f"swigkit::make_by<{group}>"
        slots = list(slots_of(cls, groups, ordered))
        if "__str__" not in groups and self.module.prints(cls):
            slots.append(f"{{Py_tp_str, (void *)swigkit::print<{cls.cpp}>}}")
        if "hash" in cls.features:
            self.parts.append(
                f"static const char *const {tag}_hash = "
                f'"{_last(cls.features["hash"])}";'
            )
            slots.append(
                f"{{Py_tp_hash, (void *)swigkit::hash_by<swigkit_home, {tag}_hash>}}"
            )
        collected, dynamic = "collected" in cls.features, self.module.is_dynamic(cls)
        if collected or dynamic:
            entry = f"<{cls.cpp}, {_cpp(collected)}, {_cpp(dynamic)}>"
            for kind in ("traverse", "clear"):
                slots.append(f"{{Py_tp_{kind}, (void *)swigkit::{kind}{entry}}}")
        if dynamic:
            slots.append("{Py_tp_members, swigkit::g_dict_place}")
        slots.append(f"{{Py_tp_init, (void *)swigkit::init<{cls.cpp}>}}")
        if cls.overridable:
            slots.append("{Py_tp_finalize, (void *)swigkit::finalize_overridden}")
        if "buffer" in cls.features:
            slots += self._buffer(cls, tag)
        doc = self._documented_class(cls)
        hashable = (
            (not ordered.functions and "__eq__" not in groups)
            or "__hash__" in groups
            or "hash" in cls.features
        )
        self.parts.append(
            f"static PyType_Slot {tag}_slots[] = {{\n"
            f"  {{Py_tp_methods, {tag}_methods}},\n  {{Py_tp_getset, {tag}_getset}},\n"
            f"  {{Py_tp_doc, (void *){cpp_text(doc)}}},\n"
            + "".join(f"  {slot},\n" for slot in slots)
            + "  {0, nullptr}\n};"
        )
        return self._make(cls, tag, construct, maker, bool(statics), hashable)

    def _of_one_kind(
        self, overloads: list[tree.Function], title: str
    ) -> list[tree.Function]:
        """Python has one kind of method of a name: those of objects, if there are."""
        left = [f for f in overloads if f.static]
        if not left or len(left) == len(overloads):
            return overloads
        for function in left:
            self.wrapper.take_array(function, f"{title}.{function.name}", True)
        types = ", ".join(p.type for p in left[0].given)
        self.module.left_out.append(
            f"static {title}.{left[0].name}() is left out, as a method has this name: "
            f"%rename(other_name) {left[0].cpp}({types})"
        )
        return [f for f in overloads if not f.static]

    def _chosen(
        self, name: str, overloads: list[tree.Function], title: str
    ) -> list[tree.Function]:
        """What an interface adds is meant instead of the operator."""
        extended = [f for f in overloads if f.extended]
        if not extended or not name.startswith("__"):
            return overloads
        for function in overloads:
            self.wrapper.take_array(function, f"{title}.{name}", True)
        return extended

    def _distinct(
        self, overloads: list[tree.Function], title: str
    ) -> list[tree.Function]:
        kept = tree.distinct(overloads)
        for function in overloads:
            if function not in kept:
                self.wrapper.take_array(function, f"{title}.{function.name}", True)
        return kept

    def _make(
        self,
        cls: tree.Class,
        tag: str,
        construct: str,
        maker: str,
        statics: bool,
        hashable: bool,
    ) -> str:
        outer = self.module.class_of(cls.outer)
        owner = (
            f"(PyObject *)swigkit::class_of<{outer.cpp}>.type" if outer else "module"
        )
        bases = ", ".join(
            f"{{&swigkit::class_of<{base}>, [](void *p) -> void * {{ "
            f"return static_cast<{base} *>(static_cast<{cls.cpp} *>(p)); }}}}"
            for base in cls.bases
        )
        home = cls.features.get("public_module", self.module.name).strip('"')
        made = f"swigkit::make_object<{construct}>" if construct else "nullptr"
        vectorcall = maker or made
        record = f"swigkit::class_of<{cls.cpp}>"
        lines = []
        pointer = self.module.counted_by(cls)
        if "value" in cls.features:
            lines.append(f"{record}.tracked = swigkit::g_owned_singly< {cls.cpp} >;")
            lines.append(f"{record}.inside = true;")
        elif "tracked" not in cls.features and not pointer:  # nobody shares it
            lines.append(
                f"{record}.inside = swigkit::kMayLieInside< {cls.cpp} > && "
                f"!swigkit::g_leave_python< {cls.cpp} >;"
            )
            lines.append(f"{record}.tracked |= swigkit::g_owned_singly< {cls.cpp} >;")
            lines.append(f"{record}.known = swigkit::g_found_again< {cls.cpp} >;")
        if "tracked" in cls.features or pointer:
            lines.append(f"{record}.tracked = true;")
        if pointer:
            use = f"swigkit::IntrusivePointer<{pointer}>::use<{cls.cpp}>"
            lines.append(f"{use}({record});")
        if "released_end" in cls.features:
            for kind in ("destroy", "share"):
                made = f"swigkit::detail::{kind}_released<{cls.cpp}>"
                lines.append(f"{record}.{kind} = {made};")
        if "borrowed" in cls.features:
            lines.append(f"{record}.destroy = nullptr;")
        if cls.overridable and "state" in cls.features:
            lines.append(f"{record}.make_overridden = swigkit::refuse_copy;")
        if cls.overridable and is_copied(cls, self.module):
            parts = [one.cpp for one in self.module.chain(cls)[1:]]
            kinds = ", ".join([director(cls), cls.cpp, *parts])
            lines.append(
                f"{record}.make_overridden = swigkit::make_overridden<{kinds}>;"
            )
        lines.append(
            "PyObject *swigkit_type = swigkit::make_class(module, "
            f'{{{record}, "{home}.{self._full_name(cls)}", {len(home) + 1}, {owner}, '
            f"{tag}_slots, {construct or 'nullptr'}, "
            f"{tag + '_statics' if statics else 'nullptr'}, {_cpp(hashable)}, "
            f"{_cpp('collected' in cls.features)}, "
            f"{_cpp(self.module.is_dynamic(cls))}, "
            f"{_cpp('public_module' in cls.features)}, "
            f"{_cpp('final' in cls.features)}}}, "
            f"{vectorcall}, {{{bases}}});"
        )
        lines.append("if (!swigkit_type) return -1;")
        for enum in cls.enums:
            lines.append(enum_statement(enum, "swigkit_type"))
        for key, value in cls.features.items():
            if key.startswith("attribute_"):
                name = key.removeprefix("attribute_")
                lines.append(
                    f'if (!swigkit::add_constant(swigkit_type, "{name}", '
                    f"swigkit::to_attribute({value[1:-1].strip()}))) return -1;"
                )
        return "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"

    def _attributes(self, cls: tree.Class, title: str) -> tuple[list[str], list[str]]:
        getset, statics = [], []
        if self.module.is_dynamic(cls):
            getset.append("  swigkit::g_dict_entry,")
        for variable in cls.variables:
            if variable.static and not variable.wrapper:  # a constant
                getter = f"swigkit_constant_{cls.symbol}_{variable.name}"
                constant = f"{cls.cpp}::{variable.cpp.rpartition('::')[2]}"
                if variable.enumerator:
                    constant = f"+{constant}"  # an int
                self.parts.append(
                    f"static PyObject *{getter}(PyObject *, void *) {{\n"
                    f"  return swigkit::get_constant<decltype({constant})>"
                    f"({constant});\n}}"
                )
                row = f'  {{"{variable.name}", {getter}, nullptr, nullptr, nullptr}},'
                statics.append(row)
                getset.append(row)
                continue
            if not variable.wrapper:
                continue
            doc = cpp_text(variable.doc) if variable.doc else "nullptr"
            setter = "nullptr"
            if variable.getter:
                getset.append(self._property(variable, title, doc))
                continue
            if variable.wrapper.startswith("Swig_var_"):
                stem = variable.wrapper.removesuffix("_get")
                if not variable.readonly:
                    setter = f"swigkit::set_static<{stem}_set>"
                    self.wrapper.name_static(cls, variable, title)
                row = (
                    f'  {{"{variable.name}", swigkit::get_static<{stem}_get>, '
                    f"{setter}, {doc}, nullptr}},"
                )
                statics.append(row)
                getset.append(row)
                continue
            getter = variable.wrapper
            one = tree.Function(variable.name, "", getter, [], variable.type)
            if variable.type == "PyObject *":
                self.wrapper.borrow(getter)
            self.wrapper.take_array(one, f"{title}.{variable.name}", True)
            other = getter.removesuffix("_get") + "_set"
            if self.wrapper.has(other):
                # A pointer to an object, which then lives as long as its owner.
                types = self.module.typedefs.types
                known = types.get(variable.type, variable.type)
                pointer = known.endswith("*") and (
                    self.module.class_of(pointee(known)) is not None
                )
                nullable = variable.type.startswith(("std::function<", UNIQUE))
                function = "(*" in known
                nullable = nullable or pointer or function
                nullable |= variable.type == "const char *"
                null = "nullptr" if nullable else None
                value = tree.Parameter(variable.name, variable.type, null)
                two = tree.Function(variable.name, "", other, [value], "void")
                if pointer:
                    two.features["keeps_1_2"] = "1"
                number = variable.type.removeprefix("std::") in INTS
                library = variable.type.startswith("std::") and not number
                library &= not known.endswith("*")
                assigned = "<" in variable.type and not known.endswith("*")
                if not variable.protected:  # which the kit's own code may not name
                    self._set_member(other, title, variable, known, assigned or library)
                self.wrapper.take_array(two, f"{title}.{variable.name}", True)
                setter = f"swigkit::set<{other}>"
            getset.append(
                f'  {{"{variable.name}", swigkit::get<{getter}>, {setter}, '
                f"{doc}, nullptr}},"
            )
        return getset, statics

    def _property(self, variable: tree.Variable, title: str, doc: str) -> str:
        """The row of one that methods make."""
        entries = ["nullptr", "nullptr"]
        for i, function in enumerate((variable.getter, variable.setter)):
            if function:
                self.wrapper.take_array(function, f"{title}.{variable.name}", True)
                entry = ("get", "set")[i]
                entries[i] = f"swigkit::{entry}<{function.wrapper}>"
        return f'  {{"{variable.name}", {entries[0]}, {entries[1]}, {doc}, nullptr}},'

    def _set_member(
        self,
        setter: str,
        title: str,
        variable: tree.Variable,
        known: str,
        assigned: bool,
    ) -> None:
        """What SWIG's function that sets a member does instead; `known` is its type."""
        own = self.module.class_of(variable.type) is not None
        name = f"{title}.{variable.name}"
        if assigned or own:
            self.wrapper.assign(setter, own)
        # Not of a number, which may have a few bits only and no address; of
        # `enum {...} member : 2` SWIG does not say that it is a bit-field.
        if known.endswith("*"):
            self.wrapper.point(setter, name, variable)
        elif not variable.bits and not variable.type.startswith("enum "):
            self.wrapper.keep(setter, name, variable)
        if variable.bits:
            self.wrapper.narrow(setter, name, variable)

    def _constructor(self, cls: tree.Class, title: str, tag: str) -> str:
        """Writes what makes the C++ object; returns its name, or nothing."""
        overloads = cls.constructors
        if cls.abstract and not cls.overridable or not overloads:
            return ""
        for function in overloads:
            self.wrapper.make_constructor(cls, function)
        group = self.groups.write(title, overloads, member=cls.overridable)
        # Of a class that Python may override, its object is the first argument.
        first = "nullptr"
        if cls.overridable:
            own = f"swigkit::class_of<{cls.cpp}>.type"
            first = f"Py_TYPE(self) == {own} ? Py_None : self"
        self.parts.append(
            f"static int {tag}_construct(PyObject *self, PyObject *const *args, "
            "Py_ssize_t nargs,\n"
            "                             PyObject *keywords) {\n"
            f"  PyObject *first = {first};\n"
            f"  PyObject *done = {group}::call(self, first, args, nargs, keywords, "
            "false);\n"
            "  Py_XDECREF(done);\n  return done ? 0 : -1;\n}"
        )
        return f"{tag}_construct"

    def _buffer(self, cls: tree.Class, tag: str) -> list[str]:
        """Writes what tells where its memory is; returns the slots."""
        names = [n.strip() for n in cls.features["buffer"].strip('"').split(",")]
        lengths = ", ".join(f"Py_ssize_t(self.{name}())" for name in names[1:])
        text = f"return swigkit::describe_buffer(self.{names[0]}(), {{{lengths}}});"
        if len(names) == 1:  # a method or a function
            text = (
                f"if constexpr (requires {{ self.{names[0]}(); }}) return "
                f"self.{names[0]}(); else return {names[0]}(self);"
            )
        self.parts.append(
            f"static swigkit::Buffer {tag}_buffer({cls.cpp} &object) {{\n"
            f"  return [](auto &self) -> swigkit::Buffer {{ {text} }}(object);\n}}"
        )
        return [
            "{Py_bf_getbuffer, "
            f"(void *)swigkit::get_buffer<{cls.cpp}, {tag}_buffer>}}",
            "{Py_bf_releasebuffer, (void *)swigkit::release_buffer}",
        ]

    def _reduce(self, cls: tree.Class, tag: str) -> list[str]:
        """Writes what pickling asks for; returns the rows."""
        state, from_state = (
            tree.python_name(_last(cls.features[key]))
            for key in ("state", "from_state")
        )
        self.parts.append(
            f"static PyObject *{tag}_reduce(PyObject *self, PyObject *) {{\n"
            f"  return swigkit::reduce(self, swigkit::class_of<{cls.cpp}>, "
            f'"{self.module.name}", "{state}", '
            f'"{from_state}");\n}}\n'
            f"static PyObject *{tag}_reduce_ex(PyObject *self, PyObject *) {{\n"
            f"  return swigkit::reduce_for(self, swigkit::class_of<{cls.cpp}>, "
            f"{tag}_reduce);\n}}"
        )
        return [
            method_row("__reduce__", f"{tag}_reduce", "METH_NOARGS", ""),
            method_row("__reduce_ex__", f"{tag}_reduce_ex", "METH_O", ""),
        ]

    def _documented_class(self, cls: tree.Class) -> str:
        makers = [cls.maker] if cls.maker else cls.constructors
        if not makers:
            return cls.doc
        if len(makers) == 1:
            shown = python_parameters(makers[0])
        else:
            shown = ["*args", "**kwargs"]
        texts = [cls.doc, *comments(makers)]
        return f"{cls.name}({', '.join(shown)})\n--\n\n" + "\n\n".join(
            t for t in texts if t
        )


def _cpp(truth: bool) -> str:
    return "true" if truth else "false"


def _last(name: str) -> str:
    """The name without its namespaces."""
    return name.rpartition("::")[2]


def enum_statement(enum: tree.Enum, owner: str) -> str:
    """What makes the enum, an attribute of the C++ expression `owner`."""
    members = ", ".join(f'{{"{name}", {value}}}' for name, value in enum.members)
    base = "IntFlag" if enum.flags else "IntEnum"
    spread = "false" if enum.scoped else "true"
    docs = ", ".join(
        f'{{"{name}", {cpp_text(doc)}}}' for name, doc in enum.docs.items()
    )
    return (
        f'if (!swigkit::add_enum<{enum.cpp}>(module, {owner}, "{enum.name}", '
        f'{{{members}}}, "{base}", {spread}, {cpp_text(enum.doc)}, {{{docs}}})) '
        "return -1;"
    )


def import_statement(enum: tree.Enum, home: str, outer: str = "") -> str:
    """What finds the enum in the module that has made it."""
    return (
        f'if (!swigkit::import_enum<{enum.cpp}>(module, "{home}", '
        f'"{outer}{enum.name}")) return -1;'
    )


def method_row(name: str, entry: str, flags: str, doc: str) -> str:
    """A row of a table of methods or functions."""
    text = cpp_text(doc) if doc else "nullptr"
    return f'  {{"{name}", (PyCFunction)(void (*)(void)){entry}, {flags}, {text}}},'


def _table(type_: str, name: str, rows: list[str], width: int) -> str:
    end = (
        "  {"
        + ", ".join(["nullptr", "nullptr", "0", "nullptr", "nullptr"][:width])
        + "}"
    )
    if type_ == "PyGetSetDef":
        end = "  {nullptr, nullptr, nullptr, nullptr, nullptr}"
    return "\n".join([f"static {type_} {name}[] = {{", *rows, end, "};"])

# SPDX-License-Identifier: Apache-2.0
"""What a module's records need of each other, once all of them are read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .notation import LITERAL, scope
from .python_types import PythonTypes
from .records import Class, Function, Module, Parameter, Variable
from .xml_tree import TreeError

# The prefixes of methods that %property adds (swigkit/classes.i).
ADDED = ("swigkit_get_", "swigkit_set_")


def complete(module: Module) -> None:
    """Names, properties, and what is set by key; TreeError for what cannot be."""
    _resolve_names(module)
    _use_static_methods(module)
    _make_properties(module)
    for cls in module.classes:
        cls.methods += _item_setters(cls)
        module.left_out += _never_overridden(module, cls)
        _check_defaults(cls)


def _resolve_names(module: Module) -> None:
    """Which class a class lies in and which are its bases, by their C++ names; and
    which of them C++ iterates over by classes of the module."""
    for cls in module.classes:
        outer = scope(cls.cpp)
        if module.class_of(outer):
            cls.outer = outer
    names = {cls.cpp: cls.cpp for cls in module.classes}
    typedefs = module.typedefs
    types = PythonTypes(names, typedefs.types, typedefs.aliases)
    module.types = types
    for cls in module.classes:
        found = [types.own_class(base, scope(cls.cpp)) for base in cls.bases]
        cls.bases = [base for base in found if base]
    for cls in module.classes:
        ends = ("begin", "end")
        given = [m for m in cls.methods if m.name in ends and not m.parameters]
        results = (types.own_class(m.result, cls.cpp) for m in given)
        known = [c.is_iterator for c in map(module.class_of, results) if c]
        both = len({m.name for m in given}) == 2
        cls.has_iterators = both and any(known)


def _use_static_methods(module: Module) -> None:
    """`using Base::name;` of static methods, of which SWIG says nothing more."""
    for cls in module.classes:
        for full in cls.used:
            name = full.rpartition("::")[2]
            found = module.types.own_class(scope(full), scope(cls.cpp))
            base = module.class_of(found) if found else None
            if base and not base.imported and not cls.imported:
                statics = [m for m in base.methods if m.static and m.cpp == name]
                cls.methods += [m for m in statics if m not in cls.methods]


def _make_properties(module: Module) -> None:
    """Attributes of what %property has added to the classes."""
    for cls in module.classes:
        added = {m.name: m for m in cls.methods if m.name.startswith(ADDED)}
        cls.methods = [m for m in cls.methods if m.name not in added]
        maker = cls.features.get("made_by", "").strip('"')
        for found in [m for m in cls.methods if m.static and m.name == maker]:
            cls.maker = found
            cls.methods.remove(found)
        _methods_as_attributes(cls)
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


def _methods_as_attributes(cls: Class) -> None:
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
                f"%properties({cls.cpp}, {name}): expected a method without parameters"
            )
        for getter in found[:1]:
            kind, code, doc = getter.result, getter.wrapper, getter.doc
            cls.variables.append(
                Variable(name, name, kind, code, True, doc=doc, getter=getter)
            )
            others = [m for m in cls.methods if m.name == name and m is not getter]
            cls.hidden += others
            cls.methods = [m for m in cls.methods if m.name != name]


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
            text = re.sub(LITERAL, '""', parameter.default or "", flags=re.S)
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

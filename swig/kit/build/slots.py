# SPDX-License-Identifier: Apache-2.0
"""The methods that CPython calls by slots of the type: operators, items, iteration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .notation import pointee
from .records import Class, Function

__all__ = ["Order", "is_slot", "slots"]

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
    "__await__": "am_await",
    "__aiter__": "am_aiter",
    "__anext__": "am_anext",
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
    "matmul": "nb_inplace_matrix_multiply",
    "pow": "nb_inplace_power",
}
INTEGER = (
    r"(?:const )?(?:std::)?(?:size_t|ptrdiff_t|(?:unsigned |signed )?"
    r"(?:int|long|short|long long)|unsigned|u?int(?:16|32|64)_t)(?: *&)?"
)
NO_GROUP = "swigkit::None"
COMPARE = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")


def is_slot(name: str) -> bool:
    """Whether CPython calls a method of this name by a slot of the type."""
    middle = name.strip("_")
    if not (name.startswith("__") and name.endswith("__")):
        return False
    return (
        name in (*UNARY, "__iter__")
        or name in COMPARE
        or middle in BINARY
        or (middle[:1] == "r" and middle[1:] in BINARY)
        or (middle[:1] == "i" and middle[1:] in IN_PLACE)
        or name
        in (
            *("__len__", "__bool__", "__hash__", "__next__", "__getitem__"),
            *("__setitem__", "__delitem__", "__contains__", "__call__"),
            *("__setattr__", "__delattr__"),
        )
    )


class Order:
    """What <=> says of a class, and what it does not, as an operator does: as in C++,
    < of the same operands comes first."""

    def __init__(
        self, cls: Class, functions: list[Function], methods: dict[str, list[Function]]
    ) -> None:
        self.cls = cls
        self.functions = functions
        types = [pointee(f.given[0].type) for f in functions]
        self.types = sorted(types, key=lambda kind: kind != cls.cpp)
        self.said = {
            name: {pointee(f.given[0].type) for f in methods.get(name, [])}
            for name in COMPARE
        }

    def group(self, name: str, group: str) -> str:
        """The C++ group of a comparison, of which `group` are its own operators."""
        if name == "__ne__" and group == NO_GROUP and self.functions:
            return NO_GROUP  # as in C++, what == does not say: slots.h
        own = [] if group == NO_GROUP else [group]
        kinds = [kind for kind in self.types if kind not in self.said[name]]
        op = f"Py_{name.strip('_').upper()}"

        def ordered(exact: bool) -> list[str]:
            last = f"{op}, {str(not own).lower()}, {str(exact).lower()}"
            return [f"swigkit::Ordered<{self.cls.cpp}, {k}, {last}>" for k in kinds]

        # As in C++, what an operator takes as it is comes before what is converted for
        # one: what is a number as well is compared as the object that it is, and no
        # number is made an object that could be compared with a number.
        exact = ordered(True) if len(own) + len(kinds) > 1 else []
        whole = [*exact, *own, *ordered(False)]
        joined = ", ".join(whole)
        return f"swigkit::FirstOf<{joined}>" if len(whole) > 1 else joined or group


def slots(cls: Class, groups: dict[str, str], ordered: Order) -> Iterator[str]:
    """Those that the methods of these names fill; `groups` are their C++ names."""
    none = NO_GROUP

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
            template = "power_in_place" if middle == "pow" else "in_place"
            yield slot(kind, f"{template}<{groups[f'__i{middle}__']}>")
    if ordered.functions or any(name in groups for name in COMPARE):
        used = ", ".join(
            ordered.group(name, groups.get(name, none)) for name in COMPARE
        )
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
    if "__iter__" in groups:
        yield slot("tp_iter", f"iterate_result<{groups['__iter__']}>")
    elif "__next__" in groups:
        yield slot("tp_iter", "iterate_itself")
    elif cls.is_range:
        yield slot("tp_iter", f"iterate_range<{cls.cpp}>")
    elif "__len__" in groups and _is_sequence(cls):
        yield slot("tp_iter", "iterate_items")
    if "__getitem__" in groups:
        yield slot("mp_subscript", f"item<{groups['__getitem__']}>")
        yield slot("sq_item", f"item_at<{groups['__getitem__']}>")
    if "__setitem__" in groups or "__delitem__" in groups:
        pair = f"{groups.get('__setitem__', none)}, {groups.get('__delitem__', none)}"
        yield slot("mp_ass_subscript", f"set_item<{pair}>")
    if "__contains__" in groups:
        yield slot("sq_contains", f"contains<{groups['__contains__']}>")
    if "__getattr__" in groups:
        yield slot("tp_getattro", f"get_attribute<{groups['__getattr__']}>")
    elif cls.points:
        yield slot("tp_getattro", f"get_beyond<{cls.cpp}>")
    if "__setattr__" in groups or "__delattr__" in groups:
        pair = f"{groups.get('__setattr__', none)}, {groups.get('__delattr__', none)}"
        yield slot("tp_setattro", f"set_attribute<{pair}>")
    elif cls.points:
        yield slot("tp_setattro", f"set_beyond<{cls.cpp}>")
    if "__call__" in groups:
        yield slot("tp_call", f"call_object<{groups['__call__']}>")


def _is_sequence(cls: Class) -> bool:
    """Whether its items have numbers."""
    return any(
        method.name == "__getitem__"
        and len(method.given) == 1
        and re.fullmatch(INTEGER, method.given[0].type)
        for method in cls.methods
    )

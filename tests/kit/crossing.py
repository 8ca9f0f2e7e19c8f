# SPDX-License-Identifier: Apache-2.0
"""Every type in every place where C++ may have it, generated: a header, its interface,
and the ways to pass a value there.  test_crossing.py calls them."""

from __future__ import annotations

import datetime
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

Module = ModuleType
Way = Callable[[Module, str, Any], object]


@dataclass
class Kind:
    """A C++ type; its values, and what is none, which may need the module's classes."""

    cpp: str
    values: Callable[[Module], list[Any]]
    wrong: tuple[object, ...]
    qualified: str = ""  # in the interface


def plain(cpp: str, values: list[Any], *wrong: object) -> Kind:
    """Of a type that needs nothing of the module's."""
    return Kind(cpp, lambda m: values, wrong)


KINDS = {
    "int8": plain("int8_t", [0, -128, 127], 128, -129, "a", None, 1.5, 2**70),
    "uint8": plain("uint8_t", [0, 255], 256, -1, "a", None),
    "int16": plain("short", [-(2**15), 2**15 - 1], 2**15, "a", None),
    "int64": plain("int64_t", [0, -(2**63), 2**63 - 1], 2**63, "a", None, 1.5),
    "uint64": plain("uint64_t", [0, 2**64 - 1], 2**64, -1, None),
    "size": plain("size_t", [0, 5], -1, None),
    "bool": plain("bool", [True, False]),
    "float": plain("float", [0.5, -1.25], "a", None),
    "double": plain("double", [0.5, 1e300, float("inf")], "a", None),
    "char": plain("char", ["x"], "xy", "", None, 3),
    "text": plain("std::string", ["", "aé", "x\0y", "x" * 1000], None, 3),
    "wide": plain("std::wstring", ["", "aé"], None, 3),
    "complex": plain("std::complex<double>", [1 + 2j], "a", None),
    "point": Kind("Point", lambda m: [m.Point(3)], (None, 3, "a"), "crossing::Point"),
    "mode": Kind("Mode", lambda m: list(m.Mode), (1, None, "A"), "crossing::Mode"),
    "shared": Kind(
        "std::shared_ptr<Shared>",
        lambda m: [m.Shared(4), None],
        (3, "a"),
        "std::shared_ptr<crossing::Shared>",
    ),
    "ints": plain("std::vector<int>", [[], [1, 2]], None, 3, ["a"]),
    "points": Kind(
        "std::vector<Point>",
        lambda m: [[], [m.Point(1), m.Point(2)]],
        (None, [3]),
        "std::vector<crossing::Point>",
    ),
    "rows": plain("std::vector<std::vector<int>>", [[], [[1], []]], None, [1]),
    "array": plain("std::array<int, 2>", [[1, 2]], None, [1], [1, 2, 3]),
    "bytes": plain("std::vector<std::byte>", [b"", b"a\0b"], None, 3, "a"),
    "map": plain("std::map<std::string, int>", [{}, {"a": 1}], None, {1: 1}),
    "set": plain("std::set<int>", [set(), {1, 2}], None, 3),
    "pair": plain("std::pair<int, std::string>", [(1, "a")], None, (1,), (1, 2)),
    "tuple": plain("std::tuple<int, double, std::string>", [(1, 0.5, "a")], None, (1,)),
    "optional": plain("std::optional<int>", [None, 3], "a"),
    "variant": plain("std::variant<int, std::string>", [3, "a"], None, 1.5, []),
    "function": plain("std::function<int(int)>", [lambda x: x + 1], 3, "a"),
    "path": plain("std::filesystem::path", [pathlib.Path("/a/b")], 3, None),
    "duration": plain(
        "std::chrono::milliseconds",
        [datetime.timedelta(milliseconds=5)],
        "a",
        None,
    ),
}

HEADER = """\
#pragma once
#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace crossing {
struct Point {
  int x;
  explicit Point(int x = 0) : x(x) {}
  bool operator==(const Point& other) const { return x == other.x; }
};
struct Shared {
  int x;
  explicit Shared(int x = 0) : x(x) {}
};
enum class Mode { A = 1, B = 7 };
"""
PLACES = """\
inline T value_N(T a) { return a; }
inline T constant_N(const T& a) { return a; }
inline T moved_N(T&& a) { return std::move(a); }
inline std::vector<T> items_N(const std::vector<T>& a) { return a; }
inline std::optional<T> perhaps_N(std::optional<T> a) { return a; }
inline std::map<std::string, T> named_N(const std::map<std::string, T>& a) { return a; }
inline std::pair<T, int> paired_N(std::pair<T, int> a) { return a; }
inline std::variant<std::monostate, T> either_N(std::variant<std::monostate, T> a) {
  return a;
}
inline T called_N(const std::function<T(T)>& f, T a) { return f(a); }
inline T lent_N(const std::function<const T&(const T&)>& f, const T& a) { return f(a); }
inline void written_N(const T& a, T& out_N) { out_N = a; }
struct Holder_N {
  T member{};
  static inline T common{};
  Holder_N() = default;
  explicit Holder_N(T a) : member(a) {}
  virtual ~Holder_N() = default;
  const T& get() const { return member; }
  void put(const T& a) { member = a; }
  virtual T by_constant(const T& a) { return a; }
  virtual T by_value(T a) { return a; }
};
inline T variable_N{};
inline T overridden_N(Holder_N& holder, const T& a) { return holder.by_constant(a); }
inline T overridden_value_N(Holder_N& holder, T a) { return holder.by_value(a); }
"""
INTERFACE = """\
%module(directors="1") crossing
%include "swigkit.i"
%{
#include "crossing.h"
%}
%shared(crossing::Shared)
"""


def header() -> str:
    """The C++ of all kinds."""
    parts = [HEADER]
    for name, kind in KINDS.items():
        parts.append(re.sub(r"\bT\b", kind.cpp, PLACES.replace("_N", f"_{name}")))
    return "".join(parts) + "}  // namespace crossing\n"


def interface() -> str:
    """What the kit is told of it."""
    lines = []
    for name, kind in KINDS.items():
        cpp, holder = kind.qualified or kind.cpp, f"crossing::Holder_{name}"
        lines.append(f"%overridable({holder})\n%output({cpp} &out_{name})\n")
        lines.append(f"%property({holder}, %arg({cpp}), both, get, put)\n")
    return INTERFACE + "".join(lines) + '%include "crossing.h"\n'


def _set(place: Callable[[Module, str], object], name: str = "") -> Way:
    """Sets an attribute, by default that of the kind's name, and reads it."""

    def way(m: Module, kind: str, value: Any) -> object:
        owner = place(m, kind)
        setattr(owner, name or f"variable_{kind}", value)
        return getattr(owner, name or f"variable_{kind}")

    return way


def _call(name: str, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Way:
    return lambda m, kind, value: unpack(getattr(m, f"{name}_{kind}")(pack(value)))


def _same(value: Any) -> Any:
    return value


def _holder(m: Module, kind: str) -> Any:
    return getattr(m, f"Holder_{kind}")


def _good(m: Module, kind: str) -> Any:
    return KINDS[kind].values(m)[0]


def _overridden(name: str, method: str, taken: bool) -> Way:
    """By an override that gives what it got (`taken`), or the value."""

    def way(m: Module, kind: str, value: Any) -> object:
        body = {method: lambda self, a: a if taken else value}
        derived = type("Derived", (_holder(m, kind),), body)
        call = getattr(m, f"{name}_{kind}")
        return call(derived(), value if taken else _good(m, kind))

    return way


# How a value comes to C++ and back; what is no value is refused by each.
WAYS: dict[str, Way] = {
    **{name: _call(name, _same, _same) for name in ("value", "constant", "moved")},
    "item": _call("items", lambda v: [v], lambda got: got[0]),
    "named": _call("named", lambda v: {"k": v}, lambda got: got["k"]),
    "paired": _call("paired", lambda v: (v, 1), lambda got: got[0]),
    "written": _call("written", _same, _same),
    "constructor": lambda m, kind, v: _holder(m, kind)(v).member,
    "member": _set(lambda m, kind: _holder(m, kind)(), "member"),
    "property": _set(lambda m, kind: _holder(m, kind)(), "both"),
    "static": _set(_holder, "common"),
    "variable": _set(lambda m, kind: m.cvar),
    "called": lambda m, k, v: getattr(m, f"called_{k}")(lambda a: v, _good(m, k)),
    "overridden": _overridden("overridden", "by_constant", False),
    "overridden_value": _overridden("overridden_value", "by_value", False),
}
# What is refused is not asked there: None is nothing, or the override is given it.
MORE_WAYS: dict[str, Way] = {
    "perhaps": _call("perhaps", _same, _same),
    "either": _call("either", _same, _same),
    "lent": lambda m, k, v: getattr(m, f"lent_{k}")(lambda a: a, v),
    "to_override": _overridden("overridden", "by_constant", True),
    "to_override_value": _overridden("overridden_value", "by_value", True),
    "own": lambda m, k, v: getattr(m, f"overridden_{k}")(_holder(m, k)(), v),
}

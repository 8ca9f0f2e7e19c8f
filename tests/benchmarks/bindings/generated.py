# SPDX-License-Identifier: Apache-2.0
"""Calls that nobody picked: ``python .../bindings/generated.py [--rounds N]``.

Writes a C++ surface with a function, a member and a list of every number type,
overloads of every count, methods and constructors of up to four arguments, keywords,
operators and results that are objects, and binds it with the kit, nanobind and
pybind11.  Prints what a call costs with each and the ratios, from one run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from calls import Call, ratio, time_calls
from variants import (
    ROOT,
    Nanobind,
    OurSwig,
    Pybind11,
    Variant,
    nanobind_support,
    need,
    run,
)

NUMBERS = {
    **{
        f"{u}int{bits}": (f"{u}int{bits}_t", "7") for u in ("", "u") for bits in (8, 16)
    },
    **{
        f"{u}int{bits}": (f"{u}int{bits}_t", "70")
        for u in ("", "u")
        for bits in (32, 64)
    },
    "float": ("float", "0.5"),
    "double": ("double", "0.5"),
    "bool": ("bool", "True"),
}
KINDS = {**NUMBERS, "text": ("std::string", "'text'"), "point": ("Point", "p")}
# What overloads take, in their order, and a value that only this one takes.
OVERLOADS = [
    ("int", "3"),
    ("const std::string&", "'x'"),
    ("double", "0.5"),
    ("const Point&", "p"),
    ("const std::vector<int>&", "[1]"),
    ("bool", "True"),
]
COUNTS = (1, 2, 4, 6)
OPERATORS = {"+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__"}
COMPARISONS = {"==": "__eq__", "<": "__lt__", "<=": "__le__", "!=": "__ne__"}


def doubles(count: int) -> str:
    return ", ".join(f"double {name}" for name in "abcd"[:count])


def header() -> Iterator[str]:
    """The C++, as plain as can be: what is timed is the border."""
    yield "#pragma once\n#include <cstdint>\n#include <string>\n#include <vector>"
    yield "struct Point {\n  double x = 1, y = 2;\n  Point() = default;"
    yield "  Point(double x, double y) : x(x), y(y) {}"
    for sign in OPERATORS:
        yield (
            f"  Point operator{sign}(const Point& o) const "
            f"{{ return {{x {sign} o.x, y {sign} o.y}}; }}"
        )
    for sign in COMPARISONS:
        yield f"  bool operator{sign}(const Point& o) const {{ return x {sign} o.x; }}"
    yield "};\nstruct Holder {"
    for name, (cpp, _) in KINDS.items():
        yield f"  {cpp} {name}_{{}};"
    for count in range(5):
        total = " + ".join(["0.0", *"abcd"[:count]])
        yield f"  double method{count}({doubles(count)}) const {{ return {total}; }}"
    yield "  Point part{};\n  Point& reference() { return part; }"
    yield "  Point copy() const { return part; }\n};"
    for count in range(1, 5):
        yield f"struct Made{count} {{\n  double sum;"
        total = " + ".join("abcd"[:count])
        yield f"  Made{count}({doubles(count)}) : sum({total}) {{}}\n}};"
    yield "struct Plain {\n  double sum;\n  Plain(double a) : sum(a) {}\n};"
    for name, (cpp, _) in KINDS.items():
        yield f"inline {cpp} same_{name}({cpp} a) {{ return a; }}"
    for name, (cpp, _) in NUMBERS.items():
        items = f"std::vector<{cpp}>"
        yield f"inline {items} list_{name}({items} a) {{ return a; }}"
    for count in COUNTS:
        for number, (cpp, _) in enumerate(OVERLOADS[:count]):
            yield f"inline int pick{count}({cpp}) {{ return {number}; }}"


def interface(module: str) -> Iterator[str]:
    """The kit's."""
    yield f'%module {module}\n%include "swigkit.i"\n%{{\n#include "rows.h"\n%}}'
    values = ["Point", *(f"Made{count}" for count in range(1, 5))]
    yield "".join(f"%value({name})\n" for name in values) + '%include "rows.h"'


def bound(module: str, nanobind: bool) -> Iterator[str]:
    """nanobind's and pybind11's, which differ in their words."""
    space, macro = (
        ("nanobind", "NB_MODULE") if nanobind else ("pybind11", "PYBIND11_MODULE")
    )
    head = ["nanobind/nanobind.h", "nanobind/stl/string.h", "nanobind/stl/vector.h"]
    if not nanobind:
        head = ["pybind11/pybind11.h", "pybind11/stl.h"]
    rw = "def_rw" if nanobind else "def_readwrite"
    policy = "rv_policy" if nanobind else "return_value_policy"
    reference = f"b::{policy}::reference_internal"
    yield "\n".join(f"#include <{name}>" for name in head)
    yield f'#include "rows.h"\nnamespace b = {space};'
    yield f"{macro}({module}, m) {{"
    yield '  b::class_<Point>(m, "Point").def(b::init<>())'
    yield "      .def(b::init<double, double>())"
    yield f'      .{rw}("x", &Point::x).{rw}("y", &Point::y)'
    for sign, name in {**OPERATORS, **COMPARISONS}.items():
        yield f'      .def("{name}", &Point::operator{sign}, b::is_operator())'
    yield '      ;\n  b::class_<Holder>(m, "Holder").def(b::init<>())'
    for name in KINDS:
        yield f'      .{rw}("{name}_", &Holder::{name}_)'
    for count in range(5):
        named = "".join(f', b::arg("{name}")' for name in "abcd"[:count])
        yield f'      .def("method{count}", &Holder::method{count}{named})'
    yield f'      .def("reference", &Holder::reference, {reference})'
    yield '      .def("copy", &Holder::copy);'
    for count in range(1, 5):
        types = ", ".join(["double"] * count)
        yield f'  b::class_<Made{count}>(m, "Made{count}").def(b::init<{types}>())'
        yield f'      .{rw}("sum", &Made{count}::sum);'
    yield '  b::class_<Plain>(m, "Plain").def(b::init<double>())'
    yield f'      .{rw}("sum", &Plain::sum);'
    for name in KINDS:
        yield f'  m.def("same_{name}", &same_{name}, b::arg("a"));'
    for name in NUMBERS:
        yield f'  m.def("list_{name}", &list_{name}, b::arg("a"));'
    for count in COUNTS:
        for cpp, _ in OVERLOADS[:count]:
            yield f'  m.def("pick{count}", (int (*)({cpp}))&pick{count});'
    yield "}"


def calls() -> Iterator[Call]:
    """A row each."""
    for name, (_, value) in KINDS.items():
        before = f"p = m.Point(); h = m.Holder(); f = m.same_{name}; v = {value}"
        yield Call(f"same_{name}(v)", "f(v)", "f(v) == v", before)
        yield Call(f"same_{name}(a=v)", "f(a=v)", "f(a=v) == v", before)
        yield Call(f"h.{name}", f"h.{name}_", f"h.{name}_ is not None", before)
        yield Call(f"h.{name} = v", f"h.{name}_ = v", "True", before)
    for name, (_, value) in NUMBERS.items():
        before = f"f = m.list_{name}; v = [{value}] * 10"
        yield Call(f"list_{name}(v)", "f(v)", "list(f(v)) == v", before)
    for count in COUNTS:
        for number, (cpp, value) in enumerate(OVERLOADS[:count]):
            before = f"p = m.Point(); f = m.pick{count}; v = {value}"
            exact = f"f(v) == {number}" if cpp != "bool" else "f(v) in (0, 5)"
            yield Call(f"{cpp} of {count} overloads", "f(v)", exact, before)
    values = ["1.0", "2.0", "3.0", "4.0"]
    for count in range(5):
        given = ", ".join(values[:count])
        named = ", ".join(f"{n}={v}" for n, v in zip("abcd", values[:count]))
        before = "h = m.Holder()"
        right = f"h.method{count}({given}) == {sum(map(float, values[:count]))}"
        yield Call(
            f"h.method{count}({given})", f"h.method{count}({given})", right, before
        )
        if count:
            statement = f"h.method{count}({named})"
            yield Call(statement, statement, right, before)
            make = f"m.Made{count}({given})"
            right = f"{make}.sum == {sum(map(float, values[:count]))}"
            yield Call(
                f"Made{count}({given})", f"f({given})", right, f"f = m.Made{count}"
            )
    before = "p = m.Point(3.0, 4.0); q = m.Point(1.0, 2.0); h = m.Holder()"
    for sign in {**OPERATORS, **COMPARISONS}:
        yield Call(f"p {sign} q", f"p {sign} q", f"(p {sign} q) is not None", before)
    yield Call("h.reference()", "h.reference()", "h.reference().x == 1.0", before)
    yield Call("h.copy()", "h.copy()", "h.copy().x == 1.0", before)
    # On the heap: the interface does not say %value.
    yield Call("Plain(1.0)", "f(1.0)", "f(1.0).sum == 1.0", "f = m.Plain")
    yield Call("Point()", "f()", "f().x == 1.0", "f = m.Point")


class Kit(OurSwig):
    def make(self) -> None:
        write(self.folder / f"{self.module}.i", interface(self.module))
        write(self.folder / "rows.h", header())
        where = ["--out", self.folder, "--keep", self.folder, "-I", self.folder]
        command = [
            sys.executable,
            "-m",
            "pkg",
            "wrap",
            self.folder / f"{self.module}.i",
        ]
        run(*command, "--generate", *where)
        kit = ROOT / "swig" / "kit" / "include"
        flags = [f"-I{kit}", f"-I{self.folder}"]
        self.compile(self.folder / f"{self.module}_wrap.cc", flags=flags)


class Nano(Nanobind):
    def make(self) -> None:
        need("nanobind")
        support, flags = nanobind_support(self.folder)
        source = self.folder / "rows.cc"
        write(source, bound(self.module, nanobind=True))
        write(self.folder / "rows.h", header())
        self.compile(source, support, flags=[*flags, f"-I{self.folder}"])


class Pybind(Pybind11):
    def make(self) -> None:
        include = need("pybind11").get_include()
        source = self.folder / "rows.cc"
        write(source, bound(self.module, nanobind=False))
        write(self.folder / "rows.h", header())
        self.compile(source, flags=[f"-I{include}", f"-I{self.folder}"])


def write(path: Path, lines: Iterator[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--sample", type=float, default=0.003, help="seconds")
    parser.add_argument(
        "--kept", action="store_true", help="take what was built before"
    )
    args = parser.parse_args()
    variants: list[Variant] = [
        Kit("kit", "the kit", "rows_kit", "rows.i"),
        Nano("nanobind", "nanobind", "rows_nanobind", "rows.cc"),
        Pybind("pybind11", "pybind11", "rows_pybind11", "rows.cc"),
    ]
    modules = {}
    for variant in variants:
        folder = ROOT / "build" / "bindings" / "rows" / variant.name
        if not args.kept:
            variant.build(folder)
        modules[variant.name] = folder, variant.module
    results = time_calls(modules, args.rounds, args.sample, list(calls()))
    print(f"{'call':34}{'kit ns':>8}{'/ nanobind':>12}{'/ pybind11':>12}")
    limits = {"nanobind": 1.0, "pybind11": 0.5}
    above = dict.fromkeys(limits, 0)
    for name, result in results.items():
        shown = ""
        for peer, limit in limits.items():
            quotient = ratio(result, "kit", peer)
            above[peer] += quotient is None or quotient > limit
            text = "missing" if quotient is None else f"{quotient:.2f}"
            shown += f"{text:>11}{'*' if quotient and quotient > limit else ' '}"
        print(f"{name:34}{result['ns'].get('kit', float('nan')):8.0f}{shown}")
    for peer, limit in limits.items():
        print(f"above {limit} of {peer}: {above[peer]} of {len(results)} rows")


if __name__ == "__main__":
    main()

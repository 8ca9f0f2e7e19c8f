# SPDX-License-Identifier: Apache-2.0
"""Interfaces that the kit refuses, and what it says to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kit_modules import KIT

INTERFACE = """\
%module(directors="1") refused
%include "swigkit.i"
%{{
#include "refused.h"
%}}
{lines}
%include "refused.h"
"""
# What a header and the lines of the interface before it are refused with.
REFUSED = {
    "an argument that is not there": (
        "struct A { void add(A *a); static int of(A *a, A *b); };",
        "%keeps_alive(A::add, 1, 3)\n%keeps_alive(A::of, 1, 2)",
        "%keeps_alive(A.add, 1, 3): expected numbers of what Python gives",
    ),
    "an argument that comes out": (
        "struct A { int add(int &n, A *a); };",
        "%output(int &n)\n%keeps_alive(A::add, 1, 3)",
        "%keeps_alive(A.add, 1, 3): expected numbers of what Python gives",
    ),
    "nothing to override": (
        "struct A { int f() { return 1; } };",
        "%overridable(A)",
        "%overridable(A): expected virtual methods and a destructor that is not final",
    ),
    "a final destructor": (
        "struct A { virtual int f() { return 1; } virtual ~A() final {} };",
        "%overridable(A)",
        "%overridable(A): expected virtual methods and a destructor that is not final",
    ),
    "a constructor with any number of arguments": (
        "struct A { A(int a, ...); };",
        "",
        "expected a constructor with a number of parameters: %ignore A::A(int, ...);",
    ),
    "a constructor with a va_list": (
        "#include <cstdarg>\nstruct A { A(int); A(const char *text, va_list all); };",
        "",
        "expected a constructor with a number of parameters: "
        "%ignore A::A(const char *, va_list);",
    ),
    "arrays of three dimensions": (
        "inline double f(double cube[2][2][2]) { return cube[0][0][0]; }",
        "",
        "f, cube: expected an array of at most two dimensions, got double [2][2][2]",
    ),
    "members of three dimensions": (
        "struct A { int cube[2][3][4]; };",
        "",
        "cube: expected an array of at most two dimensions, got int [2][3][4]",
    ),
    "keywords by SWIG's own feature": (
        "inline int f(int a) { return a; }",
        '%feature("kwargs");',
        'f: %feature("kwargs") is not needed, all functions take keywords',
    ),
    "containers by SWIG's own": (
        "#include <vector>\ninline int f(std::vector<int> a) { return 1; }",
        '%include "std_vector.i"\n%template(Ints) std::vector<int>;',
        "SWIG's own std_*.i are not needed here",
    ),
    "a method that the kit ignores": (
        '#include <string>\nstruct A { operator std::string() && { return "m"; } };',
        "%rename(text) A::operator std::string() &&;\n"
        '%feature("ignore", "0") A::operator std::string() &&;',
        "_wrap_A_text is a function of SWIG's that the kit does not know",
    ),
}


def generated(
    folder: Path, header: str, lines: str, after: str = "", option: str = "--generate"
) -> subprocess.CompletedProcess[str]:
    """What the command says of the interface; without compiling, if nothing is said.
    `lines` stand before the header in it, `after` behind it."""
    (folder / "refused.h").write_text(f"#pragma once\n{header}\n")
    (folder / "refused.i").write_text(INTERFACE.format(lines=lines) + after)
    return subprocess.run(
        [sys.executable, KIT, "wrap", "refused.i", option],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize(("header", "lines", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(tmp_path: Path, header: str, lines: str, said: str) -> None:
    done = generated(tmp_path, header, lines)
    assert done.returncode == 2 and said in done.stdout, done.stdout
    assert "Traceback" not in done.stdout


def test_a_private_method_that_nobody_can_override_is_named(tmp_path: Path) -> None:
    """A warning; what is pure is left to Python, and what overrides is the base's."""
    header = """\
struct A {
  virtual ~A() {}
  int run() { return own() + left(); }
  virtual int seen() { return 0; }
 private:
  virtual int own() { return 1; }
  virtual int left() = 0;
};
struct B : A {
 private:
  int seen() override { return 2; }
  int left() override { return 3; }
};"""
    done = generated(tmp_path, header, "%overridable(A)\n%overridable(B)")
    assert done.returncode == 0, done.stdout
    warned = [line for line in done.stdout.splitlines() if "is private" in line]
    assert warned == [
        "swigkit: warning: A::own() is private: C++ does not call what Python "
        "overrides it with. Make it protected"
    ]


# Lines that SWIG passes over, or what it leaves out, and the warning.
WARNED = {
    "a class without its namespace": (
        "namespace geo { struct A {}; }",
        "%shared(A)",
        "%shared(A) says it of nothing that is there: is it geo::A?",
    ),
    "no class at all": (
        "struct A {};",
        "%value(B)\n%hash(C, hash)",
        "%hash(C) says it of nothing that is there",
    ),
    "no enum": (
        "namespace geo { enum class Mode { a, b }; }",
        "%flags(Mode)",
        "%flags(Mode) says it of nothing that is there: is it geo::Mode?",
    ),
    "an output whose type is another": (
        "namespace geo { typedef int Path; inline void f(Path &path) {} }",
        "%output(Path &path)",
        "%output(Path & path), or %in_out, fits no parameter",
    ),
    "any number of arguments": (
        "#include <cstdarg>\ninline int f(const char *format, va_list) { return 1; }",
        "",
        "f(va_list) is left out: for Python write one with the parameters",
    ),
}


@pytest.mark.parametrize(("header", "lines", "said"), WARNED.values(), ids=WARNED)
def test_what_is_warned_of(tmp_path: Path, header: str, lines: str, said: str) -> None:
    done = generated(tmp_path, header, lines)
    assert done.returncode == 0 and said in done.stdout, done.stdout


def test_lines_of_what_is_there_are_not_warned_of(tmp_path: Path) -> None:
    header = """\
namespace geo {
enum class Mode { a, b };
template <class T> struct Box { T value; struct Inner { int v; }; };
struct A { enum Kind { one, two }; int v; int hash() const { return v; } };
typedef A Other;
inline int f(int &size) { return size = 1; }
}"""
    lines = """\
%flags(geo::Mode)
%flags(geo::A::Kind)
%value(geo::Box<int>)  // %value(Commented)
%copyable(geo::Box)
%hash(geo::A, hash)
%copyable(geo::Other)
%define %twice(Name_)
%value(Name_)
%enddef
%twice(geo::A)
%output(int &size)"""
    done = generated(tmp_path, header, lines)
    assert done.returncode == 0 and "warning" not in done.stdout, done.stdout


def test_the_error_of_a_template_hides_no_other(tmp_path: Path) -> None:
    """Names that clash for SWIG alone are not told of beside it."""
    header = """\
template <class T> struct Tree {
  struct Node { T value; };
  Node root() const { return {T()}; }
};"""
    after = "%template(Ints) Tree<int>;\n%template(Floats) Tree<double>;\n"
    done = generated(tmp_path, header, "%template(Gone) Nope<int>;", after)
    assert done.returncode == 2 and "Template 'Nope' undefined" in done.stdout
    assert "multiply defined" not in done.stdout and "%rename" not in done.stdout


def test_a_constant_that_python_has_no_value_for(tmp_path: Path) -> None:
    """The module has all else, and a warning names the constant."""
    header = (
        "#include <regex>\n"
        'inline const std::regex kPattern{"a"};\ninline constexpr int kOther = 3;'
    )
    made = generated(tmp_path, header, "", option="-O0")
    assert made.returncode == 0, made.stdout
    done = subprocess.run(
        [sys.executable, "-c", "from refused import *; print(kOther)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "3\n", done.stderr
    assert "the constant kPattern is left out: no conversion for" in done.stderr


# What a compiler does not take, and what is said of it.
ADVISED = {
    "what is private": (
        "class A { struct Impl; Impl *impl_ = nullptr;\n"
        "public: Impl *impl() const { return impl_; } };",
        "is private: %ignore what gives or takes it",
    ),
    "a member that cannot be copied": (
        "#include <memory>\n#include <vector>\n"
        "struct A { std::vector<std::unique_ptr<A>> all; }; struct B { A a; };",
        "%immutable Class::member;",
    ),
}


@pytest.mark.parametrize(("header", "said"), ADVISED.values(), ids=ADVISED)
def test_what_is_advised_where_the_compiler_fails(
    tmp_path: Path, header: str, said: str
) -> None:
    done = generated(tmp_path, header, "", option="-O0")
    assert done.returncode == 2 and said in done.stdout, done.stdout

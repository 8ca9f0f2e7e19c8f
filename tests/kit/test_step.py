# SPDX-License-Identifier: Apache-2.0
"""The step that rewrites what SWIG wrote (swig/kit/build/step.py) refuses what it does
not know: another version of SWIG stops the build, and makes no module that is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from kit_modules import KIT, ROOT

from pkg.swigkit.build import completion, records

HEADER = """\
#pragma once
#include <string>
struct Point {
  double x = 0;
  static inline int made = 0;
  Point() = default;
  explicit Point(double x) : x(x) {}
  virtual ~Point() = default;
  virtual double far(double from) const { return x - from; }
  std::string name() const { return "point"; }
};
enum class Color { Red, Green };
inline double add(double a, double b = 1) { return a + b; }
inline std::string add(const std::string& a) { return a; }
inline Point moved(const Point& point) { return point; }
inline Color next(Color color) { return color; }
"""
INTERFACE = """\
%module(directors="1") small
%include "swigkit.i"
%{
#include "small.h"
%}
%overridable(Point)
%include "small.h"
"""
# What SWIG 4.5.1 writes and the step looks for, and what another version might write.
CHANGES = {
    "the table of functions": (r"PyMethodDef SwigMethods\[\]", "PyMethodDef Methods[]"),
    "the place for the classes": (r"TYPES TABLE \(BEGIN\)", "TABLE OF TYPES"),
    "how arguments are unpacked": (r"SWIG_Python_UnpackTuple", "SWIG_UnpackTuple"),
    "how one argument is taken": (r"swig_obj\[0\] = args;", "swig_obj[0] = (args);"),
    "how a function is named": (r"\b_wrap_moved\b", "_swig_moved"),
    "how a method is named": (r"\b_wrap_Point_name\b", "_wrap_Point__name"),
    "how an overload is named": (r"\b_wrap_add__SWIG_0\b", "_wrap_add_0"),
    "how a constructor is named": (r"\b_wrap_new_Point__SWIG_0\b", "_wrap_Point_new"),
}


def step(folder: Path, wrapper: Path) -> subprocess.CompletedProcess:
    """Runs the program, as the build does."""
    tree = folder / "build" / "small" / "small.xml"
    command = [sys.executable, KIT, "step", wrapper, tree, folder / "made.cc"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """With what SWIG wrote."""
    made = tmp_path_factory.mktemp("step")
    (made / "small.h").write_text(HEADER)
    (made / "small.i").write_text(INTERFACE)
    command = [sys.executable, KIT, "wrap", "small.i", "--generate"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def test_it_takes_what_it_knows(folder):
    done = step(folder, folder / "build" / "small" / "small_swig.cc")
    assert done.returncode == 0, done.stderr
    assert "swigkit::make_class" in (folder / "made.cc").read_text()


@pytest.mark.parametrize("what", list(CHANGES))
def test_it_refuses_what_it_does_not_know(folder, what):
    """With a text that names the file and the version of SWIG."""
    pattern, other = CHANGES[what]
    text = (folder / "build" / "small" / "small_swig.cc").read_text()
    changed, count = re.subn(pattern, other, text)
    assert count > 0, "SWIG does not write this: the test is out of date"
    wrapper = folder / "changed.cc"
    wrapper.write_text(changed)
    (folder / "made.cc").unlink(missing_ok=True)
    done = step(folder, wrapper)
    assert done.returncode == 1 and not (folder / "made.cc").exists(), done.stdout
    assert "changed.cc" in done.stderr and "SWIG 4.5.1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("default", "name"),
    [("kMost", "kMost"), ("2 * Ring::kMost", "kMost"), ("first()", "first")],
)
def test_a_default_that_others_may_not_say(tmp_path, default, name):
    (tmp_path / "ring.h").write_text(
        f"""\
namespace geo {{
class Ring {{
 public:
  void grow(int by = {default}) {{ size += by; }}
  void shrink(int by = 2, int kMost = 3, const char *text = "kMost") {{}}
  int size = 0;

 private:
  static constexpr int kMost = 8;
  static int first() {{ return 1; }}
}};
}}
"""
    )
    interface = '%module ring\n%include "swigkit.i"\n%{\n#include "ring.h"\n%}\n'
    (tmp_path / "ring.i").write_text(f'{interface}%include "ring.h"\n')
    command = [sys.executable, KIT, "wrap", "ring.i", "--generate"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode and "Traceback" not in said
    assert (
        "geo::Ring::grow: expected a default for 'by' that others may say as well, got "
        f"the private {name}: write %ignore geo::Ring::grow;" in said
    )
    (tmp_path / "ring.i").write_text(
        f'{interface}%ignore geo::Ring::grow;\n%include "ring.h"\n'
        "%extend geo::Ring { void grow(int by = 8) { $self->grow(by); } }\n"
    )
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("result", "settable"),
    [
        ("std::string &", True),
        ("std::vector< int > &", True),
        ("const int &", False),
        ("Child *&", False),
        # Python's text would be looked at when it is gone,
        ("std::string_view &", False),
        ("std::span< double > &", False),
        # and what Python looks at would be deleted.
        ("std::unique_ptr< Child > &", False),
    ],
)
def test_an_item_is_set_where_the_value_is_kept(result, settable):
    key = records.Parameter("key", "int")
    getter = records.Function("__getitem__", "operator []", "get", [key], result)
    cls = records.Class("Shelf", "Shelf", [], methods=[getter])
    setters = completion._item_setters(cls)
    assert [s.name for s in setters] == ["__setitem__"] * settable

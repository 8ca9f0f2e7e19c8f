# SPDX-License-Identifier: Apache-2.0
"""Two modules of the kit in one process: one uses the other's classes (%import)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kit_modules import KIT, SUFFIX

from twins import QUICK, kit_environment

HEADERS = {
    "shapes.h": """\
        #pragma once
        #include <memory>
        #include <string>
        #include <vector>
        namespace shapes {
        enum class Color { Red, Green };
        class Shape {
         public:
          virtual ~Shape() = default;
          virtual double area() const { return 1; }
          Color color = Color::Red;
        };
        inline std::shared_ptr<Shape>& shelf() {
          static std::shared_ptr<Shape> one;
          return one;
        }
        inline void keep(std::shared_ptr<Shape> shape) { shelf() = shape; }
        inline std::shared_ptr<Shape> kept() { return shelf(); }
        struct Part {
          int size;
          std::string name = "a name that has a memory of its own";
          explicit Part(int size) : size(size) {}
        };
        }
        """,
    "circles.h": """\
        #pragma once
        #include "shapes.h"
        namespace circles {
        class Circle : public shapes::Shape {
         public:
          explicit Circle(double radius) : radius(radius) {}
          double area() const override { return 3 * radius * radius; }
          double radius;
        };
        inline double sum(const std::vector<std::shared_ptr<shapes::Shape>>& all) {
          double sum = 0;
          for (const auto& one : all) sum += one->area();
          return sum;
        }
        inline shapes::Color color_of(const shapes::Shape& shape) {
          return shape.color;
        }
        inline std::shared_ptr<shapes::Shape> plain() {
          return std::make_shared<shapes::Shape>();
        }
        class Stock {
         public:
          Stock() = default;
          Stock(const Stock&) = delete;
          shapes::Part* add(int size) {
            return parts_.emplace_back(std::make_unique<shapes::Part>(size)).get();
          }
          shapes::Part* take() { return take_owner().release(); }
          std::unique_ptr<shapes::Part> take_owner() {
            auto last = std::move(parts_.back());
            parts_.pop_back();
            return last;
          }

         private:
          std::vector<std::unique_ptr<shapes::Part>> parts_;
        };
        }
        """,
}
INTERFACES = {
    "shapes.i": """\
        %module(directors="1") shapes
        %include "swigkit.i"
        %{
        #include "shapes.h"
        %}
        %shared(shapes::Shape)
        %overridable(shapes::Shape)
        %ignore shapes::shelf;
        %include "shapes.h"
        """,
    "circles.i": """\
        %module circles
        %include "swigkit.i"
        %{
        #include "circles.h"
        %}
        %import "shapes.i"
        %shared(circles::Circle)
        %newobject circles::Stock::take;
        %include "circles.h"
        """,
}
PROGRAM = """
import gc
import circles, shapes

circle = circles.Circle(2)
assert isinstance(circle, shapes.Shape) and circle.area() == 12
assert circles.sum([circle, shapes.Shape()]) == 13
assert circles.color_of(circle) is shapes.Color.Red
circle.color = shapes.Color.Green
assert circles.color_of(circle) is shapes.Color.Green
assert type(circles.plain()) is shapes.Shape
# One Python object for a C++ object, whichever module asks.
shapes.keep(circle)
assert shapes.kept() is circle
del circle
gc.collect()
again = shapes.kept()
assert type(again) is circles.Circle and again.radius == 2

class Square(shapes.Shape):
    def area(self):
        return 25

assert circles.sum([Square(), again]) == 37
assert not hasattr(circles, "Shape") and "Shape" not in circles.__all__
try:
    circles.color_of(3)
except TypeError as error:
    assert str(error) == "[color_of] expected a Shape for 'shape', got int", error
else:
    assert False
print("fine")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With both modules built."""
    made = tmp_path_factory.mktemp("imports")
    for name, text in {**HEADERS, **INTERFACES}.items():
        (made / name).write_text(text.replace("\n        ", "\n").strip() + "\n")
    for name in ("shapes.i", "circles.i"):
        wrap(made, name)
    return made


def wrap(folder: Path, interface: str) -> None:
    done = subprocess.run(
        [sys.executable, KIT, "wrap", interface, QUICK],
        cwd=folder,
        env={**os.environ, **kit_environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def ask(folder: Path, code: str, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def test_classes_of_another_module(folder: Path) -> None:
    """Bases, arguments, results, containers, enums and overrides."""
    assert ask(folder, PROGRAM) == "fine\n"


def test_what_is_lent_and_given_is_one_object(folder: Path) -> None:
    """Of a class of the other module, which itself gives no object away."""
    code = """
import circles
for way in ("take", "take_owner"):
    stock = circles.Stock()
    lent = stock.add(1)
    given = getattr(stock, way)()
    assert given is lent, way
    del given
    assert lent.size == 1 and lent.name.startswith("a name"), way
print("fine")
"""
    assert ask(folder, code) == "fine\n"


def test_the_other_module_is_imported_with_it(folder: Path) -> None:
    code = "import circles, sys; print(type(circles.plain()), 'shapes' in sys.modules)"
    assert ask(folder, code) == "<class 'shapes.Shape'> True\n"


def test_the_stub_names_the_other_module(folder: Path) -> None:
    text = (folder / "circles.pyi").read_text(encoding="utf-8")
    assert "import shapes\n" in text and "class Circle(shapes.Shape):" in text
    assert "def color_of(shape: shapes.Shape) -> shapes.Color: ..." in text


def test_modules_in_a_package(folder: Path, tmp_path: Path) -> None:
    """The other module is looked for beside the one that needs it."""
    package = tmp_path / "figures"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in ("shapes", "circles"):
        shutil.copy(folder / f"{name}{SUFFIX}", package)
    code = "from figures import circles; print(circles.Circle.__mro__[1])"
    assert ask(tmp_path, code) == "<class 'figures.shapes.Shape'>\n"


def test_a_module_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / f"circles{SUFFIX}", tmp_path)
    text = ask(tmp_path, "import circles", status=1)
    assert "No module named 'shapes'" in text
    (tmp_path / "shapes.py").write_text("class Shape: pass\n")
    text = ask(tmp_path, "import circles", status=1)
    assert "shapes.Shape is not the class that circles was built with" in text


def test_python_code_is_refused(folder: Path) -> None:
    (folder / "more.i").write_text(
        '%module more\n%include "swigkit.i"\n%pythoncode %{ def f(): return 1 %}\n'
    )
    done = subprocess.run(
        [sys.executable, KIT, "wrap", "more.i"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 2
    assert "a module of the kit has no Python file: write it in C++" in done.stdout
    assert "Traceback" not in done.stdout

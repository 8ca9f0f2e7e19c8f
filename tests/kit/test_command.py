# SPDX-License-Identifier: Apache-2.0
"""The kit's builds: `python -m pkg wrap`, setuptools' Extension, CMake's function."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import kit_modules
import pytest

import twins
from paths import ROOT
from pkg.swigkit import BuildError, get_cmake_dir, get_includes, get_swig_flags, wrap
from pkg.swigkit.build import options, readable
from pkg.swigkit.build.wrap import module_name

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
KIT = ROOT / "swig" / "kit"
FILES = {
    "shapes.i": """\
%module shapes
%include "swigkit.i"
%{
#include "shapes.h"
%}
%include "shapes.h"
""",
    "include/shapes.h": """\
#pragma once
#include <string>
/// The area of a rectangle.
double area(double width, double height = 1.5);
#ifdef WITH_NAME
inline std::string name() { return WITH_NAME; }
#endif
""",
    "src/shapes.cc": """\
#include "shapes.h"
extern "C" double product(double, double);
double area(double width, double height) { return product(width, height); }
""",
    "lib/product.cc": """\
extern "C" double product(double a, double b) { return a * b; }
""",
    "setup.py": """\
from setuptools import setup
from pkg.swigkit import Extension, build_ext
shapes = Extension("forms.shapes", ["shapes.i", "src/shapes.cc", "lib/product.cc"],
                   include_dirs=["include"], optimize="0",
                   define_macros=[("WITH_NAME", '"forms"')])
setup(name="shapes", version="1", packages=["forms"], ext_modules=[shapes],
      cmdclass={"build_ext": build_ext})
""",
    "forms/__init__.py": "",
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(shapes CXX)
execute_process(COMMAND ${Python_EXECUTABLE} -m pkg --cmake-dir
                OUTPUT_VARIABLE SWIGKIT OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${SWIGKIT}/SwigKit.cmake)
swigkit_add_module(shapes shapes.i src/shapes.cc lib/product.cc SWIG_OPTIONS -w315)
target_include_directories(shapes PRIVATE include)
target_compile_definitions(shapes PRIVATE "WITH_NAME=\\"cmake\\"")
""",
}
LINE = ["shapes.i", "src/shapes.cc", "-I", "include", "-O0"]


def run(*command: object, cwd: Path, status: int = 0, **env: str) -> str:
    """The output of a command that ends so; pkg is this tree's."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def kit(*arguments: object, cwd: Path, status: int = 0, **env: str) -> str:
    return run(sys.executable, KIT, "wrap", *arguments, cwd=cwd, status=status, **env)


def ask(folder: Path, code: str, module: str = "shapes") -> str:
    """What a Python program in the folder prints of the module."""
    script = f"import {module} as m; print(({code}))"
    return run(sys.executable, "-c", script, cwd=folder, PYTHONPATH="").strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's library; a folder with a blank in its name."""
    folder = tmp_path / "my shapes"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def product_library(folder: Path) -> None:
    """A library to link with: libproduct.so."""
    out = folder / "lib" / "libproduct.so"
    run("g++", "-shared", "-fPIC", "lib/product.cc", "-o", out, cwd=folder)


# --- The command ---------------------------------------------------------------------


def test_the_command_makes_a_module_and_its_stub(project: Path) -> None:
    product_library(project)
    more = ["-Llib", "-lproduct", '-DWITH_NAME="wrap"', "--out", "out"]
    # As compilers take them: sources may stand behind options.
    line = ["shapes.i", "-I", "include", "-O0", *more, "src/shapes.cc"]
    out = run(sys.executable, "-m", "pkg", "wrap", *line, cwd=project)
    assert out.splitlines()[-2:] == [
        str(project / "out" / f"shapes{SUFFIX}"),
        str(project / "out" / "shapes.pyi"),
    ]
    assert ask(project / "out", "m.area(2), m.area(height=2, width=4)") == "(3.0, 8.0)"
    assert ask(project / "out", "m.name()") == "wrap"
    assert "(width, height=1.5)" in ask(
        project / "out", "__import__('inspect').signature(m.area)"
    )
    stub = (project / "out" / "shapes.pyi").read_text()
    assert "def area(width: float, height: float = 1.5) -> float: ..." in stub

    # Only what changed is made again.
    def again() -> set[str]:
        text = run(sys.executable, "-m", "pkg", "wrap", *line, cwd=project)
        return set(re.findall(r"^(\w+) \S+ \(", text, re.M))

    assert again() == set()
    (project / "src" / "shapes.cc").touch()
    assert again() == {"compiled", "linked"}
    (project / "include" / "shapes.h").touch()
    assert again() == {"generated", "rewrote", "wrote", "compiled", "linked"}
    assert kit(*line, "--verbose", cwd=project).count("\n") == 2
    (project / "shapes.i").write_text(FILES["shapes.i"] + "%constant int kSides = 4;\n")
    assert "generated" in again()
    assert ask(project / "out", "m.kSides") == "4"


def test_what_is_made_on_the_way_lies_where_it_should(project: Path) -> None:
    before = {path.name for path in project.iterdir()}
    kit(*LINE, "lib/product.cc", "--keep", "kept", cwd=project)
    new = {path.name for path in project.iterdir()} - before
    assert new == {"kept", "shapes.pyi", f"shapes{SUFFIX}"}
    assert ask(project, "m.area(3)") == "4.5"


def test_the_same_from_python(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And with the environment's flags."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("CXXFLAGS", '-DWITH_NAME=\\"environment\\" -std=c++23')
    monkeypatch.setenv("LDFLAGS", "-Wl,--build-id=none")
    made = wrap(
        project / "shapes.i",
        ["src/shapes.cc", "lib/product.cc"],
        include_dirs=["include"],
        macros=["WITH_NAME"],  # SWIG sees that it is there
        compile_args=["-UWITH_NAME"],
        out="new/folder",
        optimize="0",
    )
    assert made == project / "new" / "folder" / f"shapes{SUFFIX}"
    assert ask(made.parent, "m.name()") == "environment"


def test_generate_leaves_compiling_to_others(project: Path) -> None:
    kit(
        "shapes.i",
        "-Iinclude",
        "--generate",
        "--depfile",
        "d",
        "--out",
        "o",
        cwd=project,
    )
    made = {path.name for path in (project / "o").iterdir()}
    assert made == {"build", "shapes.pyi", "shapes_wrap.cc"}
    rule = (project / "d").read_text()
    assert rule.startswith(str(project / "o" / "shapes_wrap.cc").replace(" ", r"\ "))
    assert "include/shapes.h" in rule and "swigkit.i" in rule and "step.py" in rule


def test_what_is_generated_is_one_file(tmp_path: Path) -> None:
    """With the classes that C++ calls overrides by."""
    (tmp_path / "task.i").write_text(
        '%module(directors="1") task\n%include "swigkit.i"\n%overridable(Task)\n'
        "%inline %{ struct Task { virtual ~Task() {} virtual int run() = 0; }; %}\n"
    )
    kit("task.i", "--generate", "--out", "o", cwd=tmp_path)
    text = (tmp_path / "o" / "task_wrap.cc").read_text()
    assert "SwigDirector_Task : public Task" in text and "task_swig.h" not in text


def test_the_folder_runs_without_the_tensor_core(project: Path) -> None:
    """Builds call it for each module."""
    out = run(sys.executable, "-X", "importtime", KIT, "wrap", "--help", cwd=project)
    assert "_pywrap_core" not in out and "setuptools" not in out and "usage" in out


def test_flags_for_other_build_systems(project: Path) -> None:
    """What `python -m pkg` prints is what a shell can pass on."""
    includes = run(sys.executable, "-m", "pkg", "--swig-includes", cwd=project).split()
    assert includes == [f"-I{path}" for path in get_includes()]
    flags = run(sys.executable, "-m", "pkg", "--swig-flags", cwd=project).split()
    assert flags == get_swig_flags() and set(includes) <= set(flags)
    assert (Path(get_includes()[0]) / "swigkit.i").exists()
    where = run(sys.executable, "-m", "pkg", "--cmake-dir", cwd=project).strip()
    assert where == get_cmake_dir() and (Path(where) / "SwigKit.cmake").exists()


# --- Errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["missing.i"], r"missing\.i: no such file"),
        (["shapes.i", "src/missing.cc"], r"src/missing\.cc: no such file"),
        (["shapes.i", "setup.py"], r"setup\.py: expected a C\+\+ source"),
        (
            ["include/shapes.h"],
            r"shapes\.h: expected a line '%module NAME', found none",
        ),
        (["shapes.i", "-Z"], r"unrecognized arguments: -Z"),
        (["shapes.i", "-O9"], r"invalid choice: '9'"),
        ([*LINE, "--cxx", "no-such-compiler"], r"no working C\+\+ compiler: no-such"),
    ],
)
def test_mistakes_are_one_line(project: Path, line: list[str], said: str) -> None:
    text = run(sys.executable, "-m", "pkg", "wrap", *line, cwd=project, status=2)
    last = text.splitlines()[-1]
    assert last.startswith("pkg: error: ") and re.search(said, last), text


def test_errors_of_swig_and_the_compiler_come_with_the_command(project: Path) -> None:
    (project / "shapes.i").write_text(FILES["shapes.i"] + "%unheard_of\n")
    text = kit(*LINE, cwd=project, status=2)
    assert re.search(r"  \S+swig -python .* shapes\.i\n", text)
    assert "shapes.i:7: Error: Unknown directive '%unheard_of'" in text

    (project / "shapes.i").write_text(FILES["shapes.i"])
    (project / "src" / "shapes.cc").write_text('#include "shapes.h"\nint x = "x";\n')
    text = kit(*LINE, cwd=project, status=2)
    assert re.search(
        r"shapes\.cc: the command failed \(1\)\n  \S.* -std=c\+\+20 ", text
    )
    assert re.search(r"src/shapes\.cc:2:\d+: error:", text)
    assert not list(project.glob("*.so"))


def test_no_swig(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_package(monkeypatch)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    remedy = re.escape(f"Run: python -m pip install swig=={options.SWIG_VERSION}")
    with pytest.raises(BuildError, match=f"expected SWIG 4.5.1, got none. {remedy}"):
        options.find_swig()


def hide_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(options.importlib, "import_module", missing)


@pytest.mark.parametrize("version", ["4.0.2", "4.5.1"])
def test_swig_on_the_path(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is taken when there is no package, if it is the right one."""
    hide_package(monkeypatch)
    fake = tmp_path / "swig"
    fake.write_text(f"#!/bin/sh\necho\necho 'SWIG Version {version}'\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    if version == options.SWIG_VERSION:
        assert options.find_swig() == (str(fake), version)
        return
    with pytest.raises(
        BuildError, match=rf"expected SWIG 4\.5\.1, got 4\.0\.2 \({fake}"
    ):
        options.find_swig()


def test_a_package_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options.importlib.metadata, "version", lambda name: "4.3.0")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BuildError, match=r"got 4\.3\.0 \(the PyPI package\)"):
        options.find_swig()


@pytest.mark.parametrize(
    "text",
    [
        "%module here",
        '/* %module other */\n  %module(directors="1", package="a.b") here // x',
        '// %module other\n%module ( docstring="text" )\there\n',
        '%module(docstring="A (single) text, with )", directors="1") here\n',
    ],
)
def test_the_name_of_a_module(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.i").write_text(text)
    assert module_name(tmp_path / "x.i") == "here"


@pytest.mark.parametrize(
    "text, read",
    [
        (
            "Part* part = new Part{{1}, 2}; // = new\nint a;",
            "Part* part ; // = new\nint a;",
        ),
        ("T *a = new T, *b = new M<T, T>(\n);", "T *a , *b \n;"),
        ("int* f = new F([] { return 1; }());", "int* f ;"),
        (
            "void f(T* p = new T(1), int k = 2);",
            "void f(T* p = SWIGKIT_AS_WRITTEN(new T(1)), int k = 2);",
        ),
        (
            "A(T* p = new T) : p_(p) {}",
            "A(T* p = SWIGKIT_AS_WRITTEN(new T)) : p_(p) {}",
        ),
        ("#define MAKE(x) x = new T\nint a;", None),
        ('auto text = "p = new T; x"; /* = new */ int a;', None),
        ("bool f() { return a == new T; }", None),
    ],
)
def test_values_that_are_made_by_new(text: str, read: str | None) -> None:
    """SWIG cannot read them; what stands beside them stays."""
    assert readable.readable(text) == read


def test_a_project_that_moved(tmp_path: Path) -> None:
    """Copies of headers are those of the headers beside them, not of the old place."""
    header, copy = Path("x.h"), Path("build/readable/x.h")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / header).write_text("int million = 1'000'000;\n")
    made = readable._make_copy(tmp_path / "old" / header, tmp_path / "old" / copy, [])
    assert made
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    source, _ = readable._recorded(tmp_path / "new" / copy)
    assert Path(source) == tmp_path / "new" / header


# --- setuptools ----------------------------------------------------------------------


def test_extension(project: Path) -> None:
    """In place, and in a wheel: the module in its package, its stub beside it."""
    pytest.importorskip("setuptools", minversion="77")
    setup = [sys.executable, "setup.py"]
    run(*setup, "build_ext", "--inplace", cwd=project)
    assert ask(project, "m.area(2), m.name()", "forms.shapes") == "(3.0, 'forms')"
    assert (project / "forms" / "shapes.pyi").exists()
    again = run(*setup, "build_ext", "--inplace", cwd=project)
    assert "compiled" not in again and "generated" not in again

    run(*setup, "bdist_wheel", "-d", "wheels", cwd=project)
    wheel = zipfile.ZipFile(next((project / "wheels").glob("*.whl")))
    assert {f"forms/shapes{SUFFIX}", "forms/shapes.pyi"} <= set(wheel.namelist())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"forms.shapes"',
            '"forms.other"',
            "expected '%module other'.*'%module shapes'",
        ),
        ('["shapes.i", ', "[", r"\[Extension\] expected one interface file \(\.i\)"),
        ('"src/shapes.cc"', '"src/none.cc"', r"src/none\.cc: no such file"),
    ],
)
def test_mistakes_in_setup(project: Path, old: str, new: str, said: str) -> None:
    pytest.importorskip("setuptools")
    (project / "setup.py").write_text(FILES["setup.py"].replace(old, new))
    text = run(sys.executable, "setup.py", "build_ext", cwd=project, status=1)
    assert re.search(said, text), text


# --- CMake ---------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_cmake(project: Path) -> None:
    """The target's folders and macros are SWIG's as well; headers are followed."""
    python = f"-DPython_EXECUTABLE={sys.executable}"
    run("cmake", "-S", ".", "-B", "build", python, cwd=project, CXX="g++")
    run("cmake", "--build", "build", cwd=project)
    assert ask(project / "build", "m.area(2), m.name()") == "(3.0, 'cmake')"
    assert (project / "build" / "shapes.pyi").exists()
    assert "Wrapping" not in run("cmake", "--build", "build", cwd=project)
    header = project / "include" / "shapes.h"
    header.write_text(FILES["include/shapes.h"] + "inline int sides() { return 4; }\n")
    assert "Wrapping" in run("cmake", "--build", "build", cwd=project)
    assert ask(project / "build", "m.sides()") == "4"


# --- What the tests' own modules have read already ------------------------------------


@pytest.fixture
def headers(tmp_path, monkeypatch):
    """Precompiles a line by g++, in a folder of this test."""
    monkeypatch.setattr(twins, "ROOT", tmp_path)
    return lambda line: twins.precompiled(["g++", "-x", "c++-header"], [line], [])


def test_a_header_that_does_not_compile_is_tried_once(headers, monkeypatch):
    """Each test says why; none but the first runs the compiler."""
    monkeypatch.setattr(kit_modules, "build", lambda *_: headers("#error not today"))
    monkeypatch.setattr(twins, "failed", {})
    found = [kit_modules.load(theme, "kit") for theme in ("no theme", "no other")]
    assert all(isinstance(one, twins.BuildError) for one in found)
    assert all("#error not today" in str(one) for one in found)
    assert kit_modules.load("no theme", "kit") is found[0]
    monkeypatch.setattr(twins, "failed", dict.fromkeys(twins.failed, "kept"))
    with pytest.raises(twins.BuildError, match="^kept$"):
        headers("#error not today")


def test_headers_that_nobody_uses_any_more_go(headers, tmp_path):
    (used,) = [Path(flag).parent for flag in headers("int f();") if "/" in flag]
    assert (used / "read.h.gch").exists()
    old, late = used.with_name("pch-old"), used.with_name("pch-late")
    for folder in (old, late):
        folder.mkdir()
        (folder / "read.h").touch()
    for folder in (old, used):
        os.utime(folder, (1, 1))
    headers("int f();")
    assert used.exists() and late.exists() and not old.exists()


def test_clang_reads_the_headers_itself(tmp_path):
    """What it has made of them ends it when one of them was touched."""
    program = tmp_path / "c++"
    program.write_text("#!/bin/sh\necho Some clang version 18.1.0\n")
    program.chmod(0o755)
    assert twins.precompiled([str(program)], ["#error never read"], []) == []


def test_a_header_that_was_touched(tmp_path):
    """What SWIG reads instead of it gets its templates though it says the same."""
    header, interface = tmp_path / "late.h", tmp_path / "late.i"
    header.write_text(
        "#pragma once\n#include <compare>\n"
        "template <class T> struct Counted { int made = 1; };\n"
        "struct Thing : Counted<Thing> {\n"
        "  auto operator<=>(const Thing&) const = default;\n};\n"
    )
    text = '%module late\n%include "swigkit.i"\n%{\n#include "late.h"\n%}\n'
    interface.write_text(f'{text}%include "late.h"\n')
    command = [sys.executable, KIT, "wrap", "late.i", "--generate"]
    for more in ("", "%template(CountedThing) Counted<Thing>;\n"):
        interface.write_text(f'{text}%include "late.h"\n{more}')
        later = time.time_ns() + 10**9
        os.utime(header, ns=(later, later))
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    copy = tmp_path / "build" / "late" / "readable" / "late.h"
    assert "%template(CountedThing)" in copy.read_text()

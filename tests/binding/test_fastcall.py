# SPDX-License-Identifier: Apache-2.0
"""The rewrite of SWIG's output to METH_FASTCALL (swig/build/fastcall.py).

One small interface is built twice, as SWIG wrote it and rewritten: both must answer
every call alike.  Then SWIG's text is changed in ways a new SWIG might, which must be
refused.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

import pkg
from paths import ROOT

sys.path.insert(0, str(ROOT / "swig" / "build"))

import fastcall  # noqa: E402
from products import SWIG_OPTIONS  # noqa: E402
from toolchain import find_swig  # noqa: E402

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")), reason="about the SWIG binding's build only"
)

INTERFACE = """
%module demo
%include "types.i"
%feature("kwargs", "0") positional;
%feature("kwargs", "0") operator+;
%feature("kwargs", "0") operator+=;
%feature("kwargs", "0") operator();
%feature("kwargs", "0") over;
%feature("kwargs", "0") Box::put;
%exception {
  try {
    $action
  } catch (const char *text) {
    PyErr_SetString(PyExc_ValueError, text);
    SWIG_fail;
  }
}
%inline %{
int nothing() { return 7; }
double add(double a, double b) { return a + b; }
double clamp(double value, double low = 0, double high = 1) {
  if (low > high) throw "low > high";
  return value < low ? low : value > high ? high : value;
}
int positional(int a, int b, int c) { return 100 * a + 10 * b + c; }
int over(int a) { return a; }
int over(int a, int b) { return a + b; }

struct Box {
  Box(int size) : size(size) {}
  int get() const { return size; }
  int grow(int by, int times = 1) { return size += by * times; }
  static int twice(int n) { return 2 * n; }
  int put(int a) { return size = a; }
  int put(int a, int b) { return size = a * b; }
  Box operator+(const Box& other) const { return Box(size + other.size); }
  Box& operator+=(const Box& other) { size += other.size; return *this; }
  int operator()(int a, int b) const { return size + a + b; }
  int size;
};
%}
"""

# Evaluated with m and a fresh m.Box(3) as `box`; gives a result or an exception.
CALLS = """
m.nothing() | m.nothing(1) | m.nothing(a=1) | m.add(1.5, 2) | m.add(1.5, b=2)
m.add(b=2, a=1.5) | m.add(a=1.5, b=2) | m.add(1.5) | m.add() | m.add(1, 2, 3)
m.add(1, 2, c=3) | m.add(1, 2, b=3) | m.add(1, a=2) | m.add(1, 2, **{})
m.add(*[1, 2]) | m.add(**{"a": 1, "b": 2}) | m.add("x", 2)
m.add(**{"a": 1, "\\u00e9": 2}) | m.add(a=None, b=2) | m.add(1, **{"b\\0": 2})
m.clamp(5) | m.clamp(5, 2) | m.clamp(5, 2, 3) | m.clamp(5, high=3)
m.clamp(low=6, value=5) | m.clamp(high=3, value=5, low=2) | m.clamp(1, 2, 3, 4)
m.clamp(low=1) | m.clamp(1, 3, 2) | m.positional(1, 2, 3) | m.positional(1, 2)
m.positional(1, 2, 3, 4) | m.positional(1, 2, c=3) | m.over(1) | m.over(1, 2)
m.over() | m.over(1, 2, 3) | m.over("x") | m.over(a=1) | box.get() | box.get(1)
m.Box.get(box) | m.Box.get() | m.Box.get(3) | box.grow(2) | box.grow(2, 3)
box.grow(by=2, times=3) | box.grow(times=3, by=2) | box.grow() | box.grow(1, 2, 3)
box.grow(2, size=3) | m.Box.grow(box, 2, times=2) | m.Box.twice(4) | m.Box.twice(n=4)
box.twice(4) | m.Box.twice() | m.Box.twice(1, 2) | box.put(4) | box.put(4, 5)
box.put() | box.put(1, 2, 3) | box.put("x") | (box + box).size | box + 1
box.__add__(box).size | box(1, 2) | box(1) | m.Box(3).size | m.Box(size=3).size
m.Box() | m.Box(1, 2) | box.size | m.Box(size=3, b=1) | m.Box(1, size=2) | m.Box(**{})
m.Box("x") | m.Box(**{"size": 4}).size
""".replace("\n", "|")


def wrapper_of(interface: Path, folder: Path) -> str:
    """What SWIG makes of an interface file with the project's options."""
    output = folder / "wrapper.cc"
    options = [o for o in SWIG_OPTIONS if o not in ("-interface", "_pywrap_core")]
    program, _ = find_swig(ROOT)
    subprocess.run(
        [program, *options, "-outdir", folder, "-o", output, interface],
        cwd=ROOT,
        check=True,
    )
    return output.read_text()


def load(source: Path) -> ModuleType:
    """Compiles a wrapper and imports it as _demo, but not into sys.modules."""
    library = source.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
    core = [*pkg.sysconfig.get_compile_flags(), *pkg.sysconfig.get_link_flags()]
    python = f"-I{sysconfig.get_path('include')}"
    subprocess.run(
        ["g++", "-O1", "-fPIC", "-shared", "-w", "-Iswig", python, str(source)]
        + [*core, "-o", str(library)],
        cwd=ROOT,
        check=True,
    )
    spec = importlib.util.spec_from_file_location("_demo", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> str:
    interface = tmp_path_factory.mktemp("swig") / "demo.i"
    interface.write_text(INTERFACE)
    return wrapper_of(interface, interface.parent)


@pytest.fixture(scope="module")
def modules(
    generated: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ModuleType, ModuleType]:
    """The module as SWIG wrote it, and rewritten."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "stock.cc").write_text(generated)
    (folder / "fast.cc").write_text(fastcall.rewrite(generated).text)
    with ThreadPoolExecutor(2) as pool:
        stock, fast = pool.map(load, [folder / "stock.cc", folder / "fast.cc"])
    return stock, fast


@pytest.mark.parametrize("call", [c.strip() for c in CALLS.split("|") if c.strip()])
def test_answers_as_before(modules: tuple[ModuleType, ModuleType], call: str) -> None:
    def answer(module: ModuleType) -> object:
        try:
            return eval(call, {"m": module, "box": module.Box(3)})
        except (TypeError, ValueError, UnicodeEncodeError) as err:
            return type(err)

    stock, fast = map(answer, modules)
    assert fast == stock


def test_a_keyword_that_stock_swig_ignores_is_refused(
    modules: tuple[ModuleType, ModuleType],
) -> None:
    stock, fast = modules
    assert stock.Box(3).get(x=1) == 3
    with pytest.raises(TypeError, match="keyword"):
        fast.Box(3).get(x=1)


def test_what_is_rewritten(generated: str) -> None:
    done = fastcall.rewrite(generated)
    assert sorted(done.changed) == [
        "_wrap_Box_get",
        "_wrap_Box_grow",
        "_wrap_Box_put",
        "_wrap_Box_twice",
        "_wrap_add",
        "_wrap_clamp",
        "_wrap_over",
        "_wrap_positional",
    ]
    # Behind the slot tp_call, where SWIG's runtime passes a tuple.
    assert done.kept == ["_wrap_Box___call__"]


@pytest.mark.parametrize(
    "call, text",
    [
        ("add(1)", "add() missing required argument 'b' (pos 2)"),
        ("add(1, 2, 3)", "add() takes exactly 2 arguments (3 given)"),
        ("clamp(1, 2, 3, 4)", "clamp() takes at most 3 arguments (4 given)"),
        ("add(1, c=2)", "add() got an unexpected keyword argument 'c'"),
        ("add(1, a=2)", "add() got multiple values for argument 'a'"),
        ("positional(1)", "positional() takes exactly 3 arguments (1 given)"),
        ("Box(1).grow()", "Box.grow() missing required argument 'by' (pos 1)"),
        ("Box()", "Box() missing required argument 'size' (pos 1)"),
        ("Box(1, 2)", "Box() takes exactly 1 argument (2 given)"),
        ("Box(1).get(2)", "Box.get() takes no arguments (1 given)"),
    ],
)
def test_error_texts(
    modules: tuple[ModuleType, ModuleType], call: str, text: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(text)):
        eval(call, vars(modules[1]))


def test_arguments_are_borrowed(modules: tuple[ModuleType, ModuleType]) -> None:
    fast, value = modules[1], 1234.5

    def refused(**kwargs: float) -> None:
        with pytest.raises(TypeError):
            fast.add(**kwargs)

    before = sys.getrefcount(value)
    for _ in range(1000):
        fast.add(value, value)
        fast.add(b=value, a=value)
        fast.clamp(value, high=value)
        fast.Box(size=3)
    for _ in range(100):
        refused(a=value)
        refused(a=value, b=value, c=value)
    assert sys.getrefcount(value) == before


@pytest.mark.parametrize(
    "old, new, named",
    [
        # The call that takes the arguments apart is another one.
        ("PyArg_ParseTupleAndKeywords(args, kwargs, \"OO:add\"",
         "PyArg_Parse(args, kwargs, \"OO:add\"", "_wrap_add: expected one PyArg"),
        # A format that converts by itself.
        ('"OO:add"', '"Od:add"', "_wrap_add: format 'Od'"),
        ('"OO:add"', '"O|O|:add"', "_wrap_add: format 'O|O|'"),
        # Names and variables do not match.
        ('(char *)"a",  (char *)"b",  NULL', '(char *)"a",  NULL', "_wrap_add: format"),
        # Another look at the tuple.
        ('"OO:add", kwnames, &obj0, &obj1)) SWIG_fail;',
         '"OO:add", kwnames, &obj0, &obj1)) SWIG_fail;\n  PyTuple_Size(args);',
         "_wrap_add: its body has another use of 'args'"),
        # Another signature, another table, another flag.
        ("PyObject *_wrap_add(PyObject *self, PyObject *args, PyObject *kwargs)",
         "PyObject *_wrap_add(PyObject *self, PyObject *kwargs, PyObject *args)",
         "_wrap_add: found no definition"),
        ('{ "add", (PyCFunction)(void(*)(void))_wrap_add, METH_VARARGS',
         '{ "add", reinterpret_cast<PyCFunction>(_wrap_add), METH_VARARGS',
         "unknown row"),
        ('{ "add", (PyCFunction)(void(*)(void))_wrap_add, METH_VARARGS',
         '{ SWIG_STR(add), (PyCFunction)(void(*)(void))_wrap_add, METH_VARARGS',
         "unknown row"),
        ('{ "add", (PyCFunction)(void(*)(void))_wrap_add, METH_VARARGS',
         '{ "add", (PyCFunction)(void(*)(void))_wrap_add,\n METH_VARARGS',
         "unknown row"),
        ("_wrap_add, METH_VARARGS", "_wrap_add, METH_COEXIST|METH_VARARGS",
         "_wrap_add: unknown flag METH_COEXIST"),
        # The function is called from elsewhere too, with a tuple.
        ("static PyMethodDef SwigMethods[]",
         "static void *p = (void *)_wrap_add;\nstatic PyMethodDef SwigMethods[]",
         "_wrap_add: expected its definition and one row"),
        ('"O:new_Box"', '"i:new_Box"', "_wrap_new_Box: format 'i'"),
        ("static PyMethodDef SwigMethods[]",
         "static void *p = (void *)_wrap_Box_put;\nstatic PyMethodDef SwigMethods[]",
         "_wrap_Box_put: expected its definition and one row"),
        # Overloads and positional functions.
        ('SWIG_Python_UnpackTuple(args, "over", 0, 2, argv)',
         'SWIG_Python_UnpackTuple2(args, "over", 0, 2, argv)',
         "_wrap_over: expected one SWIG_Python_UnpackTuple"),
        (fastcall.INCLUDE_BEFORE, "/* TYPES TABLE */", "expected one line"),
        (fastcall.INCLUDE_BEFORE, fastcall.INCLUDE + fastcall.INCLUDE_BEFORE,
         "rewritten before"),
    ],
)  # fmt: skip
def test_a_changed_swig_is_refused(
    generated: str, old: str, new: str, named: str
) -> None:
    assert generated.count(old) == 1
    with pytest.raises(fastcall.FastcallError, match=re.escape(named)):
        fastcall.rewrite(generated.replace(old, new))


def test_the_command_fails_loudly(tmp_path: Path, generated: str) -> None:
    source, output = tmp_path / "in.cc", tmp_path / "out.cc"
    source.write_text(generated.replace('"OO:add"', '"Od:add"'))
    command = [sys.executable, ROOT / "swig/build/fastcall.py", source, output]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "_wrap_add" in done.stderr and "Traceback" not in done.stderr
    assert not output.exists()


def test_the_package_uses_it(tmp_path: Path) -> None:
    from pkg import _pywrap_core

    with pytest.raises(TypeError, match=r"takes exactly 1 argument \(2 given\)"):
        _pywrap_core.set_num_threads(1, 2)
    generated = wrapper_of(ROOT / "swig" / "pywrap_core.i", tmp_path)
    rewritten = fastcall.rewrite(generated)
    assert "_wrap_set_num_threads" in rewritten.changed
    assert rewritten.kept == []

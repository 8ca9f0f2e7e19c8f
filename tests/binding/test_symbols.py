# SPDX-License-Identifier: Apache-2.0
"""pkg.symbols(), the stub and the page of it, and signatures of what is public."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pkg
from paths import ROOT
from pkg._binding import core

sys.path[:0] = [str(ROOT / "swig" / "build"), str(ROOT / "docs" / "programs")]

import op_stubs  # noqa: E402
import stubs  # noqa: E402
import symbols_page  # noqa: E402

SWIG = core.__name__ == "pkg._pywrap_core"
only_swig = pytest.mark.skipif(
    not SWIG, reason="the table is SWIG's: pybind11 keeps its signatures to itself"
)


def defined_names():
    """Demangled names of the functions and classes in our two libraries, by nm."""
    names = set()
    for library in (core.__file__, ROOT / "pkg" / "lib" / "libpkg_core.so"):
        done = subprocess.run(
            ["nm", "-C", "--defined-only", str(library)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for line in done.stdout.splitlines():
            name = line.split(maxsplit=2)[-1].replace("(anonymous namespace)::", "")
            names.add(re.sub(r"^(?:typeinfo|vtable) for ", "", name))
    return names


@only_swig
def test_symbols_are_what_the_module_exports():
    """No name is missing and none too many."""
    names = [s.name for s in pkg.symbols()]
    assert names == sorted(set(names))
    exported = {n for n in vars(core) if not n.startswith("__")}
    assert {n for n in names if "." not in n} == exported
    assert {s.gil for s in pkg.symbols()} <= {"kept", "waits", "released"}
    assert {s.result for s in pkg.symbols()} <= {"none", "value", "shared", "memory"}
    by_name = {s.name: s for s in pkg.symbols()}
    assert by_name["shutdown"] == (
        "shutdown",
        "bool pkg::shutdown(double)",
        "waits",
        "value",
        (),
    )
    assert by_name["GraphHandle"].c_functions == ("pkg_graph_new", "pkg_graph_delete")
    assert by_name["SessionHandle.close"] == (
        "SessionHandle.close",
        "pkg::c::SessionHandle::close",
        "kept",
        "shared",
        ("pkg_session_close",),
    )
    assert by_name["empty_cache"].result == "none"
    assert by_name["from_numpy"].result == "memory"


@only_swig
def test_symbols_are_what_nm_finds():
    """Each function of the table is defined, each wrapper of SWIG is in the table."""
    defined = defined_names()
    functions = {re.sub(r"(\[abi:\w+\])?\(.*", "", n).split("<")[0] for n in defined}
    functions |= {f.split(" ")[-1] for f in functions}
    missing = []
    for symbol in pkg.symbols():
        if "(" in symbol.signature:
            name = re.sub(r"\(.*", "", symbol.signature).split(" ")[-1]
            if name not in functions and not inlined(symbol, defined):
                missing.append(symbol)
    assert missing == []
    wrappers = {w for name in defined for w in re.findall(r"\b_wrap_(\w+)", name)}
    classes = [name for name, value in vars(core).items() if isinstance(value, type)]
    member = re.compile(rf"(?:new_|delete_)?(?:{'|'.join(classes)})(?:_.*)?")
    members = {name for name in wrappers if member.fullmatch(name)}
    wrappers -= members
    table = {s.name for s in pkg.symbols()}
    assert len(wrappers) > 20 and wrappers <= table
    assert {n for n in table if "." in n} <= {m.replace("_", ".", 1) for m in members}


def inlined(symbol, defined):
    """Small functions of our own .i files or headers: only the wrapper is left, or its
    entry."""
    name = re.sub(r"\(.*", "", symbol.signature).split("::")[-1].split(" ")[-1]
    sources = ROOT.glob("swig/*.i")
    if "pkg::" in symbol.signature:
        sources = ROOT.glob("cpp/**/*.h")
    there = any(
        re.search(rf"\b{name}\(.*\{{", path.read_text(encoding="utf-8"))
        for path in sources
    )
    return there and any(f"_wrap_{symbol.name}" in name for name in defined)


@only_swig
def test_gil_policy_is_what_was_measured():
    """Which calls let another thread run: all that say so, and no others.

    A method's row says what that of its class does.
    """
    from test_binding_contract import answers, build_probe

    measured, _ = answers("gil", str(build_probe()))
    released = {name.partition(".")[0] for name, out in measured.items() if out}
    assert released == {s.name for s in pkg.symbols() if s.gil != "kept"}


@only_swig
def test_stub_and_page_are_up_to_date():
    """The build wrote the stub beside the module; the page would not change.

    Every name whose type the stub's program knows by itself is one of the module.
    """
    beside = Path(core.__file__).with_name("_pywrap_core.pyi")
    text = beside.read_text(encoding="utf-8")
    assert text.endswith("".join(f"{line}\n" for line in stubs.by_hand(core)))
    for name in core.__all__:
        assert re.search(rf"^(class |def |){name}\b", text, re.M), name
    for name in stubs.TYPES:
        assert any(hasattr(getattr(core, cls), name) for cls in stubs.BY_HAND), name
    page = symbols_page.PAGE.read_text(encoding="utf-8")
    assert page == symbols_page.page(pkg.symbols())


@only_swig
def test_stub_of_the_ops_has_all_of_them():
    """Written by the build; functions as pkg has them, methods as Tensor has them."""
    beside = Path(core.__file__).with_name("_op_types.pyi")
    text = beside.read_text(encoding="utf-8")
    assert text == op_stubs.stub(core)
    body = ast.parse(text).body
    (methods,) = [n for n in body if getattr(n, "name", "") == "OpMethods"]
    public = dict(pkg.ops.functions())
    assert {n.name for n in body if isinstance(n, ast.FunctionDef)} == set(public)
    for node in [*body, *methods.body]:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:  # one schema
            shown = inspect.signature(public[node.name]).parameters
            given = [a.arg for a in [*node.args.args, *node.args.kwonlyargs]]
            assert ["self" if name == "input" else name for name in given] == [
                "self" if name == "input" else name for name in shown
            ], node.name
    for node in methods.body:
        assert callable(getattr(pkg.Tensor, node.name))
    exported = re.findall(r'^    "(\w+)",$', text, re.MULTILINE)
    assert set(exported) == set(public) - set(pkg.ops.NOT_EXPORTED)
    assert all(getattr(pkg, name) is public[name] for name in exported)


@pytest.mark.skipif(SWIG, reason="about the other binding")
def test_symbols_on_another_binding():
    """An error that says what to do."""
    with pytest.raises(NotImplementedError, match="expected the SWIG binding"):
        pkg.symbols()


def callables():
    """(name, function, arguments before others) of the low-level module."""
    harmful = {"_before_fork", "set_async", "set_grad_enabled", "set_detect_anomaly"}
    for name, value in vars(core).items():
        if callable(value) and not isinstance(value, type) and name not in harmful:
            yield name, value, ()
    x = pkg.ones(2, requires_grad=True)
    node = (x * 2).grad_fn
    for instance in (x, node, core.submit(int), core.ManualEvent(), core.Stream()):
        for cls in type(instance).__mro__:
            for name, value in vars(cls).items():
                method = callable(value) and not isinstance(value, core.Operator)
                if name.startswith("__") or cls.__module__ == "pkg.tensor":
                    continue
                if method:
                    yield f"{cls.__name__}.{name}", value, (instance,)


def test_what_the_signatures_name_can_be_passed_by_name():
    """Each that is not positional only: the values are wrong, the names are not."""
    count = 0
    for name, function, first in callables():
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            continue
        named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        named = named[len(first) :]
        if not named:
            continue
        count += 1
        try:
            function(*first, **{n: object() for n in named})
        except Exception as error:  # noqa: BLE001  (of the value)
            text = str(error)
            assert "keyword" not in text and "positional" not in text, (name, text)
    assert count > 10


def public_objects():
    """(path, object) of every function, class and method that users reach."""
    modules = {"pkg": pkg, "core": core}
    for info in pkgutil.walk_packages(pkg.__path__, "pkg."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            modules[info.name] = importlib.import_module(info.name)
    for module_name, module in modules.items():
        for name, value in vars(module).items():
            home = str(getattr(value, "__module__", None))
            if name.startswith("_") or not callable(value):
                continue
            if home.split(".")[0] not in ("pkg", "None", core.__name__):
                continue  # of the standard library
            yield f"{module_name}.{name}", value
            if isinstance(value, type):
                for member in vars(value):
                    method = getattr(value, member)
                    if not member.startswith("_") and callable(method):
                        yield f"{module_name}.{name}.{member}", method


# Classes that users do not call: C++ makes their objects, or pkg.ops does.
NOT_CALLED = (core.Tensor, core.Event, core.Node, core.HookHandle)
NOT_CALLED += (core.OperationHandle, core.CallableHandle)
# Exceptions take what BaseException takes, which CPython does not describe either.
NOT_CALLED += (BaseException,)
# Where pybind11's classes say they are; their constructors have no signature.
COMPILED = ("pkg", "pkg.scheduler", core.__name__)


def test_signature_and_help_of_everything_public():
    """Parameters as Python shows them, and a docstring."""
    seen, without_signature, without_help = {}, [], []
    for path, value in public_objects():
        if id(value) in seen:  # most are reached by a dozen names
            continue
        seen[id(value)] = value  # kept, as its number is another object's afterwards
        made_by_us = isinstance(value, type) and (
            issubclass(value, NOT_CALLED)
            # Of the other binding, which pkg.pywrap_core loads besides.
            or value.__name__ in (cls.__name__ for cls in NOT_CALLED)
            or (not SWIG and value.__module__ in COMPILED)
        )
        if not made_by_us:
            try:
                inspect.signature(value)
            except (ValueError, TypeError) as error:
                without_signature.append((path, str(error)))
        # Of Operator itself __doc__ is the property that its objects have.
        if SWIG and value is not core.Operator and not inspect.getdoc(value):
            without_help.append(path)
    assert len(seen) > 500
    assert without_signature == []
    assert without_help == []


def test_help_shows_signature_and_text():
    """help() of ops, wrapped functions and methods."""
    text = pydoc.plain(pydoc.render_doc(core.shutdown))
    assert "shutdown(seconds=10.0)" in text and "ends the workers" in text
    text = pydoc.plain(pydoc.render_doc(pkg.Tensor.__dlpack__))
    assert "max_version=None" in text
    assert (
        str(inspect.signature(pkg.sum))
        == "(self, dim=None, keepdim=False, *, dtype=None)"
    )
    if SWIG:
        x = pkg.ones(2)
        for bound in (x.item, x.size, x.wait, pkg.scheduler.submit(int).result):
            assert "self" not in inspect.signature(bound).parameters
        assert str(inspect.signature(pkg.Tensor.size)) == "(self, /, dim=None)"
        assert str(inspect.signature(core.Operator)) == "(name, ns='pkg', /)"
    assert str(inspect.signature(pkg.uniform)).startswith("(self, from_=0")


def test_signatures_have_the_parameters_of_all_overloads():
    """By the names that they take; what one overload lacks has a default."""
    shown = str(inspect.signature(pkg.max))
    assert shown == "(self, dim=None, keepdim=False, *, other=None)"
    assert str(inspect.signature(pkg.ones(1).max)) == shown.replace("self, ", "")
    for name, op in pkg.ops.functions():
        parameters = inspect.signature(op).parameters
        words = [[f.split("=")[0].split()[-1] for f in fields(s)] for s in op.schemas]
        named = {w + "_" if w == "from" else w for some in words for w in some}
        assert named == set(parameters), name
        for word, parameter in parameters.items():
            if parameter.default is parameter.empty:
                assert all(word.rstrip("_") in some for some in words), name


def fields(schema):
    """The parameters of a schema, as it spells them."""
    inside = schema.partition("(")[2].rpartition(") -> ")[0]
    plain = re.sub(r"\[[^\]]*\]", "", inside)  # no commas of lists
    return [field for field in plain.split(", ") if field not in ("", "*")]

# SPDX-License-Identifier: Apache-2.0
"""Rules of the house that no compiler checks: layers, headers, complete op records."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pkg
from op_table import CASES
from paths import ROOT, SUPPORT, TESTS
from pkg._binding import core

CPP = ROOT / "cpp"
sys.path[:0] = [str(ROOT / "swig" / "build"), str(ROOT / "swig")]
from products import PRECOMPILED, PRECOMPILED_LAYERS  # noqa: E402

# What each layer may include besides itself; docs/architecture.md draws the picture.
# A layer whose folder is not there yet is allowed, one that is not listed is an error.
_BELOW_OPS = ("base", "scheduler", "tensor", "dispatcher")
MAY_INCLUDE = {
    "base": (),
    "scheduler": ("base",),
    "tensor": ("base", "scheduler"),
    "dispatcher": ("base", "scheduler", "tensor"),
    "kernels": (*_BELOW_OPS, "ops"),
    "ops": _BELOW_OPS,
    "autograd": (*_BELOW_OPS, "ops"),
    "framework": _BELOW_OPS,
    "compat": (*_BELOW_OPS, "ops", "autograd", "framework"),
    "graph": (*_BELOW_OPS, "ops", "framework", "autograd"),
    "collectives": (*_BELOW_OPS, "ops"),
    "c_api": (*_BELOW_OPS, "ops", "kernels", "framework", "autograd", "graph"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def sources() -> list[Path]:
    """C++ files of the core."""
    files = [p for p in sorted(CPP.rglob("*")) if p.suffix in (".h", ".cc")]
    assert files, f"no sources in {CPP}"
    return files


def wrong_include(layer: str, bracket: str, target: str) -> str:
    """Why a file of this layer must not include the target; empty when it may."""
    if target in ("Python.h", "structmember.h") or target.split("/")[0] == "swig":
        return "cpp/ knows nothing of Python"
    if bracket == "<":
        return ""
    folder = target.split("/")[0]
    if folder not in MAY_INCLUDE:
        return "project headers are named from cpp/: layer/name.h"
    if folder != layer and folder not in MAY_INCLUDE[layer]:
        return f"{layer} must not know {folder}"
    return ""


def test_include_arrows_point_down() -> None:
    """Every #include of cpp/ goes to its own layer or one that it may know."""
    wrong = []
    for path in sources():
        layer = path.relative_to(CPP).parts[0]
        for bracket, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            why = wrong_include(layer, bracket, target)
            if why:
                wrong.append(f"{path.relative_to(ROOT)} includes {target}: {why}")
    assert not wrong, "\n".join(wrong)


def test_wrong_arrows_would_be_found() -> None:
    """The rule above is one that can be broken."""
    assert wrong_include("tensor", '"', "dispatcher/dispatcher.h")
    assert wrong_include("base", "<", "Python.h")
    assert wrong_include("ops", '"', "swig/python/py_error.h")
    assert wrong_include("ops", '"', "loops.h")
    assert not wrong_include("ops", '"', "dispatcher/library.h")
    assert not wrong_include("base", "<", "vector")


def included(headers: list[str]) -> set[str]:
    """These headers of cpp/ and all that they include of it."""
    todo, seen = list(headers), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        text = (CPP / name).read_text(encoding="utf-8")
        todo += [found for how, found in INCLUDE.findall(text) if how == '"']
    return seen


def test_precompiled_headers_show_no_layer_what_it_may_not_know() -> None:
    """They are there without an #include, for the layers that products.py names."""
    for layer, name in PRECOMPILED_LAYERS.items():
        seen = included(PRECOMPILED[name])
        assert len(seen) > 10
        shown = {header.split("/")[0] for header in seen} - {layer}
        assert shown <= set(MAY_INCLUDE[layer]), f"{layer} sees {shown}"


ONCE = "\n#pragma once\n"


def only_includes(header: Path) -> bool:
    """Besides comments."""
    lines = map(str.strip, header.read_text(encoding="utf-8").splitlines())
    nothing = ("//", "#include", "#pragma once")
    return all(not line or line.startswith(nothing) for line in lines)


def begins_its_source(header: Path) -> bool:
    """x.cc includes x.h before all others, so the build has compiled it alone."""
    source = header.with_suffix(".cc")
    name = header.relative_to(CPP).as_posix()
    return source.exists() and INCLUDE.findall(source.read_text())[:1] == [('"', name)]


def test_every_header_guards_itself() -> None:
    """By the pragma; c_api.h, which C reads as well, in its own way: see below."""
    headers = [path for path in sources() if path.suffix == ".h"]
    assert [p.name for p in headers if ONCE not in p.read_text()] == ["c_api.h"]


def test_every_header_compiles_alone(tmp_path: Path) -> None:
    """Alone and twice: a header includes what it needs and guards itself.

    What it includes itself may be precompiled: its own text comes after that anyway,
    and the headers that it includes before are asked alone.  For the same reason one
    that has nothing but includes is not asked, nor one that begins its source.
    """
    flags = ["-std=c++20", "-fopenmp-simd", "-Wall", "-Wextra", "-Werror"]
    flags += ["-Wno-restrict", "-Winvalid-pch", f"-I{CPP}"]
    precompiled = [h for name in ("core", "tensor") for h in PRECOMPILED[name]]

    def compiled(*arguments: str) -> str:
        done = subprocess.run(
            ["g++", *flags, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.stdout if done.returncode else ""

    def path_of(header: str, suffix: str) -> Path:
        return tmp_path / (header.replace("/", "_") + suffix)

    def precompile(header: str) -> str:
        path = path_of(header, ".pre.h")
        path.write_text(f'#include "{header}"\n')
        return compiled("-x", "c++-header", str(path), "-o", f"{path}.gch")

    def complaints(header: str) -> str:
        below = included([header]) - {header}
        first = next((h for h in precompiled if h in below), None)
        before = ["-include", str(path_of(first, ".pre.h"))] if first else []
        source = path_of(header, ".cc")
        source.write_text(f'#include "{header}"\n' * 2)
        said = compiled(*before, "-fsyntax-only", str(source))
        return f"{header}:\n{said}" if said else ""

    headers = [p.relative_to(CPP).as_posix() for p in sources() if p.suffix == ".h"]
    headers = [h for h in headers if not only_includes(CPP / h)]
    headers = [h for h in headers if not begins_its_source(CPP / h)]
    assert len(headers) > 100
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        failures = [text for text in pool.map(precompile, precompiled) if text]
        failures += [text for text in pool.map(complaints, headers) if text]
    assert not failures, "\n".join(failures)


def test_python_is_as_ruff_wants_it() -> None:
    """Imports, names, known mistakes and the width, by pyproject.toml."""
    pytest.importorskip("ruff", reason="ruff is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise"]
        + ["pkg", "tests", "swig", "docs/programs", "setup.py"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_lines_of_cpp_are_not_wide() -> None:
    """.clang-format aims at 92 columns; no line goes beyond 100."""
    wide = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} columns"
        for folder in (CPP, ROOT / "swig", TESTS)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".h", ".cc", ".c", ".i")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 100
    ]
    assert not wide, "\n".join(wide)


def records() -> list[tuple[str, dict[str, object]]]:
    """(qualified name, record) of every overload of every op of pkg."""
    found = [
        (name, record)
        for name in core.operator_names("pkg")
        for record in core.Operator(name).records
    ]
    assert len(found) > 100
    return found


def test_every_op_is_documented() -> None:
    """help() of an op without a text would show only its schema."""
    assert not [n for n, r in records() if len(str(r["doc"]).strip()) < 5]


def test_every_op_has_a_gradient_or_says_that_it_has_none() -> None:
    """Formula, a composite of ops that have one, or non_differentiable().

    Ops without a tensor to differentiate (creation, random) need nothing; gradients in
    one pass may do without, and are then an error when somebody differentiates them.
    """
    missing = [
        record["schema"]
        for _, record in records()
        if record["gradient"] == "missing"
        and "Tensor" in str(record["schema"]).split(") ->")[0]
        and "_backward(" not in str(record["schema"])
    ]
    assert not missing, f"no gradient and not non_differentiable(): {missing}"


def test_every_op_can_run() -> None:
    """A kernel for the processor; for structured ops also shapes without data."""
    for name, record in records():
        keys = record["dispatch_keys"]
        assert "CPU" in keys, f"{name} has no CPU kernel: {record['where']}"
        if record["kind"] in ("structured", "composite", "view"):
            assert "Meta" in keys, f"{name} cannot run on Meta: {record['where']}"


def test_every_op_is_called_by_a_test() -> None:
    """By a row of the op table, or by name in a test: `.name(`, `::name(` or "name".

    test_op_table.py calls the in-place form of every row.
    """
    files = [*TESTS.rglob("test_*.py"), *SUPPORT.glob("*.py"), *TESTS.glob("cpp/*.cc")]
    text = "".join(p.read_text(encoding="utf-8") for p in files)
    called = set(re.findall(r"[.:](\w+)\(", text)) | set(re.findall(r'"(\w+)"', text))
    called |= {f"{case.name}_" for case in CASES}
    names = {name for name in core.operator_names("pkg") if not name.startswith("_")}
    assert not names - called, f"ops that no test calls: {sorted(names - called)}"


def test_schemas_are_unique_and_complete() -> None:
    """No two overloads with one text; every op is found by its own name."""
    schemas = [str(record["schema"]) for _, record in records()]
    assert len(schemas) == len(set(schemas))
    for name, op in pkg.ops.functions():
        assert op.__name__ == name and getattr(pkg.ops, name) is op

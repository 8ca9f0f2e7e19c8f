# SPDX-License-Identifier: Apache-2.0
"""Records from outside that do not fit their schema: the compiler or the loader says
what was expected, what it got and where.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from libraries import compile_all, compiled, output_of

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")

NO_KERNELS = {
    "a float": (
        ".cpu([](Tensor& out, const Tensor& x, float a) { (void)out, (void)a; })",
        "write const Tensor& (for Tensor), const TensorList& (Tensor[]), const Scalar&",
    ),
    "an int": (
        ".cpu([](const Tensor& x, int a) { (void)a; return x; })",
        "int64_t (int)",
    ),
    "no out": (
        ".cpu([](const Tensor& x, double a) { (void)x, (void)a; })",
        "which come first: void(Tensor& out, const Tensor& self, ...)",
    ),
    "a capture": (
        '; int n = 1; m.def("g(Tensor x) -> Tensor")'
        ".cpu([n](const Tensor& x) { (void)n; return x; })",
        "a lambda that captures nothing and whose parameters have types",
    ),
    "auto": (
        ".cpu([](const auto& x, double) { return x; })",
        "a lambda that captures nothing and whose parameters have types",
    ),
    "a rule that returns a tensor": (
        ".shape([](const Tensor& x, double) { return x; })",
        "a shape rule returns Spec",
    ),
    "a kernel that returns a float": (
        ".cpu([](const Tensor&, double a) { return float(a); })",
        "a kernel returns Tensor, TensorList",
    ),
}


@pytest.mark.parametrize("name", NO_KERNELS)
def test_what_is_no_kernel_is_one_error(name: str, tmp_path: Path) -> None:
    """It says what to write; the rest tells where."""
    stanza, text = NO_KERNELS[name]
    source = tmp_path / "wrong.cc"
    source.write_text(
        '#include "dispatcher/library.h"\\nusing namespace pkg;\\n'
        'PKG_LIBRARY(wrong, m) {\\n  m.def("f(Tensor x, float a) -> Tensor")'.replace(
            "\\n", "\n"
        )
        + f"{stanza};\n}}\n",
        encoding="utf-8",
    )
    done = compiled(source, "-fsyntax-only")
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert done.returncode != 0 and len(errors) == 1, done.stdout
    assert text in errors[0] and len(done.stdout.splitlines()) < 25, done.stdout
    assert "wrong.cc:4" in done.stdout


UNFIT = {
    "shape": (
        ".shape([](const Tensor& x) { return x.spec(); })",
        ".shape of f(Tensor x, float a, int[]? dims=None) -> Tensor at unfit.cc:3: "
        "expected Spec(const Tensor& x, double a, const std::optional<Shape>& dims), "
        "got Spec(const Tensor&).",
    ),
    "cpu": (
        ".shape([](const Tensor& x, double, const std::optional<Shape>&) {"
        " return x.spec(); })"
        ".cpu([](Tensor& out, const Tensor& x, bool) { (void)out, (void)x; })",
        ".cpu of f(Tensor x, float a, int[]? dims=None) -> Tensor at unfit.cc:3: "
        "expected void(Tensor& out, const Tensor& x, double a, "
        "const std::optional<Shape>& dims), got void(Tensor& out, const Tensor&, "
        "bool).",
    ),
    "no rule": (
        ".cpu([](Tensor& out, const Tensor& x) { (void)out, (void)x; })",
        "Hint: put .shape(...) before .cpu, or return the results.",
    ),
    "results": (
        ".cpu([](const Tensor& x, double, const std::optional<Shape>&) {"
        " return std::tuple<Tensor, Tensor>(x, x); })",
        "expected Tensor(const Tensor& x, double a, const std::optional<Shape>& dims), "
        "got std::tuple<Tensor, Tensor>(const Tensor&, double, "
        "const std::optional<Shape>&).",
    ),
    "grad": (
        '.grad("y", [](const GradContext&) { return TensorList{}; })',
        ".grad of f(Tensor x, float a, int[]? dims=None) -> Tensor at unfit.cc:3: "
        "expected names of parameters or 'result', got 'y'.",
    ),
    "derivative of a number": (
        '.derivative("a", "x", [](auto& grad, auto&) { return grad; })',
        ".derivative of f(Tensor x, float a, int[]? dims=None) -> Tensor at "
        "unfit.cc:3: "
        "expected the name of a Tensor parameter, got 'a'.",
    ),
    "derivative of a name": (
        '.derivative("x", "x.size", [](auto& grad, auto&) { return grad; })',
        "expected names of parameters, 'self.shape', 'self.dtype', 'result' or "
        "'grad1', got 'x.size'.",
    ),
    "derivative with a result too many": (
        '.derivative("x", "result1", [](auto& grad, auto&) { return grad; })',
        "got 'result1'.",
    ),
    "derivative with a type": (
        '.derivative("x", "a", [](const Tensor& grad, int64_t) { return grad; })',
        "the parameter for 'a' has another type, int64_t.",
    ),
    "derivative with too few": (
        '.derivative("x", "x a", [](auto& grad, auto&) { return grad; })',
        "the formula has no parameter for 'a'.",
    ),
    "derivative with too many": (
        '.derivative("x", "x", [](auto& grad, auto&, auto&) { return grad; })',
        "the formula has 3 parameters, but takes the gradient and 1 named values.",
    ),
    "two derivatives": (
        '.derivative("x", "", [](auto& grad) { return grad; })'
        '.derivative("x", "", [](auto& grad) { return grad; })',
        "'x' has a gradient already.",
    ),
    "a formula after a derivative": (
        '.derivative("x", "", [](auto& grad) { return grad; })'
        '.grad("", [](const GradContext& g) { return TensorList{g.grad()}; })',
        "the op has gradients of single arguments, .derivative(...), already, given at "
        "unfit.cc:3.",
    ),
    "a derivative after a formula": (
        '.grad("", [](const GradContext& g) { return TensorList{g.grad()}; })'
        '.derivative("x", "", [](auto& grad) { return grad; })',
        "the op has a formula for all arguments, .grad(...), already.",
    ),
    "two formulas": (
        '.grad("", [](const GradContext& g) { return TensorList{g.grad()}; })'
        '.grad("", [](const GradContext& g) { return TensorList{g.grad()}; })',
        "the op has a formula for all arguments, .grad(...), already, given at "
        "unfit.cc:3.",
    ),
    "dtypes": (
        '.dtypes("a", DType::Float32)',
        ".dtypes of f(Tensor x, float a, int[]? dims=None) -> Tensor at unfit.cc:3: "
        "expected a Tensor parameter, got 'a'.",
    ),
    "a number": ("; throw 42", "it threw int, which is no std::exception."),
}


def test_what_does_not_fit_the_schema_is_said_with_its_stage(tmp_path: Path) -> None:
    """Expected and got in the words of the source; twice, the path stays known."""
    sources = []
    for name, (stanza, _) in UNFIT.items():
        folder = tmp_path / name.replace(" ", "_")
        folder.mkdir()
        sources.append(folder / "unfit.cc")
        sources[-1].write_text(
            '#include "dispatcher/library.h"\nusing namespace pkg;\n'
            f"PKG_LIBRARY({folder.name}, m) {{\n"
            '  m.def("f(Tensor x, float a, int[]? dims=None) -> Tensor")'
            f"{stanza};\n}}\n",
            encoding="utf-8",
        )
    for done in compile_all(compiled, sources):
        assert done.returncode == 0, done.stdout
    for name, (_, text) in UNFIT.items():
        path = tmp_path / name.replace(" ", "_") / "unfit.so"
        code = f"""
import pkg
for attempt in range(2):
    try:
        pkg.ops.load_library({str(path)!r})
    except RuntimeError as error:
        print(error)
    else:
        print("loaded")
"""
        out = output_of(code, tmp_path)
        assert out.count(text) == 2 and out.count(f"{path}, block at") == 2, out
        assert "unfit.cc:3" in out and "with other contents can be loaded" in out

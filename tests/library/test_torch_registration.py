# SPDX-License-Identifier: Apache-2.0
"""Libraries in PyTorch's style that make a mistake: what is said; nothing stays."""

from __future__ import annotations

import subprocess

import pytest

import pkg
from libraries import TORCH_STYLE, libraries, output_of

HEAD = '#include "style.h"\nat::Tensor f(const at::Tensor& x) { return x; }\n'
# File name: text, and what the error says.
WRONG = {
    "again.cc": (
        "TORCH_LIBRARY(first14, m) { m.def(\"g(Tensor x) -> Tensor\"); }",
        "Only a single TORCH_LIBRARY can be used to register the namespace first14",
    ),
    "no_def.cc": (
        "TORCH_LIBRARY_FRAGMENT(wrong14, m) { m.def(\"ok(Tensor x) -> Tensor\", f); }"
        "TORCH_LIBRARY_IMPL(first14, Meta, m) { m.impl(\"plain\", f); }"
        "TORCH_LIBRARY_IMPL(first14, CompositeImplicitAutograd, m) {"
        " m.impl(\"bare\", f); }\n"
        "TORCH_LIBRARY_IMPL(wrong14, CPU, m) { m.impl(\"missing\", f); }",
        "expected an op that is declared, got wrong14::missing (at no_def.cc:4)",
    ),
    "misfit.cc": (
        "TORCH_LIBRARY_FRAGMENT(wrong14, m) { m.def(\"h(Tensor x, int n)->Tensor\");}\n"
        "TORCH_LIBRARY_IMPL(wrong14, CPU, m) { m.impl(\"h\", f); }",
        "at::Tensor(const at::Tensor&, int64_t), got at::Tensor(const at::Tensor&)",
    ),
    "result.cc": (
        "TORCH_LIBRARY_FRAGMENT(wrong14, m) { m.def(\"h(Tensor x) -> ()\", f); }",
        "expected void(const at::Tensor&), got at::Tensor(const at::Tensor&)",
    ),
    "key.cc": (
        "TORCH_LIBRARY_FRAGMENT(wrong14, m) { m.def(\"h(Tensor x) -> Tensor\"); }\n"
        "TORCH_LIBRARY_IMPL(wrong14, Nope, m) { m.impl(\"h\", f); }",
        "could not parse dispatch key: Nope (at key.cc:4)",
    ),
    "schema.cc": (
        "TORCH_LIBRARY_FRAGMENT(wrong14, m) { m.def(\"h(Tensr x) -> Tensor\"); }",
        "<--- HERE",
    ),
    "in_impl.cc": (
        "TORCH_LIBRARY_IMPL(wrong14, CPU, m) { m.def(\"h(Tensor x) -> Tensor\"); }",
        "got a TORCH_LIBRARY_IMPL block (at in_impl.cc:3)",
    ),
    "throws.cc": (
        "TORCH_LIBRARY_FRAGMENT(wrong14, m) {\n"
        "  m.def(\"h(Tensor x) -> Tensor\", f);\n  TORCH_CHECK(1 + 1 == 3, \"no\");\n}",
        "no. Expected 1 + 1 == 3 to be true, but got false (at throws.cc:5)",
    ),
}  # fmt: skip
TRIAL = """
import pkg
pkg.ops.load_library("./first.so")
x = pkg.ones(2)
assert pkg.ops.first14.twice(x).tolist() == [2, 2]
for name in {names}:
    try:
        pkg.ops.load_library(f"./{{name}}.so")
    except RuntimeError as error:
        print("===", name, str(error).replace(chr(10), " "))
    assert "wrong14" not in pkg._binding.core.operator_namespaces(), name
    assert not hasattr(pkg.ops.first14, "g")
    for op in (pkg.ops.first14.plain, pkg.ops.first14.bare):
        assert op.records[0]["kind"] == "function", (name, op.records)
    assert pkg.compile(pkg.ops.first14.plain)(x).tolist() == [1, 1]
pkg.ops.load_library("./first.so")
print("===", "alive", pkg.ops.first14.twice(x).tolist())
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """What loading each of them says, in one process that goes on."""
    folder = tmp_path_factory.mktemp("wrong")
    # Read once for all of them.
    (folder / "style.h").write_text("#include <torch/library.h>\n")
    flags = [*pkg.sysconfig.get_compile_flags(), *TORCH_STYLE, "-fPIC", "-O0"]
    subprocess.run(
        ["g++", *flags, "-x", "c++-header", "style.h"], cwd=folder, check=True
    )
    first = (
        "TORCH_LIBRARY(first14, m) {\n"
        '  m.def("twice(Tensor x) -> Tensor", [](at::Tensor x) { return x + x; });\n'
        '  m.def("plain(Tensor x) -> Tensor");\n'
        '  m.def("bare(Tensor x) -> Tensor");\n}\n'
        'TORCH_LIBRARY_IMPL(first14, CPU, m) { m.impl("plain", f); }'
    )
    sources = {"first.cc": HEAD + first}
    sources |= {name: HEAD + text for name, (text, _) in WRONG.items()}
    libraries(folder, sources, *TORCH_STYLE)
    printed = output_of(TRIAL.format(names=[n[:-3] for n in WRONG]), folder)
    lines = (line.split(" ", 1) for line in printed.split("=== ")[1:])
    return {name: text.strip() for name, text in lines}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_an_exception_and_leaves_nothing(outcome, name):
    assert WRONG[name][1] in outcome[name[:-3]]
    assert f"{name[:-3]}.so" in outcome[name[:-3]], "the path of the library"


def test_the_process_goes_on(outcome):
    assert outcome["alive"] == "[2.0, 2.0]"


def test_headers_are_found():
    folder = pkg.sysconfig.get_compat_include("torch")
    assert folder.endswith("compat/torch")
    with pytest.raises(ValueError, match="expected one of .*torch.*, got 'nope'"):
        pkg.sysconfig.get_compat_include("nope")

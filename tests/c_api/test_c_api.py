# SPDX-License-Identifier: Apache-2.0
"""The C surface: its header, its exports, its ctypes client, its page and pythran.

The calls themselves are tested in C (tests/cpp/c_api_test.c, run by test_cpp.py) and in
a process without the extension module (tests/c_api/ctypes_client.py, and of graphs
ctypes_graphs.py).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ctypes_client
import ctypes_graphs
import pytest

import pkg.sysconfig
from c_header import HEADER, INCLUDE, LIBRARY, declared, exported
from libraries import GCC, STRICT_C, library, needs_c
from pages import blocks_of
from paths import ROOT

STRICT = [flag for flag in STRICT_C if not flag.startswith("-std")]


def run(*command: object, cwd: Path | None = None) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}"
    return done.stdout


# --- Header and library --------------------------------------------------------------


@needs_c
@pytest.mark.parametrize("standard", ["c11", "c17", "c++11", "c++20"])
def test_header_alone_compiles_without_a_warning(standard, tmp_path):
    language = "c++" if "++" in standard else "c"
    if language == "c++" and shutil.which("g++") is None:
        pytest.skip("g++ is not on the PATH")
    command = [GCC, "-x", language, f"-std={standard}", *STRICT, "-fsyntax-only"]
    run(*command, f"-I{INCLUDE}", HEADER, cwd=tmp_path)


def test_exported_functions_are_those_declared():
    assert len(declared()) > 50
    assert exported() == declared()


def test_every_error_class_has_its_code():
    source = (INCLUDE / "base" / "error.h").read_text(encoding="utf-8")
    classes = set(re.findall(r"^PKG_DEFINE_ERROR\((\w+)\);", source, re.M))
    header = HEADER.read_text(encoding="utf-8")
    codes = re.findall(r"^  PKG_(\w+) = (\d+)", header, re.M)
    last = next(int(number) for name, number in codes if name == "INTERNAL_ERROR")
    api = ctypes_client.Api(str(LIBRARY))
    names = [api.code_name(i).decode() for i in range(last + 1)]
    assert len(set(names)) == len(names) and api.code_name(last + 1) is None
    assert set(names) == classes | {"OK", "Error"}


def test_wrong_arguments_are_described_as_in_python():
    api = ctypes_client.Api(str(LIBRARY))
    here, there = pkg.tensor([1.0, 2.0]), api.tensor([1.0, 2.0])
    calls = [
        ("add", [], {}),
        ("add", ["y"], {}),
        ("add", [], {"other": "y"}),
        ("add", [1, 2, 3], {}),
        ("add", [1], {"beta": 1}),
        ("add", [1], {"self": 1}),
        ("softmax", [0.5], {}),
        ("reshape", [0.5], {}),
        ("sum", [], {"keepdim": 0.5}),
    ]
    for name, args, named in calls:
        with pytest.raises(TypeError) as from_python:
            getattr(pkg.ops, name)(here, *args, **named)
        with pytest.raises(ctypes_client.CError) as from_c:
            api.op(name, there, *args, **named)
        assert from_c.value.name == "TypeError"
        assert from_c.value.text == str(from_python.value)


FORKS = """
#define _POSIX_C_SOURCE 200809L
#include "c_api/c_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pkg_tensor* call(const char* name, pkg_tensor* a, pkg_tensor* b) {
  const pkg_arg args[] = {pkg_arg_tensor(NULL, a), pkg_arg_tensor(NULL, b)};
  return pkg_op_call_tensor(pkg_op_find(name, NULL), args, b ? 2 : 1, NULL);
}

/* A loss of products, large enough for the pool, and its gradient. */
static int train(pkg_tensor* x, pkg_tensor* pending) {
  pkg_tensor* loss = call("sum", call("matmul", x, pending), NULL);
  if (!pkg_backward(&loss, NULL, 1, false, false, NULL)) return 1;
  const float* value = pkg_tensor_data(loss, NULL);
  const float* grad = pkg_tensor_data(pkg_tensor_grad(x, NULL), NULL);
  return !value || !grad || *value != 512.f * 512 * 512 || grad[7] != 512;
}

int main(void) {
  static float ones[512 * 512];
  for (int i = 0; i < 512 * 512; ++i) ones[i] = 1.f / 512;
  const int64_t sizes[] = {512, 512};
  pkg_tensor* y = pkg_tensor_from_data(ones, sizes, 2, PKG_FLOAT32, NULL);
  for (int i = 0; i < 512 * 512; ++i) ones[i] = 1;
  pkg_tensor* x = pkg_tensor_from_data(ones, sizes, 2, PKG_FLOAT32, NULL);
  pkg_tensor* pending = call("matmul", x, y);
  pkg_tensor_set_requires_grad(x, true, NULL);
  for (int generation = 0; generation < 3; ++generation) {
    const pid_t child = fork();
    if (child < 0) return 3;
    if (child == 0) {
      alarm(60); /* what hangs is killed */
      continue;  /* and the child forks in its turn */
    }
    int status = -1;
    if (train(x, pending)) return 4;
    if (waitpid(child, &status, 0) != child || status != 0) return 5;
    if (generation == 0) puts("fine");
    return 0;
  }
  return train(x, pending);
}
"""


@needs_c
def test_fork_gives_a_working_child(tmp_path):
    """Threads of the parent's pool are not in it: three generations, work in flight."""
    (tmp_path / "forks.c").write_text(FORKS, encoding="utf-8")
    link = pkg.sysconfig.get_link_flags()
    run(GCC, *STRICT_C, f"-I{INCLUDE}", "forks.c", "-o", "forks", *link,
        cwd=tmp_path)  # fmt: skip
    assert run(tmp_path / "forks") == "fine\n"


# --- The clients in ctypes -----------------------------------------------------------


def run_client(scenario: str, *args: object, cwd: Path, client=ctypes_client) -> None:
    """Runs one scenario of a client in a process without pkg."""
    program = Path(client.__file__)
    out = run(sys.executable, program, LIBRARY, scenario, *args, cwd=cwd)
    assert out == f"{scenario} passed with pkg {pkg.__version__}\n"


@pytest.mark.parametrize("scenario", [f.__name__ for f in ctypes_client.SCENARIOS])
def test_ctypes_client(scenario, tmp_path):
    run_client(scenario, cwd=tmp_path)


@pytest.mark.parametrize("scenario", [f.__name__ for f in ctypes_graphs.SCENARIOS])
def test_ctypes_client_of_graphs(scenario, tmp_path):
    run_client(scenario, cwd=tmp_path, client=ctypes_graphs)


GOOD = """
#include "dispatcher/library.h"
#include "ops/functions.h"
PKG_LIBRARY(loaded, m) {
  m.def("twice(Tensor self) -> Tensor").composite([](const pkg::Tensor& self) {
    return pkg::ops::add(self, self);
  });
}
"""
BROKEN = """
#include "dispatcher/library.h"
PKG_LIBRARY_FRAGMENT(broken, m) {
  m.def("fine(Tensor self) -> Tensor").composite([](const pkg::Tensor& self) {
    return self;
  });
  m.def("twice(Tensor self -> Tensor");
}
"""
PLAIN_C = """
#include "c_api/c_api.h"
static void negate(void* user_data, const pkg_value* args, int32_t n_args,
                   pkg_tensor* const* results, int32_t n_results, pkg_status* status) {
  const float* x = pkg_tensor_data(args[0].as.tensor, status);
  float* y = pkg_tensor_mutable_data(results[0], status);
  for (int64_t i = 0; i < pkg_tensor_numel(results[0]); ++i) y[i] = -x[i];
  (void)user_data, (void)n_args, (void)n_results;
}
bool pkg_library_init(pkg_status* status) {
  const pkg_op_definition definition = {.schema = "negate(Tensor self) -> Tensor",
                                        .compute = negate,
                                        .dtypes = "float32"};
  if (!pkg_register_op(NAMESPACE, &definition, status)) return false;
#ifdef BROKEN
  const pkg_op_definition wrong = {.schema = "negate(Tensor self -> Tensor",
                                   .compute = negate};
  return pkg_register_op(NAMESPACE, &wrong, status) != NULL;
#endif
  return true;
}
"""


@needs_c
def test_ctypes_client_loads_libraries(tmp_path):
    def source(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    run_client(
        "libraries",
        library(source("good.cc", GOOD)),
        library(source("broken.cc", BROKEN)),
        library(source("plain.c", PLAIN_C), '-DNAMESPACE="plain"'),
        library(
            source("plain_broken.c", PLAIN_C), "-DBROKEN", '-DNAMESPACE="plain_broken"'
        ),
        cwd=tmp_path,
    )


# --- A kernel made by pythran --------------------------------------------------------

PYTHRAN_KERNEL = """
import numpy as np
# pythran export capsule shifted_square(float64*, float64*, int)
def shifted_square(x, y, n):
    source = np.ctypeslib.as_array(x, (n,))
    target = np.ctypeslib.as_array(y, (n,))
    target[:] = source * source + 1.0
"""


@pytest.mark.skipif(
    importlib.util.find_spec("pythran") is None,
    reason="pythran is not installed: python -m pip install pythran",
)
def test_pythran_kernel(tmp_path):
    (tmp_path / "kernels.py").write_text(PYTHRAN_KERNEL)
    command = [sys.executable, "-m", "pythran.run", "kernels.py", "-o", "kernels.so"]
    run(*command, cwd=tmp_path)
    (tmp_path / "kernels.py").unlink()  # what is imported is the compiled one
    run_client("pythran", tmp_path, cwd=tmp_path)


# --- docs/c_api.md -------------------------------------------------------------------


PAGE = ROOT / "docs" / "c_api.md"
# A program is three blocks: its source, how it is built and run, what it prints.
PROGRAMS = {
    block.mark.removeprefix("file: "): [after.text for after in blocks_of(PAGE)[i:][:3]]
    for i, block in enumerate(blocks_of(PAGE))
    if block.language == "c"
}


@needs_c
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_of_the_page_prints_what_the_page_says(name, tmp_path):
    source, build, printed = PROGRAMS[name]
    (tmp_path / name).write_text(source)
    script = build.replace("python ", f"{sys.executable} ")
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(pkg.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout == printed


def test_page_names_only_functions_that_exist():
    page = PAGE.read_text(encoding="utf-8")
    text = HEADER.read_text(encoding="utf-8")
    inline = set(re.findall(r"^static inline pkg_arg (pkg_\w+)\(", text, re.M))
    named = set(re.findall(r"\b(pkg_\w+)\(", page)) - {"pkg_library_init"}
    assert named and named <= declared() | inline


def test_client_describes_the_structs_as_the_header_does():
    """ctypes cannot read the header: at least the numbers must agree."""
    text = HEADER.read_text(encoding="utf-8")
    assert f"#define PKG_C_ABI {ctypes_client.ABI}\n" in text
    assert f"#define PKG_MAX_RESULTS {ctypes_client.MAX_RESULTS}\n" in text
    for name, value in re.findall(r"^  PKG_KIND_(\w+) = (\d+)", text, re.M):
        assert getattr(ctypes_client, name) == int(value)
    dtypes = r"^  PKG_((?:U?INT|B?FLOAT|BOOL)\d*) = (\d)"
    for name, value in re.findall(dtypes, text, re.M):
        assert ctypes_client.DTYPES[int(value)] == name.lower()
    assert set(ctypes_graphs.GraphApi.signatures) <= declared()

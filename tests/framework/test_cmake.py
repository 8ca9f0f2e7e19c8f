# SPDX-License-Identifier: Apache-2.0
"""CMake's function for libraries of ops."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pkg
from child import child_environment

pytestmark = pytest.mark.skipif(
    not shutil.which("cmake"), reason="cmake is not installed"
)

PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(ops CXX)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python_EXECUTABLE} -m pkg --cmake-dir
                OUTPUT_VARIABLE CMAKE_OF_PKG OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${CMAKE_OF_PKG}/PkgOps.cmake)
"""
SOURCE = """\
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
using namespace tensorflow;
REGISTER_OP("NAME").Input("x: float").Output("y: float");
class TwiceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    context->set_output(0, Tensor(2 * context->input(0).scalar<float>()()));
  }
};
REGISTER_KERNEL_BUILDER(Name("NAME").Device(DEVICE_CPU), TwiceOp);
"""


def cmake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs it there, in 120 seconds at most."""
    return subprocess.run(
        ["cmake", *arguments], cwd=folder, env={**child_environment(), "CXX": "g++"},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def configure(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """The project with this text at its end."""
    (folder / "CMakeLists.txt").write_text(PROJECT + text, encoding="utf-8")
    return cmake(
        folder, "-S", ".", "-B", "build", f"-DPython_EXECUTABLE={sys.executable}"
    )


def write(folder: Path, name: str) -> None:
    (folder / f"{name}.cc").write_text(SOURCE.replace("NAME", name), encoding="utf-8")


def test_a_library(tmp_path: Path) -> None:
    """Of a source file, and of a static library, of which nothing is left out."""
    write(tmp_path, "CmakeOne")
    write(tmp_path, "CmakeTwo")
    done = configure(
        tmp_path,
        "pkg_custom_op_library(NAME one SRCS CmakeOne.cc STYLE tf1)\n"
        "add_library(part STATIC CmakeTwo.cc)\n"
        "pkg_op_flags(part tf1)\n"
        "pkg_custom_op_library(NAME two ARCHIVES part)\n",
    )
    assert done.returncode == 0, done.stderr
    done = cmake(tmp_path, "--build", "build")
    assert done.returncode == 0, done.stdout + done.stderr
    for name, op in (("one", "CmakeOne"), ("two", "CmakeTwo")):
        pkg.ops.load_library(tmp_path / "build" / f"{name}.so")
        assert getattr(pkg.ops.tf, op)(pkg.tensor(4.0)).item() == 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pkg_custom_op_library(NAME none)", "expected NAME, and SRCS or ARCHIVES"),
        (
            "pkg_custom_op_library(NAME a SRCS a.cc STYLE tf9)",
            "expected one of tf1, torch, got .tf9.",
        ),
    ],
)
def test_mistakes_are_said_at_once(tmp_path: Path, text: str, said: str) -> None:
    """Before anything is compiled."""
    write(tmp_path, "a")
    done = configure(tmp_path, text)
    assert done.returncode != 0
    assert re.search(said, " ".join(done.stderr.split()))

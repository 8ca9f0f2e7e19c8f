# SPDX-License-Identifier: Apache-2.0
"""Runs the whole test suite once more, over the pybind11 variant of tests/bindings/.

What must be equal beyond the suite is compared by test_binding_contract.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from bindings.build import build
from paths import ROOT

# Files that the second run leaves out, each with the reason.
EXCLUDED = {
    "binding/test_bindings.py": "it is this test",
    "binding/test_binding_contract.py": "starts processes with both bindings itself",
    "house/test_build.py": "builds and installs the SWIG binding; imports no other",
    "cpp/test_cpp.py": "C++ programs over libpkg_core.so; no Python binding takes part",
    "house/test_quick_checks.py": "compares checks of NumPy arrays with NumPy's",
    "house/test_house.py": "about the sources and the core's records of ops",
    "house/test_arrows.py": "reads the sources of pkg/ as text",
    "house/test_format.py": "runs clang-format over the sources of C++",
    "house/test_handles.py": "reads the sources of C++ as text",
    "house/test_ops_page.py": "about a page and the core's records of ops",
    "house/test_pythons.py": "finds interpreters, which are scripts that it writes",
    "house/test_benchmarks.py": "starts programs, which choose the binding themselves",
    "framework/test_cmake.py": "what CMake makes is loaded as other libraries are",
    "examples": "wraps other libraries, by the kit, pybind11 and nanobind",
    "kit": "builds modules of its own, by the kit and by pybind11",
    "walkthrough/test_pydemo.py": "two stages that use nothing of pkg",
    "python/test_typing.py": "mypy reads the sources and the stub, and imports nothing",
}

# The names of tests that failed: what they print may fill the end of the output.
FAILED = re.compile("FAILED |ERROR ")

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")), reason="PKG_BINDING already chose a binding"
)


def test_excluded_files_exist():
    """A renamed file must not fall out of the second run unnoticed."""
    assert [name for name in EXCLUDED if not (ROOT / "tests" / name).exists()] == []


@pytest.mark.suite
def test_suite_passes_on_pybind11(request):
    """Same tests, same marker expression as this run; half of the processors, as the
    others run this suite meanwhile."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests"]
    command += [f"--ignore=tests/{name}" for name in EXCLUDED]
    command += ["-m", request.config.getoption("markexpr") or ""]
    processes = len(os.sched_getaffinity(0)) // 2
    if processes > 1 and "PYTEST_XDIST_WORKER" in os.environ:
        command += ["-n", str(processes)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PKG_BINDING": "pybind11", "PKG_BINDING_PATH": str(build())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=5400,
    )
    failed = [line[:300] for line in done.stdout.splitlines() if FAILED.match(line)]
    assert done.returncode == 0, "\n".join([*failed, done.stdout[-6000:]])
    assert "binding: _pybind_core" in done.stdout, done.stdout[:2000]

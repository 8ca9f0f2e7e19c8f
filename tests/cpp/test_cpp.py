# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the C++ and C tests against the installed core."""

import subprocess
from pathlib import Path

import pytest

import pkg.sysconfig
from libraries import GCC, STRICT_C, compiled, precompiled

HERE = Path(__file__).parent
PROGRAMS = sorted(p.name for p in HERE.glob("*_test.c*"))
# X_test_library.cc is what X_test.cc loads, a library beside the program.


def compiler_of(program):
    """The command that compiles a test program of this language."""
    include = f"-I{pkg.sysconfig.get_include()}"
    if program.endswith(".cc"):
        command = ["g++", "-std=c++20", "-O1", "-pthread", include]
        return [*command, *precompiled("", *command)]
    if GCC is None:
        pytest.skip("no C compiler: neither gcc nor cc is on the PATH")
    return [GCC, *STRICT_C, "-O1", "-pthread", include]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_passes(program, tmp_path):
    """Each program prints its own tests and ends with a count."""
    binary = tmp_path / program.partition(".")[0]
    command = [*compiler_of(program), f"-I{HERE}", str(HERE / program)]
    command += ["-o", str(binary), *pkg.sysconfig.get_link_flags(), "-lm"]
    subprocess.run(command, check=True)
    loaded = HERE / f"{binary.name}_library.cc"
    if loaded.exists():
        made = compiled(loaded, name=f"{binary}_library")
        assert made.returncode == 0, made.stdout
    done = subprocess.run(
        [str(binary)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]


def test_core_library_knows_nothing_of_python():
    """No undefined Python symbol in libpkg_core.so."""
    library = Path(pkg.sysconfig.get_lib()) / "libpkg_core.so"
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", str(library)],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    assert symbols and not [s for s in symbols.split() if s.startswith(("Py", "_Py"))]

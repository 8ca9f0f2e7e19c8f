# SPDX-License-Identifier: Apache-2.0
"""What a broken installation says: the path, the loader's reason and the remedy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT


def import_error(folder: Path, **env: str) -> str:
    """The last line of importing a package that is pkg/_binding.py alone.

    With -S, as otherwise an editable install would find the rest of the package.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PKG_BINDING")}
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import pkg._binding"],
        cwd=folder,
        env={**clean, **env},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    shutil.copy(ROOT / "pkg" / "_binding.py", tmp_path / "pkg")
    return tmp_path


def extension(folder: Path) -> Path:
    from importlib.machinery import EXTENSION_SUFFIXES

    return folder / "pkg" / f"_pywrap_core{EXTENSION_SUFFIXES[0]}"


def test_missing_extension(bare: Path) -> None:
    assert import_error(bare) == (
        f"ImportError: [pkg] cannot load the extension {extension(bare)}: "
        "no such file. Install pkg again from its source folder, with this Python: "
        "`python -m pip install --force-reinstall --no-deps .`"
    )


def test_missing_extension_in_a_source_tree(bare: Path) -> None:
    (bare / "setup.py").touch()
    assert f"Run `python setup.py build_ext` in {bare}, with" in import_error(bare)


def test_extension_for_another_python(bare: Path) -> None:
    name = "_pywrap_core.cpython-36m-x86_64-linux-gnu.so"
    (bare / "pkg" / name).touch()
    assert f"no such file, only {name} for another Python" in import_error(bare)


def test_unloadable_extension(bare: Path) -> None:
    extension(bare).write_bytes(b"\x7fELF")
    assert re.search(
        rf"{extension(bare)}: .*file too short.* Install ", import_error(bare)
    )


def test_unknown_binding(bare: Path) -> None:
    error = import_error(bare, PKG_BINDING="cffi")
    assert "expected 'swig' or 'pybind11', got 'cffi' (PKG_BINDING=cffi)" in error


def test_missing_pybind11_variant(bare: Path) -> None:
    error = import_error(bare, PKG_BINDING="pybind11", PKG_BINDING_PATH=str(bare))
    assert f"{bare}/_pybind_core." in error
    assert "Build tests/bindings/" in error

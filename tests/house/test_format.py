# SPDX-License-Identifier: Apache-2.0
"""C++ stands as .clang-format has it, by the version that the tree is written for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT, TESTS

HOOK = re.compile(r"mirrors-clang-format\s+rev: v([\d.]+)")
TAKEN = {".h", ".cc", ".c"}


def pinned() -> str:
    """The version of .pre-commit-config.yaml, which the dev extra names too."""
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    version = HOOK.search(text)
    assert version, "no clang-format hook"
    return version.group(1)


def formatter() -> str:
    """The program, of this Python or of the path; skips without the pinned version."""
    beside = Path(sys.executable).with_name("clang-format")
    program = str(beside) if beside.exists() else shutil.which("clang-format")
    if program is None:
        pytest.skip("clang-format is not installed")
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if f"version {pinned()}" not in said:
        pytest.skip(f"the tree is written for clang-format {pinned()}, this is {said}")
    return program


def test_cpp_is_as_clang_format_wants_it() -> None:
    """`clang-format -i` on the files that are named mends them."""
    program = formatter()
    files = [
        str(path.relative_to(ROOT))
        for folder in (ROOT / "cpp", ROOT / "swig", TESTS)
        for path in sorted(folder.rglob("*"))
        if path.suffix in TAKEN
    ]
    assert len(files) > 300
    done = subprocess.run(
        [program, "--dry-run", "-Werror", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.M)))
    assert done.returncode == 0, f"to be formatted: {wrong}"


def test_the_version_is_the_same_everywhere() -> None:
    """The hook's and the one that pip installs."""
    extra = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"clang-format=={pinned()}" in extra

# SPDX-License-Identifier: Apache-2.0
"""PKG_ISA: the float32 op table on every instruction set that this CPU has."""

import os
import subprocess
import sys

import pytest

from levels import LEVELS, has
from paths import ROOT


def run(*arguments, isa):
    """A Python of its own, in which the level counts from the start."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PKG_ISA": isa},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def best():
    """The highest level of this CPU, whatever this process runs on."""
    return [level for level in LEVELS if has(level)][-1]


@pytest.mark.parametrize("level", LEVELS)
def test_op_table(level, best):
    """Every row in float32, with nothing but this level's loops."""
    if LEVELS.index(level) > LEVELS.index(best):
        pytest.skip(f"this CPU has {best}")
    code = "from pkg._binding import core; print(core.isa_name())"
    assert run("-c", code, isa=level).stdout.strip() == level
    options = ["-q", "-p", "no:cacheprovider", "-k", "test_float32"]
    done = run("-m", "pytest", *options, "tests/ops/test_op_table.py", isa=level)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("level", ["V3", "avx2", "v5"])
def test_an_unknown_level_ends_the_import(level, best):
    """One line that names the variable, what it may be, and the remedy."""
    done = run("-c", "import pkg", isa=level)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: [pkg] expected 'baseline', 'v3' or 'v4', of which this CPU has "
        f"all up to '{best}', got '{level}' (PKG_ISA={level}). Unset PKG_ISA to use "
        "the best."
    )


def test_an_empty_value_is_none(best):
    """As if the variable were unset."""
    code = "from pkg._binding import core; print(core.isa_name())"
    assert run("-c", code, isa="").stdout.strip() == best

# SPDX-License-Identifier: Apache-2.0
"""Programs written for PyTorch run with their import lines changed, as README says.

tests/programs/README.md says what is changed: import lines, and nothing else.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import pkg
from child import run_command
from paths import ROOT
from pkg import optim

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(p for p in HERE.glob("*.py") if not p.name.startswith("test_"))


def for_pkg(text: str) -> str:
    """The program with its import lines changed."""
    text = re.sub(r"^import torch$", "import pkg as torch", text, flags=re.M)
    return re.sub(r"^(import|from) torch\b", r"\1 pkg", text, flags=re.M)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_pytorch_runs(program: Path, tmp_path: Path) -> None:
    """To its last line, which asserts that it has learned."""
    changed = tmp_path / program.name
    changed.write_text(for_pkg(program.read_text(encoding="utf-8")), encoding="utf-8")
    status, out, err, _ = run_command([sys.executable, str(changed)], 120)
    assert status == 0, out + err


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_they_are_programs_of_pytorch(program: Path) -> None:
    """As they stand they run there."""
    pytest.importorskip("torch")
    status, out, err, _ = run_command([sys.executable, str(program)], 300)
    assert status == 0, out + err


def test_the_readme_names_what_stops_programs() -> None:
    """What it calls missing is missing still."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"name that is not here: (.*?) are the", text, re.DOTALL)
    assert re.findall(r"`(.*?)`", sentence) == [
        "autograd.Variable", "torch.Tensor(...)", "LSTM", "backends", "Adadelta"
    ]  # fmt: skip
    homes = [(pkg.autograd, "Variable"), (pkg.nn, "LSTM"), (pkg, "backends")]
    assert not any(hasattr(home, name) for home, name in homes)
    assert not hasattr(optim, "Adadelta")
    with pytest.raises(TypeError, match="pkg.tensor"):
        pkg.Tensor(2, 3)

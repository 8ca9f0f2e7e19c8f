# SPDX-License-Identifier: Apache-2.0
"""The main example: two ranks make the steps of one rank with twice the batch."""

import re
import sys

import numpy as np
from ranks import LIMIT, launch

import pkg
from child import run_command
from paths import ROOT

PROGRAM = ROOT / "docs" / "examples" / "digits_on_ranks.py"
STEPS = ["--steps", "6", "--epochs", "2", "--float64"]


def accuracy(text):
    """What rank 0 has said."""
    return re.search(r"held-out accuracy: ([\d.]+) %", text).group(1)


def test_two_ranks_make_the_steps_of_one_with_twice_the_batch(tmp_path):
    files = [str(tmp_path / f"{count}.safetensors") for count in (2, 1)]
    status, two, err, _ = launch(
        2, PROGRAM, "--batch-size", "8", "--save", files[0], *STEPS
    )
    assert status == 0 and two.count("accuracy") == 1, err
    command = [sys.executable, str(PROGRAM), "--batch-size", "16", "--save", files[1]]
    status, one, err, _ = run_command([*command, *STEPS], LIMIT)
    assert status == 0, err
    assert accuracy(two) == accuracy(one)
    found, wanted = map(pkg.load, files)
    assert len(found) == 6 and found.keys() == wanted.keys()
    for name, weights in found.items():
        assert weights.dtype == pkg.float64
        np.testing.assert_allclose(
            weights.numpy(), wanted[name].numpy(), rtol=0, atol=1e-6
        )

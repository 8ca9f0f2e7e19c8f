# SPDX-License-Identifier: Apache-2.0
"""The main job, run as a user runs it."""

import re
import subprocess
import sys

import pytest


def run(folder, *arguments):
    """Exit code and output of ``python -m pkg``."""
    done = subprocess.run(
        [sys.executable, "-m", "pkg", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    return done.returncode, done.stdout.decode(errors="replace")


@pytest.mark.parametrize("model,wanted", [("mlp", 97.0), ("cnn", 98.5)])
def test_train_reaches_its_accuracy_and_predict_reads_the_weights(
    tmp_path, model, wanted
):
    """Real digits, fixed seed."""
    code, text = run(tmp_path, "train", "--model", model, "--no-plot")
    assert code == 0, text
    accuracy = float(re.search(r"held-out accuracy: ([\d.]+) %", text).group(1))
    assert accuracy >= wanted
    weights = tmp_path / f"digits-{model}.safetensors"
    code, text = run(tmp_path, "predict", "--weights", str(weights))
    assert code == 0 and re.search(r"\d of 5 right", text)


def test_info_names_the_build():
    """One fact a line."""
    code, text = run(".", "info")
    assert code == 0 and "instruction set" in text and "version" in text


def test_mistakes_are_one_line_and_exit_code_two(tmp_path):
    """No traceback for what a user can get wrong."""
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"not weights")
    for arguments in [
        ("predict", "--weights", "missing.safetensors"),
        ("predict", "--weights", str(damaged)),
        ("train", "--out", "/proc/nowhere"),
        ("train", "--epochs", "-1"),
        ("sing",),
    ]:
        code, text = run(tmp_path, *arguments)
        assert code == 2 and "Traceback" not in text, (arguments, text)

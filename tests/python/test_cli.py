# SPDX-License-Identifier: Apache-2.0
"""The main job, run as a user runs it."""

import os
import re
import subprocess
import sys

import pytest

import pkg
from pkg import models, serialization

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(pkg.__file__)))


def run(folder, *arguments):
    """Exit code and output of ``python -m pkg``, with this package also elsewhere."""
    path = os.pathsep.join(filter(None, [ROOT, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "pkg", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
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
    assert os.listdir(tmp_path) == [weights.name]
    code, text = run(tmp_path, "predict", "--weights", str(weights), "--count", "7")
    assert code == 0 and re.search(r"\d of 7 right", text)


def test_train_creates_its_folder_and_draws_the_curve(tmp_path):
    code, text = run(tmp_path, "train", "--epochs", "1", "--out", "new/folder")
    assert code == 0, text
    curve = tmp_path / "new" / "folder" / "digits-mlp.png"
    assert curve.read_bytes().startswith(b"\x89PNG")


def test_flags_for_compilers_build_a_python_extension(tmp_path):
    """One line of g++ and an import, as for any other binding tool."""
    from pkg import sysconfig

    assert run(".", "--version") == (0, f"{pkg.__version__}\n")
    assert run(".", "--includes") == (0, f"-I{sysconfig.get_include()}\n")
    code, text = run(".", "--ldflags", "--cflags")
    both = [*sysconfig.get_link_flags(), *sysconfig.get_compile_flags()]
    assert (code, text.split()) == (0, both)
    code, suffix = run(".", "--ext-suffix")
    assert code == 0
    (tmp_path / "one.cc").write_text(
        "#include <Python.h>\n"
        '#include "ops/functions.h"\n'
        "static PyObject* one(PyObject*, PyObject*) {\n"
        "  return PyFloat_FromDouble(\n"
        "      pkg::item(pkg::ops::cos(pkg::Tensor(0.0))).to<double>());\n"
        "}\n"
        'static PyMethodDef table[] = {{"one", one, METH_NOARGS, ""}, {}};\n'
        'static PyModuleDef def = {PyModuleDef_HEAD_INIT, "one", "", -1, table};\n'
        "PyMODINIT_FUNC PyInit_one() { return PyModule_Create(&def); }\n"
    )
    import sysconfig as python

    command = ["g++", "-shared", "-fPIC", "one.cc", "-o", f"one{suffix.strip()}"]
    command += [f"-I{python.get_path('include')}", *both]
    subprocess.run(command, cwd=tmp_path, check=True)
    call = [sys.executable, "-c", "import one; print(one.one())"]
    assert subprocess.check_output(call, cwd=tmp_path) == b"1.0\n"


def test_info_names_version_build_machine_and_kernels():
    code, text = run(".", "info")
    assert code == 0, text
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines())
    assert facts["version"] == pkg.__version__
    assert "-O" in facts["flags"] and facts["compiler"] == pkg.__compiler_version__
    assert facts["C++11 ABI"] == str(bool(pkg.__cxx11_abi_flag__))
    assert facts["instruction set"] in ("baseline", "v3", "v4")
    assert int(facts["threads"]) >= 1
    assert facts["BLAS"].startswith(("OpenBLAS", "none needed"))
    for key in ("CPU", "Meta", "Autograd"):
        assert int(facts[f"overloads with {key}"]) > 50


def complaint(folder, *arguments):
    """The one line of a refused command."""
    code, text = run(folder, *arguments)
    assert code == 2, (arguments, text)
    assert text.count("\n") == 1 and "Traceback" not in text, (arguments, text)
    assert text.startswith("pkg: error: ")
    return text


@pytest.mark.parametrize(
    "arguments,words",
    [
        ((), "expected one COMMAND"),
        (("sing",), "invalid choice: 'sing'"),
        (("train", "--epochs", "-1"), "expected a positive integer, got -1"),
        (("train", "--epochs", "many"), "invalid int value: 'many'"),
        (("train", "--lr", "nan"), "expected a positive number, got nan"),
        (("train", "--model", "rnn"), "invalid choice: 'rnn'"),
        (("train", "--seed", str(2**64)), "expected a 64-bit integer"),
        (("train", "--out", "/proc/nowhere"), "cannot write into /proc/nowhere"),
        (("predict",), "required: --weights"),
        (("predict", "--weights", "none"), "cannot read none: No such file"),
        (("predict", "--weights", "."), "cannot read .: Is a directory"),
        (("info", "--all"), "unrecognized arguments: --all"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_two(tmp_path, arguments, words):
    assert words in complaint(tmp_path, *arguments)
    assert os.listdir(tmp_path) == []


def test_a_wrong_environment_is_one_line_and_exit_code_two(monkeypatch):
    """Nothing is said again at exit."""
    monkeypatch.setenv("PKG_NUM_THREADS", "x")
    for arguments in (("info",), ("--version",)):
        assert "PKG_NUM_THREADS to be an integer" in complaint(".", *arguments)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
def test_output_that_cannot_be_written_is_one_line_and_exit_code_two():
    for arguments in (["info"], ["--version"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "pkg", *arguments],
                cwd=ROOT,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        line = "pkg: error: cannot write the output: No space left on device\n"
        assert (done.returncode, done.stderr) == (2, line)


def test_weights_that_do_not_fit_are_one_line_and_exit_code_two(tmp_path):
    weights = tmp_path / "weights"

    def predict():
        return complaint(tmp_path, "predict", "--weights", "weights")

    weights.write_bytes(b"not weights")
    assert "weights is damaged" in predict()
    serialization.save(models.MLP(), weights)
    assert "names no model (known: mlp, cnn)" in predict()
    serialization.save(models.MLP(), weights, {"model": "cnn"})
    assert "does not fit the model cnn" in predict()
    serialization.save(models.MLP(), weights, {"model": "mlp"})
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "weights is damaged" in predict()


def test_train_refuses_a_file_as_its_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert "cannot write into file" in complaint(tmp_path, "train", "--out", "file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0,
                    reason="root may write anywhere")  # fmt: skip
def test_train_refuses_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    assert "Permission denied" in complaint(".", "train", "--out", str(tmp_path))

# SPDX-License-Identifier: Apache-2.0
"""The SWIG binding and the pybind11 variant are one behaviour.

Both are asked the same questions (tests/bindings/probes/), each in a process of its
own.
What may differ stands in DIFFERENCES with the reason; a difference that is not listed
fails, and so does a listed one that is gone.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys

import pytest

from bindings.build import build, build_probe
from paths import ROOT

PROBES = ROOT / "tests" / "bindings" / "probes"

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")), reason="PKG_BINDING already chose a binding"
)

# What is compared: reason: what differs.
DIFFERENCES = {
    # Paths in the output of probes/surface.py.
    "surface": {
        "pybind11 adds it to every class, for exchange with its other modules": [
            f"{name}.members._pybind11_conduit_v1_"
            for name in "Tensor TensorMemory Node HookHandle Operator OpWrapper device "
            "dtype Event ManualEvent Stream OperationHandle GraphHandle SessionHandle "
            "CallableHandle BodyHandle".split()
        ],
        "the table is made of SWIG's declarations": ["_symbols"],
        "one slot gives SWIG all six comparisons; those it lacks are object's here": [
            "device.special"
        ],
        "a class written in Python cannot have a property of this name, so the variant "
        "answers in __getattr__": ["Operator.special"],
        "pybind11 fills the slot of releasing a buffer; Python shows it from 3.12 on": [
            *["TensorMemory.special"] * (sys.version_info >= (3, 12)),
        ],
    },
    # Calls of probes/errors.py: same class, other words.
    "text": {
        "pybind11 words wrong arguments itself, 'incompatible function arguments', "
        "with the signature; the SWIG binding says what CPython says": [
            "core.num_threads(1)",
            "core.num_threads(x=1)",
            "core.set_num_threads()",
            "core.set_num_threads(1, 2)",
            "core.set_num_threads('a')",
            "core.set_num_threads(2.5)",
            "core.set_num_threads(None)",
            "core.set_num_threads(m=1)",
            "core.set_num_threads(n='a')",
            "core.shutdown('a')",
            "core.quiesce(s=2)",
            "core.quiesce(1, 2)",
            "core.manual_seed('a')",
            "core.set_grad_enabled()",
            "core.operator_names()",
            "core.operator_names(3)",
            "core.operator_names(namespace='pkg')",
            "core.Tensor.item(3)",
            "core.Tensor.shape.__get__(3)",
            "core.Operator()",
            "core.Operator(1)",
            "core.Operator('add', 'pkg', 3)",
            "core.Operator(name='add')",
            "core.OpWrapper()",
            "core.OpWrapper(int, 1, {})",
            "core.OpWrapper(int, 'pkg::neg', [])",
            "core.dtype()",
            "core.dtype(foo='float32')",
            "core.dtype('float32', 1)",
            "core.device()",
            "core.tensor()",
            "core.tensor(1, foo=2)",
            "core.tensor(1, None, None)",
            "core.from_numpy()",
            "core._memory()",
            "core._from_dlpack()",
            "x.__dlpack__(1)",
            "core.register_tensor_class()",
            "core.Tensor._make_subclass()",
            "x.item(1)",
            "x.size('a')",
            "x.size(1, 2)",
            "x.__getitem__()",
            "core._backward()",
            "core._grad(1)",
            "y.sum().grad_fn.name(1)",
        ],
        "pybind11's properties are Python's, SWIG's are descriptors in C": [
            "setattr(core.Operator('add'), '__name__', 'x')",
            "setattr(core.Operator('add'), '__doc__', 'x')",
            "setattr(core.float32, 'name', 'x')",
            "setattr(x, 'shape', 1)",
            "setattr(y.grad_fn, 'variable', 1)",
            "delattr(x, 'shape')",
            "delattr(x, 'requires_grad')",
            "delattr(x, 'data')",
        ],
        "pybind11 words it itself": [
            "type(core._memory(pkg.ones(1)))()",
            "type(y.grad_fn)()",
        ],
        "the slot ends in x + y, as its NotImplemented would get lost (py_number.cc)": [
            "iadd(x, 'a')"
        ],
    },
    # Calls of probes/errors.py: another class, or no error.
    "outcome": {
        "pybind11 counts a number out of range as a wrong argument": [
            "core.set_num_threads(2**33)",
            "core.set_num_threads(2**70)",
        ],
        "py::is_operator answers NotImplemented to any arguments that do not fit": [
            "x.__add__()",
            "x.__add__(1, 2)",
        ],
    },
}

# What keeps the GIL, of the calls of probes/gil.py; the others give it up.  The first
# part of a name is the symbol whose policy pkg.symbols() tells (test_symbols.py).
KEEPS_GIL = {
    "Operator.add on the caller",  # a small kernel
    "Tensor.tolist of what is ready",
    *("set_num_threads set_async pending_tasks cancel submit scheduler_stats").split(),
    *("empty_cache", "from_numpy"),
}


@functools.cache
def run(probe, binding, *arguments):
    """The output of a probe on one binding; it must end well, whatever it asks."""
    env = {**os.environ, "PKG_BINDING": binding, "PYTHONPATH": str(ROOT)}
    env["PKG_BINDING_PATH"] = str(build())
    command = [sys.executable, "-W", "error", str(PROBES / f"{probe}.py"), *arguments]
    done = subprocess.run(
        command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, (binding, done.returncode, done.stderr[-2000:])
    return done.stdout


def answers(probe, *arguments):
    """The JSON answers of both bindings, with one name for the two modules."""
    texts = [run(probe, binding, *arguments) for binding in ("swig", "pybind11")]
    for name in ("pkg._pywrap_core", "_pywrap_core", "_pybind_core"):
        texts = [text.replace(name, "_core") for text in texts]
    return [answer_in(text) for text in texts]


def answer_in(output):
    """The JSON line; the probe library writes another, through C: in any order."""
    return json.loads(next(x for x in output.splitlines() if x.startswith("{")))


def listed(kind):
    return {line for lines in DIFFERENCES[kind].values() for line in lines}


def differences(ours, theirs, path=""):
    """{path: both values} where two JSON values differ."""
    if ours == theirs:
        return {}
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return {path: (ours, theirs)}
    found = {}
    for key in sorted({*ours, *theirs}):
        below = f"{path}.{key}" if path else key
        found.update(differences(ours.get(key), theirs.get(key), below))
    return found


def check(found, kind):
    """The found differences are the listed ones, no more and no fewer."""
    unlisted = {line: both for line, both in found.items() if line not in listed(kind)}
    assert unlisted == {}
    assert listed(kind) - set(found) == set(), "listed, but equal by now"


def test_names_signatures_and_docstrings():
    """Of the module and of every class."""
    swig, variant = answers("surface")
    assert len(swig) > 40 and len(swig["Tensor"]["members"]) > 25
    check(differences(swig, variant), "surface")


def test_wrong_calls_raise_the_same():
    """Class and text; and most wrong calls really are errors."""
    swig, variant = answers("errors")
    assert sum("raises" in answer for answer in swig.values()) > 150
    text, outcome = {}, {}
    for call, ours in swig.items():
        theirs = variant[call]
        same_class = ours.get("raises") == theirs.get("raises")
        if ours != theirs:
            (text if same_class else outcome)[call] = (ours, theirs)
    check(outcome, "outcome")
    check(text, "text")


def test_gil_is_released_in_the_same_places():
    """Measured: a second Python thread gets on during the call, or does not."""
    swig, variant = answers("gil", str(build_probe()), *sorted(KEEPS_GIL))
    assert swig == variant
    assert {name for name, released in swig.items() if not released} == KEEPS_GIL


@pytest.mark.parametrize("binding", ["swig", "pybind11"])
def test_no_object_is_left(binding):
    """After a scenario with every kind of object, and when the process ends."""
    output = run("life", binding, str(build_probe()))
    counts = answer_in(output)
    assert counts["before"] == counts["after"]
    line = "live at exit: {0} tensors, {0} nodes, {0} events, {0} streams"
    assert line.format(0) in output.splitlines()
    leaky = run("life", binding, str(build_probe()), "--leak")
    assert "live at exit" in leaky and not re.search(r"exit: .*\b0 ", leaky)


def test_tensors_of_the_other_binding_are_refused():
    """By every way in, with a TypeError that names both bindings."""
    results = json.loads(run("strangers", "swig", str(build())))
    names = {"swig": "pkg._pywrap_core", "pybind11": "_pybind_core"}
    for binding, other in (("swig", "pybind11"), ("pybind11", "swig")):
        assert len(results[binding]) > 15
        for call, answer in results[binding].items():
            assert answer.get("raises") == "TypeError", (binding, call, answer)
            assert answer["text"] == (
                f"expected a Tensor of the binding {names[binding]}, got one of "
                f"{names[other]}. Exchange them through DLPack: "
                "pkg.from_dlpack(x)."
            )

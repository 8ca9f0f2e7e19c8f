# SPDX-License-Identifier: Apache-2.0
"""The stages in C++ (docs/walkthrough/stages), by the kit and by pybind11."""

import inspect
import re
import sys

import pytest
import stages
from test_samples import SAMPLES as PROMISES

from child import run_command

SAMPLES = stages.ROOT / "docs" / "walkthrough" / "samples"
both = pytest.mark.parametrize("binding", stages.BINDINGS)


@both
def test_pydemo_adds_doubles(binding):
    pydemo = stages.load("pydemo", binding)
    assert pydemo.add(0.1, 0.2) == 0.30000000000000004
    assert pydemo.add(a=1, b=2) == 3.0
    assert type(pydemo.add(1, 2)) is float
    with pytest.raises(TypeError):
        pydemo.add("1", 2)
    for wrong in [(1,), (1, 2, 3)]:
        with pytest.raises(TypeError, match="argument"):
            pydemo.add(*wrong)


@both
def test_pydemo_int_adds_c_ints(binding):
    pydemo_int = stages.load("pydemo_int", binding)
    assert pydemo_int.add(1, 2) == 3
    assert type(pydemo_int.add(1, 2)) is int
    with pytest.raises(TypeError):
        pydemo_int.add(1.5, 2)
    for big in [(2**31 - 1, 1), (-(2**31), -1)]:
        with pytest.raises(OverflowError, match="32-bit"):
            pydemo_int.add(*big)
    # pybind11 says TypeError of what does not fit a C int.
    for big in [(2**31, 0), (0, 10**30)]:
        with pytest.raises((OverflowError, TypeError)):
            pydemo_int.add(*big)


def test_the_kit_says_which_argument():
    pydemo = stages.load("pydemo", "kit")
    with pytest.raises(TypeError, match=r"\[add\] expected a number for 'a', got str"):
        pydemo.add("1", 2)


DOCS = {
    "pydemo": "pybind11 demo doc",
    "myops": "Async add backend (Python fires sequentially, C++ runs concurrently)",
    "overload_ops_async": "Scalar with async + operator (minimal lazy/async demo)",
    "overload_ops_queue": (
        "Scalar + operator with global task queue (async enqueue + on-demand wait)"
    ),
    "overload_ops_pool": (
        "Scalar + operator with fixed thread pool (async + on-demand wait)"
    ),
    "myops_dispatch_cpu": "Mini dispatcher (single CPU backend)",
    "scalar_mul_grad_class": (
        "Autograd look-alike with explicit Grad class (only mul op)"
    ),
}


@both
@pytest.mark.parametrize("name", DOCS)
def test_modules_have_the_articles_docs(name, binding):
    assert inspect.getdoc(stages.load(name, binding)).startswith(DOCS[name])


@both
@pytest.mark.parametrize("name", stages.NAMES)
def test_the_samples_run_on_the_stage(name, binding):
    """But for the line that imports, as the articles have them."""
    (path,) = SAMPLES.glob(f"[0-9][0-9]_{name}.py")
    text = path.read_text(encoding="utf-8")
    module = re.compile(
        r"from pkg\.walkthrough(\.overload_ops)? import (\w+)( as (\w+))?"
    )
    alias = module.search(text)[4] or module.search(text)[2]
    code = module.sub(f"import {name} as {alias}", text, count=1)
    command = [sys.executable, "-W", "error", "-c", code]
    folder = str(stages.build(name, binding))
    status, out, err, _ = run_command(command, **stages.path(folder))
    assert (status, err) == (0, "")
    assert re.fullmatch(PROMISES[path.stem], out), out

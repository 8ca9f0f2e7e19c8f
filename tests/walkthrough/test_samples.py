# SPDX-License-Identifier: Apache-2.0
"""The articles' samples print what they promise; the modules have their docs."""

import inspect
import os
import re
import subprocess
import sys

import pytest
import stages

from child import run_command

# What the samples print; of the articles only their import line is changed.
SAMPLES = {
    "01_pydemo": r"3\.0\n",
    "02_pydemo_int": r"3\n",
    "03_myops": r"results=\[0\.0, 11\.0, 22\.0, 33\.0\], "
    r"elapsed=0\.(09|1\d|2[0-4])\ds\n",
    "04_myops_dispatch_cpu": "".join(
        rf"\[C\+\+\] executing add\({i},{10 * i}\)\n"
        rf"\[C\+\+\] executing mul\({i},{10 * i}\)\n{10.0 * i * i}\n"
        for i in range(4)
    ),
    "05_overload_ops_sync": r"Scalar\(3\.5\)\nScalar\(4\.5\)\n1\.5\n",
    "06_overload_ops_async": r"Scalar\(3\.5\)\nScalar\(4\.5\)\n1\.5\n",
    "07_overload_ops_queue": r"Scalar\(3\.5\)\nScalar\(4\.5\)\n1\.5\n"
    r"queued: [45] pending: 5\n\[10\.0, 12\.0, 14\.0, 16\.0, 18\.0\]\n",
    "08_overload_ops_pool": r"立即返回: Scalar\(3\.5\)\n结果值: 3\.5\n",
    "09_scalar_mul_grad_class": r"y = Scalar\(v=24\.0, grad=1\.0\)\n"
    r"a\.grad = 12\.0\nb\.grad = 8\.0\nc\.grad = 6\.0\n",
    "10_tensor": "",
}
TENSOR = stages.SAMPLES / "10_tensor.py"


def test_every_sample_has_its_promise():
    files = {path.stem for path in stages.SAMPLES.glob("*.py")}
    assert files == set(SAMPLES)
    assert files == {stages.sample(name).stem for name in stages.NAMES} | {TENSOR.stem}


def check_sample(path, *folders, mode="1"):
    promise = SAMPLES[path.stem]
    if mode == "0":  # nothing is left when it is looked at, and the times add up
        promise = promise.replace(r"queued: [45] pending: 5", "queued: 0 pending: 0")
        promise = promise.replace(r"0\.(09|1\d|2[0-4])\d", r"0\.[4-9]\d\d")
    command = [sys.executable, "-W", "error", str(path)]
    environment = {**stages.path(*folders), "PKG_ASYNC": mode}
    status, out, err, _ = run_command(command, **environment)
    assert (status, err) == (0, "")
    assert re.fullmatch(promise, out), out


@pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")),
    reason="a stage's sample imports its stage, and no binding of pkg",
)
@pytest.mark.parametrize(
    ("binding", "mode"), [("kit", "1"), ("pybind11", "1"), ("kit", "0")]
)
@pytest.mark.parametrize("name", stages.NAMES)
def test_sample_prints_what_its_comments_promise(name, binding, mode):
    check_sample(stages.sample(name), stages.build(name, binding), mode=mode)


def test_the_tensor_sample_adds_in_the_graph():
    check_sample(TENSOR)
    names = {}
    exec(TENSOR.read_text(encoding="utf-8"), names)
    assert names["y"].numel() == 4
    assert names["y"].detach().numpy().tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert names["y"].grad_fn.name() == "AddBackward"


def test_one_command_builds_a_stage_and_runs_its_sample():
    program = [sys.executable, stages.__file__, "pydemo"]
    assert run_command(program)[:3] == (0, "3.0\n", "")


@pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")),
    reason="mypy reads the samples and the stubs, and imports nothing",
)
def test_samples_are_strict_by_the_stubs_of_the_stages():
    pytest.importorskip("mypy", reason="mypy is not installed")
    for name in stages.NAMES:
        folder = stages.build(name, "kit")
    command = [sys.executable, "-m", "mypy", "--strict", str(stages.SAMPLES)]
    env = {**os.environ, **stages.path(), "MYPYPATH": str(folder)}
    done = subprocess.run(
        command, cwd=stages.ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


# What the modules tell about themselves.
DOCS = {
    "pydemo": "pybind11 demo doc",
    "myops": "Async add backend (Python fires sequentially, C++ runs concurrently)",
    "myops.add": "Submit async add task, return task ID",
    "myops.wait_all": "Wait all tasks and return results",
    "myops_dispatch_cpu": "Mini dispatcher (single CPU backend)",
    "myops_dispatch_cpu.run_op": "Run an op by name, e.g. run_op('add',3,4)",
    "overload_ops_async": "Scalar with async + operator (minimal lazy/async demo)",
    "overload_ops_async.Scalar.v": (
        "Get the (possibly async-computed) value; waits if needed"
    ),
    "overload_ops_queue": (
        "Scalar + operator with global task queue (async enqueue + on-demand wait)"
    ),
    "overload_ops_queue.flush": "Wait until the global task queue is empty",
    "overload_ops_queue.queue_size": "Current queued jobs",
    "overload_ops_queue.pending": "Current running/queued jobs",
    "overload_ops_pool": (
        "Scalar + operator with fixed thread pool (async + on-demand wait)"
    ),
    "overload_ops_pool.flush": "Wait until all jobs are finished",
    "overload_ops_pool.queue_size": "Jobs waiting in queue",
    "overload_ops_pool.pending": "Running + queued jobs",
    "scalar_mul_grad_class": (
        "Autograd look-alike with explicit Grad class (only mul op)"
    ),
}


@pytest.mark.parametrize("thing", DOCS)
def test_docs_are_the_articles(thing, binding):
    name, *rest = thing.split(".")
    found = stages.load(name, binding)
    for each in rest:
        found = getattr(found, each)
    assert DOCS[thing] in inspect.getdoc(found)

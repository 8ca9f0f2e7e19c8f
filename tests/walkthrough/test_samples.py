# SPDX-License-Identifier: Apache-2.0
"""The articles' samples print what they promise; the modules have their docs."""

import inspect
import re
import sys
from pathlib import Path

import pytest

from child import run_command
from pkg.walkthrough import myops, myops_dispatch_cpu, pydemo, scalar_mul_grad_class
from pkg.walkthrough.overload_ops import async_, pool, queue

DOCS = Path(__file__).parents[2] / "docs" / "walkthrough"

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


def test_every_sample_has_its_promise():
    files = {path.stem for path in (DOCS / "samples").glob("*.py")}
    assert files == set(SAMPLES)


@pytest.mark.parametrize("mode", ["1", "0"], ids=["async", "PKG_ASYNC=0"])
@pytest.mark.parametrize("name", SAMPLES)
def test_sample_prints_what_its_comments_promise(name, mode):
    promise = SAMPLES[name]
    if mode == "0":  # nothing is left when it is looked at, and the times add up
        promise = promise.replace(r"queued: [45] pending: 5", "queued: 0 pending: 0")
        promise = promise.replace(r"0\.(09|1\d|2[0-4])\d", r"0\.[4-9]\d\d")
    path = DOCS / "samples" / f"{name}.py"
    command = [sys.executable, "-W", "error", str(path)]
    status, out, err, _ = run_command(command, PKG_ASYNC=mode)
    assert (status, err) == (0, "")
    assert re.fullmatch(promise, out), out


def test_the_tensor_sample_adds_in_the_graph():
    names = {}
    exec((DOCS / "samples" / "10_tensor.py").read_text(encoding="utf-8"), names)
    assert names["y"].numel() == 4
    assert names["y"].detach().numpy().tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert names["y"].grad_fn.name() == "AddBackward"


# What the modules tell about themselves.


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (pydemo, "pybind11 demo doc"),
        (
            myops,
            "Async add backend (Python fires sequentially, C++ runs concurrently)",
        ),
        (myops.add, "Submit async add task, return task ID"),
        (myops.wait_all, "Wait all tasks and return results"),
        (myops_dispatch_cpu, "Mini dispatcher (single CPU backend)"),
        (myops_dispatch_cpu.run_op, "Run an op by name, e.g. run_op('add',3,4)"),
        (async_, "Scalar with async + operator (minimal lazy/async demo)"),
        (
            async_.Scalar.v,
            "Get the (possibly async-computed) value; waits if needed",
        ),
        (
            queue,
            "Scalar + operator with global task queue (async enqueue + on-demand wait)",
        ),
        (queue.flush, "Wait until the global task queue is empty"),
        (queue.queue_size, "Current queued jobs"),
        (queue.pending, "Current running/queued jobs"),
        (
            pool,
            "Scalar + operator with fixed thread pool (async + on-demand wait)",
        ),
        (pool.Scalar.v, "Get the (possibly async) value"),
        (pool.flush, "Wait until all jobs are finished"),
        (pool.queue_size, "Jobs waiting in queue"),
        (pool.pending, "Running + queued jobs"),
        (
            scalar_mul_grad_class,
            "Autograd look-alike with explicit Grad class (only mul op)",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_docs_are_the_articles(thing, text):
    assert inspect.getdoc(thing).startswith(text)

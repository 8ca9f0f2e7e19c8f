# SPDX-License-Identifier: Apache-2.0
"""The stages as fixtures: what holds for one binding, or variant, holds for all.

test_wNN_... shows that a fault of the articles' code, numbered as in docs/walkthrough/,
is not in ours.
"""

import pytest
import stages

LATER = ["overload_ops_async", "overload_ops_queue", "overload_ops_pool"]
VARIANTS = ["overload_ops_sync", *LATER]
DELAYS = {"myops": 100, "overload_ops_async": 50}


@pytest.fixture(autouse=True)
def _nothing_left():
    yield
    for (name, _), module in stages.loaded.items():
        if name in LATER:  # until they hold no job any more
            module.Scalar(0).queue().flush(idle=True)
        if name == "myops":
            module.wait_all(otherwise=0)
        if name in LATER or name == "myops":
            module.set_delay(DELAYS.get(name, 40))


@pytest.fixture(params=stages.BINDINGS)
def binding(request):
    return request.param


@pytest.fixture(params=VARIANTS)
def ops(request, binding):
    """Each variant of overload_ops."""
    return stages.load(request.param, binding)


@pytest.fixture(params=LATER)
def later(request, binding):
    """Each asynchronous variant."""
    return stages.load(request.param, binding)


@pytest.fixture
def queue(binding):
    return stages.load("overload_ops_queue", binding)


@pytest.fixture(params=[True, False], ids=["queue", "pool"])
def jobs(request, queue):
    """A queue of its own, ordered and not."""
    return queue.JobQueue(ordered=request.param)


@pytest.fixture
def myops(binding):
    return stages.load("myops", binding)

# SPDX-License-Identifier: Apache-2.0
"""Variants of the articles' modules as fixtures.

test_wNN_... shows that a fault of the articles' code, numbered as in docs/walkthrough/,
is not in our face of it.
"""

import pytest

from pkg.walkthrough import myops
from pkg.walkthrough.overload_ops import async_, pool, queue, sync

VARIANTS = [sync, async_, queue, pool]
LATER = [async_, queue, pool]
by_name = {"ids": lambda module: module.__name__.rpartition(".")[2]}


@pytest.fixture(autouse=True)
def _nothing_left():
    yield
    for each in LATER:  # until they hold no job any more
        each.Scalar._default_queue().flush(idle=True)
    myops.wait_all(return_exceptions=True)


@pytest.fixture(params=VARIANTS, **by_name)
def ops(request):
    """Each variant of overload_ops: what holds for one holds for all."""
    return request.param


@pytest.fixture(params=LATER, **by_name)
def later(request):
    """Each asynchronous variant."""
    return request.param


@pytest.fixture(params=[queue, pool], **by_name)
def jobs(request):
    """A queue of its own, ordered and not."""
    return queue.JobQueue(ordered=request.param is queue)

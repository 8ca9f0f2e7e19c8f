# SPDX-License-Identifier: Apache-2.0
"""What a recorded call keeps, counted in bytes: at most what PyTorch's keeps."""

import pytest

import pkg
from pkg._binding import core

# With a result of eight floats PyTorch's calls keep 1,020 to 1,170 bytes if they save
# nothing, and 1,150 to 1,360 if they do.
RESULT = 192 + 192 + 64  # the tensor, its memory, its place in the graph
NODE = 256
KINDS = {
    "add": (lambda x, w, xs: x + x, RESULT + NODE),
    "add of a number": (lambda x, w, xs: x + 1, RESULT + NODE),
    "mul": (lambda x, w, xs: x * x, RESULT + NODE),
    "sin": (lambda x, w, xs: x.sin(), RESULT + NODE),
    "exp, which saves its result": (lambda x, w, xs: x.exp(), RESULT + 192 + NODE),
    "sum": (lambda x, w, xs: x.sum(), RESULT + NODE),
    "mm": (lambda x, w, xs: x @ w, RESULT + NODE),
    "reshape": (lambda x, w, xs: x.reshape(8), RESULT - 192 + NODE),
    "transpose": (lambda x, w, xs: x.t(), RESULT - 192 + NODE),
    "mul by a number": (lambda x, w, xs: x * 0.5, RESULT + NODE),
    "clamp": (lambda x, w, xs: x.clamp(0, 1), RESULT + NODE + 64),
    "mean": (lambda x, w, xs: x.mean(), 1024),
    "mse_loss": (lambda x, w, xs: pkg.nn.functional.mse_loss(x, xs[0]), 1280),
    "cat of ten": (lambda x, w, xs: pkg.cat(xs), 1408),
    "stack of ten": (lambda x, w, xs: pkg.stack(xs), 1408),
}


@pytest.fixture(autouse=True)
def at_once():
    """Work in flight would be counted."""
    before = pkg.scheduler.async_enabled()
    pkg.scheduler.set_async(False)
    yield
    pkg.scheduler.set_async(before)


@pytest.mark.parametrize("name", KINDS)
def test_a_recorded_call_keeps_no_more(name):
    call, limit = KINDS[name]
    x, w = pkg.ones(2, 4, requires_grad=True), pkg.ones(4, 4, requires_grad=True)
    xs = [x * 1 for _ in range(10)]
    kept = [call(x, w, xs) for _ in range(10)]
    before, count = core.bytes_in_use(), 500
    kept += [call(x, w, xs) for _ in range(count)]
    # Ten calls' worth for what else was needed meanwhile.
    assert core.bytes_in_use() - before <= limit * (count + 10)


def test_a_graph_gives_all_of_it_back():
    x = pkg.ones(4, requires_grad=True)
    before = core.bytes_in_use()
    y = x
    for _ in range(20_000):
        y = (y * x).tanh().reshape(2, 2).sum(0).repeat(2)
    during = core.bytes_in_use()
    y.sum().backward()
    x.grad = None
    del y
    assert during - before > 20_000 * 5 * 256
    assert core.bytes_in_use() - before < 20_000

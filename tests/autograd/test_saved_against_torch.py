# SPDX-License-Identifier: Apache-2.0
"""What each op keeps for backward, and what its gradient depends on, beside PyTorch.

Of every row of the op table: a result or an input is written in place, and backward
then raises nowhere but where PyTorch raises; a gradient of the first order carries a
graph where PyTorch's does.  Skipped where PyTorch is not installed.
"""

import pytest

import pkg
from op_table import CASES
from op_values import inputs_of
from torch_ops import Torch

torch = pytest.importorskip("torch")
TABLE = [c for c in CASES if c.torch and c.differentiable and c.name != "floor_divide"]


def tensors_of(value, lib):
    """The tensors among what an op returned."""
    found = value if isinstance(value, (tuple, list)) else [value]
    return [t for t in found if isinstance(t, lib.Tensor)]


def run(lib, finder, case):
    """Leaves, inputs that may be written, and differentiable results."""
    leaves = [lib.tensor(a, requires_grad=a.dtype.kind == "f") for a in inputs_of(case)]
    inputs = [t * 1 if t.requires_grad else t for t in leaves]
    results = tensors_of(case.call(finder, *inputs), lib)
    return leaves, inputs, results


def outcome(call):
    """None, or the class of what was raised."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def after_write(lib, finder, case, written):
    """How backward ends after an in-place write to result or input number `written`."""
    leaves, inputs, results = run(lib, finder, case)
    outs = [t for t in results if t.requires_grad]
    sums = [t.sum() for t in outs]
    which, number = written
    target = (inputs if which == "input" else results)[number]
    number = target.clone().logical_not() if target.dtype == lib.bool else target + 1
    write = outcome(lambda: target.copy_(number))
    if write:
        return f"write: {write}"
    return outcome(lambda: sum(sums, 0.0).backward())


def choices(case):
    """What could be written."""
    _, inputs, results = run(pkg, pkg, case)
    return [("input", i) for i in range(len(inputs))] + [
        ("result", i) for i in range(len(results))
    ]


#: Where pkg raises and PyTorch does not: docs/differences.md.
#: cross_entropy keeps its input instead of the logarithms, l1_loss its inputs and not
#: their difference; kron in PyTorch keeps views whose changes it does not notice.
KEPT_MORE = {
    *(("cross_entropy", "input"), ("l1_loss", "input")),
    *(("kron", "input"), ("take_along_dim", "input")),
}


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_backward_after_a_write_raises_only_where_pytorch_does(case):
    """An input or a result of the op is written before backward runs.

    That pkg raises less is no fault: gradients are right, which test_autograd_saved.py
    has of results.
    """
    for choice in choices(case):
        ours = after_write(pkg, pkg, case, choice)
        theirs = after_write(torch, Torch(), case, choice)
        if ours == "RuntimeError" and (case.name, choice[0]) not in KEPT_MORE:
            assert theirs == "RuntimeError", choice


def graphs(lib, finder, case):
    """Whether the gradient of each input can be differentiated."""
    leaves, _, results = run(lib, finder, case)
    wanted = [t for t in leaves if t.requires_grad]
    outs = [t for t in results if t.requires_grad]
    if not outs or not wanted:
        return []
    total = sum(t.sum() for t in outs)
    first = lib.autograd.grad(
        total, wanted, create_graph=True, allow_unused=True, materialize_grads=True
    )
    return [g.requires_grad for g in first]


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_gradients_carry_a_graph_where_pytorchs_do(case):
    """A second grad() answers zeros, or raises, alike."""
    assert graphs(pkg, pkg, case) == graphs(torch, Torch(), case)

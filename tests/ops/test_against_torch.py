# SPDX-License-Identifier: Apache-2.0
"""The op table called with PyTorch in place of pkg: values, dtypes, first gradients.

Skipped where PyTorch is not installed; the table's NumPy references do not need it.
"""

import numpy as np
import pytest

import pkg
from op_table import CASES
from op_values import inputs_of, outputs
from torch_ops import Torch

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("case", [c for c in CASES if c.torch], ids=str)
def test_same_as_pytorch(case):
    """One call, two libraries."""
    arrays = inputs_of(case)
    # PyTorch has no formula for floor_divide.
    wants = case.differentiable and case.name != "floor_divide"
    ours = [pkg.tensor(a, requires_grad=wants and a.dtype.kind == "f") for a in arrays]
    theirs = [
        torch.tensor(a, requires_grad=wants and a.dtype.kind == "f") for a in arrays
    ]
    got, want = case.call(pkg, *ours), case.call(Torch(), *theirs)
    rng = np.random.default_rng(5)
    our_sum, their_sum = 0, 0
    assert len(outputs(got)) == len(outputs(want))
    for g, w in zip(outputs(got), outputs(want)):
        if not isinstance(g, pkg.Tensor):
            assert g == w and type(g) is type(w)
            continue
        assert str(g.dtype).split(".")[1] == str(w.dtype).split(".")[1]
        assert tuple(g.shape) == tuple(w.shape)
        np.testing.assert_allclose(
            g.detach().numpy(), w.detach().numpy(), rtol=1e-9, atol=1e-9
        )
        assert g.requires_grad == w.requires_grad
        if w.requires_grad:
            weights = rng.normal(size=tuple(w.shape))
            our_sum = our_sum + (g * pkg.tensor(weights)).sum()
            their_sum = their_sum + (w * torch.tensor(weights)).sum()
    if not isinstance(our_sum, pkg.Tensor):
        return
    our_sum.backward()
    their_sum.backward()
    for g, w in zip(ours, theirs):
        if w.grad is not None:
            np.testing.assert_allclose(
                g.grad.numpy(), w.grad.numpy(), rtol=1e-7, atol=1e-9
            )

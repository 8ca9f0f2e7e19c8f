# SPDX-License-Identifier: Apache-2.0
"""PyTorch by the names of pkg.ops; tests that import it skip without PyTorch."""

import pytest

torch = pytest.importorskip("torch")


class Torch:
    """Finds an op where PyTorch keeps it."""

    def __getattr__(self, name):
        if name.startswith("linalg_"):
            return getattr(torch.linalg, name[len("linalg_") :])
        functional = torch.nn.functional
        if hasattr(functional, name) and name not in ("sigmoid", "tanh"):
            return getattr(functional, name)
        return getattr(torch if hasattr(torch, name) else torch.Tensor, name)

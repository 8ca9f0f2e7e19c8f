# SPDX-License-Identifier: Apache-2.0
"""Layers that are one matrix product or one look-up: Linear, Embedding."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["Embedding", "Linear"]


class Linear(Module):
    """``x @ weight.T + bias`` over the last dimension."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None
    ) -> None:
        """Create a layer with weight (out_features, in_features)."""
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(ops.empty((out_features, in_features), dtype=dtype))
        bias_ = Parameter(ops.empty((out_features,), dtype=dtype)) if bias else None
        self.register_parameter("bias", bias_)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values, uniform in +-1/sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (..., in_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Embedding(Module):
    """A table of vectors looked up by integer."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, dtype: Any = None
    ) -> None:
        """Create a table of shape (num_embeddings, embedding_dim)."""
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = Parameter(ops.empty((num_embeddings, embedding_dim), dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values from the standard normal distribution."""
        init.normal_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Return the vectors of an integer tensor of any shape."""
        return F.embedding(input, self.weight)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}"

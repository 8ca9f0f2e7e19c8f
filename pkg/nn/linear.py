# SPDX-License-Identifier: Apache-2.0
"""Layers that are one matrix product or one look-up: Linear, Embedding."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..autograd import no_grad
from ..tensor import Tensor
from . import functional as F, init
from .module import Module
from .parameter import Parameter

__all__ = ["Embedding", "Linear"]


class Linear(Module):
    """``x @ weight.T + bias`` over the last dimension."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        """Create a layer with weight (out_features, in_features)."""
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(ops.empty((out_features, in_features), **options))
        self.register_parameter("bias", None)
        if bias:
            self.bias = Parameter(ops.empty((out_features,), **options))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values, uniform in +-1/sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (..., in_features)."""
        own = self._parameters  # read directly: self.weight would go by __getattr__
        if (weight := own.get("weight")) is not None and "bias" in own:
            return ops.linear(input, weight, own["bias"])
        return ops.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Embedding(Module):
    """A table of vectors looked up by integer."""

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        """Create a table of shape (num_embeddings, embedding_dim).

        The row ``padding_idx`` starts as zeros and gets no gradient.
        """
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(
                    "[Embedding] expected padding_idx to be within num_embeddings, got "
                    f"{padding_idx} (num_embeddings={num_embeddings})."
                )
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.weight = Parameter(
            ops.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
        )
        self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """Return a layer over the memory of a table (num_embeddings, embedding_dim)."""
        if embeddings.ndim != 2:
            raise ValueError(
                "[Embedding] expected a table of 2 dimensions, got shape "
                f"{tuple(embeddings.shape)}."
            )
        rows, columns = embeddings.shape
        # On meta nothing is drawn, and no memory taken.
        layer = cls(rows, columns, padding_idx, device="meta", dtype=embeddings.dtype)
        layer.weight = Parameter(embeddings, requires_grad=not freeze)
        return layer

    def reset_parameters(self) -> None:
        """Draw new values from the standard normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    def forward(self, input: Tensor) -> Tensor:
        """Return the vectors of an integer tensor of any shape."""
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """The sizes."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text

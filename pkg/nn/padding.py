# SPDX-License-Identifier: Apache-2.0
"""Borders around tensors: ``pad``, which nn.functional shows."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ops
from ..tensor import Tensor

__all__ = ["pad"]


def pad(
    input: Tensor,
    pad: Sequence[int],
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """A border around the last dimensions; negative numbers cut off.

    pad: (before, after) of the last dimension, then of the one before it, and so on.
    mode: "constant" fills with ``value`` or 0; "reflect" mirrors at the outermost
    elements, "replicate" repeats them, and "circular" goes on at the other side.  Those
    three pad the last one to three dimensions of a tensor with one or two before them.
    RuntimeError for a border that is larger than the mode has elements for.
    NotImplementedError for other modes and shapes.
    """
    return ops.pad(input, pad, mode, value)

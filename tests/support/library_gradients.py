# SPDX-License-Identifier: Apache-2.0
"""Gradients of the ops of framework/sources/kernels.cc, for the registry."""

from __future__ import annotations

from typing import Any


def pair_grad(op: Any, product: Any, total: Any) -> tuple[Any, Any]:
    """Of a * b and a + b."""
    a, b = op.inputs
    return product * b + total, product * a + total


def sums_grad(op: Any, *grads: Any) -> list[Any]:
    """Of the sums of the first of a list."""
    made = []
    for place in range(op.get_attr("N")):
        total = grads[place]
        for grad in grads[place + 1 :]:
            total = total + grad
        made.append(total)
    return made

# SPDX-License-Identifier: Apache-2.0
"""The rest of ``muladd::plain`` of muladd.cc, from Python: its shapes and its gradient.

``load(path)`` opens the library and registers them.
"""

from __future__ import annotations

from typing import Any

import pkg


def load(path: str) -> None:
    """Open muladd.so, and give ``muladd::plain`` shapes and a gradient."""
    pkg.ops.load_library(path)
    pkg.library.register_fake("muladd::plain", _shapes)
    pkg.library.register_autograd("muladd::plain", _backward, setup_context=_keep)


def plain(a: pkg.Tensor, b: pkg.Tensor, c: float = 0.0) -> pkg.Tensor:
    """a * b + c, for two tensors of one shape."""
    result: pkg.Tensor = pkg.ops.muladd.plain.default(a, b, c)
    return result


def _shapes(a: pkg.Tensor, b: pkg.Tensor, c: float) -> pkg.Tensor:
    pkg._check(a.shape == b.shape, lambda: f"expected {a.shape} twice, got {b.shape}")
    return pkg.empty_like(a)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: pkg.Tensor) -> None:
    a, b, _ = inputs
    # What the gradient of an argument needs is the other one.
    ctx.save_for_backward(
        a if ctx.needs_input_grad[1] else None, b if ctx.needs_input_grad[0] else None
    )


def _backward(ctx: Any, grad: pkg.Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    grad_a = None if b is None else pkg.ops.muladd.plain(grad, b, 0)
    grad_b = None if a is None else pkg.ops.muladd.plain(grad, a, 0)
    return grad_a, grad_b, None

# SPDX-License-Identifier: Apache-2.0
"""Functions of one's own that several tests of autograd use."""

import pkg
from pkg.autograd import Function

core = pkg._binding.core
f64 = pkg.float64


def leaf(*values):
    """A float64 leaf."""
    return pkg.tensor(list(values), dtype=f64, requires_grad=True)


class Cube(Function):
    """x**3, saving its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Exp(Function):
    """exp, saving its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y

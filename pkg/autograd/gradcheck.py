# SPDX-License-Identifier: Apache-2.0
"""Gradients against central differences.

Formula: df/dx_i is approximated by (f(x + eps e_i) - f(x - eps e_i)) / (2 eps), with an
error of order eps**2 (Abramowitz and Stegun 1964, 25.3.21).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._binding import core
from ..tensor import Tensor
from .functional import _gradients


class GradcheckError(RuntimeError):
    """A gradient differs from the central difference."""


def _outputs(func: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Tensor, ...]:
    result = func(*inputs)
    results = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(
        t for t in results if isinstance(t, Tensor) and t.is_floating_point()
    )


def _checked(inputs: Any) -> list[int]:
    wanted = [
        i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad
    ]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none "
            "of the them have requires_grad=True."
        )
    for i in wanted:
        if inputs[i].dtype is not core.float64:
            raise ValueError(
                f"gradcheck expects float64 inputs, got {inputs[i].dtype} (input {i}): "
                "rounding would be larger than the differences that are compared."
            )
    return wanted


def _numeric(
    func: Callable[..., Any], inputs: tuple[Any, ...], which: int, eps: float
) -> list[Any]:
    """For each output, the matrix (input elements, output elements)."""
    import numpy as np

    plain = [x.detach().clone() if isinstance(x, Tensor) else x for x in inputs]
    plain[which] = plain[which].new_empty(plain[which].shape).copy_(plain[which])
    flat = plain[which].view(-1)  # row-major now: shares its memory
    columns: list[list[Any]] = []
    for k in range(flat.numel()):
        middle = flat[k].item()
        ends = []
        for moved in (middle + eps, middle - eps):
            flat[k] = moved
            arguments = tuple(x.clone() if isinstance(x, Tensor) else x for x in plain)
            ends.append([t.detach().numpy().copy() for t in _outputs(func, arguments)])
        flat[k] = middle
        columns.append([(a - b).reshape(-1) / (2 * eps) for a, b in zip(*ends)])
    return [np.stack(column) for column in zip(*columns)] if columns else []


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of func, at `inputs`, with central differences.

    inputs: a Tensor or a tuple; those that require grad are checked and must be
    float64.
    eps is the step; gradients may differ by atol + rtol * |difference quotient|.
    Returns True, or raises GradcheckError (False without raise_exception).
    """
    import numpy as np

    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = _checked(inputs)
    outputs = _outputs(func, inputs)
    tensors = tuple(inputs[i] for i in wanted)
    for place, which in enumerate(wanted):
        numeric = _numeric(func, inputs, which, eps)
        for number, (output, want) in enumerate(zip(outputs, numeric)):
            for k in range(output.numel()):
                seed = output.detach().new_zeros(output.shape)
                seed.view(-1)[k] = 1.0
                grads = _gradients((output,), tensors, (seed,), False)
                got = grads[place].detach().numpy().reshape(-1)
                if np.allclose(got, want[:, k], rtol=rtol, atol=atol, equal_nan=True):
                    continue
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {number} with respect to input "
                    f"{which}, element {k} of the output,\n"
                    f"numerical:{want[:, k]}\nanalytical:{got}"
                )
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the second derivatives of func with differences of its gradients.

    grad_outputs: one Tensor per output; random ones (fixed seed) when left out.  The
    other parameters are those of ``gradcheck``.
    """
    import numpy as np

    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = _checked(inputs)
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        seeds = tuple(
            core.tensor(rng.normal(size=tuple(t.shape)), dtype=t.dtype).requires_grad_()
            for t in outputs
        )
    else:
        given = grad_outputs if isinstance(grad_outputs, tuple) else (grad_outputs,)
        seeds = tuple(g.detach().clone().requires_grad_() for g in given)

    def gradient(*arguments: Any) -> tuple[Tensor, ...]:
        xs, gs = arguments[: len(inputs)], arguments[len(inputs) :]
        for i in wanted:
            if not xs[i].requires_grad:
                xs[i].requires_grad_()
        tensors = tuple(xs[i] for i in wanted)
        return _gradients(_outputs(func, xs), tensors, gs, True)

    return gradcheck(
        gradient, inputs + seeds, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception,
    )  # fmt: skip

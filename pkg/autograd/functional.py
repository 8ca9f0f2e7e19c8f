# SPDX-License-Identifier: Apache-2.0
"""Products with, and matrices of, derivatives: vjp, jvp, hvp, jacobian, hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._binding import core
from ..tensor import Tensor

Tensors = Any  # one Tensor or a tuple of them, in and out
_ones_like, _zeros_like = core.Operator("ones_like"), core.Operator("zeros_like")


def _tuple(value: Any, what: str) -> tuple[Tensor, ...]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for i, tensor in enumerate(values):
        if not isinstance(tensor, Tensor):
            kind = type(tensor).__name__
            raise TypeError(f"[{what}] expected Tensors, got {kind} (position {i}).")
    return values


def _fresh(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    # Views of the inputs: gradients with respect to them, history kept when wanted.
    if create_graph:
        return tuple(
            t.view(t.shape) if t.requires_grad else t.detach().requires_grad_()
            for t in inputs
        )
    return tuple(t.detach().requires_grad_() for t in inputs)


def _gradients(
    outputs: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    grads: tuple[Tensor, ...],
    create_graph: bool,
) -> tuple[Tensor, ...]:
    """Gradients with zeros where an input is not used."""
    pairs = [(o, g) for o, g in zip(outputs, grads) if o.requires_grad]
    if not pairs:
        return tuple(_zeros_like(t) for t in inputs)
    outs, seeds = zip(*pairs)
    found = core._grad(outs, inputs, seeds, True, create_graph, True)
    return tuple(_zeros_like(t) if g is None else g for g, t in zip(found, inputs))


def _call(
    func: Callable[..., Tensors], inputs: tuple[Tensor, ...]
) -> tuple[tuple[Tensor, ...], bool]:
    before = core.is_grad_enabled()
    core.set_grad_enabled(True)
    try:
        result = func(*inputs)
    finally:
        core.set_grad_enabled(before)
    single = isinstance(result, Tensor)
    return _tuple(result, "func"), single


def _vector(
    v: Tensors | None, like: tuple[Tensor, ...], what: str, whose: str
) -> tuple[Tensor, ...]:
    """v in the shapes of `like`; a one where there is a single element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {whose} a single Tensor with a "
                "single element."
            )
        return (_ones_like(like[0].detach()),)
    vs = _tuple(v, what)
    if len(vs) != len(like) or any(a.shape != b.shape for a, b in zip(vs, like)):
        raise RuntimeError(
            f"[{what}] expected v of shapes {[tuple(t.shape) for t in like]}, got "
            f"{[tuple(t.shape) for t in vs]}."
        )
    return vs


def _check_strict(outputs: tuple[Tensor, ...], strict: bool, what: str) -> None:
    if strict and not all(y.requires_grad for y in outputs):
        raise RuntimeError(f"[{what}] an output is independent of the inputs.")


_RETURNS = "the user-provided function returns"
_TAKES = "the input to the user-provided function is"


def _plain(values: tuple[Tensor, ...], create_graph: bool, single: bool) -> Tensors:
    if not create_graph:
        values = tuple(t.detach() for t in values)
    return values[0] if single else values


def vjp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), v @ J): the product of v with the Jacobian.

    v: one Tensor per output, of its shape; may be left out for a one-element output.
    strict: an output that does not depend on the inputs is a RuntimeError, not zeros.
    """
    given = _tuple(inputs, "vjp")
    xs = _fresh(given, create_graph)
    ys, single = _call(func, xs)
    _check_strict(ys, strict, "vjp")
    vs = _vector(v, ys, "vjp", _RETURNS)
    grads = _gradients(ys, xs, vs, create_graph)
    return (
        _plain(ys, create_graph, single),
        _plain(grads, create_graph, isinstance(inputs, Tensor)),
    )


def jvp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), J @ v): the product of the Jacobian with v, one Tensor per input.

    Two reverse passes: u -> u @ J is linear in u, and its derivative along v is J @ v.
    """
    given = _tuple(inputs, "jvp")
    vs = _vector(v, given, "jvp", _TAKES)
    xs = _fresh(given, create_graph)
    ys, single = _call(func, xs)
    _check_strict(ys, strict, "jvp")
    us = tuple(_zeros_like(y.detach()).requires_grad_() for y in ys)
    products = _gradients(ys, xs, us, True)
    results = _gradients(products, us, vs, create_graph)
    return _plain(ys, create_graph, single), _plain(results, create_graph, single)


def _rows(
    y: Tensor, xs: tuple[Tensor, ...], create_graph: bool, strict: bool
) -> tuple[Tensor, ...]:
    """Gradients of every element of y, stacked, for each input."""
    stack = core.Operator("stack")
    _check_strict((y,), strict, "jacobian")
    if not y.requires_grad:
        shape = tuple(y.shape)
        new = core.Operator("zeros")
        return tuple(new(shape + tuple(x.shape), dtype=x.dtype) for x in xs)
    rows: list[tuple[Tensor, ...]] = []
    for i in range(y.numel()):
        seed = y.detach().new_zeros(y.shape)
        seed.view(-1)[i] = 1.0
        rows.append(_gradients((y,), xs, (seed,), create_graph))
    results = []
    for x, column in zip(xs, zip(*rows)):
        shape = tuple(y.shape) + tuple(x.shape)
        results.append(stack(column).reshape(shape))
    return tuple(results)


def jacobian(
    func: Callable[..., Tensors],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """Derivatives of every output element by every input element.

    A Tensor of shape (*output.shape, *input.shape); nested tuples, outputs first, when
    func takes or returns several.
    """
    xs = _fresh(_tuple(inputs, "jacobian"), create_graph)
    ys, single_out = _call(func, xs)
    single_in = isinstance(inputs, Tensor)
    table = []
    for y in ys:
        rows = _rows(y, xs, create_graph, strict)
        table.append(_plain(rows, create_graph, single_in))
    return table[0] if single_out else tuple(table)


def _value_and_gradients(
    func: Callable[..., Tensor], xs: tuple[Tensor, ...], strict: bool, what: str
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The one element that func returns, and its gradients with their graph."""
    ys, _ = _call(func, xs)
    if len(ys) != 1 or ys[0].numel() != 1:
        raise RuntimeError(
            f"The function given to {what} should return a single Tensor with a single "
            "element."
        )
    _check_strict(ys, strict, what)
    return ys[0], _gradients(ys, xs, (_ones_like(ys[0].detach()),), True)


def hessian(
    func: Callable[..., Tensor],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """Second derivatives of a function with one element.

    A Tensor of shape (*input.shape, *input.shape); nested tuples for several inputs.
    """
    single = isinstance(inputs, Tensor)

    def gradient(*xs: Tensor) -> Tensors:
        _, grads = _value_and_gradients(func, xs, strict, "hessian")
        return grads[0] if single else grads

    return jacobian(gradient, inputs, create_graph, strict)


def hvp(
    func: Callable[..., Tensor],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), H @ v): the Hessian of a one-element function times v.

    v: one Tensor per input, of its shape; may be left out for a one-element input.
    strict: a value or a gradient that does not depend on the inputs is a RuntimeError.
    """
    given = _tuple(inputs, "hvp")
    vs = _vector(v, given, "hvp", _TAKES)
    xs = _fresh(given, create_graph)
    y, grads = _value_and_gradients(func, xs, strict, "hvp")
    _check_strict(grads, strict, "hvp")
    products = _gradients(grads, xs, vs, create_graph)
    return (
        _plain((y,), create_graph, True),
        _plain(products, create_graph, isinstance(inputs, Tensor)),
    )


def vhp(
    func: Callable[..., Tensor],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), v @ H); the Hessian is symmetric, so this is ``hvp``."""
    return hvp(func, inputs, v, create_graph, strict)

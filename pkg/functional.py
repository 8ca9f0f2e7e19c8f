# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch's top level that are made of ops: ``pkg.unique`` and others.

``pkg/__init__.py`` shows them; they load at first use.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from . import ops
from .exchange import asarray
from .tensor import Tensor

__all__ = [
    "as_tensor",
    "is_floating_point",
    "is_tensor",
    "multinomial",
    "nonzero",
    "normal",
    "numel",
    "ravel",
    "tensordot",
    "unique",
]


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Tensor of whatever holds numbers; shares memory where it can, as ``asarray``."""
    return asarray(data, dtype=dtype, device=device)


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of ``input`` has fractions."""
    return bool(input.is_floating_point())


def numel(input: Tensor) -> int:
    """Number of elements."""
    return int(input.numel())


def ravel(input: Tensor) -> Tensor:
    """One dimension: a view where the layout allows it, else a copy."""
    return input.ravel()


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where ``input`` is not 0, in the order of its elements: int64 of (count, ndim).

    as_tuple: one tensor of (count) for each dimension instead, which together index
    those elements.  A 0-d tensor has one dimension then.
    """
    if not as_tuple:
        return ops.nonzero(input)
    found = ops.nonzero(input if input.ndim else input.reshape(1))
    return tuple(found.unbind(1))


def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normally distributed numbers, without gradient to ``mean`` and ``std``.

    Of two numbers a tensor of ``size``, which the keywords are about.  Else one of the
    shape to which the tensors broadcast, of the dtype of ``mean`` if that is a tensor
    and of ``std`` if not.
    TypeError for tensors with ``size`` or numbers without; RuntimeError unless
    std >= 0; NotImplementedError for a dtype without fractions.
    """
    mean, std = (t.detach() if isinstance(t, Tensor) else t for t in (mean, std))
    given = [t for t in (mean, std) if isinstance(t, Tensor)]
    if bool(given) != (size is None):
        rest = "tensors with size" if given else "numbers without size"
        raise TypeError(
            f"[normal] expected a tensor, or two numbers and size, got {rest}."
        )
    if size is not None:
        drawn = ops.empty(size, dtype=dtype, device=device)
        return ops.normal_(drawn, mean, std).requires_grad_(requires_grad)
    legal = std >= 0
    if not (legal.all() if isinstance(legal, Tensor) else legal):
        raise RuntimeError("[normal] expected std >= 0 for every element.")
    shape, dtype = ops.add(mean, std).shape, given[0].dtype
    return (ops.randn(shape, dtype=dtype) * std + mean).to(dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """Indices drawn with chances proportional to the weights of each row.

    input: (n) or (m, n) weights of a floating dtype, 0 or more, not all 0 in a row.
    Gives int64 of (num_samples) or (m, num_samples).  Without replacement each index
    comes once at most, in the order of the draw.
    RuntimeError for other shapes and weights, or more samples than weights above 0.
    """
    if input.ndim not in (1, 2) or not input.is_floating_point():
        raise RuntimeError(
            "[multinomial] expected floating weights of shape (n) or (m, n), got shape "
            f"{input.shape} and dtype {input.dtype!r}."
        )
    if num_samples < 1:
        raise RuntimeError(
            f"[multinomial] expected num_samples > 0, got {num_samples}."
        )
    if replacement:
        drawn: Tensor = ops._choices(input.detach(), num_samples)
        return drawn
    weights = input.detach().to("float64")
    total = weights.sum(-1, keepdim=True)
    if not bool(((weights >= 0).all(-1, keepdim=True) & (total > 0)).all()) or not bool(
        total.isfinite().all()
    ):
        raise RuntimeError(
            "[multinomial] expected finite weights of 0 or more, not all 0 in a row."
        )
    counts = (weights > 0).sum(-1)
    available = int(counts.min()) if counts.numel() else num_samples
    if num_samples > available:
        raise RuntimeError(
            f"[multinomial] expected at most {available} samples, one for each weight "
            f"above 0, got num_samples={num_samples}. Or pass replacement=True."
        )
    # Efraimidis & Spirakis 2006: the first arrivals of processes with such rates. Their
    # logarithms, as a rate may be so small that its arrival is out of range.
    arrivals = (-(-ops.rand_like(weights)).log1p()).log() - weights.log()
    arrivals = arrivals.masked_fill(weights == 0, float("inf"))
    indices: Tensor = arrivals.topk(num_samples, dim=-1, largest=False).indices
    return indices


def _check_dim(op: str, input: Tensor, dim: Any) -> None:
    # In the words of the ops.
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"[{op}] expected an int for 'dim', got {type(dim).__name__}")
    if input.ndim == 0:
        raise IndexError(
            f"[{op}] Dimension specified as {dim} but tensor has no dimensions"
        )
    if not -input.ndim <= dim < input.ndim:
        raise IndexError(
            f"[{op}] Dimension out of range (expected to be in range of "
            f"[{-input.ndim}, {input.ndim - 1}], but got {dim})"
        )


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different values of all elements, in order (whether ``sorted`` or not).

    With ``dim`` the different slices along it, compared from their first element on.
    return_inverse: also, in the shape of ``input`` or of ``dim``, where each element or
    slice stands in the result.  return_counts: also how often each comes.  Each NaN is
    a value of its own.
    IndexError unless ``dim`` is one of the dimensions, TypeError unless it is an int.
    """
    if dim is not None:
        return _unique_slices(input.detach(), dim, return_inverse, return_counts)
    if return_inverse:
        values, places = input.detach().reshape(-1).sort()
    else:
        values = ops._sorted(input.detach())
    count = values.numel()
    first = ops.ones([count], dtype="bool")
    if count:
        first[1:] = values[1:] != values[:-1]
    result = values.masked_select(first)
    if not return_inverse and not return_counts:
        return result
    ranks = first.to("int64").cumsum(0) - 1
    found = [result]
    if return_inverse:
        inverse = ops.empty([count], dtype="int64").scatter(0, places, ranks)
        found.append(inverse.reshape(input.shape))
    if return_counts:
        found.append(ops.bincount(ranks, minlength=result.numel()))
    return tuple(found)


def _unique_slices(input: Tensor, dim: int, inverse: bool, counts: bool) -> Any:
    _check_dim("unique", input, dim)
    count = input.shape[dim]
    # ranks[i]: how many different slices come before slice i, by the columns so far.
    ranks = ops.zeros([count], dtype="int64")
    for column in input.movedim(dim, 0).reshape(count, -1).unbind(1) if count else ():
        _, places = unique(column, return_inverse=True)
        _, ranks = unique(ranks * count + places, return_inverse=True)
    different, each = unique(ranks, return_counts=True)
    # Any of the equal slices will do.
    chosen = ops.zeros_like(different).scatter(0, ranks, ops.arange(count))
    wanted = (True, inverse, counts)
    found = (input.index_select(dim, chosen), ranks, each)
    results = tuple(t for t, want in zip(found, wanted) if want)
    return results if len(results) > 1 else results[0]


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sums products over dimensions of both: the last of ``a``, the first of ``b``.

    dims: how many, or a pair of lists that name them, in ``a`` and in ``b``.
    """
    if isinstance(dims, (tuple, list)):
        if len(dims) != 2:
            raise ValueError(
                f"[tensordot] expected an int or a pair of lists, got {dims!r} (dims)."
            )
        first, second = (
            [operator.index(d)] if hasattr(d, "__index__") else list(d) for d in dims
        )
        return a.tensordot(b, first, second)
    return a.tensordot(b, dims)

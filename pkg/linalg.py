# SPDX-License-Identifier: Apache-2.0
"""Linear algebra by PyTorch's names: norms and products.

There is no factorisation, so none of inv, det, slogdet, solve, lstsq, pinv, qr, svd,
eig, eigh, cholesky, matrix_rank, cond, matrix_exp, nor norms by singular values
(``ord`` 2, -2 and "nuc" of a matrix).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from . import ops
from .tensor import Tensor

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "multi_dot",
    "norm",
    "vecdot",
    "vector_norm",
]

Dims = int | Sequence[int] | None

vector_norm = ops.linalg_vector_norm


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """``input @ other``: the product of vectors, matrices or batches of matrices."""
    return ops.matmul(input, other)


def matrix_norm(
    A: Tensor,  # noqa: N803  (PyTorch's name)
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The norm of each matrix that ``dim`` spans, of a floating dtype.

    ord: "fro", the root of the sum of squares; 1 and inf, the largest sum of absolute
    values in a column or row; -1 and -inf, the smallest.
    NotImplementedError for the norms that need singular values.
    """
    if ord in ("nuc", 2, -2):
        raise NotImplementedError(
            f"[matrix_norm] expected ord 'fro', 1, -1, inf or -inf, got {ord!r}. "
            "There is no singular value decomposition."
        )
    if len(dim) != 2:
        raise RuntimeError(f"[matrix_norm] expected two dimensions, got {dim} (dim).")
    rows, columns = (d % A.ndim if -A.ndim <= d < A.ndim else d for d in dim)
    if rows == columns:
        raise RuntimeError(
            f"[matrix_norm] expected two different dimensions, got {dim} (dim)."
        )
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise ValueError(
            f"[matrix_norm] expected ord 'fro', 1, -1, inf or -inf, got {ord!r}."
        )
    along, across = (rows, columns) if abs(float(ord)) == 1 else (columns, rows)
    sums = vector_norm(A, 1, along, True, dtype=dtype)
    if float(ord) < 0:
        found: Tensor = sums.amin(across, keepdim=True)
    elif A.shape[across] == 0:  # the largest of no sizes is 0
        found = sums.sum(across, keepdim=True)
    else:
        found = sums.amax(across, keepdim=True)
    if keepdim:
        return found
    # The later one first, so that the other's number still holds.
    return found.squeeze(max(rows, columns)).squeeze(min(rows, columns))


def norm(
    A: Tensor,  # noqa: N803
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """``vector_norm`` or ``matrix_norm``, whichever the arguments mean.

    Without ``ord`` the root of the sum of squares over ``dim``, or over all; with it a
    matrix's norm where ``dim`` (or, without it, A) has two dimensions.
    """
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError(
                "[norm] expected a vector or a matrix where ord is given without dim, "
                f"got shape {A.shape} (ord={ord!r})."
            )
        dim = tuple(range(A.ndim))
    if not isinstance(dim, int) and len(dim) == 2:
        return matrix_norm(A, ord, dim, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(
            f"[norm] expected two dimensions for ord {ord!r}, got {dim} (dim)."
        )
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices, in the order that takes the least work.

    The first and the last may be vectors, a row and a column.
    """
    if len(tensors) < 2:
        raise RuntimeError(
            f"[multi_dot] expected at least 2 tensors, got {len(tensors)}."
        )
    chain = list(tensors)
    if chain[0].ndim == 1:
        chain[0] = chain[0].unsqueeze(0)
    if chain[-1].ndim == 1:
        chain[-1] = chain[-1].unsqueeze(1)
    if any(factor.ndim != 2 for factor in chain):
        raise RuntimeError(
            "[multi_dot] expected matrices, with vectors at the ends only, got shapes "
            f"{', '.join(str(t.shape) for t in tensors)}."
        )
    sizes = [chain[0].shape[0], *(factor.shape[1] for factor in chain)]

    @functools.cache
    def cheapest(first: int, end: int) -> tuple[int, int]:
        """(multiplications, where to cut) of the factors from first to end - 1."""
        if end - first == 1:
            return 0, first
        return min(
            (
                cheapest(first, cut)[0]
                + cheapest(cut, end)[0]
                + sizes[first] * sizes[cut] * sizes[end],
                cut,
            )
            for cut in range(first + 1, end)
        )

    def product(first: int, end: int) -> Tensor:
        if end - first == 1:
            return chain[first]
        cut = cheapest(first, end)[1]
        return ops.mm(product(first, cut), product(cut, end))

    result = product(0, len(chain))
    if tensors[-1].ndim == 1:
        result = result.squeeze(-1)
    return result.squeeze(0) if tensors[0].ndim == 1 else result


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along ``dim`` of two tensors, which broadcast."""
    return (x * y).sum(dim)


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of 3 along ``dim`` of two tensors, which broadcast.

    RuntimeError unless both have the size 3 there.
    """
    if input.size(dim) != 3 or other.size(dim) != 3:
        raise RuntimeError(
            f"[cross] expected the size 3 along dim {dim}, got shapes "
            f"{tuple(input.shape)} and {tuple(other.shape)}."
        )
    # Of each number the next, and the one after that, in the circle of three.
    return input.roll(-1, dim) * other.roll(-2, dim) - (
        input.roll(-2, dim) * other.roll(-1, dim)
    )


def diagonal(
    A: Tensor,  # noqa: N803
    *,
    offset: int = 0,
    dim1: int = -2,
    dim2: int = -1,
) -> Tensor:
    """A view of the diagonals of the matrices in dim1 and dim2, as last dimension."""
    return ops.diagonal(A, offset, dim1, dim2)

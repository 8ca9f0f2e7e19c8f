# SPDX-License-Identifier: Apache-2.0
"""Borders around tensors: ``pad``, which nn.functional shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    if mode == "constant":
        return ops.pad(input, pad, mode, value)
    if mode not in _MODES:
        raise NotImplementedError(
            "[pad] expected mode 'constant', 'reflect', 'replicate' or 'circular', "
            f"got {mode!r}."
        )
    if value:
        raise RuntimeError(
            f"[pad] expected no value with mode {mode!r}, got {value} (value)."
        )
    count, odd = divmod(len(pad), 2)
    if odd:
        raise RuntimeError(
            f"[pad] expected an even number of borders, got {tuple(pad)} (pad)."
        )
    if not 1 <= count <= 3 or input.ndim not in (count + 1, count + 2):
        raise NotImplementedError(
            f"[pad] expected borders of 1 to 3 dimensions with one or two before them, "
            f"got {tuple(pad)} (shape={tuple(input.shape)}, mode={mode!r})."
        )
    for i in range(count):
        before, after = pad[2 * i : 2 * i + 2]
        input = _pad_one(input, -1 - i, before, after, mode)
    return input


def _pad_one(input: Tensor, dim: int, before: int, after: int, mode: str) -> Tensor:
    if mode == "circular" and min(before, after) < 0:  # what is cut off does not return
        kept = input.shape[dim] + min(before, 0) + min(after, 0)
        input = ops.narrow(input, dim, max(-before, 0), max(kept, 0))
        before, after = max(before, 0), max(after, 0)
    size = input.shape[dim]
    most, border = _MODES[mode]
    if max(before, after) > most(size) or size + before + after < 0:
        raise RuntimeError(
            f"[pad] expected borders that mode {mode!r} can fill, got "
            f"({before}, {after}) for a dimension of size {size}."
        )
    left, right = max(before, 0), max(after, 0)
    parts = [
        border(input, dim, size, count, at_end)
        for count, at_end in ((left, False), (right, True))
        if count
    ]
    parts.insert(1 if left else 0, input)
    padded = ops.cat(parts, dim)
    if left == before and right == after:
        return padded
    return ops.narrow(padded, dim, left - before, size + before + after).contiguous()


def _mirrored(x: Tensor, dim: int, size: int, count: int, at_end: bool) -> Tensor:
    return ops.flip(ops.narrow(x, dim, size - 1 - count if at_end else 1, count), dim)


def _nearest(x: Tensor, dim: int, size: int, count: int, at_end: bool) -> Tensor:
    shape = list(x.shape)
    shape[dim] = count
    return ops.narrow(x, dim, size - 1 if at_end else 0, 1).expand(shape)


def _around(x: Tensor, dim: int, size: int, count: int, at_end: bool) -> Tensor:
    return ops.narrow(x, dim, 0 if at_end else size - count, count)


_Border = Callable[[Tensor, int, int, int, bool], Tensor]
# The widest border of a dimension, and what makes one of so many elements.
_MODES: dict[str, tuple[Callable[[int], float], _Border]] = {
    "reflect": (lambda size: size - 1, _mirrored),
    "replicate": (lambda size: float("inf") if size else 0, _nearest),
    "circular": (lambda size: size, _around),
}

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
    most, place = _MODES[mode]
    if max(before, after) > most(size) or size + before + after < 0:
        raise RuntimeError(
            f"[pad] expected borders that mode {mode!r} can fill, got "
            f"({before}, {after}) for a dimension of size {size}."
        )
    # Where along `dim` each element of the result comes from.
    indices = place(ops.arange(-before, size + after), size)
    return ops.index_select(input, dim, indices)


def _mirrored(places: Tensor, size: int) -> Tensor:
    last = size - 1
    mirrored: Tensor = last - (last - places.abs()).abs()
    return mirrored


def _nearest(places: Tensor, size: int) -> Tensor:
    nearest: Tensor = places.clamp(0, size - 1)
    return nearest


def _around(places: Tensor, size: int) -> Tensor:
    return places % size


# The widest border of a dimension, and where its elements come from.
_MODES: dict[str, tuple[Callable[[int], float], Callable[[Tensor, int], Tensor]]] = {
    "reflect": (lambda size: size - 1, _mirrored),
    "replicate": (lambda size: float("inf") if size else 0, _nearest),
    "circular": (lambda size: size, _around),
}

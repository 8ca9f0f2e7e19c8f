# SPDX-License-Identifier: Apache-2.0
"""Random layouts of tensors, for tests: any order of dimensions, gaps, repetitions."""

import random

import numpy as np

import pkg

SEEDS = range(150)


def laid(array, layout):
    """The array as a tensor: "dense", "transposed" (dimensions in memory backwards),
    "sliced" (every other element) or "broadcast" (its first slice over and over)."""
    if layout == "transposed":
        backwards = pkg.tensor(np.ascontiguousarray(array.T))
        return backwards.permute(*range(array.ndim)[::-1])
    if layout == "sliced":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return pkg.tensor(wide)[..., ::2]
    if layout == "broadcast":
        return pkg.tensor(array[:1]).expand(*array.shape)
    return pkg.tensor(array)


def ways_to_lie(x):
    """The same numbers densely, in every other place, turned round and one repeated."""
    yield x
    if x.ndim:
        yield pkg.stack([x, x], -1).flatten(-2)[..., ::2]
    if x.ndim > 1:
        yield x.transpose(0, -1).contiguous().transpose(0, -1)
        yield x[:1].expand(*x.shape)


def strided(flat, shape, strides):
    """An array over the memory of another one of 8-byte elements."""
    return np.lib.stride_tricks.as_strided(flat, shape, [8 * s for s in strides])


class Layout:
    """Sizes that broadcast to `shape`, in memory in some order, with gaps or none."""

    def __init__(self, shape, rng, broadcast=True):
        self.shape = list(shape)
        if broadcast and rng.random() < 0.3:
            del self.shape[: rng.randint(0, len(shape))]
        for d in range(len(self.shape)):
            if broadcast and rng.random() < 0.15:
                self.shape[d] = 1
        order = list(range(len(self.shape)))
        if rng.random() < 0.7:
            rng.shuffle(order)
        self.strides, step = [0] * len(order), 1
        for d in reversed(order):
            if rng.random() < 0.2:
                step *= 2  # a gap
            self.strides[d] = step
            step *= max(self.shape[d], 1)
        self.room = 2 * step
        for d in range(len(self.shape)):
            if broadcast and rng.random() < 0.15:
                self.strides[d] = 0  # expanded

    def array(self):
        flat = np.arange(1, self.room + 1) / self.room
        return strided(flat, self.shape, self.strides)

    def tensor(self):
        flat = pkg.tensor(np.arange(1, self.room + 1) / self.room)
        return pkg.ops._strided_view(flat, self.shape, self.strides, 0)

    def theirs(self, torch):
        flat = torch.arange(1, self.room + 1, dtype=torch.float64) / self.room
        return flat.as_strided(self.shape, self.strides)


def layouts(seed, count, broadcast=True):
    rng = random.Random(seed)
    sizes = (0, 1, 2, 3) if rng.random() < 0.1 else (1, 2, 2, 3)
    shape = [rng.choice(sizes) for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 7, 9)))]
    return [Layout(shape, rng, broadcast) for _ in range(count)]

# SPDX-License-Identifier: Apache-2.0
"""What a row of the op table is, and the makers of its inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """One way of calling an op: with which arguments, and what should come out."""

    name: str
    #: call(lib, *tensors): the op, found in `lib` by its name.
    call: Callable
    #: reference(*arrays): the result (or results, in a list) by NumPy.
    reference: Callable
    #: One maker for each tensor: maker(rng) gives an array.
    inputs: Sequence[Callable] = ()
    #: Other inputs, such as empty and 0-d ones, on which values are checked too.
    more: Sequence[Sequence[Callable]] = ()
    differentiable: bool = True
    #: Whether the shape of the result follows from the shapes of the inputs.
    meta: bool = True
    #: Whether PyTorch, called alike, must agree; it has no gradient for some inputs.
    torch: bool = True
    label: Any = ""

    def __str__(self):
        return f"{self.name}-{self.label}" if self.label != "" else self.name


def floats(*shape, low=-3.0, high=3.0):
    """Uniform float64."""
    return lambda rng: rng.uniform(low, high, size=shape)


def distinct(*shape):
    """float64 without ties or zeros, far apart compared with a finite difference."""
    count = int(np.prod(shape))
    return lambda rng: (rng.permutation(count) - count / 3 - 0.3).reshape(shape)


def integers(*shape, low=0, high=5):
    """int64 in [low, high)."""
    return lambda rng: rng.integers(low, high, size=shape)


def bools(*shape):
    """True and False."""
    return lambda rng: rng.integers(0, 2, size=shape).astype(bool)


def fixed(values, dtype="float64"):
    """These values."""
    return lambda rng: np.array(values, dtype)

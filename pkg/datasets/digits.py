# SPDX-License-Identifier: Apache-2.0
"""The UCI handwritten digits: 1,797 images of 8x8.  Attribution: README.md here."""

from __future__ import annotations

import gzip
import os

from .._binding import core
from ..data import TensorDataset

__all__ = ["digits"]

HELD_OUT = 360
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits.csv.gz")


def digits(train: bool = True) -> TensorDataset:
    """Return (images, labels): 1,437 to train on, or the 360 held out.

    Images are float32 of (N, 1, 8, 8) between 0 and 1, labels int64.  Which are held
    out never changes: the first 360 of a fixed shuffle.
    """
    import numpy

    with gzip.open(_FILE, "rt") as file:
        rows = numpy.loadtxt(file, delimiter=",", dtype=numpy.uint8)
    # RandomState, unlike default_rng, promises the same stream in every version.
    order = numpy.random.RandomState(0).permutation(len(rows))
    rows = rows[order[HELD_OUT:] if train else order[:HELD_OUT]]
    images = (rows[:, :64] / numpy.float32(16)).astype(numpy.float32)
    labels = rows[:, 64].astype(numpy.int64)
    # clone(): memory that NumPy can see would keep ops from running in the background.
    return TensorDataset(
        core.from_numpy(images.reshape(-1, 1, 8, 8)).clone(),
        core.from_numpy(labels).clone(),
    )

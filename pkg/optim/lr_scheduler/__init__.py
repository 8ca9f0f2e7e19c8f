# SPDX-License-Identifier: Apache-2.0
"""Schedules of the learning rate, under PyTorch's names.

Call ``scheduler.step()`` once after every epoch (or every step) of the optimiser.  Most
schedules multiply the rate that is there, so that several can work on one optimiser.
"""

from .base import LRScheduler
from .plateau import ReduceLROnPlateau
from .schedules import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    StepLR,
)
from .sequential import SequentialLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

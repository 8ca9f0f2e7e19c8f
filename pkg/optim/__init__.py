# SPDX-License-Identifier: Apache-2.0
"""Optimisers, under PyTorch's names; each step is one call into C++."""

from . import lr_scheduler
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]

# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch has the loader and checkpointing: ``from pkg.utils.data import ...``."""

from . import checkpoint as checkpoint, data as data

__all__ = ["checkpoint", "data"]

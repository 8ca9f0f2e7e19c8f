# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch has DataLoader and checkpoint: ``from pkg.utils.data import ...``."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]

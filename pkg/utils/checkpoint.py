# SPDX-License-Identifier: Apache-2.0
"""pkg.autograd's checkpoint under PyTorch's path."""

from ..autograd.checkpoint import checkpoint as checkpoint

__all__ = ["checkpoint"]

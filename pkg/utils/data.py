# SPDX-License-Identifier: Apache-2.0
"""pkg.data under PyTorch's path."""

from ..data import *  # noqa: F403
from ..data import __all__ as __all__

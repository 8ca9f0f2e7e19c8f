# SPDX-License-Identifier: Apache-2.0
"""overload_ops: Scalar with operators. The module itself is the synchronous variant.

``sync`` computes at once; ``async_``, ``queue`` and ``pool`` return at once and compute
on
the workers: without order, first in first out, and with the limit of the pool.
"""

from .sync import Scalar, UnsupportedOperandError

__all__ = ["Scalar", "UnsupportedOperandError"]

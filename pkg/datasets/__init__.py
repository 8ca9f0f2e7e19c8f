# SPDX-License-Identifier: Apache-2.0
"""Small real data sets that ship with the package; sources are in README.md."""

from .digits import digits

__all__ = ["digits"]

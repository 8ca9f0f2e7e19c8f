# SPDX-License-Identifier: Apache-2.0
"""What the arguments of an op have to do with each other, for calls that make sense."""

from fuzz.families import elementwise, layers, making, moving, picking, products
from fuzz.families.registry import FAMILIES

__all__ = [
    "FAMILIES", "elementwise", "layers", "making", "moving", "picking", "products",
]  # fmt: skip

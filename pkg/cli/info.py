# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg info``: what this build is and what it found on this machine."""

from __future__ import annotations

import argparse
import ctypes
import os
from collections import Counter
from typing import Any

from .. import config, ops
from .._binding import core

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """Print one fact a line; kernels are counted by dispatch key."""
    facts: dict[str, Any] = {**config.info(), "BLAS": _blas()}
    for key, count in _kernels().most_common():
        facts[f"overloads with {key}"] = count
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        print(f"{name:{width}}  {value}")


def _kernels() -> Counter[str]:
    # Overloads with a kernel of their own, by dispatch key.
    return Counter(
        key
        for name in core.operator_names("pkg")
        for record in core.Operator(name).records
        for key in record["dispatch_keys"]
    )


def _blas() -> str:
    """Return what the library says of itself, and its path.

    It is opened at the first product, so there is one here.
    """
    one = ops.ones([1, 1])
    try:
        ops.matmul(one, one).item()
    except RuntimeError as err:
        return f"none ({err})"
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = [line.split(maxsplit=5)[-1].strip() for line in maps]
    for path in dict.fromkeys(p for p in paths if "scipy_openblas" in p):
        # NumPy has one too: ours is the one that the core opened, beside itself.
        describe = getattr(ctypes.CDLL(path), "scipy_openblas_get_config", None)
        if describe is not None:
            describe.restype = ctypes.c_char_p
            return f"{describe().decode().strip()} ({path})"
    if "PKG_BLAS_LIBRARY" in os.environ:
        return "loaded, but of no known kind (PKG_BLAS_LIBRARY)"
    return "none needed: the products of this instruction set are our own loops"

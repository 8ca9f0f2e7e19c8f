# SPDX-License-Identifier: Apache-2.0
"""Why some cells are slower than PyTorch or NumPy: reasons that were measured."""

from __future__ import annotations

SAME_FORMULA = (
    "float16 by the formula of float32, within its 3 ulp: a tenth is converting"
)

#: (peer, op, "family dtype" or part of a name): the reason; the first that fits counts
REASONS: dict[tuple[str, str], str] = {
    ("PyTorch", "products bfloat16"): "PyTorch has oneDNN's avx512_core_bf16 kernels",
    ("PyTorch", "randperm"): "a third draws Philox words, two fifths fill two buckets",
    ("PyTorch", "nll_loss"): "a composite: half of its gradient's time fills "
    "zeros, to which the places are added",
    ("PyTorch", "conv"): "16 bits are computed in float32, PyTorch's products of them "
    "take 0.4 of its time for float32; of one channel a third of the time is tiles",
    ("PyTorch", "F.cross_entropy(x, t) | x 16x21"): "classes that do not lie last are "
    "gathered to lie so",
    ("PyTorch", "max_pool1d"): "places of the maxima, in fresh memory, are computed "
    "for a gradient that nobody may want",
    ("NumPy", "T.tan(x)"): "sine and cosine in double, and their quotient",
    ("NumPy", "T.pow(x, y)"): "within 2 ulp: the logarithm is a sum of two doubles",
    **{
        ("NumPy", f"T.{op}(x)"): SAME_FORMULA
        for op in "asinh atanh atan log1p sin tanh expm1".split()
    },
    ("PyTorch", "grad(T.prod("): "products before and after each element, in double, "
    "each waiting for the one before it; PyTorch divides where there is no zero",
    ("PyTorch", "T.cumsum(x, 1) | x 500000x8"): "short lines are turned into tiles "
    "and back, 1.1 ns an element",
    ("PyTorch", "T.cumprod(x, 1) | x 500000x8"): "short lines are turned into tiles "
    "and back, 1.1 ns an element",
}


def reason(row: dict, peer: str) -> str:
    """The reason of a cell that is behind `peer`, or that none is known."""
    for (who, text), why in REASONS.items():
        kind = f"{row['family']} {row['dtype']}"
        if who == peer and (text in (row["op"], kind) or text in row["name"]):
            return why
    return "not known yet"

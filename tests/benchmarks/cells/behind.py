# SPDX-License-Identifier: Apache-2.0
"""Why some cells are slower than PyTorch or NumPy: reasons that were measured."""

from __future__ import annotations

#: (peer, op or a part of the cell's name): the reason; the first that fits counts.
REASONS: dict[tuple[str, str], str] = {}
#: (peer, op, "family dtype" or part of a name): the reason; the first that fits counts
REASONS: dict[tuple[str, str], str] = {
    ("PyTorch", "products bfloat16"): "PyTorch has oneDNN's avx512_core_bf16 kernels",
    ("PyTorch", "randperm"): "a third draws Philox words, two fifths fill two buckets",
    ("PyTorch", "glu"): "a composite: its gradient joins those of two halves",
    ("PyTorch", "nll_loss"): "a composite: half of its gradient's time fills "
    "zeros, to which the places are added",
    ("PyTorch", "conv"): "16 bits are computed in float32, PyTorch's products of them "
    "take 0.4 of its time for float32; of one channel a third of the time is tiles",
    ("PyTorch", "cross_entropy"): "classes that do not lie last are gathered to lie so",
    ("PyTorch", "max_pool1d"): "places of the maxima, in fresh memory, are computed "
    "for a gradient that nobody may want",
    ("PyTorch", "median"): "sorts whole lines; there is no kernel that selects",
    ("PyTorch", "kthvalue"): "sorts whole lines; there is no kernel that selects",
    ("PyTorch", "pad"): "joins a border for each side; there is no kernel for all",
}


def reason(row: dict, peer: str) -> str:
    """The reason of a cell that is behind `peer`, or that none is known."""
    for (who, text), why in REASONS.items():
        kind = f"{row['family']} {row['dtype']}"
        if who == peer and (text in (row["op"], kind) or text in row["name"]):
            return why
    return "not known yet"

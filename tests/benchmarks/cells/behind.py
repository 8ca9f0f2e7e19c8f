# SPDX-License-Identifier: Apache-2.0
"""Why some cells are slower than PyTorch or NumPy: reasons that were measured."""

from __future__ import annotations

#: (peer, op or a part of the cell's name): the reason; the first that fits counts.
REASONS: dict[tuple[str, str], str] = {}
#: (peer, op, "family dtype" or part of a name): the reason; the first that fits counts
REASONS: dict[tuple[str, str], str] = {
    ("PyTorch", "products bfloat16"): "PyTorch has oneDNN's avx512_core_bf16 kernels",
    ("PyTorch", "randperm"): "a third draws Philox words, two fifths fill two buckets",
    ("PyTorch", "pad"): "joins a border for each side; there is no kernel for all",
}


def reason(row: dict, peer: str) -> str:
    """The reason of a cell that is behind `peer`, or that none is known."""
    for (who, text), why in REASONS.items():
        kind = f"{row['family']} {row['dtype']}"
        if who == peer and (text in (row["op"], kind) or text in row["name"]):
            return why
    return "not known yet"

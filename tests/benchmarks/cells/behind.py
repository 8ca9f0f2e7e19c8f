# SPDX-License-Identifier: Apache-2.0
"""Why some cells are slower than PyTorch or NumPy: reasons that were measured."""

from __future__ import annotations

#: (peer, op or a part of the cell's name): the reason; the first that fits counts.
REASONS: dict[tuple[str, str], str] = {}


def reason(row: dict, peer: str) -> str:
    """The reason of a cell that is behind `peer`, or that none is known."""
    for (who, text), why in REASONS.items():
        if who == peer and (text == row["op"] or text in row["name"]):
            return why
    return "not known yet"

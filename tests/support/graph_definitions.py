# SPDX-License-Identifier: Apache-2.0
"""What tests of graphs in files compare."""

from __future__ import annotations

from typing import Any


def without_tensors(definition: dict[str, Any]) -> dict[str, Any]:
    """What of Graph.as_graph_def() can be compared with ==."""
    return {key: value for key, value in definition.items() if key != "tensors"}

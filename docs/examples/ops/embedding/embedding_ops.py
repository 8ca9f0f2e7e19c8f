# SPDX-License-Identifier: Apache-2.0
"""The ops of embedding.cc: compiled where they must be, loaded, and with gradient."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pkg

HERE = Path(__file__).parent
_library = pkg.load_op_library(
    pkg.build.custom_op_library(
        "embedding", [HERE / "embedding.cc"], os.environ.get("EMBEDDING_BUILD", HERE),
        style="tf1",
    )  # fmt: skip
)
embedding_lookup = _library.embedding_lookup
embedding_lookup_grad = _library.embedding_lookup_grad


@pkg.RegisterGradient("EmbeddingLookup")
def _gradient(op: Any, grad: Any) -> Any:
    table, ids = op.inputs
    scale = op.get_attr("scale")
    return embedding_lookup_grad(table, ids, grad, scale=scale), None


pkg.NotDifferentiable("EmbeddingLookupGrad")


def replace_gathers(graph: pkg.graph.Graph) -> pkg.graph.Rewrite:
    """A change of a graph: lookups of rows are this op, whatever they were written as.

    The gradients that are taken of the new graph are those of the op.
    """
    change = pkg.graph.rewrite(graph)
    return change.replace_op(
        "index_select",
        lambda table, dim, index: embedding_lookup(table, index),
        where=lambda op: op.get_attr("dim") == 0 and op.inputs[0].ndim == 2,
    )

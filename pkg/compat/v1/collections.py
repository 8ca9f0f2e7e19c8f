# SPDX-License-Identifier: Apache-2.0
"""Collections of the default graph: lists of anything, and those of its variables."""

from __future__ import annotations

from typing import Any

from ...graph import variables as pv
from .elements import get_default_graph

__all__ = [
    "GraphKeys", "add_to_collection", "add_to_collections", "all_variables",
    "get_collection", "get_collection_ref", "global_variables", "local_variables",
    "model_variables", "trainable_variables",
]  # fmt: skip


class GraphKeys:
    """Names of collections that every graph has."""

    GLOBAL_VARIABLES = pv.GLOBAL
    VARIABLES = pv.GLOBAL
    TRAINABLE_VARIABLES = pv.TRAINABLE
    LOCAL_VARIABLES = "local_variables"
    MODEL_VARIABLES = "model_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    SAVERS = "savers"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    SUMMARY_OP = "summary_op"
    EVAL_STEP = "eval_step"


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables of the default graph, local ones not."""
    return get_collection(pv.GLOBAL, scope)


all_variables = global_variables


def local_variables(scope: str | None = None) -> list[Any]:
    """The variables of the collection LOCAL_VARIABLES."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables of the collection MODEL_VARIABLES."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers change."""
    return get_collection(pv.TRAINABLE, scope)


def add_to_collection(name: Any, value: Any) -> None:
    """Graph.add_to_collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Graph.add_to_collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Graph.get_collection of the default graph."""
    found: list[Any] = get_default_graph().get_collection(key, scope)
    return found


def get_collection_ref(key: Any) -> list[Any]:
    """Graph.get_collection_ref of the default graph."""
    found: list[Any] = get_default_graph().get_collection_ref(key)
    return found

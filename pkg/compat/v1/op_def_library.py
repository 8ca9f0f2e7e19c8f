# SPDX-License-Identifier: Apache-2.0
"""Calls of ops by their name, as operations of TensorFlow 1's graphs."""

from __future__ import annotations

from typing import Any

from ...framework import named as named, raw_op as raw_op
from ...framework.applying import Applied, Style, apply_op
from ...framework.structures import structured
from ...graph.definitions import OpDefinition
from ...tensor import Tensor
from .convert import convert_to_tensor
from .messages import while_building
from .record import graph_of, overridden

__all__ = ["apply", "named", "raw_op"]


class _InGraphs(Style):
    """Every call is an operation; Python's numbers are float32 and int32."""

    integers = "int32"

    def convert(self, value: Any, dtype: Any) -> Any:
        """A tensor of the graph."""
        if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
            return convert_to_tensor(value)  # its dtype is checked with the others
        return convert_to_tensor(value, dtype)

    def graph_of(self, op: OpDefinition, inputs: list[Any]) -> Any:
        """That of the tensors, else the default one."""
        return graph_of(inputs)

    def record(
        self, graph: Any, op: OpDefinition, name: str | None, call: Any
    ) -> Any:
        """What the call gives; its errors are those of TensorFlow's classes."""
        name = op.name if name is None else name
        try:
            made = super().record(graph, op, name, call)
        except (RuntimeError, IndexError) as error:
            if isinstance(error, NotImplementedError) or graph.finalized:
                raise
            raise ValueError(while_building(str(error), name, op.name)) from error
        return overridden(graph, made)


_STYLE = _InGraphs()


def _apply_op_helper(
    op_type_name: str, name: str | None = None, **keywords: Any
) -> Applied:
    """Adds a call of an op to the graph: see ``pkg.framework.applying.apply_op``."""
    return apply_op(op_type_name, name, keywords, _STYLE)


def apply(op_type: str, operation_name: str | None, /, **keywords: Any) -> Any:
    """The outputs of a call, as a wrapper gives them."""
    return structured(apply_op(op_type, operation_name, keywords, _STYLE))

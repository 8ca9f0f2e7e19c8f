# SPDX-License-Identifier: Apache-2.0
"""Which variables have values, and parts of variables that are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import graph as pg, ops
from ..._binding import core
from ...graph.defaults import session_for
from .collections import global_variables, local_variables
from .control import no_op
from .convert import convert_to_tensor
from .elements import get_default_graph
from .exporting import exported
from .variables import place_of


class _Asked:
    """What a session knows of its variables: it is fetched, and is no tensor."""

    def __init__(self, variables: list[Any], answer: Any) -> None:
        self.graph = variables[0].graph if variables else get_default_graph()
        self.name = "asked"
        self._variables, self._answer = variables, answer

    def _fetch_of(self, session: Any) -> Any:
        def build(values: list[Any]) -> Any:
            without = [
                v for v in self._variables
                if session._handle.variable(v.op._handle) is None
            ]  # fmt: skip
            return self._answer(without)

        return [], build

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The answer of the session, or of the default one."""
        return session_for("eval", self, session).run(self, feed_dict)


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Any:
    """What a session gives the names of the variables without a value for, as bytes.

    It can be fetched, and is no tensor, as there are no tensors of text.
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    no_op(name)
    return _Asked(
        list(var_list),
        lambda without: np.array([v.op.name.encode() for v in without], dtype=object),
    )


def is_variable_initialized(variable: Any) -> Any:
    """What a session gives a truth value for: whether the variable has a value.

    It can be fetched, and is no tensor.
    """
    return _Asked([variable], lambda without: np.bool_(not without))


def assert_variables_initialized(var_list: Any = None) -> Any:
    """An operation that fails if one of the variables has no value; None of none."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    with get_default_graph().as_default():
        return pg.group(*(v.read_value() for v in var_list), name="AssertInitialized")


def _scattered(function: str, ref: Any, indices: Any, updates: Any, name: Any) -> Any:
    graph: Any = place_of(ref)[0]
    with graph.as_default():
        rows = convert_to_tensor(indices)
        values = convert_to_tensor(updates, ref.dtype)

        def change() -> Any:
            flat = ops.reshape(rows, [-1]).to(core.int64)
            tail = ref.shape.as_list()[1:]
            parts = ops.reshape(values, [-1, *tail])
            if function == "ScatterUpdate":
                return ops.index_copy(ref, 0, flat, parts)
            parts = ops.neg(parts) if function == "ScatterSub" else parts
            return ops.index_add(ref, 0, flat, parts)

        return ref.assign(graph.record(None, change), name=name or function)


def scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Any = None
) -> Any:
    """Writes rows of a variable, by number."""
    return _scattered("ScatterUpdate", ref, indices, updates, name)


def scatter_add(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    """Adds to rows of a variable; what has one number is added up."""
    return _scattered("ScatterAdd", ref, indices, updates, name)


def scatter_sub(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    """Takes away from rows of a variable."""
    return _scattered("ScatterSub", ref, indices, updates, name)


if not TYPE_CHECKING:
    __all__ = exported(globals())

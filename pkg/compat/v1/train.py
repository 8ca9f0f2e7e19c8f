# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.train``: optimizers, averages, and the count of steps."""

from __future__ import annotations

from typing import Any

from . import dtypes, math
from .collections import GraphKeys, trainable_variables
from .convert import convert_to_tensor
from .elements import get_default_graph
from .meta_graphs import (
    export_meta_graph as export_meta_graph,
    import_meta_graph as import_meta_graph,
)
from .optimizers import (
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    Optimizer as Optimizer,
    RMSPropOptimizer as RMSPropOptimizer,
)
from .variables import Variable


def get_global_step(graph: Any = None) -> Any:
    """The variable that counts the steps, or None."""
    graph = get_default_graph() if graph is None else graph
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise RuntimeError("Multiple items found in collection for global_step.")
    return found[0] if found else None


def create_global_step(graph: Any = None) -> Any:
    """A new variable that counts the steps; ValueError if there is one."""
    graph = get_default_graph() if graph is None else graph
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return Variable(
            0,
            trainable=False,
            dtype=dtypes.int64,
            name="global_step",
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    """The variable that counts the steps, which is made if there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """How many steps the session has made."""
    return int(sess.run(global_step_tensor))


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str = "ExponentialDecay",
) -> Any:  # fmt: skip
    """learning_rate * decay_rate ** (global_step / decay_steps); with ``staircase`` of
    whole numbers of decay_steps."""
    with get_default_graph().name_scope(name):
        rate = convert_to_tensor(learning_rate)
        turns = math.cast(global_step, rate.dtype) / math.cast(decay_steps, rate.dtype)
        turns = math.floor(turns) if staircase else turns
        return rate * math.pow(math.cast(decay_rate, rate.dtype), turns)


class ExponentialMovingAverage:
    """Keeps averages of variables: average = decay * average + (1 - decay) * value."""

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:  # fmt: skip
        if zero_debias:
            raise NotImplementedError(
                "[ExponentialMovingAverage] expected zero_debias=False: an average "
                "begins with the value of its variable."
            )
        self._decay, self._updates, self._name = decay, num_updates, name
        self._averages: dict[Any, Any] = {}  # by graph and name

    name = property(lambda self: self._name, doc="The name that was given.")

    def apply(self, var_list: Any = None) -> Any:
        """An operation that brings the averages of the variables up to date."""
        from ... import graph as pg

        variables = trainable_variables() if var_list is None else list(var_list)
        graph = get_default_graph()
        for var in variables:
            if not isinstance(var, Variable):
                raise NotImplementedError(f"Trying to average a Tensor {var}")
            key = (var.graph, var.name)
            if key not in self._averages:
                with graph.name_scope(None), graph.control_dependencies(None):
                    self._averages[key] = Variable(
                        var.initialized_value(),
                        trainable=False,
                        name=self.average_name(var),
                        collections=[
                            GraphKeys.GLOBAL_VARIABLES,
                            GraphKeys.MOVING_AVERAGE_VARIABLES,
                        ],
                    )
        with graph.as_default(), graph.name_scope(self._name) as scope:
            decay = self._decay
            if self._updates is not None:
                count = math.cast(self._updates, dtypes.float32)
                decay = math.minimum(decay, (1.0 + count) / (10.0 + count))
            steps = []
            for var in variables:
                average = self._averages[var.graph, var.name]
                steps.append(average.assign_sub((average - var) * (1.0 - decay)))
            return pg.group(*steps, name=scope)

    def average(self, var: Any) -> Any:
        """The variable that keeps the average of a variable, or None."""
        return self._averages.get((var.graph, var.name))

    def average_name(self, var: Any) -> str:
        """The name that the average of a variable has."""
        return f"{var.op.name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Variables by the names of their averages, and others by their own."""
        graph = get_default_graph()
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables()
        averaged = {var.name for var in moving_avg_variables}
        return {
            self.average_name(var) if var.name in averaged else var.op.name: var
            for var in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        }

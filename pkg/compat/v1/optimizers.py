# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's optimizers, which add their steps to the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import graph as pg
from ...graph.variables import TRAINABLE
from . import dtypes, math
from .convert import convert_to_tensor
from .gradients import gradients
from .make import fill
from .variables import Variable

__all__ = [
    "AdagradOptimizer", "AdamOptimizer", "GradientDescentOptimizer",
    "MomentumOptimizer", "Optimizer", "RMSPropOptimizer",
]  # fmt: skip


class Optimizer:
    """Adds operations that change variables by their gradients."""

    GATE_NONE, GATE_OP, GATE_GRAPH = range(3)

    def __init__(self, use_locking: bool = False, name: str = "Optimizer") -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}

    def get_name(self) -> str:
        """The name that was given."""
        return self._name

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[Any]:  # fmt: skip
        """(gradient, variable) of each; None: the loss does not depend on it."""
        if var_list is None:
            var_list = loss.graph.get_collection(TRAINABLE)
        var_list = list(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        for var in var_list:
            if not isinstance(var, Variable):
                raise NotImplementedError(f"Trying to update a Tensor {var}")
        if not loss.dtype.is_floating:
            allowed = ["float16", "bfloat16", "float32", "float64"]
            raise ValueError(
                f"Invalid type {loss.dtype!r} for {loss.name}, expected: {allowed}."
            )
        made = gradients(
            loss, var_list, grad_loss, aggregation_method=aggregation_method
        )
        return list(zip(made, var_list))

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None,
        name: str | None = None,
    ) -> pg.Operation:  # fmt: skip
        """An operation that makes one step, and adds 1 to global_step behind it."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(grad, var) for grad, var in pairs if grad is not None]
        if not used:
            names = [var.name for _, var in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        graph = used[0][1].graph
        used = [(convert_to_tensor(grad), var) for grad, var in used]
        with graph.as_default(), graph.control_dependencies(None):
            self._create_slots([var for _, var in used])
        with graph.as_default(), graph.name_scope(name or self._name) as scope:
            self._prepare()
            steps = [_within(var, self._apply(grad, var)) for grad, var in used]
            steps += self._finish()
            if global_step is not None:
                with graph.control_dependencies(steps):
                    steps = [*steps, global_step.assign_add(1)]
            return pg.group(*steps, name=scope)

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None,
        gate_gradients: int = GATE_OP, aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: Any = None,
    ) -> pg.Operation:  # fmt: skip
        """compute_gradients() and apply_gradients()."""
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss
        )
        if all(grad is None for grad, _ in pairs):
            names = [var.name for _, var in pairs]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that "
                f"do not support gradients, between variables {names} and loss "
                f"{loss!s}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def _slot(self, var: Any, name: str, value: float = 0.0) -> Any:
        slots = self._slots.setdefault(name, {})
        graph, key = var.graph, (var.graph, var.name)
        if key not in slots:
            with graph.name_scope(None):
                slots[key] = Variable(
                    lambda: math.cast(fill(var.shape.as_list(), value), var.dtype),
                    trainable=False,
                    name=f"{var.op.name}/{self._name}",
                )
        return slots[key]

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable that goes with a variable; None if there is none."""
        return self._slots.get(name, {}).get((var.graph, var.name))

    def get_slot_names(self) -> list[str]:
        """The names that get_slot() takes."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All variables that it has made, by name."""
        made = [slot for slots in self._slots.values() for slot in slots.values()]
        return sorted([*made, *self._own()], key=lambda var: str(var.name))

    def _own(self) -> list[Any]:
        return []

    def _create_slots(self, variables: list[Any]) -> None:
        pass

    def _prepare(self) -> None:
        pass

    def _rate_of(self, rate: Any, var: Any) -> Any:
        if isinstance(rate, pg.Symbol):
            return math.cast(rate, var.dtype)
        return rate() if callable(rate) else rate

    def _apply(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError

    def _finish(self) -> list[Any]:
        return []


def _within(var: Any, new: Any) -> Any:
    # What its constraint makes of the new value is the value.
    return new if var.constraint is None else var.assign(var.constraint(new))


class GradientDescentOptimizer(Optimizer):
    """w -= learning_rate * gradient."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False,
        name: str = "GradientDescent",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate = learning_rate

    def _apply(self, grad: Any, var: Any) -> Any:
        return var.assign_sub(grad * self._rate_of(self._rate, var))


class MomentumOptimizer(Optimizer):
    """m = momentum * m + gradient; w -= learning_rate * m."""

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False,
        name: str = "Momentum", use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._momentum = learning_rate, momentum
        self._nesterov = use_nesterov

    def _create_slots(self, variables: list[Any]) -> None:
        for var in variables:
            self._slot(var, "momentum")

    def _apply(self, grad: Any, var: Any) -> Any:
        moved, factor = self._slot(var, "momentum"), self._rate_of(self._momentum, var)
        new = moved.assign(moved * factor + grad)
        step = grad + new * factor if self._nesterov else new
        return var.assign_sub(step * self._rate_of(self._rate, var))


class AdagradOptimizer(Optimizer):
    """Duchi and others, 2011: w -= learning_rate * g / sqrt(sum of g * g)."""

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1,
        use_locking: bool = False, name: str = "Adagrad",
    ) -> None:  # fmt: skip
        if initial_accumulator_value <= 0:
            raise ValueError(
                "initial_accumulator_value must be positive: "
                f"{initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._rate, self._begin = learning_rate, initial_accumulator_value

    def _create_slots(self, variables: list[Any]) -> None:
        for var in variables:
            self._slot(var, "accumulator", self._begin)

    def _apply(self, grad: Any, var: Any) -> Any:
        total = self._slot(var, "accumulator").assign_add(math.square(grad))
        rate = self._rate_of(self._rate, var)
        return var.assign_sub(grad * rate / math.sqrt(total))


class RMSPropOptimizer(Optimizer):
    """Hinton, 2012: the step is divided by the root of a mean of squares."""

    def __init__(
        self, learning_rate: Any, decay: float = 0.9, momentum: Any = 0.0,
        epsilon: float = 1e-10, use_locking: bool = False, centered: bool = False,
        name: str = "RMSProp",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered

    def _create_slots(self, variables: list[Any]) -> None:
        for var in variables:
            self._slot(var, "rms", 1.0)
            if self._centered:
                self._slot(var, "mg")
            self._slot(var, "momentum")

    def _apply(self, grad: Any, var: Any) -> Any:
        mean, moved = self._slot(var, "rms"), self._slot(var, "momentum")
        keep, rate = self._decay, self._rate_of(self._rate, var)
        new = mean.assign(mean * keep + math.square(grad) * (1 - keep))
        if self._centered:
            first = self._slot(var, "mg")
            new = new - math.square(first.assign(first * keep + grad * (1 - keep)))
        step = grad * rate / math.sqrt(new + self._epsilon)
        return var.assign_sub(moved.assign(moved * self._momentum + step))


class AdamOptimizer(Optimizer):
    """Kingma and Ba, "Adam", 2015, in the form before section 2.1: epsilon hat."""

    def __init__(
        self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999,
        epsilon: float = 1e-8, use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._beta1, self._beta2 = learning_rate, beta1, beta2
        self._epsilon = epsilon
        self._powers: tuple[Any, Any] | None = None

    def _own(self) -> list[Any]:
        return list(self._powers or ())

    def _create_slots(self, variables: list[Any]) -> None:
        if self._powers is None:
            with variables[0].graph.name_scope(None):
                self._powers = (
                    self._power(self._beta1, "beta1_power"),
                    self._power(self._beta2, "beta2_power"),
                )
        for var in variables:
            self._slot(var, "m")
            self._slot(var, "v")

    @staticmethod
    def _power(beta: float, name: str) -> Any:
        return Variable(beta, trainable=False, name=name, dtype=dtypes.float32)

    def _apply(self, grad: Any, var: Any) -> Any:
        assert self._powers is not None
        one, two = (math.cast(power, var.dtype) for power in self._powers)
        rate = math.sqrt(1 - two) / (1 - one) * self._rate_of(self._rate, var)
        first, second = self._slot(var, "m"), self._slot(var, "v")
        m = first.assign(first * self._beta1 + grad * (1 - self._beta1))
        v = second.assign(second * self._beta2 + grad * grad * (1 - self._beta2))
        return var.assign_sub(m * rate / (math.sqrt(v) + self._epsilon))

    def _finish(self) -> list[Any]:
        assert self._powers is not None
        one, two = self._powers
        return [one.assign(one * self._beta1), two.assign(two * self._beta2)]

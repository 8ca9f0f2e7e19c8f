# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.train``: optimizers that add their steps to the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import graph as pg, ops
from ...graph.variables import TRAINABLE
from .variables import Variable


class Optimizer:
    """Adds operations that change variables by their gradients."""

    def __init__(self, use_locking: bool = False, name: str = "Optimizer") -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._slots: dict[str, dict[int, Any]] = {}

    def get_name(self) -> str:
        """The name that was given."""
        return self._name

    def compute_gradients(self, loss: Any, var_list: Any = None, **_: Any) -> list[Any]:
        """(gradient, variable) of each; None: the loss does not depend on it."""
        if var_list is None:
            var_list = loss.graph.get_collection(TRAINABLE)
        var_list = list(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        return list(zip(pg.gradients(loss, var_list), var_list))

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
        with graph.as_default(), graph.name_scope(name or self._name):
            self._prepare()
            steps = [self._apply(grad, var) for grad, var in used]
            steps += self._finish()
            if global_step is not None:
                with graph.control_dependencies(steps):
                    steps = [*steps, global_step.assign_add(1)]
            return pg.group(*steps, name="update")

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None,
        name: str | None = None, **options: Any,
    ) -> pg.Operation:  # fmt: skip
        """compute_gradients() and apply_gradients()."""
        pairs = self.compute_gradients(loss, var_list, **options)
        if all(grad is None for grad, _ in pairs):
            names = [var.name for _, var in pairs]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops "
                "that do not support gradients, between variables "
                f"{names} and loss {loss!r}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def _slot(self, var: Any, name: str) -> Any:
        slots = self._slots.setdefault(name, {})
        if id(var) not in slots:
            zeros = ops.zeros(var.shape.as_list(), dtype=var.dtype)
            slots[id(var)] = Variable(zeros, trainable=False, name=name)
        return slots[id(var)]

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable that goes with a variable; None if there is none."""
        return self._slots.get(name, {}).get(id(var))

    def _prepare(self) -> None:
        pass

    def _apply(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError

    def _finish(self) -> list[Any]:
        return []


class GradientDescentOptimizer(Optimizer):
    """w -= learning_rate * gradient."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False,
        name: str = "GradientDescent",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate = learning_rate

    def _apply(self, grad: Any, var: Any) -> Any:
        return var.assign_sub(grad * self._rate)


class MomentumOptimizer(Optimizer):
    """m = momentum * m + gradient; w -= learning_rate * m."""

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False,
        name: str = "Momentum", use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._momentum = learning_rate, momentum
        self._nesterov = use_nesterov

    def _apply(self, grad: Any, var: Any) -> Any:
        moved = self._slot(var, "momentum")
        new = moved.assign(moved * self._momentum + grad)
        step = grad + new * self._momentum if self._nesterov else new
        return var.assign_sub(step * self._rate)


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

    def _prepare(self) -> None:
        if self._powers is None:
            self._powers = (
                Variable(self._beta1, trainable=False, name="beta1_power"),
                Variable(self._beta2, trainable=False, name="beta2_power"),
            )

    def _apply(self, grad: Any, var: Any) -> Any:
        assert self._powers is not None
        one, two = self._powers
        rate = (1 - two).sqrt() / (1 - one) * self._rate
        first, second = self._slot(var, "m"), self._slot(var, "v")
        m = first.assign(first * self._beta1 + grad * (1 - self._beta1))
        v = second.assign(second * self._beta2 + grad * grad * (1 - self._beta2))
        return var.assign_sub(m * rate / (v.sqrt() + self._epsilon))

    def _finish(self) -> list[Any]:
        assert self._powers is not None
        one, two = self._powers
        return [one.assign(one * self._beta1), two.assign(two * self._beta2)]

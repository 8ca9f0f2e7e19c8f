# SPDX-License-Identifier: Apache-2.0
"""The gradients of a distributed optimizer on their way between ranks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from .._binding import core
from ..tensor import Tensor
from .collectives import allreduce_async
from .handles import synchronize_all
from .session import _session

__all__ = ["Exchange"]

_all: weakref.WeakSet[Exchange] = weakref.WeakSet()


class Exchange:
    """A hook of each parameter sends its gradient as soon as backward has it, while
    backward goes on.  A parameter has the hook of one exchange: the last."""

    def __init__(
        self, names: dict[Tensor, str], compression: Any, passes: int, op: int,
        factor: float,
    ) -> None:  # fmt: skip
        self.compression, self.op, self.factor = compression, op, factor
        self.passes = passes
        self.names: dict[Tensor, str] = {}
        self.hooks: dict[Tensor, core.HookHandle] = {}
        self.left: dict[Tensor, int] = {}  # passes until it is sent
        self.under_way: dict[Tensor, tuple[int, Any]] = {}
        self.synchronized = False  # whether no backward came by since synchronize()
        self.skips = False
        self.session = _session()
        self.lost: list[str] = []  # parameters that a later exchange has taken
        for other in _all:
            other.check_idle(names)
        for param, name in names.items():
            self.add(param, name)
        _all.add(self)

    def add(self, param: Tensor, name: str) -> None:
        """Exchange the gradient of one more parameter; again, hook one that got
        requires_grad since."""
        if param not in self.names:
            for other in _all:
                if other is not self:
                    other.check_idle([param])
                    other.give_up(param)
            self.names[param] = name
            self.left[param] = self.passes
        if param.requires_grad and param not in self.hooks:
            hook = _weak_hook(weakref.ref(self))
            self.hooks[param] = param.register_post_accumulate_grad_hook(hook)

    def check_idle(self, params: Iterable[Tensor]) -> None:
        """RuntimeError where the gradient of one of them is on its way."""
        self.forget_old_session()
        sent = [self.names[param] for param in params if param in self.under_way]
        if sent:
            raise RuntimeError(
                f"[DistributedOptimizer] expected no gradient on its way, got {sent}, "
                "sent by another DistributedOptimizer. Call its step() first."
            )

    def give_up(self, param: Tensor) -> None:
        """Leave a parameter to another exchange."""
        if param not in self.names:
            return
        if param in self.hooks:
            self.hooks.pop(param).remove()
        self.lost.append(self.names.pop(param))
        del self.left[param]

    def check_owner(self) -> None:
        """RuntimeError after another exchange has taken parameters of this."""
        if self.lost:
            raise RuntimeError(
                "[DistributedOptimizer] expected the optimizer that was made last for "
                f"its parameters, got one from which another has taken {self.lost}. "
                "Use the later one."
            )

    def arrived(self, param: Tensor) -> None:
        """A backward pass has added to the gradient."""
        self.forget_old_session()
        if self.left[param] <= 0:
            raise AssertionError(
                "Gradients were computed more than backward_passes_per_step times "
                "before call to step(). Increase backward_passes_per_step to "
                "accumulate gradients locally."
            )
        self.synchronized = False
        if self.left[param] == 1:
            self.send(param)
        self.left[param] -= 1  # behind what may fail

    def send(self, param: Tensor) -> None:
        """Begin the allreduce of a gradient; zeros where backward did not come by."""
        before = core.set_grad_enabled(False)
        try:
            grad = param.grad
            if grad is None:
                grad = core.Operator("zeros_like")(param)
            small, context = self.compression.compress(grad.detach())
            handle = allreduce_async(
                small, None, f"allreduce.{self.names[param]}", self.op,
                1.0 / self.factor, self.factor,
            )  # fmt: skip
        finally:
            core.set_grad_enabled(before)
        self.under_way[param] = (handle, context)

    def synchronize(self) -> None:
        """Send what backward did not, wait for all, and put the results in place.
        Nothing if that was done since the last backward: sums would be added twice."""
        self.forget_old_session()
        if self.synchronized:
            return
        try:
            for param in self.names:
                if param not in self.under_way:
                    self.send(param)
        finally:
            sent = list(self.under_way.items())
            self.restart()
            results = synchronize_all(handle for _, (handle, _) in sent)
        for (param, (_, context)), reduced in zip(sent, results):
            param.grad = self.compression.decompress(reduced, context)
        self.synchronized = True

    def restart(self) -> None:
        """As before a backward."""
        self.under_way.clear()
        self.left = dict.fromkeys(self.names, self.passes)
        self.synchronized = False

    def forget_old_session(self) -> None:
        """What was sent before the last init() has failed."""
        if self.session != _session():
            self.session = _session()
            with suppress(Exception):  # nobody asks for these any more
                synchronize_all([handle for handle, _ in self.under_way.values()])
            self.restart()


def _weak_hook(exchange: weakref.ref[Exchange]) -> Callable[[Tensor], None]:
    # Parameters outlive their optimizer; the exchange must not live as long as they.
    def hook(param: Tensor) -> None:
        alive = exchange()
        if alive is not None:
            alive.arrived(param)

    return hook

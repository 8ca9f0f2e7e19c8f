# SPDX-License-Identifier: Apache-2.0
"""DistributedOptimizer: an optimizer whose gradients are those of all ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .._binding import core
from ..optim import Optimizer
from ..tensor import Tensor
from .collectives import Average, allreduce_async, synchronize
from .compression import Compression

__all__ = ["DistributedOptimizer"]


class _Exchange:
    """The gradients of an optimizer on their way: a hook of each parameter sends its
    gradient as soon as backward has it, while backward goes on."""

    def __init__(
        self, optimizer: Optimizer, names: dict[Tensor, str], compression: Any,
        passes: int, op: int, factor: float,
    ) -> None:  # fmt: skip
        self.names, self.compression = names, compression
        self.passes, self.op, self.factor = passes, op, factor
        self.under_way: dict[Tensor, tuple[int, Any]] = {}
        self.left = dict.fromkeys(names, passes)
        self.synchronized = False
        self.skips = False
        self.hooks = [p.register_post_accumulate_grad_hook(self.arrived) for p in names]

    def arrived(self, param: Tensor) -> None:
        """A backward pass has added to the gradient."""
        if self.left[param] <= 0:
            raise AssertionError(
                "Gradients were computed more than backward_passes_per_step times "
                "before call to step(). Increase backward_passes_per_step to "
                "accumulate gradients locally."
            )
        self.left[param] -= 1
        if self.left[param] == 0:
            self.send(param)

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
        """Send what backward did not, wait for all, and put the results in place."""
        for param in self.names:
            if param not in self.under_way:
                self.send(param)
        try:
            for param, (handle, context) in self.under_way.items():
                reduced = synchronize(handle)
                param.grad = self.compression.decompress(reduced, context)
        finally:
            self.under_way.clear()
            self.left = dict.fromkeys(self.names, self.passes)
        self.synchronized = True


class _DistributedOptimizer:
    """The methods that a distributed optimizer has besides those of its class."""

    _exchange: _Exchange

    def synchronize(self) -> None:
        """Wait until all gradients are those of all ranks: before they are clipped,
        say, and then ``with optimizer.skip_synchronize(): optimizer.step()``."""
        self._exchange.synchronize()

    @contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """A context in which step() does not synchronize."""
        self._exchange.skips = True
        try:
            yield
        finally:
            self._exchange.skips = False

    def set_backward_passes_per_step(self, passes: int) -> None:
        """How many backward passes add to the gradients before they are sent."""
        self._exchange.passes = _checked_passes(passes)
        self._exchange.left = dict.fromkeys(self._exchange.names, passes)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Wait for the gradients, then change the parameters."""
        exchange = self._exchange
        if not exchange.skips:
            exchange.synchronize()
        exchange.synchronized = False
        return super().step(closure)  # type: ignore[misc]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """As the optimizer's.  AssertionError between backward() and step(): a gradient
        on its way would be lost."""
        if self._exchange.under_way:
            raise AssertionError(
                "optimizer.zero_grad() was called after loss.backward() but before "
                "optimizer.step() or optimizer.synchronize(). This is prohibited as it "
                "can cause a race condition."
            )
        super().zero_grad(set_to_none)  # type: ignore[misc]


def _checked_passes(passes: int) -> int:
    if not isinstance(passes, int) or passes < 1:
        raise ValueError(
            f"backward_passes_per_step must be a positive integer, got {passes!r}"
        )
    return passes


def _names_of(optimizer: Optimizer, named: Iterable[Any] | None) -> dict[Tensor, str]:
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if named is None:
        pairs = [(f"noname.{i}", param) for i, param in enumerate(params)]
    else:
        pairs = list(named)
    if any(not isinstance(pair, tuple) for pair in pairs):
        raise ValueError(
            "named_parameters should be a sequence of tuples (name, parameter), "
            "usually produced by model.named_parameters()."
        )
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            "Parameter names in named_parameters must be unique. Found duplicates: "
            + ", ".join(twice)
        )
    known = {id(param): name for name, param in pairs}
    if any(id(param) not in known for param in params):
        raise ValueError(
            "named_parameters was specified, but one or more model parameters were not "
            "named. Python object ids: "
            + ", ".join(str(id(p)) for p in params if id(p) not in known)
        )
    return {p: known[id(p)] for p in params if p.requires_grad}


def DistributedOptimizer(  # noqa: N802
    optimizer: Optimizer, named_parameters: Iterable[Any] | None = None,
    compression: Any = Compression.none, backward_passes_per_step: int = 1,
    op: int = Average, gradient_predivide_factor: float = 1.0,
) -> Any:  # fmt: skip
    """The optimizer, whose step() uses the gradients of all ranks.

    It becomes an object of a class derived from its own, with ``synchronize`` and
    ``skip_synchronize``.
    named_parameters: ``model.named_parameters()``: names that are the same on all
    ranks; without them parameters are known by their place.
    backward_passes_per_step: how many passes add to a gradient before it is sent.
    op: Average (default) or Sum.
    gradient_predivide_factor: gradients are divided by it before they are added, and
    multiplied after.
    """
    if gradient_predivide_factor != 1.0 and op != Average:
        raise ValueError("gradient_predivide_factor not supported with op != Average")
    passes = _checked_passes(backward_passes_per_step)
    names = _names_of(optimizer, named_parameters)
    kind = type(optimizer)
    made: Any = optimizer
    made.__class__ = type(kind.__name__, (_DistributedOptimizer, kind), {})
    made._exchange = _Exchange(
        optimizer,
        names,
        compression,
        passes,
        op,
        gradient_predivide_factor,
    )
    return made

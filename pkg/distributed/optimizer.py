# SPDX-License-Identifier: Apache-2.0
"""DistributedOptimizer: an optimizer whose gradients are those of all ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ..optim import Optimizer
from ..tensor import Tensor
from .collectives import Average, Sum
from .compression import Compression
from .exchange import Exchange

__all__ = ["DistributedOptimizer"]


class _DistributedOptimizer:
    """The methods that a distributed optimizer has besides those of its class."""

    _exchange: Exchange
    _kind: type[Optimizer]  # the class that was wrapped
    param_groups: list[dict[str, Any]]

    def synchronize(self) -> None:
        """Wait until all gradients are those of all ranks: before they are clipped,
        say, and then ``with optimizer.skip_synchronize(): optimizer.step()``."""
        self._adopt()
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
        """Wait for the gradients, then change the parameters.

        closure: computes gradients; each time it was called they are waited for.
        What synchronize() has reduced since the last backward is not reduced again."""
        if closure is None:
            self._synchronize_for_step()
            call = None
        else:
            given = closure

            def call() -> Any:
                loss = given()
                self._synchronize_for_step()
                return loss

        result = super().step(call)  # type: ignore[misc]
        self._exchange.synchronized = False
        return result

    def _synchronize_for_step(self) -> None:
        if self._exchange.skips:
            return
        if self._exchange.synchronized:
            warnings.warn(
                "optimizer.step() called without optimizer.skip_synchronize() context "
                "after optimizer.synchronize(). The gradients are not reduced again. "
                "Use: with optimizer.skip_synchronize(): optimizer.step()",
                stacklevel=3,
            )
        self.synchronize()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """As the optimizer's.  AssertionError between backward() and step(): a gradient
        on its way would be lost."""
        self._exchange.forget_old_session()
        if self._exchange.under_way:
            raise AssertionError(
                "optimizer.zero_grad() was called after loss.backward() but before "
                "optimizer.step() or optimizer.synchronize(). This is prohibited as it "
                "can cause a race condition."
            )
        super().zero_grad(set_to_none)  # type: ignore[misc]
        self._exchange.restart()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """As the optimizer's; the gradients of these are exchanged, too.  All ranks add
        the same groups in the same order."""
        super().add_param_group(param_group)  # type: ignore[misc]
        self._adopt()

    def _adopt(self) -> None:
        # Parameters that came later, or are no longer frozen: known by their place.
        exchange = self._exchange
        exchange.check_owner()
        for i, group in enumerate(self.param_groups):
            for j, param in enumerate(group["params"]):
                if param in exchange.hooks:
                    continue
                if param.requires_grad or param.grad is not None:
                    exchange.add(param, f"parameter.{i}.{j}")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """TypeError: gradients on their way belong to this process."""
        raise TypeError(
            "[DistributedOptimizer] expected something that can be pickled or copied, "
            f"got a distributed {self._kind.__name__}. Save its state_dict()."
        )


def _checked_passes(passes: int) -> int:
    if not isinstance(passes, int) or passes < 1:
        raise ValueError(
            f"backward_passes_per_step must be a positive integer, got {passes!r}"
        )
    return passes


def _check_options(optimizer: Any, compression: Any, op: int, factor: float) -> None:
    # Here, as backward would be the first to need them.
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            "[DistributedOptimizer] expected an optimizer of pkg.optim, got "
            f"{type(optimizer).__name__}"
        )
    if not hasattr(compression, "compress") or not hasattr(compression, "decompress"):
        raise TypeError(
            "[DistributedOptimizer] expected compression to be Compression.none, "
            "Compression.fp16 or another class with compress() and decompress(), got "
            f"{compression!r}"
        )
    if op not in (Average, Sum):
        raise ValueError(
            f"[DistributedOptimizer] expected op to be Average ({Average}) or Sum "
            f"({Sum}), got {op!r}"
        )
    if factor != 1.0 and op != Average:
        raise ValueError("gradient_predivide_factor not supported with op != Average")
    if not 0 < factor < float("inf"):
        raise ValueError(
            "[DistributedOptimizer] expected gradient_predivide_factor to be a "
            f"positive number, got {factor!r}"
        )


def _names_of(optimizer: Optimizer, named: Iterable[Any] | None) -> dict[Tensor, str]:
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if named is None:
        pairs = [(f"parameter.{i}", param) for i, param in enumerate(params)]
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
    ``skip_synchronize``; it cannot be pickled.  One made for the same parameters before
    can make no steps any more.
    named_parameters: ``model.named_parameters()``: names that are the same on all
    ranks; without them parameters are known by their place.
    backward_passes_per_step: how many passes add to a gradient before it is sent.
    op: Average (default) or Sum; ValueError for others, Adasum too.
    gradient_predivide_factor: gradients are divided by it before they are added, and
    multiplied after.
    """
    _check_options(optimizer, compression, op, gradient_predivide_factor)
    passes = _checked_passes(backward_passes_per_step)
    names = _names_of(optimizer, named_parameters)
    made: Any = optimizer
    kind = made._kind if isinstance(made, _DistributedOptimizer) else type(made)
    exchange = Exchange(names, compression, passes, op, gradient_predivide_factor)
    made._exchange = exchange
    members = {"_kind": kind}
    made.__class__ = type(kind.__name__, (_DistributedOptimizer, kind), members)
    return made

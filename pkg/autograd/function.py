# SPDX-License-Identifier: Apache-2.0
"""Operations with a backward of one's own, written in Python.

    class Cube(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x * x

    y = Cube.apply(x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._binding import core
from ..tensor import Tensor
from .grad_mode import is_grad_enabled, no_grad

#: pkg.graph.own_functions, when that was imported: what to do in graphs.
graphs: Any = None


class FunctionCtx:
    """What ``forward`` hands to ``backward``: tensors through ``save_for_backward``,
    everything else as attributes."""

    needs_input_grad: tuple[bool, ...] = ()
    _name = "Function"
    _to_save: tuple[Tensor | None, ...] | None = ()  # None: the node has them
    _materialize = True
    _dirty: tuple[Tensor, ...] = ()
    _non_differentiable: tuple[Tensor, ...] = ()

    def __init__(self) -> None:
        # The node, once for each pass that is in backward: it is there for all of them.
        self._running: list[core.Node] = []

    if TYPE_CHECKING:
        # Attributes of the user's own.
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs (or None); call at most once, in forward."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument is of "
                    f"type {type(tensor).__name__}. Keep other values as attributes of "
                    "ctx."
                )
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward changed in place; it must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs need no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients arrive in backward as zeros (default) or None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` kept, in forward and while backward runs.

        RuntimeError when a tensor was changed in place since, or at another time.
        """
        if self._to_save is not None:
            return self._to_save
        if not self._running:
            raise RuntimeError(
                f"[saved_tensors] expected forward or backward of {self._name} to run, "
                "got neither: the graph keeps the tensors and may be freed. Keep other "
                "values as attributes of ctx."
            )
        saved: tuple[Any, ...] = core._saved_tensors(self._running[-1])
        return saved


class Function:
    """Base of operations with static ``forward(ctx, *args)`` and ``backward(ctx,
    *grads)``.

    ``apply(*args)`` runs forward without recording and, if a Tensor among `args`
    requires grad, makes backward the history of the Tensors it returns.  backward
    returns one gradient (or None) per argument of forward.  With ``setup_context(ctx,
    inputs, output)`` defined, forward gets no ctx.
    """

    @staticmethod
    def forward(*args: Any) -> Any:
        """Compute the result; ctx comes first unless setup_context is defined."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return one gradient per argument of forward, from one per output."""
        raise NotImplementedError(
            "You must implement the backward function to use your custom "
            "autograd.Function with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward on `args` and record backward."""
        ctx = FunctionCtx()
        ctx._name = cls.__name__
        wanted = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        ctx.needs_input_grad = wanted
        if graphs is not None:
            ctx.needs_input_grad = tuple(
                is_wanted or graphs.is_symbol(a) for a, is_wanted in zip(args, wanted)
            )
        setup = getattr(cls, "setup_context", None)
        with no_grad():
            if setup is None:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                setup(ctx, args, result)
        single = not isinstance(result, tuple)
        results = (result,) if single else result
        if graphs is not None and is_grad_enabled():
            symbols = graphs.in_graph(cls, ctx, args, results)
            if symbols is not None:
                return symbols[0] if single else symbols
        if not {id(t) for t in ctx._dirty} <= {id(t) for t in results}:
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not "
                "returned as output. The inputs that are modified inplace must all be "
                "outputs of the Function."
            )
        recorded = is_grad_enabled() and any(wanted)
        outputs = cls._outputs(ctx, args, results, recorded)
        if recorded or ctx._dirty:  # a write counts, recorded or not
            cls._record(ctx, args, results, outputs)
        return outputs[0] if single else outputs

    @staticmethod
    def _outputs(
        ctx: FunctionCtx,
        args: tuple[Any, ...],
        results: tuple[Any, ...],
        recorded: bool,
    ) -> tuple[Any, ...]:
        """What the caller gets.

        A recorded output shares memory with no input and no other output: a write to it
        would give it the history of that memory, without backward.
        """
        dirty = {id(t) for t in ctx._dirty}
        unchanged = {id(a) for a in args if isinstance(a, Tensor)} - dirty
        if not recorded:  # an input that comes back is another tensor all the same
            return tuple(t._share() if id(t) in unchanged else t for t in results)
        taken = {a._storage_id() for a in args if isinstance(a, Tensor)}
        outputs = []
        for t in results:
            if isinstance(t, Tensor) and id(t) not in dirty:
                shared = t._storage_id() in taken
                taken.add(t._storage_id())
                t = t.detach().clone() if shared else t
            outputs.append(t)
        return tuple(outputs)

    @classmethod
    def _record(
        cls,
        ctx: FunctionCtx,
        args: tuple[Any, ...],
        results: tuple[Any, ...],
        outputs: tuple[Any, ...],
    ) -> None:
        constant = {id(t) for t in ctx._non_differentiable}
        constant = {i for i, t in enumerate(results) if id(t) in constant}
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        count = len(args)
        # An output is saved as the caller gets it, an argument as it is.
        made = {id(t): out for t, out in zip(results, outputs)}
        made.update((id(args[i]), args[i]) for i in places)
        saved = tuple(made.get(id(t), t) for t in ctx._to_save or ())
        ctx._to_save = None
        # Shapes and dtypes of the outputs without history, whose gradients are zeros.
        zeros = {
            i: (tuple(outputs[i].shape), outputs[i].dtype)
            for i in constant if ctx._materialize
        }  # fmt: skip
        # The node keeps ctx and run: a tensor in them would keep what nobody saved, and
        # one that is also an output would keep the node.
        ctx._dirty = ctx._non_differentiable = ()

        def run(node: core.Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
            if zeros:
                grads = tuple(
                    core.Operator("zeros")(zeros[i][0], dtype=zeros[i][1])
                    if i in zeros else g
                    for i, g in enumerate(grads)
                )  # fmt: skip
            ctx._running.append(node)
            try:
                results = cls.backward(ctx, *grads)
            finally:
                ctx._running.pop()
            if not isinstance(results, (tuple, list)):
                results = (results,)
            if len(results) > count and all(r is None for r in results[count:]):
                results = results[:count]
            if len(results) != count:
                raise RuntimeError(
                    f"function {cls.__name__}Backward returned an incorrect number of "
                    f"gradients (expected {count}, got {len(results)})"
                )
            return tuple(results[i] for i in places)

        core._record_function(
            cls.__name__,
            tuple(args[i] for i in places),
            tuple(t if isinstance(t, Tensor) and i not in constant else None
                  for i, t in enumerate(outputs)),  # fmt: skip
            run,
            ctx._materialize,
            saved,
        )


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that cannot be differentiated itself.

    Its results carry no history, and asking for their gradient is a RuntimeError.
    """

    @functools.wraps(function)
    def wrapper(ctx: FunctionCtx, *grads: Any) -> Any:
        with no_grad():
            results = function(ctx, *grads)
        if not is_grad_enabled():
            return results
        inputs = tuple(g for g in grads if isinstance(g, Tensor) and g.requires_grad)
        inputs += tuple(
            t for t in ctx.saved_tensors if t is not None and t.requires_grad
        )
        single = not isinstance(results, tuple)
        outputs = (results,) if single else results
        if inputs:
            # One that comes back keeps its own history: the refusal is another's.
            known = {id(t) for t in inputs}
            outputs = tuple(t._share() if id(t) in known else t for t in outputs)
            made = tuple(t if isinstance(t, Tensor) else None for t in outputs)
            core._record_function("Error", inputs, made, _refuse, False, ())
        return outputs[0] if single else outputs

    return wrapper


def _refuse(node: core.Node, grads: tuple[Any, ...]) -> Any:
    raise RuntimeError(
        "trying to differentiate twice a function that was marked with "
        "@once_differentiable"
    )

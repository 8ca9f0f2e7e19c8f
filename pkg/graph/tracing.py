# SPDX-License-Identifier: Apache-2.0
"""Eager functions as graphs: ``trace`` makes one, ``compile`` one for each kind."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..autograd.function import Function, once_differentiable
from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..tensor import Tensor
from ..type_info import get_default_dtype
from .building import Graph, Symbol
from .functions import gradients, placeholder
from .sessions import Session
from .structures import flatten, pack

__all__ = ["CompiledFunction", "TracedFunction", "compile", "trace"]

_MOST_KEPT = 64  # graphs of one compiled function


class TracedFunction:
    """A function as a graph, for arguments like those that it was traced with.

    It takes what the function takes.  Tensors among the arguments, of the same dtypes
    and shapes, are fed, and so are tensors that require gradients and are used without
    being arguments (the parameters of a module); other tensors are looked at at each
    run; all else is as it was when it was traced.  Gradients flow to what requires
    them, once: the backward pass runs the forward operations again.

    graph: the Graph.
    """

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any,
        dynamic: bool = False,
    ) -> None:  # fmt: skip
        self.graph = Graph()
        given = [args, kwargs]
        leaves = flatten(given)
        self._key = _key(leaves, dynamic)
        with self.graph.as_default(), enable_grad():
            made = [_placeholder_for(leaf, dynamic) for leaf in leaves]
            symbols = [symbol for symbol in made if symbol is not None]
            filled = [
                leaf if symbol is None else symbol for leaf, symbol in zip(leaves, made)
            ]
            given_args, given_kwargs = pack(given, filled)
            self.graph._handle.begin_lifting()
            try:
                result = function(*given_args, **given_kwargs)
            finally:
                self.graph._handle.end_trace()
        lifted = self.graph._handle.lifted()
        n = len(lifted) // 2
        self._lifted, self._inputs = lifted[:n], [*symbols, *lifted[n:]]
        self._result = result
        self._outputs = [s for s in flatten(result) if isinstance(s, Symbol)]
        self._dynamic = dynamic
        self._session = Session(graph=self.graph)
        writes = [op for op in self.graph.get_operations() if op._handle.writes()]
        handles = [op._handle for op in writes]
        self._forward = self._session._handle.make_callable(
            self._inputs, self._outputs, handles
        )
        self._backwards: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives; ValueError for arguments of another kind."""
        leaves = flatten([args, kwargs])
        if _key(leaves, self._dynamic) != self._key:
            raise ValueError(
                "[trace] expected arguments like those that the function was traced "
                f"with: {_words(self._key)}; got "
                f"{_words(_key(leaves, self._dynamic))}. Use compile for several kinds."
            )
        return self._run([leaf for leaf in leaves if isinstance(leaf, Tensor)])

    def _run(self, tensors: Sequence[Any]) -> Any:
        feeds = [*tensors, *self._lifted]
        if is_grad_enabled() and any(tensor.requires_grad for tensor in feeds):
            values = _Call.apply(self, *feeds)
            if not isinstance(values, tuple):
                values = (values,)
        else:
            values = self._forward.run(feeds)
        if isinstance(self._result, Symbol):
            return values[0]
        found = iter(values)
        leaves = flatten(self._result)
        filled = [next(found) if isinstance(v, Symbol) else v for v in leaves]
        return pack(self._result, filled)

    def _backward(self, feeds: Any, wanted: tuple[bool, ...], grads: Any) -> list[Any]:
        """Gradients of the feeds that want one, None for the others."""
        known = self._backwards.get(wanted)
        if known is None:
            known = self._backwards[wanted] = self._make_backward(wanted)
        run, found = known
        if run is None:
            return [None] * len(wanted)
        floating = [
            grad for grad, y in zip(grads, self._outputs) if y.dtype.is_floating_point
        ]
        values = iter(run.run([*feeds, *floating]))
        return [next(values) if use else None for use in found]

    def _make_backward(self, wanted: tuple[bool, ...]) -> Any:
        ys = [y for y in self._outputs if y.dtype.is_floating_point]
        with self.graph.as_default():
            grads = [placeholder(y.dtype, y.shape, "grad") for y in ys]
            xs = [x for x, use in zip(self._inputs, wanted) if use]
            made = iter(gradients(ys, xs, grads) if ys else [None] * len(xs))
        slopes = [next(made) if use else None for use in wanted]
        found = [slope is not None for slope in slopes]
        if not any(found):
            return None, found
        callable_ = self._session._handle.make_callable(
            [*self._inputs, *grads], [s for s in slopes if s is not None], []
        )
        return callable_, found


class _Call(Function):
    """One run of a traced function, in the history of its results."""

    @staticmethod
    def forward(ctx: Any, traced: TracedFunction, *feeds: Any) -> Any:
        ctx.traced = traced
        ctx.save_for_backward(*feeds)
        return tuple(traced._forward.run([feed.detach() for feed in feeds]))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        feeds = [feed.detach() for feed in ctx.saved_tensors]
        wanted = tuple(ctx.needs_input_grad[1:])
        return (None, *ctx.traced._backward(feeds, wanted, grads))


def _placeholder_for(leaf: Any, dynamic: bool) -> Symbol | None:
    if isinstance(leaf, Symbol) or not isinstance(leaf, Tensor):
        return None
    shape = [None] * leaf.ndim if dynamic else list(leaf.shape)
    return placeholder(leaf.dtype, shape, "arg")


def _key(leaves: list[Any], dynamic: bool) -> tuple[Any, ...]:
    return tuple(
        (Tensor, leaf.dtype, leaf.ndim if dynamic else tuple(leaf.shape))
        if isinstance(leaf, Tensor)
        else (type(leaf), leaf)
        for leaf in leaves
    )


def _words(key: tuple[Any, ...]) -> str:
    return ", ".join(
        f"{item[1]} of shape {item[2]}" if item[0] is Tensor else repr(item[1])
        for item in key
    )


def trace(
    function: Callable[..., Any], *examples: Any, **options: Any
) -> TracedFunction:
    """The function as a graph, which is what it does for these examples.

    It is called once, with symbols in the place of tensors.  TypeError where it needs
    values, as for a choice that depends on them.
    """
    return TracedFunction(function, examples, options)


class CompiledFunction:
    """Calls a function as a graph: one for each kind of arguments.

    The kind is the structure of the arguments, dtype and shape of tensors (with
    ``dynamic`` only the number of dimensions), and the values of all else.
    """

    def __init__(self, function: Callable[..., Any], dynamic: bool = False) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._dynamic = dynamic
        self._kinds: dict[Any, TracedFunction] = {}
        self._modules = _modules_of(function)  # which may train, or not

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        key: Any = [get_default_dtype(), *[m.training for m in self._modules]]
        for arg in args:
            if type(arg) is not Tensor:
                break
            key += (arg.dtype, arg.ndim if self._dynamic else arg.shape)
        else:
            if not kwargs:  # the usual call needs no look at structures
                known = self._kinds.get(key := tuple(key))
                return (known or self._add(key, args, kwargs))._run(args)
        leaves = flatten([args, kwargs])
        more = [m.training for leaf in leaves for m in _modules_of(leaf)]
        key = (*key, _structure([args, kwargs]), _key(leaves, self._dynamic), *more)
        try:
            known = self._kinds.get(key)
        except TypeError:
            raise TypeError(
                "[compile] expected arguments that can be told apart: tensors, and "
                f"values that are hashable; got {_words(_key(leaves, False))}."
            ) from None
        known = known or self._add(key, args, kwargs)
        return known._run([leaf for leaf in leaves if isinstance(leaf, Tensor)])

    def _add(self, key: Any, args: Any, kwargs: Any) -> TracedFunction:
        made = TracedFunction(self._function, args, kwargs, self._dynamic)
        if len(self._kinds) >= _MOST_KEPT:
            self._kinds.pop(next(iter(self._kinds)))
        self._kinds[key] = made
        return made

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method, where it stands in a class."""
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        """What the function has, which may be a module."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_function"], name)


def _structure(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, _structure(part)) for key, part in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return (type(value), *(_structure(part) for part in value))
    return None


def _modules_of(function: Any) -> list[Any]:
    """The modules of a module, or of the one that a method is of."""
    owner = getattr(function, "__self__", function)
    if isinstance(owner, Tensor) or not hasattr(owner, "modules"):
        return []
    return list(owner.modules())


def compile(  # noqa: A001
    function: Callable[..., Any] | None = None, *, dynamic: bool = False
) -> Any:
    """The function, or module, run as graphs; also as a decorator.

    A graph is made at the first call with each kind of arguments: see CompiledFunction.
    dynamic: one graph for all sizes; the function then sees None for them.

    What the function does beside its calls of ops is done once, when it is traced.
    TypeError where it needs values of tensors, as for a choice that depends on them.
    """
    if function is None:
        return functools.partial(compile, dynamic=dynamic)
    if not callable(function):
        raise TypeError(
            f"[compile] expected a function or a module, got {type(function).__name__}."
        )
    return CompiledFunction(function, dynamic)

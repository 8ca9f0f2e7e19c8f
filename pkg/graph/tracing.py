# SPDX-License-Identifier: Apache-2.0
"""Eager functions as graphs: ``trace`` makes one, ``compile`` one for each kind."""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..autograd.grad_mode import is_grad_enabled, set_grad_enabled
from ..tensor import Tensor
from ..type_info import get_default_dtype
from .building import Graph
from .entering import building, is_building
from .functions import placeholder
from .guards import Guards, modules_of
from .sessions import Session
from .structures import flatten, pack
from .symbols import Symbol

__all__ = ["CompiledFunction", "TracedFunction", "compile", "trace"]

_MOST_KEPT = 64  # graphs of one compiled function


class TracedFunction:
    """A function as a graph, for arguments like those that it was traced with.

    It takes what the function takes.  Tensors among the arguments, of the same dtypes
    and shapes, are fed; other tensors (the parameters of a module) are looked at at
    each run; all else is as it was when it was traced.  Where gradients are wanted, the
    operations are called one by one and the results have the history that the function
    would give them; elsewhere a plan runs.

    graph: the Graph.
    """

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any,
        dynamic: bool = False, grad: bool = True,
    ) -> None:  # fmt: skip
        self.graph = Graph()
        given = [args, kwargs]
        leaves = flatten(given)
        self._key = _key(leaves, dynamic)
        with self.graph.as_default(), set_grad_enabled(grad), building():
            made = [_placeholder_for(leaf, dynamic) for leaf in leaves]
            symbols = [symbol for symbol in made if symbol is not None]
            filled = [
                leaf if symbol is None else symbol for leaf, symbol in zip(leaves, made)
            ]
            given_args, given_kwargs = pack(given, filled)
            self.graph._handle.begin_trace("")
            try:
                result = function(*given_args, **given_kwargs)
            finally:
                self.graph._handle.end_trace()
        operations = self.graph.get_operations()
        # What calls refer to; of loops and choices their bodies do, so nobody knows.
        self._tensors = [
            tensor
            for op in operations
            for tensor in op._handle.tensors()
            if tensor.dtype.is_floating_point
        ]
        self._has_parts = any(not op._handle.arguments() for op in operations)
        self._inputs = symbols
        self._result = result
        self._outputs = [s for s in flatten(result) if isinstance(s, Symbol)]
        self._dynamic = dynamic
        self._kept: list[Any] = []  # whose numbers are in a key
        self._guarded: list[weakref.ref[Any]] = []  # tensors among these
        self._session = Session(graph=self.graph)
        writes = [op._handle for op in operations if op._handle.writes()]
        self._callable = self._session._handle.make_callable(
            self._inputs, self._outputs, writes
        )

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
        recorded = is_grad_enabled() and (
            self._has_parts
            or any(tensor.requires_grad for tensor in tensors)
            or any(tensor.requires_grad for tensor in self._tensors)
            or any(_wants_gradient(ref()) for ref in self._guarded)
        )
        run = self._callable.run_recorded if recorded else self._callable.run
        values = run(list(tensors))
        if isinstance(self._result, Symbol):
            return values[0]
        found = iter(values)
        leaves = flatten(self._result)
        filled = [next(found) if isinstance(v, Symbol) else v for v in leaves]
        return pack(self._result, filled)

    def _hold(self, kept: list[Any], gone: collections.deque[Any], key: Any) -> None:
        """Keeps what a key has the numbers of, as far as it must; see _held."""
        self._kept = [_held(value, gone, key) for value in kept]
        numbers = set(map(id, kept))
        weak = [tensor for tensor in self._tensors if id(tensor) in numbers]
        self._tensors = [t for t in self._tensors if id(t) not in numbers]
        self._guarded = [weakref.ref(tensor) for tensor in weak]


def _wants_gradient(tensor: Any) -> bool:
    # One that went since the graph was found: a run with history is right for both.
    return tensor is None or tensor.requires_grad


def _placeholder_for(leaf: Any, dynamic: bool) -> Symbol | None:
    if isinstance(leaf, Symbol) or not isinstance(leaf, Tensor):
        return None
    shape = [None] * leaf.ndim if dynamic else list(leaf.shape)
    return placeholder(leaf.dtype, shape, "arg")


def _key(leaves: list[Any], dynamic: bool) -> tuple[Any, ...]:
    return tuple(
        (type(leaf), leaf.dtype, leaf.ndim if dynamic else tuple(leaf.shape))
        if isinstance(leaf, Tensor)
        else (type(leaf), leaf.hex() if isinstance(leaf, float) else leaf)
        for leaf in leaves
    )


def _words(key: tuple[Any, ...]) -> str:
    return ", ".join(
        f"{item[1]} of shape {item[2]}" if len(item) == 3 else repr(item[1])
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
    ``dynamic`` only the number of dimensions), the values of all else, whether
    gradients are recorded, and what the code reads from outside: see guards.py.
    """

    def __init__(self, function: Callable[..., Any], dynamic: bool = False) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._dynamic = dynamic
        self._kinds: dict[Any, TracedFunction] = {}
        self._guards = Guards(function)
        self._lock = threading.RLock()
        self._gone: collections.deque[Any] = collections.deque()  # keys

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        if is_building():  # a part of what is made
            return self._function(*args, **kwargs)
        leaves = args if _are_tensors(args, kwargs) else flatten([args, kwargs])
        if any(isinstance(leaf, Symbol) for leaf in leaves):
            return self._function(*args, **kwargs)
        known = self._find(self._key(leaves, args, kwargs), leaves)
        if known is None:
            with self._lock:
                known = self._add(leaves, args, kwargs)
        return known._run([leaf for leaf in leaves if isinstance(leaf, Tensor)])

    def _key(
        self, leaves: Any, args: Any, kwargs: Any, kept: list[Any] | None = None
    ) -> Any:
        key = [get_default_dtype(), is_grad_enabled(), *self._guards.key(kept)]
        if leaves is args:  # the usual call needs no look at structures
            for tensor in args:
                key += (tensor.dtype, tensor.ndim if self._dynamic else tensor.shape)
            return tuple(key)
        structure = _structure([args, kwargs])
        key += (structure, _key(leaves, self._dynamic))
        for leaf in leaves:
            for module in modules_of(leaf):
                key += self._guards.of_module(module, kept)
        return tuple(key)

    def _find(self, key: Any, leaves: Any) -> TracedFunction | None:
        if self._gone:  # asked for when the key is made: a number may be another's now
            self._forget()
        try:
            return self._kinds.get(key)
        except TypeError:
            raise TypeError(
                "[compile] expected arguments that can be told apart: tensors, and "
                f"values that are hashable; got {_words(_key(leaves, False))}."
            ) from None

    def _forget(self) -> None:
        """Drops the graphs of objects that are no more."""
        with self._lock:
            while self._gone:
                self._kinds.pop(self._gone[0], None)
                self._gone.popleft()  # afterwards: who sees none may look up

    def _add(self, leaves: Any, args: Any, kwargs: Any) -> TracedFunction:
        others = [leaf for leaf in leaves if not isinstance(leaf, Tensor)]
        # Places that were not known may be what has changed.
        if self._guards.look(others):
            self._kinds.clear()  # keys of other places
        kept: list[Any] = []
        key = self._key(leaves, args, kwargs, kept)
        known = self._find(key, leaves)
        if known is not None:  # another thread made it
            return known
        modules = [module for leaf in others for module in modules_of(leaf)]
        before = self._guards.values(modules)
        with _buffers_of([*self._guards.modules(), *others]):
            made = TracedFunction(
                self._function, args, kwargs, self._dynamic, is_grad_enabled()
            )
        dropped = self._guards.drop_changed(before, modules)
        # What the function imports or makes is there now.
        if self._guards.look(others) or dropped:
            self._kinds.clear()
            kept = []
            key = self._key(leaves, args, kwargs, kept)
        made._hold(kept, self._gone, key)
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


def _held(value: Any, gone: collections.deque[Any], key: Any) -> Any:
    """What keeps the number of a value from being another's: weakly, where that goes.

    A graph is of no use without it, and would keep tensors alive that nobody has.
    """
    try:
        return weakref.ref(value, lambda _: gone.append(key))
    except TypeError:  # lists, dicts and others know nobody who refers to them
        return value


@contextlib.contextmanager
def _buffers_of(values: list[Any]) -> Iterator[None]:
    """Gives modules the buffers back for which a trace leaves symbols."""
    before = [
        (module, dict(module._buffers))
        for value in values
        for module in modules_of(value)
    ]
    try:
        yield
    finally:
        wrong = []
        for module, buffers in before:
            for name, value in list(module._buffers.items()):
                if isinstance(value, Symbol):
                    wrong.append(f"{type(module).__name__}.{name}")
                    module._buffers[name] = buffers.get(name)
    if wrong:
        raise TypeError(
            "[compile] expected a function that writes buffers in place; got one that "
            f"assigns symbols to {', '.join(wrong)}. Use self.{wrong[0].split('.')[1]}"
            ".copy_(value), which is done in each run."
        )


def _structure(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, _structure(part)) for key, part in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return (type(value), *(_structure(part) for part in value))
    return None


def _are_tensors(args: Any, kwargs: Any) -> bool:
    return not kwargs and all(type(arg) is Tensor for arg in args)


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

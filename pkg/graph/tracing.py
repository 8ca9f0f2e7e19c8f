# SPDX-License-Identifier: Apache-2.0
"""An eager function as a graph: ``trace``.  For many kinds of calls: compiling.py."""

from __future__ import annotations

import collections
import contextlib
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..arrays import is_array
from ..autograd.grad_mode import is_grad_enabled, set_grad_enabled
from ..random import going_on
from ..tensor import Tensor
from .building import Graph
from .entering import building
from .functions import placeholder
from .sessions import Session
from .structures import flatten, kind_of, pack, words_of_kind
from .symbols import Symbol

__all__ = ["TracedFunction", "held", "key_of", "trace", "words_of"]


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
        self.graph.keeps_history = True
        given = [args, kwargs]
        leaves = flatten(given)
        self._key = key_of(leaves, dynamic)
        self._structure = _structure_of(args, kwargs)
        with self.graph.as_default(), set_grad_enabled(grad), building(), going_on():
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
        _check_results(result)
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
        self._applied = self.graph._applied
        for applied in self._applied:
            applied.find(symbols)
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
        structure = _structure_of(args, kwargs)
        if structure != self._structure:
            raise ValueError(
                "[trace] expected arguments in the structure that the function was "
                f"traced with: {words_of_kind(self._structure)}; got "
                f"{words_of_kind(structure)}. Use compile for several kinds."
            )
        if key_of(leaves, self._dynamic) != self._key:
            raise ValueError(
                "[trace] expected arguments like those that the function was traced "
                f"with: {words_of(self._key)}; got "
                f"{words_of(key_of(leaves, self._dynamic))}. Use compile for several "
                "kinds."
            )
        return self._run([leaf for leaf in leaves if isinstance(leaf, Tensor)])

    def _run(self, tensors: Sequence[Any]) -> Any:
        recorded = is_grad_enabled() and (
            self._has_parts
            or any(tensor.requires_grad for tensor in tensors)
            or any(tensor.requires_grad for tensor in self._tensors)
            or any(_wants_gradient(ref()) for ref in self._guarded)
        )
        for applied in self._applied if recorded else ():
            if applied.is_asked(tensors):
                raise NotImplementedError(
                    f"[compile] {applied.name}.apply() has a backward of its own, "
                    "which a compiled function does not call. Use the function itself "
                    "where gradients are wanted, or this one under pkg.no_grad()."
                )
        run = self._callable.run_recorded if recorded else self._callable.run
        values = run(list(tensors))
        if isinstance(self._result, Symbol):
            return values[0]
        found = iter(values)
        leaves = flatten(self._result)
        filled = [next(found) if isinstance(v, Symbol) else v for v in leaves]
        return pack(self._result, filled)

    def hold(self, kept: list[Any], gone: collections.deque[Any], key: Any) -> None:
        """Keeps what a key has the numbers of, as far as it must; see held."""
        self._kept = [held(value, gone, key) for value in kept]
        numbers = set(map(id, kept))
        weak = [tensor for tensor in self._tensors if id(tensor) in numbers]
        self._tensors = [t for t in self._tensors if id(t) not in numbers]
        self._guarded = [weakref.ref(tensor) for tensor in weak]


def _structure_of(args: Any, kwargs: dict[str, Any]) -> Any:
    return kind_of([args, dict(sorted(kwargs.items()))])


def _check_results(result: Any) -> None:
    """TypeError for what would give symbols to who calls."""
    for leaf in flatten(result):
        kind = type(leaf).__name__
        later = inspect.isgenerator, inspect.isasyncgen, inspect.isawaitable
        if any(is_such(leaf) for is_such in later):
            raise TypeError(
                "[trace] expected a function that gives its results, got a "
                f"{kind}: what runs later is not traced."
            )
        inside = leaf if isinstance(leaf, (set, frozenset)) else _attributes(leaf)
        if not isinstance(leaf, Symbol) and any(map(_has_symbol, inside)):
            raise TypeError(
                "[trace] expected results in lists, tuples and dicts, got a "
                f"{kind} with symbols. Make it of what the traced function gives."
            )


def _has_symbol(value: Any) -> bool:
    # One level: a list may have itself in it.
    items = value.values() if isinstance(value, dict) else value
    several = isinstance(value, (list, tuple, dict))
    return any(isinstance(v, Symbol) for v in (items if several else [value]))


def _attributes(value: Any) -> list[Any]:
    if isinstance(value, (Tensor, type)) or inspect.isroutine(value):
        return []
    found = []
    for cls in type(value).__mro__:
        for slot in vars(cls).values():
            if inspect.ismemberdescriptor(slot):
                with contextlib.suppress(AttributeError):  # not set
                    found.append(slot.__get__(value, cls))
    try:
        return [*found, *object.__getattribute__(value, "__dict__").values()]
    except AttributeError:
        return found


def _wants_gradient(tensor: Any) -> bool:
    # One that went since the graph was found: a run with history is right for both.
    return tensor is None or tensor.requires_grad


def _placeholder_for(leaf: Any, dynamic: bool) -> Symbol | None:
    if isinstance(leaf, Symbol) or not isinstance(leaf, Tensor):
        return None
    shape = [None] * leaf.ndim if dynamic else list(leaf.shape)
    return placeholder(leaf.dtype, shape, "arg")


def key_of(leaves: list[Any], dynamic: bool) -> tuple[Any, ...]:
    """What tells kinds of arguments apart, structures aside."""
    return tuple(
        (
            type(leaf),
            leaf.dtype,
            leaf.ndim if dynamic else tuple(leaf.shape),
            leaf.device,
        )
        if isinstance(leaf, Tensor)
        else (type(leaf), _told_apart(leaf))
        for leaf in leaves
    )


def _told_apart(leaf: Any) -> Any:
    """What differs wherever code sees another value: 0.0 is not -0.0."""
    if isinstance(leaf, float):
        return leaf.hex()
    if isinstance(leaf, complex):
        return leaf.real.hex(), leaf.imag.hex()
    if isinstance(leaf, frozenset):
        return frozenset((type(one), _told_apart(one)) for one in leaf)
    if is_array(leaf) and type(leaf).__hash__ is not None and hasattr(leaf, "tobytes"):
        return leaf.dtype.str, leaf.tobytes()  # NumPy's scalars
    return leaf


def words_of(key: tuple[Any, ...]) -> str:
    """Such a key for a reader."""
    return ", ".join(
        f"{item[1]} of shape {item[2]}{_elsewhere(item[3])}"
        if len(item) == 4
        else repr(item[1])
        for item in key
    )


def _elsewhere(device: Any) -> str:
    return "" if device == "cpu" else f" on {device}"


def trace(
    function: Callable[..., Any], *examples: Any, **options: Any
) -> TracedFunction:
    """The function as a graph, which is what it does for these examples.

    It is called once, with symbols in the place of tensors.  TypeError where it needs
    values, as for a choice that depends on them.
    """
    return TracedFunction(function, examples, options)


def held(value: Any, gone: collections.deque[Any], key: Any) -> Any:
    """What keeps the number of a value from being another's: weakly, where that goes.

    A graph is of no use without it, and would keep tensors alive that nobody has.
    """
    try:
        return weakref.ref(value, lambda _: gone.append(key))
    except TypeError:  # lists, dicts and others know nobody who refers to them
        return value

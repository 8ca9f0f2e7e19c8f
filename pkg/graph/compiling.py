# SPDX-License-Identifier: Apache-2.0
"""Functions run as graphs, one for each kind of call: ``compile``."""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..autograd.grad_mode import is_grad_enabled
from ..tensor import Tensor
from ..type_info import get_default_dtype
from .entering import is_building
from .guards import Guards, modules_of
from .structures import flatten, kind_of
from .symbols import Symbol
from .tracing import TracedFunction, key_of, words_of

__all__ = ["CompiledFunction", "compile"]

_MOST_KEPT = 64  # graphs of one compiled function
_MANY = 16  # graphs in a row that differ by what is read from outside


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
        # Of the graph made last: what was read from outside, and the rest of its key.
        self._last: tuple[list[Any], Any] = [], None
        self._row = 0  # so many before it had the same rest
        self._words: dict[str, None] = {}  # what was another one in these

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
        key += (kind_of([args, kwargs]), key_of(leaves, self._dynamic))
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
                f"values that are hashable; got {words_of(key_of(leaves, False))}."
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
        made.hold(kept, self._gone, key)
        if len(self._kinds) >= _MOST_KEPT:
            self._kinds.pop(next(iter(self._kinds)))
        self._kinds[key] = made
        self._warn_of_many(key)
        return made

    def _warn_of_many(self, key: Any) -> None:
        """Says once what makes a graph at each call."""
        outside = self._guards.key()
        # A hash, as arguments compare as they like, and would be kept alive.
        before, self._last = self._last, (outside, hash(key[2 + len(outside) :]))
        words = self._guards.changed(before[0], outside)
        if not words or before[1] != self._last[1]:
            self._row = 0
            self._words.clear()
            return
        self._row += 1
        self._words.update(dict.fromkeys(words))
        if self._row == _MANY:
            name = getattr(self._function, "__qualname__", repr(self._function))
            warnings.warn(
                f"[compile] {name} is traced again and again: it reads "
                f"{', '.join(self._words)}, of which one was another at each of "
                f"{_MANY} calls. Give that as an argument, or write into the tensor "
                "that is there.",
                RuntimeWarning,
                stacklevel=4,
            )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method, where it stands in a class."""
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        """What the function has, which may be a module."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_function"], name)


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

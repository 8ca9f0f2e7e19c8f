# SPDX-License-Identifier: Apache-2.0
"""Functions of ops that become operations, with the names that TensorFlow gives."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ...graph import Symbol
from ...graph.entering import entered_graph
from .elements import get_default_graph
from .messages import while_building

__all__ = ["graph_of", "last", "overridden", "recorded"]


def _symbols(value: Any) -> Iterator[Symbol]:
    if isinstance(value, Symbol):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _symbols(item)


def graph_of(*values: Any) -> Any:
    """The graph of the tensors among the values, else the default one.

    ValueError if they are of several graphs.
    """
    default = get_default_graph()
    if default.is_body:  # it captures what stands around it
        for symbol in _symbols(values):
            _check_around(default, symbol)
        return default
    found: Symbol | None = None
    for symbol in _symbols(values):
        if symbol.graph.is_body:
            raise _left(symbol)
        if found is None:
            found = symbol
        elif symbol.graph is not found.graph:
            raise ValueError(f"{symbol} must be from the same graph as {found}.")
    return default if found is None else found.graph


def _check_around(graph: Any, symbol: Symbol) -> None:
    around = graph
    while symbol.graph is not around:
        if not around.is_body:
            raise _left(symbol) if symbol.graph.is_body else ValueError(
                f"{symbol} is not an element of this graph."
            )
        around = around.outer


def _left(symbol: Any) -> ValueError:
    return ValueError(
        f"Cannot use {symbol.op.name!r} here because {symbol.op.name!r} is in a while "
        "loop "
        "or a conditional, which is complete. Give it back from the function that "
        f"makes it. It was made by the line {symbol.op.call_site}."
    )


class _Names(threading.local):
    """The scopes of the functions that this thread is in."""

    def __init__(self) -> None:
        self.stack: list[str] = []


_names = _Names()


def last(op: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The call of a ``recorded(..., scope=True)`` function that gives its result, which
    gets the name of the whole."""
    return get_default_graph().record(_names.stack[-1], op, *args, **options)


def recorded(
    default: str, scope: bool = False, kind: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function of ops whose calls become operations, with ``name=`` for the first.

    default: the name if the program gives none.  With ``scope`` the operations stand in
    a name scope, and what last() calls has its name.  kind: the type of the operation,
    where that is not what the op's name says.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, name: str | None = None, **options: Any) -> Any:
            graph: Any = graph_of(args, list(options.values()))
            name = default if name is None else name
            try:
                made = add(graph, name, args, options)
            except (RuntimeError, IndexError) as error:
                if isinstance(error, NotImplementedError) or graph.finalized:
                    raise
                # What the core says of shapes is a ValueError in TensorFlow.
                raise ValueError(
                    while_building(str(error), name, default)
                ) from error
            if kind is not None:
                graph.types[made.op.name] = kind
            return overridden(graph, made)

        def add(graph: Any, name: str, args: Any, options: Any) -> Any:
            there: Any = entered_graph()
            if not scope and there is graph:
                return graph.record(name, function, *args, **options)
            with graph.as_default():
                if not scope:
                    return graph.record(name, function, *args, **options)
                with graph.name_scope(name) as inner:
                    _names.stack.append(inner)
                    try:
                        return graph.record(None, function, *args, **options)
                    finally:
                        _names.stack.pop()

        return call

    return decorate


def overridden(graph: Any, made: Any) -> Any:
    """What an operation gives, with the gradient that the graph's map has for it."""
    return graph._overridden(graph, made) if _overrides(graph) else made


def _overrides(graph: Any) -> Any:
    # Of a graph of pkg.graph there are none; those around a part count in it.
    there = getattr(graph, "_override", None)
    inner = graph.is_body and not graph.is_gradient
    return there or (_overrides(graph.outer) if inner else None)

# SPDX-License-Identifier: Apache-2.0
"""Variables by name: variable_scope and get_variable."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...graph import Symbol
from . import dtypes
from .collections import GraphKeys
from .composites import parts_of
from .creating import Wanted, store
from .elements import get_default_graph
from .record import graph_of

__all__ = [
    "AUTO_REUSE", "VariableScope", "get_local_variable", "get_variable",
    "get_variable_scope", "name_scope", "no_regularizer", "variable_op_scope",
    "variable_scope",
]  # fmt: skip


class _AutoReuse:
    """Reuse what is there, make what is not."""

    def __repr__(self) -> str:
        """AUTO_REUSE."""
        return "AUTO_REUSE"


AUTO_REUSE = _AutoReuse()


def no_regularizer(_: Any) -> None:
    """A regularizer that adds nothing, where that of the scope is not wanted."""


class VariableScope:
    """What the variables that get_variable makes in a scope have in common."""

    def __init__(
        self, reuse: Any = False, name: str = "", initializer: Any = None,
        regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
        custom_getter: Any = None, name_scope: str = "", dtype: Any = dtypes.float32,
        use_resource: Any = None, constraint: Any = None,
    ) -> None:  # fmt: skip
        self.name, self.reuse, self.initializer = name, reuse, initializer
        self.regularizer, self.dtype = regularizer, dtype
        self.caching_device, self.partitioner = caching_device, partitioner
        self.custom_getter, self.use_resource = custom_getter, use_resource
        self.original_name_scope, self.constraint = name_scope, constraint

    def reuse_variables(self) -> None:
        """From here on variables are reused, and none is made."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """What variables begin with if the program does not say."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """What is added to the losses for a variable if the program does not say."""
        self.regularizer = regularizer

    def set_dtype(self, dtype: Any) -> None:
        """The dtype of variables if the program does not say."""
        self.dtype = dtype

    def set_custom_getter(self, custom_getter: Any) -> None:
        """The function that get_variable() asks."""
        self.custom_getter = custom_getter

    def set_caching_device(self, caching_device: Any) -> None:
        """Nothing: there is one device."""
        self.caching_device = caching_device

    def set_use_resource(self, use_resource: Any) -> None:
        """Nothing: there is one sort of variables."""
        self.use_resource = use_resource

    def global_variables(self) -> list[Any]:
        """The global variables in the scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The variables in the scope that optimizers change."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables in the scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_collection(self, name: Any) -> list[Any]:
        """What stands in the collection and has a name in the scope."""
        prefix = f"{self.name}/" if self.name else ""
        there: list[Any] = get_default_graph().get_collection(name)
        return [v for v in there if v.name.startswith(prefix)]

    def get_variable(self, name: str, *args: Any, **options: Any) -> Any:
        """The variable of a name in this scope: see get_variable()."""
        return _get(self, name, *args, **options)


def _scopes() -> list[VariableScope]:
    here = store().here
    if not hasattr(here, "scopes"):
        here.scopes, here.counts = [VariableScope()], {}
    found: list[VariableScope] = here.scopes
    return found


def _counts() -> dict[str, int]:
    # How often a scope was opened, by its name; within the scope that is open.
    _scopes()
    found: dict[str, int] = store().here.counts
    return found


def get_variable_scope() -> VariableScope:
    """The variable scope that this thread has entered last."""
    return _scopes()[-1]


def _inside(above: VariableScope, name: str) -> str:
    return f"{above.name}/{name}" if above.name else name


def _unused(above: VariableScope, name: str) -> str:
    counts, number, made = _counts(), 0, name
    while counts.get(_inside(above, made), 0):
        number += 1
        made = f"{name}_{number}"
    return made


@contextmanager
def _opened(scope: VariableScope, entered_again: bool) -> Iterator[VariableScope]:
    scopes, counts = _scopes(), _counts()
    before = dict(counts)
    counts[scope.name] = counts.get(scope.name, 0) + 1
    scopes.append(scope)
    try:
        yield scope
    finally:
        scopes.pop()
        if entered_again:
            counts.clear()
            counts.update(before)
        else:
            for name in [n for n in counts if n.startswith(f"{scope.name}/")]:
                del counts[name]


def _checked(
    name_or_scope: Any, default_name: Any, reuse: Any, auxiliary: Any, partitioner: Any
) -> None:
    if not isinstance(auxiliary, bool):
        raise TypeError(
            "The auxiliary_name_scope must be `True` or `False`, while get "
            f"{auxiliary!r}"
        )
    if name_or_scope is None and default_name is None:
        raise TypeError("If default_name is None then name_or_scope is required")
    if name_or_scope is None and reuse:
        raise ValueError("reuse=True cannot be used without a name_or_scope")
    if not isinstance(name_or_scope, (VariableScope, str, type(None))):
        raise TypeError(
            "VariableScope: name_or_scope must be a string or VariableScope."
        )
    if partitioner is not None:
        raise NotImplementedError(
            "[variable_scope] expected no partitioner: variables are made in one piece."
        )


def _graph_of_values(values: Any) -> Any:
    return graph_of(*(parts_of(v) or v for v in values or ()))


@contextmanager
def variable_scope(
    name_or_scope: Any, default_name: str | None = None, values: Any = None,
    initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
    partitioner: Any = None, custom_getter: Any = None, reuse: Any = None,
    dtype: Any = None, use_resource: Any = None, constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:  # fmt: skip
    """A context in which get_variable's names begin with ``name/``.

    reuse: True, to share the variables that are there; AUTO_REUSE, to make those that
    are not.  custom_getter: a function that is asked for variables, with ``getter``,
    which gives the plain one.  values: tensors, whose graph is the default one there.
    """
    _checked(name_or_scope, default_name, reuse, auxiliary_name_scope, partitioner)
    graph = _graph_of_values(values)
    with graph.as_default():
        above = get_variable_scope()
        again = isinstance(name_or_scope, VariableScope)
        like = name_or_scope if again else above
        if again:
            full, names = like.name, like.name.rpartition("/")[2]
        else:
            names = str(default_name if name_or_scope is None else name_or_scope)
            full = _unused(above, names) if name_or_scope is None else names
            full = _inside(above, full)

        def given(value: Any, otherwise: Any) -> Any:
            return otherwise if value is None else value

        opened = VariableScope(
            reuse or like.reuse, full, given(initializer, like.initializer),
            given(regularizer, like.regularizer),
            given(caching_device, like.caching_device), None,
            _composed(custom_getter, like.custom_getter), like.original_name_scope,
            given(dtype, like.dtype), given(use_resource, like.use_resource),
            given(constraint, like.constraint),
        )  # fmt: skip
        if auxiliary_name_scope and names:
            with graph.name_scope(names) as prefix, _opened(opened, again):
                if not again:
                    opened.original_name_scope = prefix
                yield opened
        else:
            if not again:
                here = graph.get_name_scope()
                opened.original_name_scope = f"{here}/" if here else ""
            with _opened(opened, again):
                yield opened


def _composed(getter: Any, outer: Any) -> Any:
    if getter is None or outer is None:
        return outer if getter is None else getter

    def both(true_getter: Any, *args: Any, **options: Any) -> Any:
        return getter(functools.partial(outer, true_getter), *args, **options)

    return lambda getter, *args, **options: both(getter, *args, **options)


variable_op_scope = variable_scope


def _get(
    scope: VariableScope, name: str, shape: Any = None, dtype: Any = None,
    initializer: Any = None, regularizer: Any = None, trainable: bool | None = None,
    collections: Any = None, caching_device: Any = None, partitioner: Any = None,
    validate_shape: bool = True, use_resource: Any = None, custom_getter: Any = None,
    constraint: Any = None, synchronization: Any = None, aggregation: Any = None,
    reuse: Any = None,
) -> Any:  # fmt: skip
    if partitioner is not None:
        raise NotImplementedError(
            "[get_variable] expected no partitioner: variables are made in one piece."
        )
    initializer = scope.initializer if initializer is None else initializer
    known, full = store(), _inside(scope, name)
    constant = initializer is not None and (
        isinstance(initializer, Symbol) or not callable(initializer)
    )
    if dtype is None and not constant and full not in known.variables:
        dtype = scope.dtype
    wanted = Wanted(
        full, shape, dtype, initializer,
        scope.regularizer if regularizer is None else regularizer,
        scope.reuse if reuse is None else reuse, trainable, collections, validate_shape,
        scope.constraint if constraint is None else constraint,
    )  # fmt: skip
    return known.get(
        wanted, scope.custom_getter if custom_getter is None else custom_getter,
        caching_device=caching_device, partitioner=None, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool | None = None, collections: Any = None,
    caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
    synchronization: Any = None, aggregation: Any = None,
) -> Any:  # fmt: skip
    """The variable of a name in the variable scope, which is made if it may be.

    In a part of a loop or choice, too, it is one of the whole graph.  ValueError if it
    is
    there and may not be shared, if it is not and may not be made, and for a shape or a
    dtype that it does not have.
    """
    return _get(
        get_variable_scope(), name, shape, dtype, initializer, regularizer, trainable,
        collections, caching_device, partitioner, validate_shape, use_resource,
        custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


def get_local_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool | None = False, collections: Any = None,
    caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
    synchronization: Any = None, aggregation: Any = None,
) -> Any:  # fmt: skip
    """get_variable of a variable that is local, and that no optimizer changes."""
    return get_variable(
        name, shape, dtype, initializer, regularizer, False,
        [*(collections or ()), GraphKeys.LOCAL_VARIABLES], caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization,
        aggregation,
    )  # fmt: skip


@contextmanager
def name_scope(
    name: str | None, default_name: str | None = None, values: Any = None
) -> Iterator[str]:
    """A context in which names begin with the name.

    values: tensors, whose graph is the default one there; ValueError if they are of
    several graphs, or without a name for them.
    """
    if name is None and default_name is None and values is not None:
        raise ValueError(
            f"At least one of name ({name}) and default_name ({default_name}) must be "
            "provided."
        )
    graph = _graph_of_values(values)
    with graph.as_default():
        with graph.name_scope(name if name is not None else default_name) as prefix:
            yield prefix

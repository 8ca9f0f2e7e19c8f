# SPDX-License-Identifier: Apache-2.0
"""Variables by name: variable_scope and get_variable."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...graph import Symbol
from . import dtypes
from .collections import GraphKeys
from .convert import convert_to_tensor
from .dtypes import as_dtype
from .elements import get_default_graph
from .initializers import glorot_uniform_initializer, zeros_initializer
from .shapes import TensorShape
from .variables import Variable

__all__ = [
    "AUTO_REUSE", "VariableScope", "get_local_variable", "get_variable",
    "get_variable_scope", "name_scope", "variable_op_scope", "variable_scope",
]  # fmt: skip


class _AutoReuse:
    """Reuse what is there, make what is not."""

    def __repr__(self) -> str:
        """AUTO_REUSE."""
        return "AUTO_REUSE"


AUTO_REUSE = _AutoReuse()


class VariableScope:
    """What the variables that get_variable makes in a scope have in common."""

    def __init__(
        self, name: str, reuse: Any = False, initializer: Any = None,
        regularizer: Any = None, dtype: Any = dtypes.float32, name_scope: str = "",
        constraint: Any = None,
    ) -> None:  # fmt: skip
        self.name, self.reuse, self.initializer = name, reuse, initializer
        self.regularizer, self.dtype = regularizer, dtype
        self.original_name_scope = name_scope
        self.constraint = constraint

    def reuse_variables(self) -> None:
        """From here on variables are reused, and none is made."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """What variables begin with if the program does not say."""
        self.initializer = initializer

    def global_variables(self) -> list[Any]:
        """The global variables in the scope."""
        return self._found(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The variables in the scope that optimizers change."""
        return self._found(GraphKeys.TRAINABLE_VARIABLES)

    def _found(self, key: str) -> list[Any]:
        prefix = f"{self.name}/" if self.name else ""
        there: list[Any] = get_default_graph().get_collection(key)
        return [v for v in there if v.name.startswith(prefix)]


class _Store:
    """The variables of a graph by name, and what its threads have entered."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.here = threading.local()

    def scopes(self) -> list[VariableScope]:
        if not hasattr(self.here, "scopes"):
            self.here.scopes = [VariableScope("")]
        found: list[VariableScope] = self.here.scopes
        return found


def _store() -> _Store:
    found: _Store = get_default_graph().__dict__.setdefault("_store", _Store())
    return found


def get_variable_scope() -> VariableScope:
    """The variable scope that this thread has entered last."""
    return _store().scopes()[-1]


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
    are not.
    """
    graph = get_default_graph()
    if custom_getter is not None or partitioner is not None:
        raise NotImplementedError(
            "[variable_scope] expected no custom_getter and no partitioner: variables "
            "are made by get_variable, in one piece."
        )
    store = _store()
    above = store.scopes()[-1]
    if isinstance(name_or_scope, VariableScope):
        like, full = name_or_scope, name_or_scope.name
        scope_name = full.rpartition("/")[2]
    else:
        if name_or_scope is None:
            if default_name is None:
                raise ValueError(
                    "If default_name is None then name_or_scope is required"
                )
            name_or_scope = _unused_name(store, above, default_name)
        like, scope_name = above, name_or_scope
        full = f"{above.name}/{scope_name}" if above.name else scope_name
    opened = VariableScope(
        full,
        like.reuse if reuse is None else reuse,
        like.initializer if initializer is None else initializer,
        like.regularizer if regularizer is None else regularizer,
        like.dtype if dtype is None else dtype,
        constraint=like.constraint if constraint is None else constraint,
    )
    if reuse in (None, False) and above.reuse is True:
        opened.reuse = True
    with graph.as_default():
        if not auxiliary_name_scope or not scope_name:
            store.scopes().append(opened)
            try:
                yield opened
            finally:
                store.scopes().pop()
            return
        with graph.name_scope(scope_name) as prefix:
            opened.original_name_scope = prefix
            store.scopes().append(opened)
            try:
                yield opened
            finally:
                store.scopes().pop()


def _unused_name(store: _Store, above: VariableScope, name: str) -> str:
    counts = store.here.__dict__.setdefault("counts", {})
    key = (above.name, name)
    counts[key] = count = counts.get(key, -1) + 1
    return name if count == 0 else f"{name}_{count}"


variable_op_scope = variable_scope


def _share(name: str, found: Any, shape: Any, dtype: Any) -> Any:
    if shape is not None and not found.shape.is_compatible_with(shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape "
            f"{TensorShape(shape)} and found shape {found.shape}."
        )
    if dtype is not None and found.dtype != as_dtype(dtype):
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype "
            f"{as_dtype(dtype).name} and found dtype {found.dtype.name}."
        )
    return found


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool | None = None, collections: Any = None,
    caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
    **_: Any,
) -> Any:  # fmt: skip
    """The variable of a name in the variable scope, which is made if it may be.

    ValueError if it is there and may not be shared, if it is not and may not be made,
    and for a shape that it does not have.
    """
    graph = get_default_graph()
    store, scope = _store(), get_variable_scope()
    full = f"{scope.name}/{name}" if scope.name else name
    found = store.variables.get(full)
    if found is not None and scope.reuse is False:
        site = found.op.call_site
        where = f" Originally defined at: {site}" if site else ""
        raise ValueError(
            f"Variable {full} already exists, disallowed. Did you mean to set "
            f"reuse=True or reuse=tf.AUTO_REUSE in VarScope?{where}"
        )
    if found is not None:
        return _share(full, found, shape, dtype)
    if scope.reuse is True:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with "
            "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    initializer = scope.initializer if initializer is None else initializer
    given = initializer is not None and (
        isinstance(initializer, Symbol) or not callable(initializer)
    )
    kind = scope.dtype if dtype is None and not given else dtype
    if given:
        begin: Any = convert_to_tensor(initializer, dtype)
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
    else:
        if shape is None:
            raise ValueError(
                "The initializer passed is not valid. Shape of a new variable "
                f"({full}) must be fully defined, but instead was <unknown>."
            )
        sizes = TensorShape(shape)
        if not sizes.is_fully_defined():
            raise ValueError(
                f"Shape of a new variable ({full}) must be fully defined, but instead "
                f"was {sizes}."
            )
        if initializer is None:
            floating = as_dtype(kind).is_floating
            initializer = (
                glorot_uniform_initializer() if floating else zeros_initializer()
            )
        elif isinstance(initializer, type):
            initializer = initializer()
        make, dims = initializer, sizes.as_list()
        begin = lambda: make(dims, dtype=as_dtype(kind))  # noqa: E731
    with graph.name_scope(None):
        made = Variable(
            begin,
            trainable=True if trainable is None else trainable,
            collections=collections,
            validate_shape=validate_shape,
            name=full,
            dtype=kind,
            constraint=scope.constraint if constraint is None else constraint,
        )
    store.variables[full] = made
    regularizer = scope.regularizer if regularizer is None else regularizer
    if regularizer is not None:
        with graph.name_scope(f"{full}/Regularizer/"):
            loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def get_local_variable(name: str, *args: Any, **options: Any) -> Any:
    """get_variable of a variable that is local, and that no optimizer changes."""
    options.update(trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
    return get_variable(name, *args, **options)


@contextmanager
def name_scope(
    name: str | None, default_name: str | None = None, values: Any = None
) -> Iterator[str]:
    """A context in which names begin with the name."""
    graph = get_default_graph()
    with graph.as_default():
        with graph.name_scope(name if name is not None else default_name) as prefix:
            yield prefix

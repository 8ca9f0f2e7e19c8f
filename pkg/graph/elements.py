# SPDX-License-Identifier: Apache-2.0
"""Symbols and operations of a graph by name, and what sessions may do with them."""

from __future__ import annotations

from typing import Any

from .symbols import Operation, Symbol

__all__ = ["Elements"]


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(
            f"{what} names are strings (or similar), not {type(name).__name__}."
        )


class Elements:
    """What a graph knows of the names of its symbols and operations."""

    _handle: Any
    _malformed = "does not look like the name of a symbol, '<operation>:<number>'."

    def __init__(self) -> None:
        super().__init__()
        self._not_fed: set[str] = set()
        self._not_fetched: set[Operation] = set()

    def _operation(self, handle: Any) -> Any:
        """The operation of a handle; graphs have one object for each."""
        raise NotImplementedError

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation; KeyError if there is none, ValueError for a tensor's name."""
        _check_name("Operation", name)
        found: Operation = self.as_graph_element(name, allow_tensor=False)
        return found

    def get_tensor_by_name(self, name: str) -> Symbol:
        """The symbol 'operation:0'; KeyError or ValueError if there is none."""
        _check_name("Tensor", name)
        found: Symbol = self.as_graph_element(name, allow_operation=False)
        return found

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The symbol or operation that an object or a name stands for.

        KeyError for a name that is not there; ValueError for an element of another
        graph or a malformed name; TypeError for anything else.
        """
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        wanted = " or ".join(
            ["Tensor"] * allow_tensor + ["Operation"] * allow_operation
        )
        as_element = getattr(obj, "_as_graph_element", None)
        if as_element is not None:
            obj = as_element()
        if isinstance(obj, Symbol) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._named(obj, allow_tensor, allow_operation)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _named(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, number = name.rpartition(":")
            if not number.isdigit() or not op_name or ":" in op_name:
                raise ValueError(f"The name {name!r} {self._malformed}")
            handle = self._handle.find(op_name)
            if handle is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The "
                    f"operation, {op_name!r}, does not exist in the graph."
                )
            if int(number) >= handle.n_outputs():
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The "
                    f"operation, {op_name!r}, exists but only has "
                    f"{handle.n_outputs()} outputs."
                )
            return handle.output(int(number))
        if ":" in name:
            raise ValueError(
                f"Name {name!r} appears to refer to a Tensor, not a Operation."
            )
        handle = self._handle.find(name)
        if allow_operation:
            if handle is None:
                raise KeyError(
                    f"The name {name!r} refers to an Operation not in the graph."
                )
            return self._operation(handle)
        if handle is not None:
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names "
                "must be of the form '<op_name>:<output_index>'."
            )
        raise ValueError(
            f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. "
            "Tensor names must be of the form '<op_name>:<output_index>'."
        )

    # What a session has looked up before stays allowed.
    def is_feedable(self, tensor: Symbol) -> bool:
        """Whether a value may be given for it."""
        return (
            isinstance(tensor, Symbol)
            and tensor.graph is self
            and tensor.name not in self._not_fed
        )

    def is_fetchable(self, element: Symbol | Operation) -> bool:
        """Whether a session may be asked for it."""
        op = element.op if isinstance(element, Symbol) else element
        return op.graph is self and op not in self._not_fetched

    def prevent_feeding(self, tensor: Symbol) -> None:
        """From now on it is an error to give a value for it."""
        self._not_fed.add(self.as_graph_element(tensor, allow_operation=False).name)

    def prevent_fetching(self, op: Operation) -> None:
        """From now on it is an error to ask a session for it or its outputs."""
        self._not_fetched.add(self.as_graph_element(op, allow_tensor=False))

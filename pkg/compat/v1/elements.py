# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's graphs, and the tensors and operations in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ... import graph as pg
from ...graph.definitions import NAMESPACE
from ...graph.entering import entered_graph
from ...graph.symbols import dtype_of
from .devices import merged
from .dtypes import DType, as_dtype
from .shapes import TensorShape
from .types import type_of

__all__ = [
    "Graph", "NodeDef", "Operation", "Tensor", "get_default_graph",
    "reset_default_graph",
]  # fmt: skip


class Tensor(pg.Symbol):
    """What an operation will give: a dtype and a shape, and no values."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        """TensorFlow's dtype of it."""
        return as_dtype(dtype_of(self))

    @property
    def shape(self) -> TensorShape:  # type: ignore[override]
        """The sizes, which may be unknown."""
        made = TensorShape(super().shape)
        narrowed = getattr(self._graph, "narrowed", None)
        if narrowed and self.name in narrowed:
            made = made.merge_with(narrowed[self.name])
        return made

    def set_shape(self, shape: Any) -> None:
        """Says more of the shape; ValueError for what it cannot be.

        It counts where the program asks for the shape.  A run does not check it.
        """
        graph: Any = self._graph
        graph.narrowed[self.name] = self.shape.merge_with(shape)

    @property
    def device(self) -> Any:  # type: ignore[override]
        """That of its operation."""
        return self.op.device

    @property
    def ndim(self) -> int | None:  # type: ignore[override]
        """How many dimensions it has, or None."""
        return self.shape.ndims

    def _refuse(self, text: str) -> NoReturn:
        raise TypeError(text)

    def __bool__(self) -> bool:
        """TypeError: a program cannot branch on what is not known yet."""
        self._refuse(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not "
            "None:` instead of `if t:` to test if a tensor is defined, and TensorFlow "
            "ops such as tf.cond to execute subgraphs conditioned on the value of a "
            f"tensor. The tensor: {self}"
        )

    def __len__(self) -> int:
        """TypeError: tf.shape(t)[0] is the first size."""
        self._refuse(f"object of type 'Tensor' has no len(): use tf.shape() of {self}.")

    def __iter__(self) -> Iterator[Any]:
        """TypeError: tf.unstack(t) is the list of its parts."""
        self._refuse(
            "Tensor objects are not iterable when eager execution is not enabled. To "
            f"iterate over this tensor use tf.unstack. The tensor: {self}"
        )

    def __float__(self) -> float:
        """TypeError: there is no value."""
        self._refuse(f"expected a number, got the symbolic {self}.")

    def __int__(self) -> int:
        """TypeError: there is no value."""
        self._refuse(f"expected a number, got the symbolic {self}.")

    def __eq__(self, other: object) -> bool:
        """Whether it is the same tensor; tf.equal() compares values."""
        return self is other

    def __ne__(self, other: object) -> bool:
        """Whether it is another tensor; tf.not_equal() compares values."""
        return self is not other

    __hash__ = pg.Symbol.__hash__

    def __str__(self) -> str:
        """Name, shape and dtype."""
        shape = "" if self.ndim is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        """Name, shape and dtype."""
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


class NodeDef:
    """A plain description of an operation: name, op, input, device and attr."""

    def __init__(self, op: Operation) -> None:
        self.name = op.name
        self.op = op.type
        self.device = op.device
        taken = [tensor.name.removesuffix(":0") for tensor in op.inputs]
        self.input = [*taken, *(f"^{before.name}" for before in op.control_inputs)]
        self.attr = op._attributes()

    def __repr__(self) -> str:
        """What it is made of."""
        return f"NodeDef({vars(self)})"


class Operation(pg.Operation):
    """One operation of a graph."""

    @property
    def type(self) -> str:
        """What it does: "MatMul"."""
        graph: Any = self._graph
        return graph.types.get(self.name) or type_of(self._handle.type())

    @property
    def device(self) -> str:
        """As it was written, or as a function of operations says."""
        written = str(self._handle.device())
        graph: Any = self._graph
        if not written.startswith("@"):
            return written
        return str(graph._device_of(self, written))

    @property
    def control_inputs(self) -> list[pg.Operation]:
        """What runs before it and is no input."""
        inputs = {id(tensor.op) for tensor in self.inputs}
        return [op for op in super().control_inputs if id(op) not in inputs]

    @property
    def node_def(self) -> Any:
        """A description of it."""
        return NodeDef(self)

    def values(self) -> tuple[Any, ...]:
        """The tensors that it gives."""
        return tuple(self.outputs)

    def _attributes(self) -> dict[str, Any]:
        outputs = self.outputs
        if self._handle.type() in ("Const", "Placeholder", "Variable"):
            return {"dtype": outputs[0].dtype, "shape": outputs[0].shape}
        if self._handle.type().startswith(f"{NAMESPACE}::"):
            return super()._attributes()
        tensors = [*self.inputs, *outputs]
        return {"T": tensors[0].dtype} if tensors else {}

    def __repr__(self) -> str:
        """Name and type."""
        return f"<tf.Operation {self.name!r} type={self.type}>"


_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", re.ASCII)
_INNER = re.compile(r"[A-Za-z0-9_.\\/>-]*", re.ASCII)


class Graph(pg.Graph):
    """A graph of operations, which are only ever added.

    ``seed`` is that of its random operations; None: others in each session.
    """

    _symbols = Tensor
    _operations = Operation
    _malformed = "looks a like a Tensor name, but is not a valid one."
    seed: int | None = None
    def __init__(self) -> None:
        super().__init__()
        # By names: the Python object of a tensor may end before the tensor does.
        # Whose shape or size a tensor is: see sizes.py.
        self.origins: dict[str, tuple[Any, int | None]] = {}
        self.narrowed: dict[str, TensorShape] = {}  # by set_shape
        # What the failure of an operation means: a code of errors and a text.
        self.failures: dict[str, tuple[int, str]] = {}
        self._override: dict[str, str] = {}  # of gradients: see registered.py
        #: Types of operations that stand for several of TensorFlow's, by name.
        self.types: dict[str, str] = {}
        self.has_devices = False
        self._device_functions: list[tuple[Any, str]] = []
        self._devices: dict[str, str] = {}  # of functions, by the operation's name

    def check(self, name: str | None) -> None:
        """RuntimeError if it is finalized; ValueError if nothing can have this name."""
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        if name is not None:
            full = name if name.endswith("/") else self._scope().prefix + name
            if not name or not _NAME.fullmatch(full):
                raise ValueError(f"{full!r} is not a valid node name")

    def record(self, name: str | None, function: Any, *args: Any,
               **options: Any) -> Any:  # fmt: skip
        """Adds a call of an op; gives its tensors."""
        self.check(name)
        return super().record(name, function, *args, **options)

    def name_scope(self, name: str | None) -> Any:
        """A context in which names begin with ``name/``; gives what they begin with."""
        if name and not name.endswith("/"):
            allowed = _INNER if self._scope().prefix else _NAME
            if not allowed.fullmatch(name):
                raise ValueError(f"{name!r} is not a valid scope name")
        return super().name_scope(name)

    @contextmanager
    def device(self, name: Any) -> Iterator[None]:
        """A context in which operations get this device, or what a function of the
        operation says; inside of another one, the parts that it leaves open stay.

        None: no device.  All run on the CPU.
        """
        outer = str(self._scope().device)
        if callable(name):
            made = f"@{len(self._device_functions)}"
            self._device_functions.append((name, outer))
        elif not name:
            made = ""
        else:
            base = "" if outer.startswith("@") else outer
            made = merged(base, str(name))
        self.has_devices = True
        with self._with(device=made):
            yield

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """A context in which operations get the device of another one.

        None, with ``ignore_existing``: none.  ValueError for None without it.
        """
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not "
                "True"
            )
        element = None if op is None else self.as_graph_element(op)
        with self._with(device="" if element is None else element.device):
            yield

    collections = property(
        lambda self: self.get_all_collection_keys(), doc="Names of its lists."
    )

    def _device_of(self, op: Operation, written: str) -> str:
        if op.name not in self._devices:
            self._devices[op.name] = ""  # what a function sees of the device
            self._devices[op.name] = self._resolved(op, written)
        return self._devices[op.name]

    def _resolved(self, op: Operation, written: str) -> str:
        if not written.startswith("@"):
            return written
        function, outer = self._device_functions[int(written[1:])]
        return merged(self._resolved(op, outer), function(op) or "")

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """A context in which operations of these types have a registered gradient.

        Of a function that adds several operations its last one counts.
        """
        if not isinstance(op_type_map, dict) or not all(
            isinstance(item, str) for pair in op_type_map.items() for item in pair
        ):
            raise TypeError(
                "op_type_map must be a dictionary mapping strings to strings"
            )
        before = self._override
        self._override = {**before, **op_type_map}
        try:
            yield
        finally:
            self._override = before

    _overridden: Any = None  # see registered.py

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to a list of this graph."""
        self.check(None)
        super().add_to_collection(name, value)


_global: list[pg.Graph] = []  # the default graph where none was entered


def get_default_graph() -> Any:
    """The graph that this thread has entered last, or that of the process."""
    entered = entered_graph()
    if entered is not None:
        return entered
    if not _global:
        _global.append(Graph())
    return _global[0]


def reset_default_graph() -> None:
    """Begins a new default graph; AssertionError inside of ``as_default()``."""
    if entered_graph() is not None:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a "
            "cleared graph, exit the nesting and create a new graph."
        )
    _global[:] = [Graph()]

# SPDX-License-Identifier: Apache-2.0
"""A graph as plain data: what is written to files, and what is read from them.

A definition is a dict:

- ``format`` is "pkg.graph", ``version`` an int;
- ``nodes``: a list, in the order in which they were added, of dicts with ``name``,
  ``op`` (Operation.type), ``inputs`` ("name:output", and "^name" for what runs before),
  ``attributes`` (arguments by name), ``device`` and ``outputs`` (dtype and shape each;
  None for what is not known), ``no_grad``: true where it was added under
  ``no_grad()``, and ``gradient``: the name under which its gradient is registered,
  where that is not its type;
- ``collections``: names of symbols and operations, by the name of the collection;
- ``functions``: parts of loops and choices, and gradients of one's own, by name.  One
  has ``nodes`` of its own, which refer to each other only; ``inputs``, the names of the
  placeholders that take what it is called with; ``captured``, those of placeholders and
  variables that stand for something of the graph around it; ``outputs``
  ("name:output"), and ``targets``, nodes that run besides.  Each is used once, so none
  can call itself;
- ``gradients``: a list, in the graph's order, of dicts with ``inputs`` and ``outputs``
  ("name:output") of what has a gradient of its own, the ``function`` that takes a
  gradient for each output, what that ``captured``, ``results``: for each input which of
  the function's outputs is its gradient, or None; ``cut``: whether the outputs are made
  for this and have no history, and ``always``: whether it is asked where nothing wanted
  lies behind it;
- ``tensors``: tensors with values, by the name under which attributes refer to them.
  All the rest is what JSON has.

The attributes of a ``While`` are ``values``, ``condition`` and ``body``, those of an
``If`` ``predicate``, ``if_true`` and ``if_false``; and beside each function what it
captured, ``body_captured``: a list of inputs of the node and of variables.

Values of attributes are None, bools, ints, floats, strings and lists of them; what
JSON has no word for is a dict with one entry: ``{"float": "inf"}``,
``{"dtype": "float32"}``, ``{"device": "cpu"}``, ``{"input": 0}`` (the first of the
inputs), ``{"tensor": name}``, ``{"number": 2.5}`` (a number in the place of a tensor),
``{"operation": name}``, ``{"function": name}``.
"""

from __future__ import annotations

from typing import Any

from .symbols import Symbol, dtype_of

__all__ = ["DEEPEST", "FORMAT", "VERSION", "GraphDefError", "brief", "shown", "spec"]

FORMAT = "pkg.graph"
VERSION = 1
#: How deep functions may be in each other.
DEEPEST = 50


class GraphDefError(ValueError):
    """A definition, or a file of one, that is no graph.

    ``node`` is the name of the node that is wrong, or None; ``function`` that of the
    function of the definition that it is in.
    """

    def __init__(
        self, message: str, node: str | None = None, function: str | None = None
    ) -> None:
        if node is not None:
            where = "" if function is None else f" of the function {shown(function)}"
            message = f"node {shown(node)}{where}: {message}"
        super().__init__(f"[graph] {message}")
        self.node = node
        self.function = function


def shown(value: Any) -> str:
    """A value in a message: never longer than a line, whatever it is."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1 << 64:
        return f"an int of {value.bit_length()} bits"
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."


def brief(error: BaseException) -> str:
    """What an error says, which may hold whatever a file does, in some lines."""
    text = str(error)
    return text if len(text) <= 1000 else text[:997] + "..."


def spec(symbol: Symbol) -> dict[str, Any]:
    """What is known of a symbol: dtype and shape."""
    sizes = symbol.op._handle.shape(symbol.value_index)
    return {
        "dtype": dtype_of(symbol).name,
        "shape": None if sizes is None else [n if n >= 0 else None for n in sizes],
    }

# SPDX-License-Identifier: Apache-2.0
"""What is checked of the nodes of a definition while they are built."""

from __future__ import annotations

from typing import Any

from .._binding import core
from .bodies import Part
from .definition_values import Node
from .graph_def import brief, spec
from .symbols import Operation, Symbol, dtype_of

__all__ = ["check_shapes", "compare", "refuse_large"]

#: Ints from here on are tried without memory first, and so many results refused.
_LARGE = 1 << 20

Sizes = list[int | None] | None


def refuse_large(node: Node, arguments: dict[str, Any]) -> None:
    """GraphDefError for a call that may need much memory only to see what it gives.

    Shapes come from calls without memory.  Some ops cannot do that and are called with
    zeros; others give as many results as a size says.
    """
    symbols = [s for value in arguments.values() for s in _tensors_of(value)]
    sizes = [
        size for symbol in symbols for size in _sizes(symbol) or () if size is not None
    ]
    ints = [i for value in arguments.values() for i in _ints_of(value)]
    stored = [t for t in symbols if not isinstance(t, Symbol)]
    ints += [_sum_of(tensor) for tensor in stored]
    if max((*ints, *sizes), default=0) < _LARGE:
        return
    assert node.call is not None
    if any("-> Tensor[]" in schema for schema in node.call.schemas):
        # All that exist take dim, and give a part for each of so many elements.
        dim = arguments.get("dim", 0)
        shape = symbols and _sizes(symbols[0]) or ()
        if type(dim) is int and -len(shape) <= dim < len(shape):
            sizes = [shape[dim] or 0]
        part = arguments.get("split_size", 1)
        if type(part) is int and part > 0:
            sizes = [-(-size // part) for size in sizes]
        parts = [arguments.get("chunks"), arguments.get("sections")]
        counts = [*sizes, *(n for n in parts if type(n) is int)]
        counts += [_sum_of(tensor) for tensor in stored if tensor.ndim == 0]
        if max(counts, default=0) >= _LARGE:
            raise node.error(f"{node.op}: it would have {max(counts)} results")
    with_meta = {key: _on_meta(value) for key, value in arguments.items()}
    try:
        node.call(**with_meta)
    except (Exception, RecursionError) as error:
        raise node.error(
            f"{node.op}: the numbers are too large to see what it gives: {brief(error)}"
        ) from error


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _tensors_of(value: Any) -> list[Any]:
    return [item for item in _items(value) if isinstance(item, core.Tensor)]


def _ints_of(value: Any) -> list[int]:
    return [abs(item) for item in _items(value) if type(item) in (int, float)]


def _sum_of(tensor: Any) -> int:
    # How many elements repeat_interleave() and the like make of such a tensor.
    if tensor.dtype.is_floating_point or tensor.device != "cpu":
        return 0
    return int(abs(tensor.numpy().astype("float64")).sum())


def _on_meta(value: Any) -> Any:
    if isinstance(value, list):
        return [_on_meta(item) for item in value]
    if not isinstance(value, core.Tensor):
        return value
    shape = [2 if size is None else size for size in _sizes(value) or ()]
    return core.Operator("empty")(shape, dtype=dtype_of(value), device="meta")


def _sizes(tensor: Any) -> Sizes:
    # In the words of this library, whatever those of the graph are.
    if isinstance(tensor, Symbol):
        found: Sizes = spec(tensor)["shape"]
        return found
    return list(tensor.shape)


def compare(node: Node, symbols: list[Symbol]) -> None:
    """GraphDefError unless the symbols may be what the definition says of them."""
    if len(symbols) != len(node.outputs):
        raise node.error(
            f"expected {len(node.outputs)} outputs, as the definition says, got "
            f"{len(symbols)}"
        )
    for i, (symbol, (dtype, shape)) in enumerate(zip(symbols, node.outputs)):
        if dtype_of(symbol) != dtype:
            raise node.error(
                f"expected {dtype.name} as output {i}, as the definition says, got "
                f"{dtype_of(symbol).name}"
            )
        found = _sizes(symbol)
        if not _may_be(shape, found):
            raise node.error(
                f"expected the shape {shape} as output {i}, as the definition says, "
                f"got {symbol.shape}"
            )


def check_shapes(node: Node, op: Operation, parts: list[Part]) -> None:
    """GraphDefError unless the values of a loop fit from turn to turn."""
    condition, body = parts
    for part in parts:
        for taken, value in zip(part.inputs, op.inputs):
            _check_fits(node, taken, value)
    for taken, value in zip(body.inputs, body.outputs):
        _check_fits(node, taken, value)
    (truth,) = condition.outputs
    if _sizes(truth):
        raise node.error(f"expected a condition of one bool, got {truth.shape}")


def _may_be(shape: Sizes, other: Sizes) -> bool:
    # Whether something may have both.
    if shape is None or other is None:
        return True
    return len(shape) == len(other) and all(
        a == b or a is None or b is None for a, b in zip(shape, other)
    )


def _check_fits(node: Node, taken: Symbol, value: Symbol) -> None:
    if not _may_be(_sizes(taken), _sizes(value)):
        raise node.error(
            f"expected values of the shape {taken.shape} for {taken.op.name} in each "
            f"turn, got {value.shape} ({value.op.name})"
        )

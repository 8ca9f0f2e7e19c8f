# SPDX-License-Identifier: Apache-2.0
"""What ``x + y`` and ``x[0]`` are of TensorFlow 1's tensors."""

from __future__ import annotations

from typing import Any

from ...graph.symbols import dtype_of
from . import indexing, math, sizes
from .elements import Tensor

__all__: list[str] = []


def _truth(function: Any, bits: str) -> Any:
    # Of truth values; of integers bit by bit.
    import pkg.ops as ops

    from ..._binding import core
    from .convert import pair
    from .record import recorded

    @recorded(bits)
    def integers(x: Any, y: Any) -> Any:
        return getattr(ops, bits)(*pair(x, y, bits))

    def call(x: Any, y: Any, name: str | None = None) -> Any:
        a = x if isinstance(x, Tensor) else y
        chosen = function if dtype_of(a) == core.bool else integers
        return chosen(x, y, name=name)

    return call


_BINARY = {
    "add": (math.add, "add"),
    "sub": (math.subtract, "sub"),
    "mul": (math.multiply, "mul"),
    "truediv": (math.truediv, "truediv"),
    "floordiv": (math.floordiv, "floordiv"),
    "mod": (math.mod, "mod"),
    "pow": (math.pow, "pow"),
    "matmul": (math.matmul, "matmul"),
    "and": (_truth(math.logical_and, "bitwise_and"), "and"),
    "or": (_truth(math.logical_or, "bitwise_or"), "or"),
    "xor": (_truth(math.logical_xor, "bitwise_xor"), "xor"),
}
_COMPARISONS = {
    "lt": math.less, "le": math.less_equal, "gt": math.greater,
    "ge": math.greater_equal,
}  # fmt: skip


def _forward(function: Any, name: str) -> Any:
    def operator(self: Any, other: Any) -> Any:
        return function(self, other, name=name)

    return operator


def _backward(function: Any, name: str) -> Any:
    def operator(self: Any, other: Any) -> Any:
        return function(other, self, name=name)

    return operator


def _compare(function: Any) -> Any:
    def operator(self: Any, other: Any) -> Any:
        return function(self, other)

    return operator


def _getitem(self: Any, key: Any) -> Any:
    if type(key) is int:
        part = sizes.part_of_shape(self, key)
        if part is not None:
            return part
    return indexing.sliced(self, key)


for _word, (_function, _name) in _BINARY.items():
    setattr(Tensor, f"__{_word}__", _forward(_function, _name))
    setattr(Tensor, f"__i{_word}__", _forward(_function, _name))  # x += y makes a new x
    setattr(Tensor, f"__r{_word}__", _backward(_function, _name))
for _word, _function in _COMPARISONS.items():
    setattr(Tensor, f"__{_word}__", _compare(_function))
_MORE: dict[str, Any] = {
    "__neg__": lambda self: math.negative(self),
    "__abs__": lambda self: math.abs(self),
    "__invert__": lambda self: math.logical_not(self, name="LogicalNot"),
    "__getitem__": _getitem,
}
for _word, _function in _MORE.items():
    setattr(Tensor, _word, _function)

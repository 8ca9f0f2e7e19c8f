# SPDX-License-Identifier: Apache-2.0
"""A call as a line of Python that makes it again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fuzz.generate import Call
from fuzz.values import (
    FOREIGN_TEXT,
    Data,
    DType,
    Foreign,
    contiguous_strides,
    numbers_of,
)

SHORT = 24  # more numbers than this are named by their pool


def number(value: Any) -> str:
    """A number as Python writes it, with NaN and infinities by name."""
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(round(value, 4) if round(value, 4) == round(value, 12) else value)
    return repr(value)


def listed(array: np.ndarray) -> str:
    """An array as nested lists."""
    if array.ndim == 0:
        return number(array.item())
    return "[" + ", ".join(listed(a) for a in array) + "]"


class Line:
    """Collects what must be named first."""

    def __init__(self, module: str = "pkg") -> None:
        self.module = module
        self.names: dict[int, str] = {}
        self.before: list[str] = []

    def value(self, item: Any) -> str:
        """The expression of an argument."""
        if isinstance(item, Data):
            return self.tensor(item)
        if isinstance(item, DType):
            return f"{self.module}.{item.name}"
        if isinstance(item, Foreign):
            return FOREIGN_TEXT[item.kind]
        if isinstance(item, (list, tuple)):
            inside = ", ".join(self.value(i) for i in item)
            if isinstance(item, tuple):
                return f"({inside}{',' if len(item) == 1 else ''})"
            return f"[{inside}]"
        return number(item) if isinstance(item, float) else repr(item)

    def tensor(self, data: Data) -> str:
        """The expression of a tensor; a name for one that shares memory."""
        if id(data) in self.names:
            return self.names[id(data)]
        if data.alias is None:
            return self.view(self.base(data), data)
        name = f"x{len(self.names)}"
        first = data.alias
        if id(first) not in self.names:
            raise ValueError("the first of two tensors is named before the second")
        if data.fill[0] == "same":
            return self.names[id(first)]
        self.before.append(
            f"{name} = {self.view(self.names[id(first)] + '_base', data)}"
        )
        self.names[id(data)] = name
        return name

    def name(self, data: Data) -> None:
        """Gives a tensor a name, and its memory too."""
        name = f"x{len(self.names)}"
        self.before.append(f"{name}_base = {self.base(data)}")
        self.before.append(f"{name} = {self.view(f'{name}_base', data)}")
        self.names[id(data)] = name

    def base(self, data: Data) -> str:
        """The numbers in memory."""
        kind = f", dtype={self.module}.{data.dtype}"
        if data.meta:
            return f"{self.module}.empty({data.shape}{kind}, device='meta')"
        memory = numbers_of(data)
        plain = data.strides is None and data.offset == 0
        shape = data.shape if plain else (data.length,)
        if memory.size == 0 or (memory.size > 3 and (memory == memory[0]).all()):
            fill = number(memory[0].item()) if memory.size else 0
            return f"{self.module}.full({shape}, {fill}{kind})"
        if memory.size > SHORT:
            return f"numbers({data.fill[:3]!r}, {shape}{kind})"
        array = memory.reshape(shape)
        if data.dtype in ("float32", "int64", "bool"):
            kind = ""
            if data.dtype == "float32" and (array == np.floor(array)).all():
                return f"{self.module}.tensor({listed(array.astype('float32'))})"
        return f"{self.module}.tensor({listed(array)}{kind})"

    def view(self, base: str, data: Data) -> str:
        """The view of them, as a leaf where it needs gradients."""
        made = base
        if not data.meta and (data.strides is not None or data.offset):
            strides = data.strides or contiguous_strides(data.shape)
            if not any(strides) and data.length == 1:
                made = f"{base}.expand{data.shape}" if data.shape else f"{base}[0]"
            elif self.module == "torch":
                made = f"{base}.as_strided({data.shape}, {strides}, {data.offset})"
            else:
                view = "pkg.ops._strided_view"
                made = f"{view}({base}, {data.shape}, {strides}, {data.offset})"
        if data.grad:
            made += ".requires_grad_()" + (".clone()" if data.clone else "")
        return made


def line(call: Call, module: str = "pkg", path: str = "") -> str:
    """Python that makes the call again."""
    writer = Line(module)
    for data in call.tensors():
        if data.alias is not None and id(data.alias) not in writer.names:
            writer.name(data.alias)
    args = [writer.value(a) for a in call.args]
    kwargs = [f"{name}={writer.value(v)}" for name, v in call.kwargs.items()]
    if call.form == "method" and args:
        head = f"{args.pop(0)}.{call.op}"
    elif path:
        head = path
    elif call.op.startswith("_") or call.op in (
        "float",
        "bool",
        "int",
        "long",
        "double",
    ):
        head = f"pkg.ops.{call.op}"
    else:
        head = f"{module}.{call.op}"
    if call.default_dtype:
        writer.before.insert(0, f"pkg.set_default_dtype('{call.default_dtype}')")
    return "; ".join([*writer.before, f"{head}({', '.join([*args, *kwargs])})"])

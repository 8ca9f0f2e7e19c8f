# SPDX-License-Identifier: Apache-2.0
"""Arguments of a fuzzed call as plain data: they are printed, shrunk and built from it.

A `Data` says what a tensor looks like, for either library; `build` makes it.  Values
come from fixed pools, so that making them costs a slice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int64", "int32", "int8", "uint8")
DTYPES = (*FLOATS, *INTS, "bool")
ITEMSIZE = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "int64": 8}
ITEMSIZE.update({"int32": 4, "int8": 1, "uint8": 1, "bool": 1})
LARGEST = {"float32": 3.4028235e38, "float64": 1.7976931348623157e308}
LARGEST.update({"float16": 65504.0, "bfloat16": 3.3895314e38})

#: Ints that break arithmetic somewhere.
EDGE_INTS = (
    2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64, -(2**31),
    2**63 - 2, -(2**63) + 1, 2**16, 1000, 255, 256, -128,
)  # fmt: skip
SMALL_INTS = (0, 1, -1, 2, 3, -2, 4, 5, 7, 10, -3, -7)
EDGE_FLOATS = (
    math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-45, 5e-324, 1e308, -1e308, 1e40, 0.5,
    -0.5, 2.5, 1e-8, 1.0, -1.0, 2.0**63, 2.0**31, 3.0,
)  # fmt: skip

POOL = 4096


@dataclass
class Data:
    """A tensor: `length` numbers, and a view of them.

    fill: (pool, start), ("index", start, n), ("list", values); `alias` is another
    tensor of the call whose memory this one shares, "same" fill that it is that one.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None  # None: row after row
    offset: int = 0
    length: int = 0
    fill: tuple[Any, ...] = ("normal", 0)
    grad: bool = False
    clone: bool = False  # a copy of a leaf, so that in-place ops may write to it
    meta: bool = False
    alias: Data | None = field(default=None, repr=False)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)


@dataclass
class DType:
    """A dtype of either library."""

    name: str


@dataclass
class Foreign:
    """Something that is no argument of an op: built by its name."""

    kind: str


FOREIGN = {
    "object": lambda: object(),
    "complex": lambda: 1j,
    "bytes": lambda: b"ab",
    "dict": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "array": lambda: np.array([1.0, 2.0, 3.0], "float32"),
    "int array": lambda: np.array([1, 0]),
    "numpy float": lambda: np.float32(2.5),
    "numpy int": lambda: np.int64(1),
    "numpy bool": lambda: np.bool_(True),
    "range": lambda: range(2),
    "type": lambda: int,
    "function": lambda: len,
    "ellipsis": lambda: ...,
    "slice": lambda: slice(None),
}
FOREIGN_TEXT = {
    "object": "object()", "complex": "1j", "bytes": "b'ab'", "dict": "{'a': 1}",
    "set": "{1, 2}", "array": "np.array([1.0, 2.0, 3.0], 'float32')",
    "int array": "np.array([1, 0])", "numpy float": "np.float32(2.5)",
    "numpy int": "np.int64(1)", "numpy bool": "np.bool_(True)", "range": "range(2)",
    "type": "int", "function": "len", "ellipsis": "...", "slice": "slice(None)",
}  # fmt: skip


# --- Numbers -------------------------------------------------------------------------


def _pools() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(20261122)
    normal = rng.uniform(-3, 3, POOL)
    tiny = [1e-40, -1e-40, 1e-310, 1e-7, 6e-8, 1e-38]
    special = np.array([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, *tiny])
    mixed = np.where(rng.random(POOL) < 0.6, normal, rng.choice(special, POOL))
    huge = np.array([math.inf, 1e38, -3e38, 65504.0, 1e300, -1e4, 88.8, -104.0, 710.0])
    return {
        "normal": normal,
        "small": rng.integers(-3, 4, POOL).astype(float),
        "special": mixed,
        "huge": np.where(rng.random(POOL) < 0.5, normal, rng.choice(huge, POOL)),
        "positive": rng.uniform(0.1, 3, POOL),
        "unit": rng.uniform(0.01, 0.99, POOL),
        "sorted": np.arange(POOL) * 0.37 - 9,
        "ones": np.ones(POOL),
        "index": rng.integers(0, 2**40, POOL).astype(float),
        "signs": rng.choice([-1.0, 1.0], POOL),
    }


POOLS = _pools()
FLOAT_FILLS = ("normal", "small", "special", "positive", "unit", "huge")
INT_FILLS = ("small", "extreme", "positive", "normal")
_CASTED: dict[tuple[str, str], np.ndarray] = {}


def numpy_type(dtype: str) -> str:
    """NumPy's dtype that holds the numbers; it has no bfloat16."""
    return "float32" if dtype == "bfloat16" else dtype


def _pool(name: str, dtype: str) -> np.ndarray:
    key = (name, dtype)
    if key not in _CASTED:
        numbers = POOLS["small" if name == "extreme" else name]
        if dtype == "bool":
            numbers = POOLS["index"] % 2 > 0.5
        elif dtype in INTS:
            finite = np.nan_to_num(np.clip(numbers, -99, 99))
            numbers = finite if dtype != "uint8" else np.abs(finite)
            if name == "extreme":
                info = np.iinfo(dtype)
                edges = np.array([info.min, info.max, 0, 1, info.max - 1], dtype)
                chosen = (POOLS["index"] % 7).astype(int)
                numbers = np.where(
                    chosen < 5, edges[np.minimum(chosen, 4)], numbers.astype(dtype)
                )
        with np.errstate(all="ignore"):
            numbers = numbers.astype(numpy_type(dtype))
        if dtype == "bfloat16":
            numbers = to_bfloat16(numbers)
        _CASTED[key] = np.concatenate([numbers, numbers])
    return _CASTED[key]


def to_bfloat16(numbers: np.ndarray) -> np.ndarray:
    """float32 cut to the numbers that bfloat16 has."""
    bits = np.ascontiguousarray(numbers, "float32").view("uint32")
    cut = (bits & np.uint32(0xFFFF0000)).view("float32")
    return np.where(np.isnan(numbers), np.float32(math.nan), cut)


def numbers_of(data: Data) -> np.ndarray:
    """The numbers in memory, without the view."""
    kind, start = data.fill[0], data.fill[1]
    if kind == "list":
        values = np.array(start, numpy_type(data.dtype))
        return np.resize(values, data.length) if data.length else values[:0]
    if kind == "index":
        found = _pool("index", "float64")[start : start + data.length]
        return (found % data.fill[2]).astype(numpy_type(data.dtype))
    pool = _pool(kind, data.dtype)
    if data.length <= POOL:
        return pool[start : start + data.length].copy()
    return np.resize(pool[:POOL], data.length)


def array_of(data: Data) -> np.ndarray:
    """What the tensor shows of its numbers; one without elements may be flat.

    NumPy refuses some shapes that have no elements.
    """
    if data.alias is not None and data.fill[0] == "same":
        return array_of(data.alias)
    memory = numbers_of(data.alias or data)
    if data.numel == 0:
        return memory[:0]
    strides = data.strides or contiguous_strides(data.shape)
    steps = [s * memory.itemsize for s in strides]
    return np.lib.stride_tricks.as_strided(memory[data.offset :], data.shape, steps)


# --- Layouts -------------------------------------------------------------------------


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a tensor whose rows follow each other."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements between the first and behind the last one of a view."""
    if 0 in shape:
        return 0
    return sum((n - 1) * s for n, s in zip(shape, strides)) + 1


def overlaps(data: Data) -> bool:
    """Whether two elements may lie in one place: writing to it is refused, or vague."""
    step = 1
    places = sorted(zip(data.strides or (), data.shape))
    for stride, size in places:
        if size > 1 and stride < step:
            return True
        step = max(step, stride * (size - 1) + 1)
    return False


def laid_out(data: Data, layout: str, rng: Any) -> Data:
    """Gives a dense tensor another layout of the same shape."""
    shape, n = data.shape, len(data.shape)
    if layout == "permuted":
        order = rng.sample(range(n), n)
        strides, step = [0] * n, 1
        for d in order:
            strides[d] = step
            step *= max(shape[d], 1)
        data.strides = tuple(strides)
    elif layout == "strided":
        strides, step = [0] * n, 1
        for d in reversed(range(n)):
            factor = rng.choice((1, 2, 3))
            strides[d] = step * factor
            step *= max(shape[d], 1) * factor + rng.choice((0, 0, 1))
        data.strides = tuple(strides)
    elif layout == "expanded":
        kept = tuple(1 if rng.random() < 0.5 else m for m in shape)
        inner = contiguous_strides(kept)
        data.strides = tuple(0 if k == 1 else s for k, s in zip(kept, inner))
    elif layout == "overlapping":
        data.strides = tuple(rng.choice((0, 1, 1, 2)) for _ in shape)
    if layout in ("offset", "strided", "overlapping") and data.strides is None:
        data.strides = contiguous_strides(shape)
    data.offset = rng.choice((1, 2, 5)) if layout in ("offset", "strided") else 0
    strides = data.strides or contiguous_strides(shape)
    data.length = data.offset + span(shape, strides)
    return data


# --- Building ------------------------------------------------------------------------


class Built:
    """The objects of one call, in one library."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.bases: dict[int, Any] = {}
        self.tensors: dict[int, Any] = {}
        self.leaves: list[Any] = []
        self.made: list[Any] = []  # every tensor of the call, as it was passed

    def value(self, item: Any) -> Any:
        """The argument that stands for the plain data."""
        kind = type(item)
        if kind is Data:
            return self.tensor(item)
        if kind is list or kind is tuple:
            return kind(self.value(i) for i in item)
        if kind is DType:
            return self.library.dtype(item.name)
        if kind is Foreign:
            return FOREIGN[item.kind]()
        return item

    def tensor(self, data: Data) -> Any:
        """The tensor; the same object for the same Data."""
        found = self.tensors.get(id(data))
        if found is not None:
            return found
        library = self.library
        if data.alias is not None and data.fill[0] == "same":
            made = self.tensor(data.alias)
            self.tensors[id(data)] = made
            return made
        if data.meta:
            made = library.meta(data)
        elif data.alias is not None:
            self.tensor(data.alias)
            base = self.bases[id(data.alias)]
            made = library.view(base, data)
        elif data.strides is None and data.offset == 0:
            made = library.dense(numbers_of(data).reshape(data.shape), data.dtype)
            self.bases[id(data)] = made
        else:
            base = library.dense(numbers_of(data), data.dtype)
            self.bases[id(data)] = base
            made = library.view(base, data)
        if data.grad:
            made = made.detach().requires_grad_()
            self.leaves.append(made)
            if data.clone:
                made = made.clone()
        self.tensors[id(data)] = made
        self.made.append(made)
        return made


class Ours:
    """How pkg makes them."""

    def __init__(self) -> None:
        import pkg
        from pkg._binding import core

        self.pkg, self.core = pkg, core
        self.dtypes = {name: getattr(core, name) for name in DTYPES}
        self._view = core.Operator("_strided_view")

    def dtype(self, name: str) -> Any:
        return self.dtypes[name]

    def dense(self, array: np.ndarray, dtype: str) -> Any:
        made = self.pkg.tensor(array)
        return made.to(self.dtypes[dtype]) if dtype == "bfloat16" else made

    def view(self, base: Any, data: Data) -> Any:
        strides = data.strides or contiguous_strides(data.shape)
        return self._view(base, data.shape, strides, data.offset)

    def meta(self, data: Data) -> Any:
        dtype = self.dtypes[data.dtype]
        if data.strides is None and data.offset == 0:
            return self.pkg.empty(data.shape, dtype=dtype, device="meta")
        memory = self.pkg.empty((data.length,), dtype=dtype, device="meta")
        return self.view(memory, data)

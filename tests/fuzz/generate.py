# SPDX-License-Identifier: Apache-2.0
"""Random calls of an op: mostly ones that make sense, then bent, then wild."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

from fuzz import values
from fuzz.choose import OMIT, Chooser
from fuzz.families import FAMILIES
from fuzz.schema import Param, Schema, schemas
from fuzz.values import Data, DType, Foreign

#: What becomes of a call, and how often.
PLAUSIBLE, BENT = 0.7, 0.22  # the rest is wild


@dataclass
class Call:
    """One call as plain data."""

    op: str
    schema: Schema = field(repr=False)
    form: str = "function"  # or "method"
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    kind: str = "plausible"
    default_dtype: str = ""

    def tensors(self) -> list[Data]:
        """Every tensor in it."""
        return [d for value in self.all() for d in tensors_in(value)]

    def all(self) -> list[Any]:
        return [*self.args, *self.kwargs.values()]


def tensors_in(value: Any) -> list[Data]:
    if isinstance(value, Data):
        return [value]
    if isinstance(value, (list, tuple)):
        return [d for item in value for d in tensors_in(item)]
    return []


# --- Calls that make sense -----------------------------------------------------------


def plausible(choose: Chooser, schema: Schema) -> dict[str, Any]:
    """Arguments by name that the op should take."""
    choose.written = schema.written
    family = FAMILIES.get(schema.full) or FAMILIES.get(schema.name)
    family = family or FAMILIES.get(schema.base) if schema.overload == "" else family
    family = family or FAMILIES.get(f"{schema.base}.{schema.overload}")
    given = family(choose, schema) if family else {}
    shape = next((v.shape for v in given.values() if isinstance(v, Data)), None)
    if shape is None:
        shape = choose.shape()
    for param in schema.params:
        if param.name in given:
            continue
        rare = param.name in ("device", "requires_grad", "dtype", "eps")
        if not param.has_default or choose.chance(0.12 if rare else 0.4):
            given[param.name] = argument(choose, param, shape)
    return {k: v for k, v in given.items() if v is not OMIT}


_BY_NAME = {
    "eps": lambda c: c.one(1e-5, 1e-8, 1e-3, 0.0),
    "reduction": lambda c: c.one("mean", "sum", "none"),
    "approximate": lambda c: c.one("none", "tanh"),
    "indexing": lambda c: c.one("ij", "xy"),
    "rounding_mode": lambda c: c.one("floor", "trunc", None),
    "rtol": lambda c: c.one(1e-5, 0.0, 0.1),
    "atol": lambda c: c.one(1e-8, 0.0, 0.1),
    "mode": lambda c: c.one("constant", "reflect", "replicate", "circular"),
    "p": lambda c: c.one(2, 1, 0, 0.5, 3, math.inf, -math.inf, 2.0),
    "ord": lambda c: c.one(2, 1, 0, 0.5, 3, math.inf, -math.inf, 2.0),
    "correction": lambda c: c.one(1, 0, 2),
    "decimals": lambda c: c.one(1, 0, 2, -1),
    "momentum": lambda c: c.one(0.1, 0.0, 1.0),
    "beta1": lambda c: 0.9,
    "beta2": lambda c: 0.99,
    "step": lambda c: c.one(1, 2, 3),
    "keepdim": lambda c: c.chance(0.5),
    "label_smoothing": lambda c: c.one(0.0, 0.1, 1.0),
    "ignore_index": lambda c: c.one(-100, 0, 1),
    "device": lambda c: "cpu" if c.chance(0.8) else "meta",
}


def argument(choose: Chooser, param: Param, shape: tuple[int, ...]) -> Any:
    """A value for a parameter beside a tensor of this shape."""
    n = len(shape)
    if param.optional and choose.chance(0.2):
        return None
    if param.type == "Tensor":
        if param.list:
            count = choose.rng.randrange(1, 4)
            return [choose.tensor(choose.broadcastable(shape)) for _ in range(count)]
        if param.name in ("mask", "condition"):
            return choose.bools(choose.broadcastable(shape))
        if param.name == "self" or param.written:
            return choose.tensor(shape)
        if choose.chance(0.2):
            return choose.scalar()
        return choose.tensor(choose.broadcastable(shape))
    if param.name in ("dim", "dims", "dim0", "dim1", "dim2"):
        if not param.list:
            return choose.dim(n)
        return choose.dim(n) if choose.chance(0.3) else choose.dims(n)
    if param.name == "size" or param.name == "shape":
        return list(choose.shape())
    if param.name in _BY_NAME:
        return _BY_NAME[param.name](choose)
    if param.type == "int":
        if param.list:
            count = param.length or choose.rng.randrange(0, 4)
            return [choose.one(0, 1, 2, 3) for _ in range(count)]
        return choose.one(0, 1, 2, 3)
    if param.type == "bool":
        return choose.chance(0.5)
    if param.type == "DType":
        return DType(choose.rng.choice(values.DTYPES))
    if param.type == "str":
        return choose.one("mean", "none", "sum", "fro")
    if param.type == "float":
        return choose.one(0.5, 1.0, 0.1, 2.0, 0.0)
    return choose.scalar()


# --- Calls that are bent -------------------------------------------------------------


def nasty(choose: Chooser, param: Param | None, given: Any) -> Any:
    """Something else for this parameter, of its type or of no type at all."""
    rng = choose.rng
    kind = param.type if param else rng.choice(("int", "Tensor", "str"))
    roll = rng.random()
    if roll < 0.12:
        return rng.choice(
            (None, "", "mean", True, 0, 1.5, [], (), [1.5], [None], -1, "bogus", 2**64)
        )
    if roll < 0.2:
        return Foreign(rng.choice(tuple(values.FOREIGN)))
    if kind == "Tensor":
        if isinstance(given, list) and given and rng.random() < 0.6:
            changed = list(given)
            changed[rng.randrange(len(changed))] = odd_tensor(choose)
            return changed if rng.random() < 0.7 else changed * rng.choice((0, 2, 3))
        made = odd_tensor(choose)
        return [made] if param and param.list and rng.random() < 0.8 else made
    if kind in ("int", "DType", "Device", "str", "bool"):
        if kind in ("DType", "Device", "str") and rng.random() < 0.7:
            return rng.choice((DType(rng.choice(values.DTYPES)), "meta", "cpu:1", "x"))
        if isinstance(given, (list, tuple)) and given and rng.random() < 0.7:
            changed = list(given)
            changed[rng.randrange(len(changed))] = odd_int(rng)
            return changed
        if param and param.list and rng.random() < 0.8:
            return [odd_int(rng) for _ in range(rng.randrange(4))]
        return odd_int(rng)
    if rng.random() < 0.5:
        return rng.choice(values.EDGE_FLOATS)
    return odd_int(rng)


def odd_int(rng: Random) -> int:
    return rng.choice(values.EDGE_INTS if rng.random() < 0.65 else values.SMALL_INTS)


def odd_tensor(choose: Chooser) -> Data:
    """A tensor that was not asked for: another shape or dtype, huge, on Meta."""
    rng = choose.rng
    data = choose.tensor(choose.shape(), rng.choice(values.DTYPES))
    roll = rng.random()
    if roll < 0.2:  # huge by expansion
        shape = list(data.shape) or [1]
        for _ in range(rng.choice((1, 1, 2))):
            shape[rng.randrange(len(shape))] = rng.choice((2**31, 2**62, 2**32, 2**40))
        data.shape = tuple(shape)
        if 0 not in shape and math.prod(shape) >= 2**63:
            data.shape = tuple(min(n, 2**31) if i else n for i, n in enumerate(shape))
        if math.prod(data.shape) >= 2**63:
            data.shape = (2**62,)
        data.strides, data.offset, data.length = (0,) * len(data.shape), 0, 1
    elif roll < 0.26:
        data.meta, data.grad = True, False
    elif roll < 0.34:
        data.fill = ("huge" if data.dtype in values.FLOATS else "extreme", 0)
    return data


def bend(choose: Chooser, schema: Schema, given: dict[str, Any], share: float) -> None:
    """Changes some of the arguments."""
    rng = choose.rng
    names = list(given)
    tensors = [v for v in given.values() if isinstance(v, Data)]
    if len(tensors) > 1 and rng.random() < 0.25:  # aliases
        first, second = tensors[0], tensors[1]
        share_memory(rng, first, second)
        return
    some = [name for name in names if rng.random() < share]
    if not some and names:
        some = [rng.choice(names)]
    for name in some:
        given[name] = nasty(choose, schema.param(name), given[name])
    missing = [p for p in schema.params if p.name not in given]
    if missing and rng.random() < 0.2:
        param = rng.choice(missing)
        given[param.name] = nasty(choose, param, None)
    if given and rng.random() < 0.05:
        del given[rng.choice(list(given))]


def share_memory(rng: Random, first: Data, second: Data) -> None:
    """Makes the second tensor one over the memory of the first."""
    if first.meta or second.meta or first is second or not first.length:
        return
    second.alias, second.dtype = first, first.dtype
    second.grad = second.clone = False
    if rng.random() < 0.4:
        second.fill, second.shape = ("same", 0), first.shape
        return
    second.fill = ("view", 0)
    strides = second.strides or values.contiguous_strides(second.shape)
    if values.span(second.shape, strides) > first.length:
        second.shape = first.shape
        strides = first.strides or values.contiguous_strides(first.shape)
        first.length += 4
        first.strides = strides
    room = first.length - values.span(second.shape, strides)
    second.strides = strides
    second.offset = rng.randint(0, max(room, 0))


# --- The call of a seed --------------------------------------------------------------


def generate(op: str, number: int | str) -> Call:
    """The call of this number: the same one always."""
    rng = Random(f"{op}:{number}")
    schema = rng.choice(schemas()[op])
    choose = Chooser(rng)
    given = plausible(choose, schema)
    call = Call(op, schema)
    roll = rng.random()
    if roll > PLAUSIBLE:
        call.kind = "bent" if roll < PLAUSIBLE + BENT else "wild"
        bend(choose, schema, given, 0.15 if call.kind == "bent" else 0.7)
    positional = True
    for param in schema.params:
        if param.name not in given:
            positional = False
            continue
        by_name = param.keyword_only or not positional or rng.random() < 0.08
        if by_name:
            positional = False
            call.kwargs[param.name] = given[param.name]
        else:
            call.args.append(given[param.name])
    if call.kind == "wild" and rng.random() < 0.2:
        call.kwargs[rng.choice(("bogus", "out", "inplace", "axis", "self"))] = 1
    if call.kind == "wild" and rng.random() < 0.1:
        call.args += [nasty(choose, None, None)] * rng.choice((1, 2, 70))
    first = call.args[0] if call.args else None
    method = schema.is_method and not op.startswith("_")
    if method and isinstance(first, Data) and rng.random() < 0.35:
        call.form = "method"
    if rng.random() < 0.01:
        call.default_dtype = rng.choice(("float64", "float32", "float16", "bfloat16"))
    return call

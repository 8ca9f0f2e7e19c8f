# SPDX-License-Identifier: Apache-2.0
"""What is special about a call, by name: rows of docs/differences.md hold for it alone.

A finding's text ends with the conditions of its call in braces, as in "number for nan
{NaN given, mixed floats} | 1.0 for nan".  A condition is found from the arguments,
never from the results, so that no wrong result makes one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from fuzz import judge
from fuzz.generate import Call, tensors_in
from fuzz.values import INTS, Data, DType, Foreign, array_of, overlaps

#: More elements than this are not looked at.
MOST = 1 << 20
#: Where the functions of this file find the dtype that an op is named for.
NAMED = {"int": "int32", "long": "int64", "float": "float32", "double": "float64"}
NAMED |= {"half": "float16", "bfloat16": "bfloat16"}


def given(call: Call) -> dict[str, Any]:
    """Arguments by name."""
    named = {p.name: value for p, value in zip(call.schema.params, call.args)}
    return {**named, **call.kwargs}


def arrays(call: Call) -> list[np.ndarray]:
    """The numbers of all tensors of floats."""
    return [
        array_of(d)
        for d in call.tensors()
        if d.dtype in judge.EPS and readable(d) and d.numel
    ]


def readable(data: Any) -> bool:
    """Whether the numbers of a tensor are there, and few."""
    return isinstance(data, Data) and not data.meta and data.numel <= MOST


def numbers(call: Call) -> Iterator[float]:
    """The numbers among the arguments, in lists too."""
    for value in call.all():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, (int, float)):
                yield item


def dtypes(call: Call) -> set[str]:
    """The dtypes of tensors, and those that are asked for."""
    found = {d.dtype for d in call.tensors()}
    found |= {v.name for v in call.all() if isinstance(v, DType)}
    return found | ({NAMED[call.op]} if call.op in NAMED else set())


# --- One function for each condition -------------------------------------------------


def mixed_floats(call: Call) -> bool:
    """Tensors of two floating dtypes, or one and another one that is asked for."""
    return len(dtypes(call) & set(judge.EPS)) > 1


def mixed_dtypes(call: Call) -> bool:
    return len({d.dtype for d in call.tensors()}) > 1


def of_nothing(call: Call) -> bool:
    """A tensor without elements."""
    return any(d.numel == 0 for d in call.tensors())


def no_dims(call: Call) -> bool:
    """An empty list for `dim`."""
    return any(given(call).get(name) in ([], ()) for name in ("dim", "dims"))


def nan_given(call: Call) -> bool:
    if any(math.isnan(n) for n in numbers(call)):
        return True
    return any(np.isnan(a).any() for a in arrays(call))


def infinity_given(call: Call) -> bool:
    if any(math.isinf(n) for n in numbers(call)):
        return True
    return any(np.isinf(a).any() for a in arrays(call))


def huge_given(call: Call) -> bool:
    """Finite numbers whose squares a float32, or of float16 a float16, cannot hold."""
    found = [abs(n) for n in numbers(call)] + [0]
    limit = 1e2 if "float16" in dtypes(call) else 1e16
    with np.errstate(all="ignore"):
        for array in arrays(call):
            found.append(np.abs(array[np.isfinite(array)]).max(initial=0))
    return any(limit < n < math.inf for n in found)


def beyond(call: Call) -> bool:
    """Floating numbers that a dtype of integers of the call cannot hold."""
    ranges = [np.iinfo(name) for name in dtypes(call) if name in INTS]
    for array in [*arrays(call), *map(np.array, numbers(call))]:
        with np.errstate(all="ignore"):
            wide = np.trunc(array.astype("float64"))
        if any(not ((wide >= r.min) & (wide <= r.max)).all() for r in ranges):
            return True
    return False


def beyond_half(call: Call) -> bool:
    """Integers that float16 cannot hold, beside it."""
    if "float16" not in dtypes(call) | {call.default_dtype}:
        return False
    found = [array_of(d) for d in call.tensors() if d.dtype in INTS and readable(d)]
    return any((np.abs(a.astype("float64")) > 65504).any() for a in found)


def unsigned(call: Call) -> bool:
    return any(d.dtype == "uint8" for d in call.tensors())


def equals(call: Call) -> bool:
    """Two elements of the first tensor that are equal, or both NaN."""
    first = next(iter(call.tensors()), None)
    if first is None or not readable(first):
        return False
    return len(np.unique(array_of(first))) < first.numel


def not_sorted(call: Call) -> bool:
    """A sequence to be searched whose numbers do not ascend."""
    named = given(call)
    for name in ("sorted_sequence", "boundaries"):
        if readable(named.get(name)) and named[name].shape:
            array = array_of(named[name])
            return not (array[..., 1:] >= array[..., :-1]).all()
    return False


def negative_index(call: Call) -> bool:
    """Indices below 0 that count from the end, and none that names nothing."""
    named = given(call)
    own, dim = named.get("self", named.get("weight")), named.get("dim", 0)
    found = tensors_in(named.get("index", named.get("indices")))
    if not isinstance(own, Data) or not found or not all(map(readable, found)):
        return False
    sizes = own.shape or (1,)
    if dim is None or call.op == "take":
        sizes, dim = (own.numel,), 0
    if not isinstance(dim, int) or not -len(sizes) <= dim < len(sizes):
        return False
    n, places = sizes[dim], [array_of(d) for d in found if d.numel]
    within = all((a >= -n).all() and (a < n).all() for a in places)
    return within and any((a < 0).any() for a in places)


def repeated_places(call: Call) -> bool:
    """Indices that name one place of the tensor written to more than once."""
    named = given(call)
    own, index = named.get("self"), named.get("index", named.get("indices"))
    found = tensors_in(index)
    if not isinstance(own, Data) or not found or not all(map(readable, found)):
        return False
    if 0 in own.shape or math.prod(own.shape) > MOST:
        return False
    count = np.zeros(own.shape or (1,), int)
    try:
        if isinstance(index, (list, tuple)):
            np.add.at(count, tuple(map(numpy_index, index)), 1)
        else:
            places: Any = array_of(index).astype("int64")
            dim = named.get("dim", 0)
            if call.schema.base.startswith("index"):
                where = [slice(None)] * count.ndim
                where[dim] = places.reshape(-1)
            else:
                places = places.reshape(places.shape or (1,))
                where = list(np.indices(places.shape))
                where[dim] = places
            np.add.at(count, tuple(where), 1)
    except (IndexError, TypeError, ValueError, AttributeError):  # it fails
        return False
    return bool((count > 1).any())


def numpy_index(data: Data | None) -> Any:
    """An index of a list of them."""
    if data is None:
        return slice(None)
    return array_of(data).astype("bool" if data.dtype == "bool" else "int64")


def overlapping(call: Call) -> bool:
    """A tensor whose elements lie in one place, by expansion for example."""
    return any(overlaps(d) for d in call.tensors())


def numpy_number(call: Call) -> bool:
    """A number of NumPy's."""
    found = [v.kind for v in call.all() if isinstance(v, Foreign)]
    return any(kind.startswith("numpy") for kind in found)


def large_eps(call: Call) -> bool:
    """An eps that may be larger than what it is to be small beside."""
    eps = given(call).get("eps")
    if isinstance(eps, Foreign):
        return eps.kind.startswith("numpy")
    return isinstance(eps, (int, float)) and eps > 0.01


def negative_base(call: Call) -> bool:
    """Whose powers change signs."""
    base = given(call).get("base")
    return isinstance(base, (int, float)) and base < 0


def one_memory(call: Call) -> bool:
    """Two tensors of the call share memory."""
    return any(d.alias is not None for d in call.tensors())


def on_meta(call: Call) -> bool:
    """A tensor without values, or a result that shall be one."""
    found = any(d.meta for d in call.tensors())
    return found or any(str(v) == "meta" for v in call.all())


def mask_without_dims(call: Call) -> bool:
    """A bool of no dimensions among the indices."""
    named = given(call)
    found = tensors_in(named.get("index", named.get("indices")))
    return any(d.dtype == "bool" and not d.shape for d in found)


def integers_asked(call: Call) -> bool:
    """A dtype of integers is asked for."""
    return any(isinstance(v, DType) and v.name in INTS for v in call.all())


def halves(call: Call) -> bool:
    return bool(dtypes(call) & {"float16", "bfloat16"})


def high_order(call: Call) -> bool:
    """A norm whose powers leave the range of its dtype."""
    named = given(call)
    orders = [named.get(name) for name in ("p", "ord")]
    return any(isinstance(n, (int, float)) and abs(n) > 64 for n in orders)


def numpys_bool(call: Call) -> bool:
    return any(v == Foreign("numpy bool") for v in call.all())


CONDITIONS = {
    "mixed dtypes": mixed_dtypes,
    "mixed floats": mixed_floats,
    "of nothing": of_nothing,
    "no dims": no_dims,
    "NaN given": nan_given,
    "Inf given": infinity_given,
    "huge given": huge_given,
    "beyond a dtype": beyond,
    "integers beyond float16": beyond_half,
    "unsigned": unsigned,
    "0-d mask": mask_without_dims,
    "integers asked": integers_asked,
    "16 bits": halves,
    "high order": high_order,
    "equals": equals,
    "not sorted": not_sorted,
    "negative index": negative_index,
    "repeated places": repeated_places,
    "overlapping": overlapping,
    "large eps": large_eps,
    "negative base": negative_base,
    "one memory": one_memory,
    "on Meta": on_meta,
    "NumPy number": numpy_number,
    "NumPy's bool": numpys_bool,
}


def conditions(call: Call) -> list[str]:
    """The names of what holds for a call."""
    return [name for name, holds in CONDITIONS.items() if holds(call)]


def told(call: Call, text: str, *more: str) -> str:
    """The text of a finding with the conditions of its call, and others."""
    head, bar, example = text.partition(" | ")
    names = ", ".join([*conditions(call), *more])
    return (f"{head} {{{names}}}" if names else head) + bar + example


@lru_cache(1000)
def without(text: str) -> str:
    """The text of a finding without them."""
    return text.partition(" {")[0]

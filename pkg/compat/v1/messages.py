# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's words for what goes wrong, in front of those of this library.

They are made of the numbers in the text of the error, and of the operation that failed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

__all__ = ["FAR", "while_building", "while_running"]

FAR = 2**62  # what is taken away from places below 0, which the core would accept

_SHAPE = r"\(([\d, ?]*)\)"


def _listed(shape: str) -> str:
    # "2, 3" or "4," as "[2,3]" or "[4]".
    return "[" + ",".join(part for part in re.split(r"[,x ]+", shape) if part) + "]"


def _count(shape: str) -> int:
    return math.prod(int(part) for part in re.findall(r"\d+", shape))


def _unfed(m: re.Match[str]) -> str:
    name, dtype, shape = m[1], m[2], m[3]
    words = {"float32": "float", "float64": "double", "float16": "half"}
    known = "" if shape is None else f" and shape {_listed(shape)}"
    return (
        f"You must feed a value for placeholder tensor '{name}' with dtype "
        f"{words.get(dtype, dtype)}{known}"
    )


def _index(m: re.Match[str], op: Any) -> str | None:
    if op is None:
        return None
    if op.name.endswith("/Label"):
        return (
            f"Received a label value of {m[1]} which is outside the valid range of "
            f"[0, {m[3]})"
        )
    if op.type == "StridedSlice":
        return f"slice index {m[1]} of dimension {m[2]} out of bounds"
    return None


def _near(m: re.Match[str]) -> str:
    place = int(m[0])
    return str(place + FAR if place < -FAR // 2 else place)


_Say = Callable[[re.Match[str], Any], "str | None"]
_RUNNING: list[tuple[str, _Say]] = [
    (r"integer division by zero", lambda m, op: "Integer division by zero"),
    (
        r"cannot be multiplied \(([\dx]+) and ([\dx]+)\)",
        lambda m, op: (
            f"Matrix size-incompatible: In[0]: {_listed(m[1])}, In[1]: {_listed(m[2])}"
        ),
    ),
    (
        rf"The size of tensor a .*\(shapes {_SHAPE} and {_SHAPE}\)",
        lambda m, op: f"Incompatible shapes: {_listed(m[1])} vs. {_listed(m[2])}",
    ),
    (
        rf"\[reshape(?:_as)?\] shape '{_SHAPE}' is invalid for input of size (\d+)",
        lambda m, op: (
            f"Input to reshape is a tensor with {m[2]} values, but the requested shape "
            f"has {_count(m[1])}"
        ),
    ),
    (
        rf"\[cat\] .*Expected {_SHAPE} but got {_SHAPE} for tensor number (\d+)",
        lambda m, op: (
            "ConcatOp : Dimensions of inputs should match: shape[0] = "
            f"{_listed(m[1])} vs. shape[{m[3]}] = {_listed(m[2])}"
        ),
    ),
    (r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)", _index),
    (
        rf"\[assign\] expected a value of shape {_SHAPE}.*got {_SHAPE}",
        lambda m, op: (
            "Assign requires shapes of both tensors to match. lhs shape= "
            f"{_listed(m[1])} rhs shape= {_listed(m[2])}"
        ),
    ),
    (
        rf"feed a value for placeholder tensor '(.*)' with dtype (\w+)(?: and shape "
        rf"{_SHAPE})?",
        lambda m, op: _unfed(m),
    ),
]
_BUILDING: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (
        r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
        lambda m: f"Dimensions must be equal, but are {m[1]} and {m[2]}",
    ),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        lambda m: f"Dimensions must be equal, but are {m[1]} and {m[2]}",
    ),
    (
        rf"\[reshape\] shape '{_SHAPE}' is invalid for input of size (\d+)",
        lambda m: (
            f"Cannot reshape a tensor with {m[2]} elements to shape {_listed(m[1])} "
            f"({_count(m[1])} elements)"
        ),
    ),
]


def while_running(text: str, op: Any) -> str:
    """The text of an error of a run."""
    text = re.sub(r"(?<=index )-\d{18,}", _near, text)
    for pattern, say in _RUNNING:
        found = re.search(pattern, text)
        said = say(found, op) if found else None
        if said is not None:
            return said if said in text else f"{said}: {text}"
    return text


def while_building(text: str, name: str, kind: str) -> str:
    """The text of an error of a call that was to be added, of a name and a sort."""
    for pattern, say in _BUILDING:
        found = re.search(pattern, text)
        if found:
            shapes = re.search(rf"shapes {_SHAPE} and {_SHAPE}", text)
            taken = ""
            if shapes:
                one, other = _listed(shapes[1]), _listed(shapes[2])
                taken = f" with input shapes: {one}, {other}."
            return f"{say(found)} for {name!r} (op: {kind!r}){taken}: {text}"
    return text

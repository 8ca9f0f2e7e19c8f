# SPDX-License-Identifier: Apache-2.0
"""Nested dicts and lists around tensors, as tensors by name and a text; and back.

Called by serialization.py.  The text is JSON: containers are objects of one entry whose
key names the kind, since JSON alone has neither tuples nor integer keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .tensor import Tensor

__all__ = ["flatten", "unflatten"]

_PLAIN = (str, int, float, bool, type(None))


def flatten(obj: Any) -> tuple[dict[str, Tensor], str | None]:
    """Return tensors by dotted name, and the structure around them.

    The structure is None where ``obj`` is tensors by name already.  TypeError names the
    place of a value that cannot be written, ValueError one that contains itself.
    """
    if isinstance(obj, Mapping) and all(
        isinstance(k, str) and isinstance(v, Tensor) for k, v in obj.items()
    ):
        return dict(obj), None
    tensors: dict[str, Tensor] = {}
    structure = _describe(obj, "", tensors, ())
    return tensors, json.dumps(structure, separators=(",", ":"))


def _describe(
    obj: Any, path: str, tensors: dict[str, Tensor], around: tuple[int, ...]
) -> Any:
    if isinstance(obj, Tensor):
        name = path or "tensor"
        while name in tensors or name == "__metadata__":
            name += "_"
        tensors[name] = obj
        return {"tensor": name}
    if type(obj) in _PLAIN:
        return obj
    if id(obj) in around:
        raise ValueError(f"[save] expected a tree, got a container in itself ({path}).")
    around = (*around, id(obj))
    if isinstance(obj, Mapping):
        for key in obj:
            if type(key) not in _PLAIN:
                raise TypeError(
                    "[save] expected keys that are strings or numbers, got "
                    f"{type(key).__name__} (place={path or 'top'!r})."
                )
        return {
            "dict": [
                [k, _describe(v, _below(path, k), tensors, around)]
                for k, v in obj.items()
            ]
        }
    if type(obj) in (list, tuple):
        items = [
            _describe(v, _below(path, i), tensors, around) for i, v in enumerate(obj)
        ]
        return {type(obj).__name__: items}
    raise TypeError(
        "[save] expected tensors, dicts, lists, tuples, strings, numbers or None, got "
        f"{type(obj).__name__} (place={path or 'top'!r})."
    )


def _below(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def unflatten(tensors: Mapping[str, Tensor], structure: str) -> Any:
    """Return what ``flatten`` took; ValueError or KeyError when it does not fit."""
    return _build(json.loads(structure), tensors)


def _build(node: Any, tensors: Mapping[str, Tensor]) -> Any:
    if not isinstance(node, (dict, list)):
        return node
    if not isinstance(node, dict) or len(node) != 1:
        raise ValueError("expected an object of one entry")
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _build(value, tensors) for key, value in content}
    items = [_build(value, tensors) for value in content]
    if kind == "list":
        return items
    if kind == "tuple":
        return tuple(items)
    raise ValueError(f"expected tensor, dict, list or tuple, got {kind!r}")

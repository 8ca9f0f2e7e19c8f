# SPDX-License-Identifier: Apache-2.0
"""PyTorch as the judge: how it makes the arguments, and where it has an op."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.generate import Call
from fuzz.values import DTYPES, Data, contiguous_strides

#: Ops that PyTorch has under another name, or has not; None: no judge.
ELSEWHERE: dict[str, str | None] = {
    "embedding": "embedding",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "index": "aten.index.Tensor",
    "index_put": "aten.index_put",
    "index_put_": "aten.index_put_",
    "slice": "aten.slice.Tensor",
    "copy": None,
    "normal": None,
    "uniform": None,
    "elu": "_C._nn.elu",
    "celu": "celu",
    "instance_norm": None,
    "linalg_vector_norm": "linalg.vector_norm",
    "to_dtype": None,
    "where.places": "where",
    "repeat_interleave.each": "repeat_interleave",
}
#: Parameters that are passed by name there, as their places differ.
BY_NAME = {
    "softmax": ("dtype",),
    "log_softmax": ("dtype",),
    "sort": ("dim", "descending", "stable"),
    "argsort": ("dim", "descending", "stable"),
    "binary_cross_entropy_with_logits": ("weight", "pos_weight"),
}
#: Parameters that, given by name, choose an overload there too.
OVERLOADS = {
    "var.unbiased": ("unbiased",),
    "std.unbiased": ("unbiased",),
    "min.other": ("other",),
    "max.other": ("other",),
    "tensor_split.indices": ("indices",),
}
RENAMED = {"train": "training", "tensor1": "tensor1"}
#: Ops whose list of tensors is spread over the arguments there.
SPREAD = ("broadcast_tensors", "meshgrid")


class Torch:
    """How PyTorch makes tensors; see `Ours` of values.py."""

    def __init__(self) -> None:
        import torch

        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        self.torch = torch
        self.dtypes = {name: getattr(torch, name) for name in DTYPES}
        self._found: dict[tuple[str, str], Callable[..., Any] | None] = {}

    def dtype(self, name: str) -> Any:
        return self.dtypes[name]

    def dense(self, array: np.ndarray, dtype: str) -> Any:
        # Its own memory, aligned as PyTorch aligns it.
        made = self.torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape))
        return made.to(self.dtypes[dtype]) if dtype == "bfloat16" else made.clone()

    def view(self, base: Any, data: Data) -> Any:
        strides = data.strides or contiguous_strides(data.shape)
        return base.as_strided(data.shape, strides, data.offset)

    def meta(self, data: Data) -> Any:
        dtype = self.dtypes[data.dtype]
        if data.strides is None and data.offset == 0:
            return self.torch.empty(data.shape, dtype=dtype, device="meta")
        memory = self.torch.empty((data.length,), dtype=dtype, device="meta")
        return self.view(memory, data)

    def op(self, call: Call) -> Callable[..., Any] | None:
        """PyTorch's function or method for this call; None where it has none."""
        key = (call.schema.full, call.form)
        if key not in self._found:
            self._found[key] = self._search(call)
        return self._found[key]

    def _search(self, call: Call) -> Callable[..., Any] | None:
        torch, name = self.torch, call.op
        place = ELSEWHERE.get(call.schema.full, ELSEWHERE.get(name, ""))
        if name.startswith("_") or place is None:
            return None
        functional = torch.nn.functional
        if place:
            found: Any = torch.ops if place.startswith("aten") else torch
            for part in place.split("."):
                found = getattr(found, part)
            return found
        if call.form == "method":
            return getattr(torch.Tensor, name, None)
        for owner in (functional, torch, torch.Tensor):
            found = getattr(owner, name, None)
            if callable(found) and not isinstance(found, torch.dtype):
                return found
        return getattr(torch.ops.aten, name, None)

    def arguments(
        self, call: Call, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as PyTorch takes them: by place where that can be."""
        params = call.schema.params
        by_name = BY_NAME.get(call.op, ())
        placed, named = list(args), dict(kwargs)
        overload = OVERLOADS.get(call.schema.full, ())
        for place, param in enumerate(params):
            if param.keyword_only:
                break
            if place < len(args):
                continue
            if param.name not in named or param.name in overload:
                break
            placed.append(named.pop(param.name))
        if len(placed) <= len(params):
            for place in reversed(range(len(placed))):
                if params[place].name in by_name:
                    named[params[place].name] = placed.pop(place)
        if call.op == "batch_norm" and len(placed) < 3 and placed:
            placed += [named.pop(p.name, None) for p in params[len(placed) : 3]]
        if call.schema.full == "tensordot.dims" and len(placed) == 4:
            placed = [*placed[:2], tuple(placed[2:])]
        if call.op.startswith("index") and len(placed) > 1:
            if params[1].list and isinstance(placed[1], self.torch.Tensor):
                placed[1] = [placed[1]]  # not its rows
        if call.op in SPREAD and placed and isinstance(placed[0], (list, tuple)):
            placed = [*placed[0], *placed[1:]]
        return placed, {RENAMED.get(k, k): v for k, v in named.items()}

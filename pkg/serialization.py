# SPDX-License-Identifier: Apache-2.0
"""Tensors to and from files in the safetensors format, which holds no code.

``save_file`` and ``load_file`` are the names of the safetensors package; ``save`` and
``load`` take a Module as well.  NumPy and safetensors are imported at first use.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

from .tensor import Tensor

__all__ = ["load", "load_file", "save", "save_file"]

Path = Union[str, "os.PathLike[str]"]


def save_file(
    tensors: Mapping[str, Tensor],
    filename: Path,
    metadata: dict[str, str] | None = None,
) -> None:
    """Write tensors by name; OSError when the file cannot be written.

    The file appears whole or not at all: it is written beside its place and renamed.
    """
    from safetensors.numpy import save as serialize

    arrays = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"[save_file] expected Tensors, got {type(tensor).__name__} "
                f"(name={name!r})."
            )
        if str(tensor.dtype).endswith("bfloat16"):
            raise TypeError(
                f"[save_file] expected a dtype that NumPy has, got bfloat16 "
                f"(name={name!r}). Save tensor.float()."
            )
        arrays[name] = tensor.detach().contiguous().numpy()
    content = serialize(arrays, metadata=metadata)
    target = os.fspath(filename)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, target)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def load_file(filename: Path) -> dict[str, Tensor]:
    """Read tensors by name; OSError when unreadable, ValueError when damaged."""
    return _read(filename)[0]


def save(obj: Any, filename: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a state dict, or the state dict of a Module."""
    save_file(
        obj.state_dict() if hasattr(obj, "state_dict") else obj, filename, metadata
    )


def load(filename: Path) -> dict[str, Tensor]:
    """Read a state dict, ready for ``Module.load_state_dict``."""
    return load_file(filename)


def _read(filename: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    # Tensors and metadata.
    from safetensors import SafetensorError, safe_open

    from . import from_numpy

    path = os.fspath(filename)
    with open(path, "rb"):
        pass  # its OSError names the file and the reason; safe_open's does not
    tensors = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118  (not a dict)
                tensors[name] = from_numpy(file.get_tensor(name)).clone()
            metadata = file.metadata() or {}
    except (SafetensorError, ValueError, TypeError, KeyError) as err:
        raise ValueError(
            f"[load_file] expected a safetensors file, got a damaged one ({err}) "
            f"(filename={path!r})."
        ) from err
    return tensors, metadata

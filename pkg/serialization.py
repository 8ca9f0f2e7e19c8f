# SPDX-License-Identifier: Apache-2.0
"""Tensors to and from files in the safetensors format, which holds no code.

``save_file`` and ``load_file`` are the safetensors package's names: tensors by name.
``save`` and ``load`` also take modules, optimisers and nested dicts and lists around
tensors, as checkpoints are; nested.py turns those into tensors by name and a text.
NumPy and safetensors are imported at first use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from ._binding import core
from .files import File, foreign_format, name_of, read_all, replacing, write_all
from .nested import flatten, unflatten
from .tensor import Tensor

__all__ = ["load", "load_file", "save", "save_file"]

# The format's name of each dtype, and NumPy's name of the memory.  NumPy has no
# bfloat16: its bits travel as the upper half of float32.
_CODES = {
    "bool": ("BOOL", "bool"),
    "uint8": ("U8", "uint8"),
    "int8": ("I8", "int8"),
    "int32": ("I32", "<i4"),
    "int64": ("I64", "<i8"),
    "float16": ("F16", "<f2"),
    "bfloat16": ("BF16", "<u2"),
    "float32": ("F32", "<f4"),
    "float64": ("F64", "<f8"),
}
_MEMORY = dict(_CODES.values())
_STRUCTURE = "pkg.structure"  # the metadata entry of nested.py's text


def save_file(
    tensors: Mapping[str, Tensor],
    filename: File,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write tensors by name; OSError when the file cannot be written.

    The file appears whole or not at all: it is written beside its place and renamed.
    A file object, such as a BytesIO, is written to from where it stands, until all is
    taken; BlockingIOError for one that does not block and is full.
    Tensors that share memory are written each in full.  TypeError for what is no
    tensor, or metadata that is not text.
    """
    header: dict[str, Any] = {}
    if metadata:
        for key, value in metadata.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError(
                    "[save_file] expected str to str as metadata, got "
                    f"{type(value).__name__} (key={key!r})."
                )
        header["__metadata__"] = dict(metadata)
    contents, end = [], 0
    # Wide numbers first, so that every tensor of the file is aligned.
    for name in sorted(tensors, key=lambda n: (-_itemsize(n, tensors[n]), n)):
        code, content = _encode(tensors[name])
        begin, end = end, end + len(content)
        header[name] = {
            "dtype": code,
            "shape": list(tensors[name].shape),
            "data_offsets": [begin, end],
        }
        contents.append(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with _opened(filename) as file:
        for part in (len(text).to_bytes(8, "little") + text, *contents):
            write_all(file, part)


def _opened(file: File) -> AbstractContextManager[IO[bytes]]:
    if isinstance(file, (str, bytes, os.PathLike)):
        return replacing(os.fsdecode(file))
    return nullcontext(file)


def load_file(filename: File) -> dict[str, Tensor]:
    """Read tensors by name; OSError when unreadable, ValueError when damaged."""
    return read_with_metadata(filename)[0]


def save(obj: Any, filename: File, metadata: Mapping[str, str] | None = None) -> None:
    """Write a checkpoint; ``load`` returns it.

    obj: a Module or optimiser (its state dict is written), tensors by name, or any
    nesting of dicts, lists, tuples, tensors, strings, numbers, booleans and None, such
    as ``{"model": model.state_dict(), "optimizer": opt.state_dict(), "epoch": 3}``.
    TypeError for anything else; OSError as in ``save_file``.
    """
    if hasattr(obj, "state_dict"):
        obj = obj.state_dict()
    metadata = dict(metadata or {})
    tensors, structure = flatten(obj)
    if structure is not None:
        metadata[_STRUCTURE] = structure
    save_file(tensors, filename, metadata)


def load(
    filename: File, map_location: Any = None, *, weights_only: bool = True
) -> Any:
    """Read what ``save`` wrote; a plain safetensors file gives tensors by name.

    map_location: None or "cpu", where tensors are.  weights_only: without effect, as a
    file holds no code.
    OSError when it cannot be read, ValueError when it is damaged.
    """
    if map_location is not None and core.device(map_location) != "cpu":
        raise RuntimeError(
            f"[load] expected map_location 'cpu', got {str(map_location)!r}."
        )
    tensors, metadata = read_with_metadata(filename)
    if _STRUCTURE not in metadata:
        return tensors
    try:
        return unflatten(tensors, metadata[_STRUCTURE])
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise _damaged("load", filename, f"its structure: {err}") from err


def read_with_metadata(filename: File) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and metadata; called by load_file, load and ``python -m pkg``."""
    import safetensors

    if isinstance(filename, (str, bytes, int, os.PathLike)):
        with open(filename, "rb") as file:
            content = file.read()
    else:
        content = read_all(filename)
    foreign = foreign_format(content)
    if foreign:
        raise ValueError(
            f"[load_file] expected a safetensors file, got {foreign} "
            f"(filename={name_of(filename)!r})."
        )
    try:
        entries = dict(_deserialize(content))
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
    except (safetensors.SafetensorError, ValueError, TypeError) as err:
        raise _damaged("load_file", filename, str(err)) from err
    metadata = header.pop("__metadata__", None) or {}
    tensors = {}
    for name in header:  # the file's order; the package's is a hash table's
        entry = entries[name]
        if entry["dtype"] not in _MEMORY:
            raise ValueError(
                f"[load_file] expected dtypes {', '.join(_MEMORY)}, got "
                f"{entry['dtype']} (name={name!r}, filename={name_of(filename)!r})."
            )
        tensors[name] = _decode(entry)
    return tensors, metadata


def _deserialize(content: bytes) -> Any:
    # The package checks all sizes and offsets.
    import safetensors

    return safetensors.deserialize(content)  # type: ignore[no-untyped-call]


def _damaged(caller: str, filename: File, reason: str) -> ValueError:
    return ValueError(
        f"[{caller}] expected a safetensors file, got a damaged one ({reason}) "
        f"(filename={name_of(filename)!r})."
    )


def _itemsize(name: str, tensor: Any) -> int:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"[save_file] expected Tensors, got {type(tensor).__name__} "
            f"(name={name!r})."
        )
    if not isinstance(name, str) or name == "__metadata__":
        raise ValueError(
            f"[save_file] expected a name other than '__metadata__', got {name!r}."
        )
    return int(tensor.element_size())


def _encode(tensor: Tensor) -> tuple[str, bytes]:
    code, memory = _CODES[tensor.dtype.name]
    values = tensor.detach().contiguous()
    if code == "BF16":
        array = values.to(core.float32).numpy().view("uint32") >> 16
    else:
        array = values.numpy()
    return code, array.astype(memory).tobytes()


def _decode(entry: dict[str, Any]) -> Tensor:
    import numpy

    array = numpy.frombuffer(entry["data"], dtype=_MEMORY[entry["dtype"]])
    array = array.reshape(entry["shape"])
    if entry["dtype"] == "BF16":
        wide = (array.astype("uint32") << 16).view("float32")
        half: Tensor = core.tensor(wide).to(core.bfloat16)
        return half
    tensor: Tensor = core.tensor(array.astype(array.dtype.newbyteorder("=")))
    return tensor

# SPDX-License-Identifier: Apache-2.0
"""Whole files: names and open files of users, written and read to the end.

Called by serialization.py; knows of the format only how to tell it from others.
"""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

__all__ = [
    "File",
    "foreign_format",
    "name_of",
    "read_all",
    "replacing",
    "write_all",
]

Path = str | os.PathLike[str]
File = Path | IO[bytes]  # a name, or what is open for bytes


def name_of(file: File) -> str:
    """What errors call it."""
    return os.fspath(file) if isinstance(file, (str, os.PathLike)) else repr(file)


@contextmanager
def replacing(target: str, follow: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``target`` when it is whole.

    follow: behind a link the file is replaced, and not the link.
    """
    if follow:
        target = os.path.realpath(target)
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    file = open(temporary, "xb")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a crash after the rename must not lose the data
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def write_all(file: IO[bytes], content: bytes) -> None:
    """Write it whole: a file without a buffer may take a part, and says which."""
    left: bytes | memoryview = content
    while left:
        count = file.write(left)
        if count is None:
            if not isinstance(file, io.RawIOBase):
                return  # a writer of the user's that says nothing has taken all
            raise _would_block("save_file", "write", file)
        if not 0 < count <= len(left):
            raise OSError(
                f"[save_file] expected write() to take 1 to {len(left)} bytes, got "
                f"{count} (filename={name_of(file)!r})."
            )
        left = memoryview(left)[count:]


def read_all(file: IO[bytes]) -> bytes:
    """Read to the end: ``read()`` may give a part, or None where it would block."""
    content = bytearray()
    size = None  # by the header
    while isinstance(file, io.IOBase) or size is None or len(content) < size:
        part = file.read()
        if part is None:
            raise _would_block("load_file", "read", file)
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError(
                "[load_file] expected a file open for bytes, got one whose read() "
                f"gives {type(part).__name__} (filename={name_of(file)!r})."
            )
        if not part:
            break
        content += part
        if size is None:  # a long header is read once, not after every part
            size = _size_by_header(content)
    return bytes(content)


def _size_by_header(content: bytearray) -> int | None:
    # None while the header is not whole.
    if len(content) < 8:
        return None
    start = 8 + int.from_bytes(content[:8], "little")
    if len(content) < start:
        return None
    try:
        entries = json.loads(content[8:start]).values()
        ends = [entry["data_offsets"][1] for entry in entries if "dtype" in entry]
        return start + int(max(ends, default=0))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return 0  # damaged, which is told later


def _would_block(caller: str, call: str, file: Any) -> BlockingIOError:
    return BlockingIOError(
        errno.EAGAIN,
        f"[{caller}] expected a file that waits, got None of {call}(), which would "
        f"block (filename={name_of(file)!r}). Use a blocking or buffered file",
    )


_PYTORCH = (
    "a PyTorch checkpoint, which is pickled. Convert it where PyTorch is: "
    "safetensors.torch.save_file(torch.load(path, weights_only=True), 'x.safetensors')"
)
# What other files begin with.
_FOREIGN = {
    b"\x93NUMPY": "a NumPy array (.npy). Use pkg.tensor(numpy.load(path))",
    b"\x89HDF": "an HDF5 file. Read it with h5py",
    b"GGUF": "a GGUF file. Convert it to safetensors first",
    b"\x1f\x8b": "a gzip file. Decompress it first",
}


def foreign_format(content: bytes) -> str | None:
    """What the content is, by its first bytes, when it is no safetensors file.

    None for what may be one.
    """
    # A safetensors file begins with the length of its header, and then "{".
    if content[8:9] == b"{":
        return None
    if content[:4] == b"PK\x03\x04":
        if b".npy" in content[:300]:
            return "NumPy arrays (.npz). Use pkg.tensor(numpy.load(path)[name])"
        # data.pkl comes first; its folder has the name of the file.
        return _PYTORCH if b"/data.pkl" in content[:1024] else "a zip archive"
    if content[:1] == b"\x80" and content[1:2] in b"\x02\x03\x04\x05":
        # Before its zip archives, PyTorch wrote several pickles, a magic number first.
        old = b"\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" in content[:64]
        return _PYTORCH if old else "a pickle, which may hold code and is not run"
    found = [what for head, what in _FOREIGN.items() if content.startswith(head)]
    return found[0] if found else None

# SPDX-License-Identifier: Apache-2.0
"""Loads of libraries, over and over, and what memory they take.

    python tests/framework/soak.py [LOADS]

`copies`: the same contents under other names, which is one library.  `refused`: other
contents each time, with ops that another library has, so nothing of them is registered.
`cut`: files that are not whole.  `new`: other contents and other ops each time.  The
loader keeps what it has mapped, as nothing is ever closed: that is what `refused` and
`new` grow by.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

import pkg  # noqa: E402
import turns  # noqa: E402
from libraries import library  # noqa: E402

KINDS = ("copies", "refused", "cut", "new")
SOURCE = Path(__file__).with_name("sources") / "changing.cc"


def resident() -> int:
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def operators() -> int:
    """How many ops there are."""
    core = pkg._binding.core
    return sum(len(core.operator_names(ns)) for ns in core.operator_namespaces())


def contents(kind: str, base: bytes, number: int) -> bytes:
    """Of the file of one load: what comes behind the sections is nobody's."""
    if kind == "copies":
        return base
    if kind == "cut":
        return base[: len(base) // 2] + number.to_bytes(4, "little")
    return base + number.to_bytes(4, "little")


def load(kind: str, base: bytes, folder: Path, number: int) -> bool:
    """Whether the load went well."""
    path = folder / f"{kind}{number}.so"
    path.write_bytes(contents(kind, base, number))
    try:
        pkg.ops.load_library(path)
    except (ImportError, RuntimeError):
        return False
    finally:
        path.unlink()
    return True


def soak(
    kind: str, base: bytes, folder: Path, loads: int, warm: int = 5
) -> tuple[int, float, int]:
    """How many loads went well, the bytes that each took, and how many ops came."""
    for number in range(warm):
        load(kind, base, folder, number)
    ops, memory = operators(), resident()
    good = sum(load(kind, base, folder, warm + number) for number in range(loads))
    return good, (resident() - memory) / max(loads, 1), operators() - ops


def main(loads: int, say: Callable[[str], None] = print) -> None:
    """Prints a line for each kind."""
    with turns.begin() or nullcontext(), tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source = folder / SOURCE.name
        source.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
        same = library(source).read_bytes()
        own = library(source, "-DOWN_NAME").read_bytes()
        (folder / "first.so").write_bytes(same)
        pkg.ops.load_library(folder / "first.so")
        for kind in KINDS:
            began = time.perf_counter()
            base = own if kind == "new" else same
            good, each, ops = soak(kind, base, folder, loads)
            seconds = time.perf_counter() - began
            say(
                f"{kind:8} {loads} loads, {good} went well, {ops} ops came, "
                f"{each / 1024:.1f} KiB a load, {1000 * seconds / loads:.1f} ms a load"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

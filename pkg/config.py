# SPDX-License-Identifier: Apache-2.0
"""Facts about this build and this machine."""

from __future__ import annotations

from . import ops
from ._binding import core
from ._version import __version__


def info() -> dict[str, object]:
    """Version, build, processor and threads as a dict.

    ``pkg.__version__``, ``pkg.__compiler_version__`` and ``pkg.__cxx11_abi_flag__`` (1
    where std::string is that of C++11) are some of them alone.
    """
    return {
        "version": __version__,
        "compiler": core.compiler_version(),
        "flags": core.build_flags(),
        "C++11 ABI": bool(core.cxx11_abi()),
        "instruction set": core.isa_name(),
        "threads": core.num_threads(),
        "async": core.async_enabled(),
        "ops": _count_ops(),
    }


def _count_ops() -> int:
    """Public ops; the in-place form of one is not another."""
    names = {name for name, _ in ops.functions()}
    return len([n for n in names if not (n.endswith("_") and n[:-1] in names)])

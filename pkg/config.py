# SPDX-License-Identifier: Apache-2.0
"""Facts about this build and this machine."""

from __future__ import annotations

from ._binding import core
from ._version import __version__


def info() -> dict[str, object]:
    """Version, build, processor and threads as a dict."""
    return {
        "version": __version__,
        "compiler": core.compiler_version(),
        "flags": core.build_flags(),
        "instruction set": core.isa_name(),
        "threads": core.num_threads(),
        "async": core.async_enabled(),
        "ops": len(core.operator_names("pkg")),
    }

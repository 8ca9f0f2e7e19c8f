# SPDX-License-Identifier: Apache-2.0
"""The header of the C surface, the library, and the functions that each of them has."""

import re
import subprocess
from pathlib import Path

import pkg.sysconfig

INCLUDE = Path(pkg.sysconfig.get_include())
HEADER = INCLUDE / "c_api" / "c_api.h"
LIBRARY = Path(pkg.sysconfig.get_lib()) / "libpkg_core.so"


def declared() -> set[str]:
    """Names of the functions that the header declares as exported."""
    text = HEADER.read_text(encoding="utf-8")
    return set(re.findall(r"^PKG_C_API [\w* ]*?\b(pkg_\w+)\(", text, re.M))


def exported() -> set[str]:
    """Names of the C functions that the library exports, by nm."""
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(LIBRARY)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return set(re.findall(r" T (pkg_\w+)$", done.stdout, re.M))

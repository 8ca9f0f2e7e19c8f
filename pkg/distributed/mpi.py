# SPDX-License-Identifier: Apache-2.0
"""Where MPI is: its library, its launcher, and whether a launcher started this process.

Nothing here opens a library or imports more than the standard library.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

__all__ = ["find_launcher", "launched", "library_paths", "on_disk"]

# MPI's standard gives the name; MPICH counts its versions from 1.
_NAMES = ("libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so")


def launched() -> bool:
    """Whether an MPI launcher started this process: MPICH's Hydra, Open MPI's, or those
    that speak PMIx."""
    ranks = (
        os.environ.get("PMI_RANK"),
        os.environ.get("PMIX_RANK"),
        os.environ.get("OMPI_COMM_WORLD_RANK"),
    )
    return any(rank is not None for rank in ranks)


def _folders() -> list[str]:
    # `pip install mpich` puts it beside Python; --user elsewhere.
    roots = [sysconfig.get_path("data"), sys.prefix, os.path.expanduser("~/.local")]
    return list(dict.fromkeys(os.path.join(root, "lib") for root in roots))


def on_disk() -> list[str]:
    """MPI libraries with the standard ABI that lie where pip puts them, or that
    PKG_MPI_LIBRARY names."""
    chosen = os.environ.get("PKG_MPI_LIBRARY")
    if chosen:
        return [chosen]
    paths = [os.path.join(folder, name) for folder in _folders() for name in _NAMES]
    return [path for path in paths if os.path.exists(path)]


def library_paths() -> str:
    """What to open, the first that can be: paths, then names for the loader to find."""
    if os.environ.get("PKG_MPI_LIBRARY"):
        return on_disk()[0]
    return ":".join([*on_disk(), *_NAMES])


def find_launcher() -> str | None:
    """MPI's mpiexec: that beside Python, or the first on the PATH."""
    beside = os.path.join(sysconfig.get_path("scripts"), "mpiexec")
    return beside if os.access(beside, os.X_OK) else shutil.which("mpiexec")

# SPDX-License-Identifier: Apache-2.0
"""Libraries of ops beside a Python file, and whether they fit what is installed now."""

from __future__ import annotations

import json
import logging
import os
import sys
import sysconfig
import warnings
from types import ModuleType

from .._binding import core
from ..framework import load_op_library

__all__ = [
    "HorovodVersionMismatchError", "check_installed_version", "get_ext_suffix",
    "get_path_to_datafile",
]  # fmt: skip

_log = logging.getLogger(__name__)
_warned: set[tuple[str, str, str]] = set()
METADATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "metadata.json")


class HorovodVersionMismatchError(ImportError):
    """What is installed is not what a library was built with."""

    def __init__(self, name: str, version: str, installed_version: str) -> None:
        """Take the name of a package, the version that runs and that of the build."""
        super().__init__(_mismatch(name, version, installed_version))
        self.name = name
        self.version = version
        self.installed_version = installed_version


def _mismatch(name: str, version: str, installed_version: str) -> str:
    return (
        f"Framework {name} installed with version {installed_version} but found "
        f"version {version}. This can result in unexpected behavior including runtime "
        "errors. Reinstall to build with the new version: pip install --no-cache-dir "
        "--force-reinstall pkg"
    )


def get_ext_suffix() -> str:
    """The suffix of this Python's extension modules, or ".so"."""
    return str(sysconfig.get_config_var("EXT_SUFFIX") or ".so")


def _caller(depth: int) -> str:
    return os.path.dirname(os.path.abspath(sys._getframe(depth + 1).f_code.co_filename))


def get_path_to_datafile(path: str) -> str:
    """The path of a file that lies beside the source file of the caller."""
    return os.path.join(_caller(1), path)


def _load_library(name: str) -> ModuleType:
    """Loads a .so file containing the specified operators.

    name: of a file beside the caller's source file.  NotFoundError where it cannot be
    opened; see ``pkg.load_op_library``, which loads it.
    """
    return load_op_library(os.path.join(_caller(1), name))


def _installed_version(name: str) -> str | None:
    # What pkg was built with: its own version, and what metadata.json beside us says.
    if name == "pkg":
        return str(core.version())
    try:
        with open(METADATA, encoding="utf-8") as file:
            return str(json.load(file)[name])
    except (OSError, ValueError, KeyError, TypeError) as err:
        _log.debug("no version of %s was written at build time: %s", name, err)
        return None


def check_installed_version(
    name: str, version: str, exception: BaseException | None = None
) -> None:
    """Compare the version that runs with the one that pkg was built with.

    exception: why a library could not be loaded: then HorovodVersionMismatchError from
    it where the versions differ.  Without one a warning, once.  Nothing where they are
    the same or the build did not write one down.
    """
    installed = _installed_version(name)
    if installed is None or installed == version:
        return
    if exception is not None:
        raise HorovodVersionMismatchError(name, version, installed) from exception
    if (name, version, installed) not in _warned:
        _warned.add((name, version, installed))
        warnings.warn(_mismatch(name, version, installed), stacklevel=2)

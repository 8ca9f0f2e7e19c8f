# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg wrap``: a Python module of somebody's C++ library, by the kit."""

from __future__ import annotations

import argparse

from ..swigkit.build import command
from ..swigkit.build.incremental import BuildError
from .errors import UserError

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """Make the extension and its stub; print where they lie."""
    try:
        command.run(args)
    except BuildError as err:
        raise UserError(str(err)) from err

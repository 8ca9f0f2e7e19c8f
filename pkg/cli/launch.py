# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg launch``: a program on many processes."""

from __future__ import annotations

import argparse

from ..distributed.launching import launch
from .errors import UserError

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """Run the program; exit with the code of the rank that failed first."""
    try:
        code = launch(args.program, args.np, args.hosts, args.grace)
    except ValueError as err:
        raise UserError(str(err)) from err
    if code:
        raise SystemExit(code)

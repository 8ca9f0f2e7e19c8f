# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg gen-ops``: a Python file of the wrappers of a library of ops."""

from __future__ import annotations

import argparse
import os

from .. import framework, ops
from .._binding import core
from ..files import replacing
from .errors import UserError, reason

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """Write the file, and the types beside it if they are wanted."""
    try:
        identity = ops.load_library_of(args.library)
    except (ImportError, RuntimeError, ValueError) as err:
        raise UserError(reason(err)) from err
    names = core.library_ops(identity)
    title = os.path.basename(args.library)
    files = {args.out: framework.module_text(title, names, args.style)}
    if args.pyi:
        stem = args.out.removesuffix(".py")
        files[f"{stem}.pyi"] = framework.module_stub(title, names)
    for path, text in files.items():
        try:
            with replacing(path) as file:
                file.write(text.encode())
        except OSError as err:
            raise UserError(f"cannot write {path}: {reason(err)}") from err

# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg new-op``: a folder with an op of one's own, whose test passes."""

from __future__ import annotations

import argparse
import keyword
import os
import re

from .. import ops
from ..framework.naming import function_name
from .errors import UserError, reason
from .new_op_templates import TEMPLATES

__all__ = ["run"]


def _checked(name: str) -> str:
    words = re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name)
    if not words or keyword.iskeyword(name):
        raise UserError(
            f"expected a name of small letters, digits and single _, such as zero_out, "
            f"got {name!r}"
        )
    if hasattr(ops, name):
        raise UserError(
            f"{name!r} is a name of pkg's own, which your op would hide: choose another"
        )
    return name


def run(args: argparse.Namespace) -> None:
    """Write the files; print what to do with them."""
    name = _checked(args.name)
    camel = "".join(part.capitalize() for part in name.split("_"))
    if args.style == "tf" and function_name(camel) != name:
        raise UserError(
            f"expected a name that the op {camel} has in Python, which is "
            f"{function_name(camel)!r}, got {name!r}"
        )
    folder = os.path.join(args.out, name)
    try:
        os.makedirs(folder)
    except OSError as err:
        raise UserError(f"cannot make {folder}: {reason(err)}") from err
    for file, text in TEMPLATES[args.style].items():
        path = os.path.join(folder, file.replace("@NAME@", name))
        try:
            with open(path, "x", encoding="utf-8") as written:
                written.write(text.replace("@NAME@", name).replace("@CAMEL@", camel))
        except OSError as err:
            raise UserError(f"cannot write {path}: {reason(err)}") from err
        print(path)
    print(f"next: cd {folder} && python -m pytest -q")

# SPDX-License-Identifier: Apache-2.0
"""What ``import *`` takes of a module of functions."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["exported"]


def exported(module: dict[str, Any]) -> list[str]:
    """The names of the functions that stand in a module, which get these as theirs."""
    names = [
        name
        for name, value in module.items()
        if not name.startswith("_")
        and inspect.isfunction(value)
        and value.__module__ == module["__name__"]
    ]
    for name in names:
        function = module[name]
        if function.__name__ in ("check", "function"):  # one that was made by another
            function.__name__ = function.__qualname__ = name
    return names

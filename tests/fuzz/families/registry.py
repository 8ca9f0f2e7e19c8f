# SPDX-License-Identifier: Apache-2.0
"""The table of families, which the files beside this one fill.

A family gives those arguments of an op that have to do with each other; generate.py
makes up the others.  Ops without one take tensors that broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzz.choose import Chooser
from fuzz.schema import Schema

Given = dict[str, Any]
Family = Callable[[Chooser, Schema], Given]
FAMILIES: dict[str, Family] = {}


def family(names: str) -> Callable[[Family], Family]:
    """Registers a family for these ops."""

    def register(function: Family) -> Family:
        for name in names.split():
            FAMILIES[name] = function
        return function

    return register

# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's Print."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import math
from .control import control_dependencies
from .control_flow import py_func
from .convert import convert_to_tensor

__all__ = ["Print"]


def _shown(value: Any, most: int) -> str:
    flat = np.asarray(value).ravel()
    dots = "..." if flat.size > most else ""
    return f"[{' '.join(str(item) for item in flat[:most])}{dots}]"


def Print(  # noqa: N802
    input_: Any, data: Any, message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """input_, and at each run a line of the error output with the values of data.

    first_n: how often, if not always; summarize: how many elements of each, 3 if it
    does not say.
    """
    most = 3 if summarize is None or summarize < 0 else summarize
    left = [-1 if first_n is None else int(first_n)]

    def show(*values: Any) -> None:
        if left[0] == 0:
            return
        left[0] -= 1
        line = "".join(_shown(value, most) for value in values)
        print(f"{message or ''}{line}", file=sys.stderr)

    input_ = convert_to_tensor(input_)
    with control_dependencies([py_func(show, list(data), [], name="Print/show")]):
        return math.identity(input_, name=name or "Print")

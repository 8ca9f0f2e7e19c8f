# SPDX-License-Identifier: Apache-2.0
"""What a fake kernel says of its arguments."""

from __future__ import annotations

from collections.abc import Callable


def _check(condition: bool, message: Callable[[], str] | None = None) -> None:
    """RuntimeError unless `condition`; `message` is called for the text, then only."""
    if not isinstance(condition, bool):
        raise TypeError(
            f"[_check] expected a bool, got {type(condition).__name__}. A tensor's "
            "values are not known where shapes alone are."
        )
    if condition:
        return
    if message is None:
        raise RuntimeError("Expected the condition to be True, but got False.")
    raise RuntimeError(str(message()))

# SPDX-License-Identifier: Apache-2.0
"""UserError: what main() shows as one line."""

from __future__ import annotations

__all__ = ["UserError", "reason"]


class UserError(Exception):
    """Something only the user can put right."""


def reason(err: BaseException) -> str:
    """Return the cause of an error in one line: 'No such file or directory'."""
    text = err.strerror if isinstance(err, OSError) and err.strerror else str(err)
    return " ".join(text.split())

# SPDX-License-Identifier: Apache-2.0
"""The sessions that a thread has entered."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["get_default_session", "session_for", "sessions"]


class _Sessions(threading.local):
    """Those of one thread, the latest last."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


sessions = _Sessions()


def get_default_session() -> Any:
    """The session that this thread has entered last, or None."""
    return sessions.stack[-1] if sessions.stack else None


_WHAT = {
    "eval": "evaluate tensor", "run": "execute operation", "load": "load variable",
}  # fmt: skip


def session_for(method: str, element: Any, session: Any) -> Any:
    """The session given, or the default one; ValueError where there is none."""
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"Cannot {_WHAT[method]} using `{method}()`: No default session is "
                "registered. Use "
                "`with sess.as_default()` or pass an explicit session to "
                f"`{method}(session=sess)`"
            )
        if session.graph is not element.graph:
            raise ValueError(
                f"Cannot use the default session to {_WHAT[method]}: the "
                f"{_WHAT[method].split()[1]}'s graph is different from the session's "
                f"graph ({element.name}). Pass an explicit session to "
                f"`{method}(session=sess)`."
            )
    elif session.graph is not element.graph:
        raise ValueError(
            f"Cannot use the given session to {_WHAT[method]}: the "
            f"{_WHAT[method].split()[1]}'s graph is different from the session's graph "
            f"({element.name})."
        )
    return session

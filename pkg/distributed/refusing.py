# SPDX-License-Identifier: Apache-2.0
"""What a rank does that cannot make a call: it tells the others, who wait for it."""

from __future__ import annotations

from types import TracebackType

from .._binding import core

__all__ = ["Refusing"]


class Refusing:
    """An error within it is one on all ranks: here the error itself, on the others
    HorovodInternalError with the number of this rank and the text.

    For errors that come before the call has reached the core, such as of a wrong type.
    The core itself tells of those that it finds, and says so when it is asked again.
    """

    def __init__(self, kind: str, name: str | None, group: object = None) -> None:
        """group: the tensors of a call of several."""
        self._kind = kind
        self._name = name if isinstance(name, str) else ""
        self._group = group

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Tell the others of an error, once."""
        if not isinstance(error, Exception) or hasattr(error, "_pkg_told"):
            return
        if isinstance(error, core.HorovodInternalError):
            return  # they have it
        error._pkg_told = True  # type: ignore[attr-defined]
        group = self._group
        count = 0
        if group is not None:  # an empty one, or what cannot be counted: -1
            count = len(group) if isinstance(group, (list, tuple)) else 0
            count = count or -1
        text = str(error) or type(error).__name__
        core.Operator("_refuse", "horovod")(self._kind, self._name, text, count)

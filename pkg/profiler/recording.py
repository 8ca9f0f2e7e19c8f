# SPDX-License-Identifier: Apache-2.0
"""Noting what a program does, from one point of it to another."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from typing import Any

from .._binding import core
from .events import ProfileEvent, events_from
from .timeline import Row, Timeline

__all__ = ["profile"]

_KINDS = ("ops", "tasks", "waits", "steps", "collectives")


class profile:  # noqa: N801  (PyTorch's name)
    """Notes what begins and ends while it is entered, on all threads.

    kinds: some of "ops", "tasks", "waits", "steps", "collectives".  shapes: whether
    calls are noted with the shapes and dtypes of their tensors.  lines: whether with
    the Python line.  this_thread: whether with nothing of other threads.  max_events:
    room, of some 200 bytes each; what comes when it is full is counted in ``lost``.

    Profiles may be nested, and open on several threads at once: each gets all that
    began and ended while it was open.  One can be entered again when it was left, and
    then has the new events alone.  TypeError and ValueError for wrong options, and
    TypeError where one is copied; RuntimeError for one that is entered twice, or asked
    for events before it was left.
    """

    def __init__(
        self,
        kinds: Iterable[str] = _KINDS,
        *,
        shapes: bool = False,
        lines: bool = True,
        this_thread: bool = False,
        max_events: int = 1_000_000,
    ) -> None:
        if not isinstance(kinds, Iterable):
            raise TypeError(
                f"[profile] expected some of {', '.join(_KINDS)} for kinds, got "
                f"{type(kinds).__name__}."
            )
        words = [kinds] if isinstance(kinds, str) else list(kinds)
        wrong = [word for word in words if word not in _KINDS]
        if wrong or not words:
            raise ValueError(
                f"[profile] expected some of {', '.join(_KINDS)} for kinds, got "
                f"{', '.join(map(repr, wrong)) or 'none'}."
            )
        if isinstance(max_events, bool) or not isinstance(max_events, int):
            raise TypeError(
                "[profile] expected an int for max_events, got "
                f"{type(max_events).__name__}."
            )
        if not 0 < max_events <= 2**40:
            raise ValueError(
                f"[profile] expected 1 to 2**40 for max_events, got {max_events}."
            )
        options = {"shapes": shapes, "lines": lines, "this_thread": this_thread}
        words += [name for name, wanted in options.items() if wanted]
        self._words = " ".join(words)
        self._most = max_events
        self._number: int | None = None
        self._start = 0
        # What was noted, and when that ended; read when somebody asks for it, which
        # nobody does of a run that has failed.
        self._noted: tuple[str, int] | None = None
        self._timeline: Timeline | None = None

    def start(self) -> None:
        """Begins to note; what was noted before is forgotten."""
        if self._number is not None:
            raise RuntimeError("[profile] expected one that is not open: it is.")
        self._noted = self._timeline = None
        self._start = time.monotonic_ns()
        self._number = core._trace_begin(self._words, self._most)

    def stop(self) -> None:
        """Ends noting."""
        if self._number is None:
            raise RuntimeError("[profile] expected one that is open: it is not.")
        number, self._number = self._number, None
        text = core._trace_end(number)
        self._noted = text, time.monotonic_ns()

    def __enter__(self) -> profile:
        """Begins."""
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Ends, whatever happened inside."""
        self.stop()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """TypeError: a copy would end what it has begun."""
        raise TypeError(
            "[profile] expected one that stays where it is: profiles are not copied or "
            "pickled. Its events and its timeline may be."
        )

    def __del__(self) -> None:
        """Ends what nobody will ask for."""
        number = getattr(self, "_number", None)
        if number is not None:
            with contextlib.suppress(Exception):
                core._trace_end(number)

    @property
    def timeline(self) -> Timeline:
        """What was noted; RuntimeError while it is open, or before."""
        noted = self._noted  # before the other: a thread may read it just now
        found = self._timeline
        if found is None:
            if noted is None:
                raise RuntimeError(
                    "[profile] expected one that was left: nothing is there to show "
                    "yet."
                )
            text, end = noted
            events, lost = events_from(text)
            found = self._timeline = Timeline(events, self._start, end, lost)
            self._noted = None
        return found

    @property
    def events(self) -> list[ProfileEvent]:
        """In the order of their starts."""
        return self.timeline.events

    @property
    def lost(self) -> int:
        """How many events had no room."""
        return self.timeline.lost

    def rows(self, by: str = "name", sort: str = "self") -> list[Row]:
        """See ``Timeline.rows``."""
        return self.timeline.rows(by, sort)

    def table(self, *args: Any, **options: Any) -> str:
        """See ``Timeline.table``."""
        return self.timeline.table(*args, **options)

    def chrome_trace(self, path: Any) -> None:
        """See ``Timeline.chrome_trace``."""
        self.timeline.chrome_trace(path)

    def html(self, path: Any) -> None:
        """See ``Timeline.html``."""
        self.timeline.html(path)

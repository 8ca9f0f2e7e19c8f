# SPDX-License-Identifier: Apache-2.0
"""What a program does, and how long it takes: calls, tasks, waits, steps of graphs.

``with pkg.profiler.profile() as p:`` notes everything that begins and ends inside, on
all threads, on one clock; then ``print(p.table())``, ``p.chrome_trace(path)`` for
chrome://tracing and Perfetto, ``p.html(path)`` for a page.
"""

from __future__ import annotations

from .events import ProfileEvent as ProfileEvent
from .recording import profile as profile
from .timeline import Timeline as Timeline

__all__ = ["ProfileEvent", "Timeline", "profile"]

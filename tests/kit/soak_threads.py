# SPDX-License-Identifier: Apache-2.0
"""Ends while ten threads of C++ call Python: python soak_threads.py WHICH END.

WHICH they call is "virtual" (an override), "callback" or "both"; END is "main" (the end
of the program), "exit" (sys.exit) or "error" (sys.exit of status 3).
"""

import sys
import time

from kit_modules import load

threads = load("threads", "kit")
sys.modules["threads"] = threads
which, end = sys.argv[1:]


class Job(threads.Job):
    """Makes objects and calls C++ again, so that a thread may be anywhere."""

    def work(self, text, values):
        return len([*values, text]) + threads.plain(len(values))


def call(text, values):
    return len([(text, value) for value in values])


threads.call_at_exit(call)
if which in ("virtual", "both"):
    threads.start_jobs(Job(), 10)
if which in ("callback", "both"):
    threads.start_callbacks(call, 10)
deadline = time.monotonic() + 30
while threads.calls() < 1000 and time.monotonic() < deadline:
    time.sleep(0.001)
if threads.calls() < 1000:
    sys.exit("the threads did not call")
if end != "main":
    sys.exit(3 if end == "error" else 0)

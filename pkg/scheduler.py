# SPDX-License-Identifier: Apache-2.0
"""Threads and pending work."""

from ._binding import core

num_threads = core.num_threads
set_num_threads = core.set_num_threads
synchronize = core.synchronize
pending_tasks = core.pending_tasks
async_enabled = core.async_enabled
set_async = core.set_async

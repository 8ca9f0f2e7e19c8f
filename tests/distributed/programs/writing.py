# SPDX-License-Identifier: Apache-2.0
"""Ranks, without MPI, that write something unusual: the argument says what."""

import os
import signal
import sys
import time

how, rank = sys.argv[1], int(os.environ["PMI_RANK"])

if how == "lines":  # long, in pieces, of bytes that are no UTF-8, without an end
    for _ in range(200):
        os.write(1, bytes([65 + rank]) * 5000)
        os.write(2, bytes([97 + rank]) * 500)
        time.sleep(0.001)
    os.write(1, b"\xff\n\xc3\xa4\n")
    os.write(2, b"\x1eend")
    assert "PKG_LAUNCH_CHANNEL" not in os.environ
elif how == "endless":
    while True:
        print("x" * 100)
elif how == "waits":
    if rank == 1:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), os.getppid(), flush=True)
    time.sleep(1000)

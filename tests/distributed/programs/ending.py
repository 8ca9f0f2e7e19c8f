# SPDX-License-Identifier: Apache-2.0
"""Ranks that end in some way: the argument says how."""

import os
import signal
import sys
import threading
import time

import pkg
import pkg.distributed as hvd

how = sys.argv[1]
if how == "never there" and os.environ["PMI_RANK"] == "1":
    print("gone", flush=True)
    sys.exit(0)


def late_init():
    began = time.monotonic()
    try:
        hvd.init()
    except hvd.HorovodInternalError as error:
        print(f"no init after {time.monotonic() - began:.1f} s: {error}", flush=True)
        sys.exit(6)


if how == "never there":
    late_init()
hvd.init()
rank = hvd.rank()
hvd.allreduce(pkg.ones(3))
print("ready", flush=True)

if how.startswith("killed"):
    if rank == 1 and how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 1:
        kill = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGKILL])
        kill.start()
    began = time.monotonic()
    try:
        large = pkg.ones(1 << 22)
        while how == "killed within":  # a transfer
            hvd.allreduce(large, name="large")
        hvd.allreduce(pkg.ones(3), name="never")
    except hvd.HorovodInternalError as error:
        print(f"lost after {time.monotonic() - began:.1f} s: {error}", flush=True)
        sys.exit(5)
elif how == "fails":
    if rank == 1:
        print("some reason", file=sys.stderr)
        sys.exit(7)
    try:
        hvd.allreduce(pkg.ones(3), name="never")  # the end of rank 1 ends this, too
    except hvd.HorovodInternalError:
        time.sleep(1)  # rank 1 tells others before it has ended; that it is the first
        raise
elif how == "pending":
    if rank == 0:
        hvd.allreduce_async(pkg.ones(3), name="never")
    hvd.barrier()
elif how == "stalls":
    if rank == 0:
        try:
            hvd.allreduce(pkg.ones(3), name="alone")
        except hvd.HorovodInternalError as error:
            print(f"stalled: {error}", flush=True)
    else:
        time.sleep(2.5)  # longer than the bound
    hvd.allreduce(pkg.ones(1), name="both")
elif how == "forks":
    child = os.fork()
    if child == 0:
        try:
            hvd.allreduce(pkg.ones(1))
        except RuntimeError as error:
            os._exit(3 if "this is its child" in str(error) else 1)
        os._exit(2)
    _, status = os.waitpid(child, 0)
    hvd.allreduce(pkg.ones(3))
    print("child", os.waitstatus_to_exitcode(status), flush=True)
elif how == "not again":
    hvd.shutdown()
    if rank == 0:
        late_init()
elif how == "hangs":
    if rank == 1:
        sys.exit(4)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)

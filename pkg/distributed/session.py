# SPDX-License-Identifier: Apache-2.0
"""init(), shutdown(), and who is who: Horovod's names."""

from __future__ import annotations

import atexit
import itertools
import os
from typing import NamedTuple

from .._binding import core
from . import mpi

__all__ = [
    "ccl_built", "cross_rank", "cross_size", "cuda_built", "ddl_built", "gloo_built",
    "gloo_enabled", "init", "is_homogeneous", "is_initialized", "local_rank",
    "local_size", "mpi_built", "mpi_enabled", "mpi_threads_supported", "nccl_built",
    "rank", "rocm_built", "shutdown", "size",
]  # fmt: skip


class _World(NamedTuple):
    rank: int
    size: int
    local_rank: int
    local_size: int
    cross_rank: int
    cross_size: int


_world: _World | None = None
_over_mpi = False
_sessions = 0  # how many init() has begun
_calls = itertools.count(1)  # since init() or join(), that have no name of their own
_joins = 0  # of this session
_at_exit = False  # whether shutdown is registered


def _number(variable: str, text: str | None, default: float) -> float:
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(
            f"[init] expected {variable} to be a number >= 0, got {text!r}."
        )
    return value


def _settings() -> tuple[int, int, float, float]:
    fusion = os.environ.get("HOROVOD_FUSION_THRESHOLD")
    cache = os.environ.get("HOROVOD_CACHE_CAPACITY")
    stall = os.environ.get("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS")
    silence = os.environ.get("HOROVOD_FAILURE_TIMEOUT_SECONDS")
    return (
        int(_number("HOROVOD_FUSION_THRESHOLD", fusion, 128 << 20)),
        int(_number("HOROVOD_CACHE_CAPACITY", cache, 1024)),
        _number("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", stall, 300),
        _number("HOROVOD_FAILURE_TIMEOUT_SECONDS", silence, 30) or 30,
    )


def init() -> None:
    """Begin to work with the other ranks; waits until all have come.

    A process that no MPI launcher started is a world of size 1, which needs no MPI.
    ImportError where a launcher did and there is no MPI library with the standard ABI;
    HorovodInternalError after a rank was lost.  Does nothing if it is initialized.
    """
    global _world, _over_mpi, _at_exit, _sessions, _calls, _joins
    if is_initialized():
        return
    _world = None
    _over_mpi = mpi.launched()
    _sessions += 1  # before there is one: what was begun in another may not enter it
    numbers = core.Operator("init", "horovod")(
        mpi.library_paths() if _over_mpi else "",
        *_settings(),
    )
    _world = _World(*numbers.tolist())
    _calls, _joins = itertools.count(1), 0
    if not _at_exit:
        _at_exit = True
        atexit.register(_shutdown_at_exit)


def shutdown() -> None:
    """End the work with the other ranks, for all of them; waits until they know.

    What is pending on any rank fails with HorovodInternalError.  Without init() nothing
    happens; init() may be called again.
    """
    global _world
    _world = None
    core.Operator("shutdown", "horovod")().wait()


def _shutdown_at_exit() -> None:
    # The core ends the session when Python is gone: so a rank that fails ends before
    # those that fail since it does.  But what waits for a collective would keep the
    # scheduler.
    global _world
    _world = None
    if core.pending_tasks():
        core.Operator("shutdown", "horovod")()


def is_initialized() -> bool:
    """Whether init() was called, and no rank has called shutdown() since."""
    return bool(core.Operator("_running", "horovod")().item())


def _session() -> int:
    """Which session this is: another number after each init() that begins one."""
    return _sessions


def _next_call() -> str:
    """What tells a call without a name from others: a number, from 1 in each session
    and after each join(), before which ranks may have made different numbers of
    calls."""
    number = next(_calls)
    return f"{number} after join {_joins}" if _joins else str(number)


def _count_anew() -> None:
    """This rank has called join()."""
    global _calls, _joins
    _calls, _joins = itertools.count(1), _joins + 1


def _place() -> _World:
    if _world is None:
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return _world


def rank() -> int:
    """The number of this process among all, from 0.  ValueError before init()."""
    return _place().rank


def size() -> int:
    """How many processes there are.  ValueError before init()."""
    return _place().size


def local_rank() -> int:
    """The number of this process among those of its host."""
    return _place().local_rank


def local_size() -> int:
    """How many processes its host has."""
    return _place().local_size


def cross_rank() -> int:
    """The number of its host among the hosts that have a process of this local rank."""
    return _place().cross_rank


def cross_size() -> int:
    """How many hosts have a process of this local rank."""
    return _place().cross_size


def is_homogeneous() -> bool:
    """Whether every host has as many processes as this one, as far as sizes tell."""
    place = _place()
    return place.local_size * place.cross_size == place.size


def mpi_built() -> bool:
    """Whether there is an MPI library to open: ``pip install mpich`` brings one."""
    return bool(mpi.on_disk())


def mpi_enabled() -> bool:
    """Whether the ranks work over MPI.  ValueError before init()."""
    _place()
    return _over_mpi


def mpi_threads_supported() -> bool:
    """False: one thread of pkg owns MPI, and others must not call it."""
    _place()
    return False


def _absent() -> bool:
    """False: the engine is MPI, and there are CPUs only."""
    return False


# What programs ask before they choose: Horovod has other engines.
gloo_built = gloo_enabled = nccl_built = cuda_built = rocm_built = _absent
ccl_built = ddl_built = _absent

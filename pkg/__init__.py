# SPDX-License-Identifier: Apache-2.0
"""pkg: a small, fast tensor runtime in C++, bound to Python by SWIG.

The names are PyTorch's: ``pkg.tensor``, ``pkg.zeros``, ``x.sum(dim=0)``.
"""

import atexit as _atexit
import os as _os

from ._binding import core as _core
from ._version import __version__
from .tensor import Tensor
from .exchange import asarray, from_dlpack
from . import autograd, config, ops, random, scheduler
from .autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state

tensor = _core.tensor
from_numpy = _core.from_numpy
dtype = _core.dtype
OpLookupError = _core.OpLookupError
OutOfMemoryError = _core.OutOfMemoryError
CancelledError = _core.CancelledError
empty_cache = _core.empty_cache
set_num_threads = _core.set_num_threads
get_num_threads = _core.num_threads
synchronize = _core.synchronize

DTYPES = ("bool", "uint8", "int8", "int32", "int64")
DTYPES += ("float16", "bfloat16", "float32", "float64")
ops.export_to(globals())
for _name in DTYPES:
    globals()[_name] = getattr(_core, _name)
float = _core.float32  # noqa: A001  (PyTorch's alias)
double = _core.float64
half = _core.float16
long = _core.int64

_LAZY = ("nn", "optim", "data", "datasets", "models", "serialization", "sysconfig")


def __getattr__(name):
    """Subpackages load at first use: ``import pkg`` alone stays cheap."""
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_atexit.register(_core.shutdown)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(before=_core.quiesce)

del _name

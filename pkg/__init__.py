# SPDX-License-Identifier: Apache-2.0
"""pkg: a small, fast tensor runtime in C++, bound to Python by SWIG.

The names are PyTorch's: ``pkg.tensor``, ``pkg.zeros``, ``x.sum(dim=0)``.  Every op has
a docstring with its schema: ``help(pkg.add)``.  In the source, docs/ops.md lists all
ops, layers and optimisers, docs/guide.md and docs/training.md show their use.
"""

import atexit as _atexit
import os as _os
import typing as _typing
from math import e as e, inf as inf, nan as nan, pi as pi

# "x as x" says to type checkers that x is for users.
from . import (
    autograd as autograd,
    config as config,
    ops as ops,
    random as random,
    scheduler as scheduler,
)
from ._binding import core as _core
from ._symbols import symbols as symbols
from ._version import __version__ as __version__
from .autograd import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from .dlpack import from_dlpack as from_dlpack
from .exchange import asarray as asarray
from .generator import Generator as Generator
from .random import (
    default_generator as default_generator,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from .tensor import Tensor as Tensor, above as _above

tensor = _core.tensor
from_numpy = _core.from_numpy
dtype = _core.dtype
device = _core.device
OpLookupError = _core.OpLookupError
OutOfMemoryError = _core.OutOfMemoryError
CancelledError = _core.CancelledError
empty_cache = _core.empty_cache
set_num_threads = _core.set_num_threads
get_num_threads = _core.num_threads
synchronize = _core.synchronize

# TensorFlow's names of facts for those who link with the core; config.info() has more.
__compiler_version__ = _core.compiler_version()
__cxx11_abi_flag__ = _core.cxx11_abi()

bool = _core.bool  # noqa: A001
uint8, int8, int32, int64 = _core.uint8, _core.int8, _core.int32, _core.int64
float16, bfloat16, float32 = _core.float16, _core.bfloat16, _core.float32
float64 = _core.float64
# PyTorch's other names of them.
int, long, half = int32, int64, float16  # noqa: A001
float, double = float32, float64  # noqa: A001

Size = tuple  # type: ignore[type-arg]  # what Tensor.shape is
ops.export_to(globals())

# Modules, and functions with the module they are in, that load at first use.
_LAZY = """
    build cuda data datasets distributed framework graph library linalg models nn optim
    profiler serialization sysconfig testing utils
""".split()
_LAZY_NAMES = {
    "explaining": "explain",
    "framework": "NoGradient NotDifferentiable RegisterGradient load_op_library",
    "graph": "compile",
    "library.checks": "_check",
    "functional": "as_tensor is_floating_point is_tensor multinomial "
    "nonzero normal numel ravel tensordot unique",
    "printing": "set_printoptions",
    "serialization": "load save",
    "type_info": "can_cast finfo get_default_dtype iinfo promote_types result_type "
    "set_default_dtype",
}
# What methods of Tensor call in modules above pkg/tensor.py.
_OF_METHODS = {
    "apply_function": "numpy_functions",
    "apply_ufunc": "numpy_functions",
    "backward": "autograd",
    "multinomial": "functional",
    "nonzero": "functional",
    "tensor_text": "printing",
    "unique": "functional",
}


if _typing.TYPE_CHECKING:
    # What loads at first use, or is made of the registry.
    from . import (
        build as build,
        cuda as cuda,
        data as data,
        datasets as datasets,
        distributed as distributed,
        framework as framework,
        library as library,
        linalg as linalg,
        models as models,
        nn as nn,
        optim as optim,
        profiler as profiler,
        serialization as serialization,
        sysconfig as sysconfig,
        testing as testing,
        utils as utils,
    )
    from ._op_types import *  # noqa: F403
    from .explaining import explain as explain
    from .framework import (
        NoGradient as NoGradient,
        NotDifferentiable as NotDifferentiable,
        RegisterGradient as RegisterGradient,
        load_op_library as load_op_library,
    )
    from .functional import *  # noqa: F403
    from .graph import compile as compile
    from .library.checks import _check as _check
    from .printing import set_printoptions as set_printoptions
    from .serialization import load as load, save as save
    from .type_info import *  # noqa: F403


def _load_of(module: str, name: str) -> _typing.Any:
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


def _load_late(name: str) -> _typing.Any:
    """Subpackages load at first use: ``import pkg`` alone stays cheap."""
    import importlib

    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    for module, names in _LAZY_NAMES.items():
        if name in names.split():
            value = globals()[name] = _load_of(module, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Every name, those that load at first use included."""
    late = [name for names in _LAZY_NAMES.values() for name in names.split()]
    return sorted({*globals(), *_LAZY, *late})


if not _typing.TYPE_CHECKING:  # to a checker, a name that is not there is a mistake
    __getattr__ = _load_late

_above.load = lambda name: _load_of(_OF_METHODS[name], name)
_atexit.register(_core.shutdown)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(before=_core._before_fork)

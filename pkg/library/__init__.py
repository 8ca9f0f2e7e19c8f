# SPDX-License-Identifier: Apache-2.0
"""Operators of one's own, from Python: PyTorch's ``torch.library``.

``custom_op`` makes an op of a function; ``register_kernel``, ``register_fake`` and
``register_autograd`` give one, wherever it was declared, a kernel, shapes and a
gradient; ``Library`` declares by schema; ``opcheck`` tries what was registered.
``registrations`` and ``dump_dispatch_table`` say what is there.
"""

from __future__ import annotations

from .checks import _check as _check
from .custom import CustomOpDef as CustomOpDef, custom_op as custom_op
from .opcheck import OpCheckError as OpCheckError, opcheck as opcheck
from .registry import (
    Library as Library,
    dump_dispatch_table as dump_dispatch_table,
    register_autograd as register_autograd,
    register_fake as register_fake,
    register_kernel as register_kernel,
    registrations as registrations,
)
from .schemas import infer_schema as infer_schema

# PyTorch's earlier name.
impl_abstract = register_fake

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "custom_op",
    "dump_dispatch_table",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "registrations",
]

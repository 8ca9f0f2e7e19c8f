# SPDX-License-Identifier: Apache-2.0
"""Every registered op as a function; those that start with `self` also as methods.

The registry is the only list: this module reads it, and so does ``load``-ed code later.
"""

from ._binding import core
from .tensor import Tensor

_functions = {}


def functions():
    """(name, op) of every public op."""
    return [(n, op) for n, op in _functions.items() if not n.startswith("_")]


for _name in core.operator_names("pkg"):
    _op = core.Operator(_name)
    _functions[_name] = _op
    globals()[_name] = _op
    if _op.is_method and not _name.startswith("_") and _name not in Tensor.__dict__:
        setattr(Tensor, _name, _op)

del _name, _op

# SPDX-License-Identifier: Apache-2.0
"""Linear algebra by PyTorch's names: every op called linalg_<name>, as <name>."""

from . import ops

_PREFIX = "linalg_"

for _name, _op in ops.functions():
    if _name.startswith(_PREFIX):
        globals()[_name[len(_PREFIX) :]] = _op

del _name, _op

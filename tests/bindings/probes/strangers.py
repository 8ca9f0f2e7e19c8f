# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, what one binding says to the tensors of the other, in one process.

Run by test_binding_contract.py with the folder of the pybind11 variant; the
Python layer is on the SWIG binding.
"""

import json
import sys

import pkg
from pkg._binding import core

sys.path.insert(0, sys.argv[1])
import _pybind_core as other  # noqa: E402


def outcome(call):
    try:
        return {"value": repr(call())}
    except Exception as error:
        return {"raises": type(error).__name__, "text": str(error)}


def calls(ours, mine, theirs):
    """Every way in for a tensor; `mine` belongs to the module `ours`."""
    add, cat, add_ = (ours.Operator(name) for name in ("add", "cat", "add_"))
    return {
        "mine + theirs": lambda: mine + theirs,
        "mine == theirs": lambda: mine == theirs,
        "mine += theirs": lambda: mine.__iadd__(theirs),
        "add(mine, theirs)": lambda: add(mine, theirs),
        "add(theirs, mine)": lambda: add(theirs, mine),
        "add(mine, other=theirs)": lambda: add(mine, other=theirs),
        "add_(theirs, mine)": lambda: add_(theirs, mine),
        "cat([mine, theirs])": lambda: cat([mine, theirs]),
        "mine[theirs]": lambda: mine[theirs],
        "mine[0] = theirs": lambda: mine.__setitem__(0, theirs),
        "mine.grad = theirs": lambda: setattr(mine, "grad", theirs),
        "mine.data = theirs": lambda: setattr(mine, "data", theirs),
        "tensor(theirs)": lambda: ours.tensor(theirs),
        "tensor([theirs])": lambda: ours.tensor([theirs]),
        "_memory(theirs)": lambda: ours._memory(theirs),
        "_backward((theirs,))": lambda: ours._backward((theirs,), (None,), 0, 0, ()),
        "_make_subclass": lambda: ours.Tensor._make_subclass(ours.Tensor, theirs),
    }


if __name__ == "__main__":
    a, b = core.tensor([1.0, 2.0]), other.tensor([1.0, 2.0])
    results = {
        "swig": {n: outcome(c) for n, c in calls(core, a, b).items()},
        "pybind11": {n: outcome(c) for n, c in calls(other, b, a).items()},
    }
    assert type(a) is pkg.Tensor and type(b) is other.Tensor
    print(json.dumps(results))

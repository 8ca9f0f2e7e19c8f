# SPDX-License-Identifier: Apache-2.0
"""Generated functions as callables of the binding.

Nearly every call of a wrapper is one of plain tensors, and a Python function costs
more than a small op does.  So the binding is what is called; it has the function for
all other calls, and shows its signature, documentation and source.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .._binding import core
from ..graph.definitions import definition_of

__all__ = ["direct"]

Function = TypeVar("Function", bound=Callable[..., Any])


def direct(qualified: str, result: Any = None) -> Callable[[Function], Function]:
    """A decorator of the wrapper of an op.

    qualified: "tf::ZeroOut"; result: the class of its results, where there are several.
    The function has a parameter for each input, for each attribute that is given, those
    without a default first, and for the name.  It is called with the error in the place
    of the name where the op has refused a call.
    """

    def made(function: Any) -> Any:
        op = definition_of(qualified)
        assert op is not None, qualified
        names = [argument.name for argument in op.inputs]
        names += [attr.name for attr in op.given if not attr.has_default]
        names += [attr.name for attr in op.given if attr.has_default]
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount - 1]
        places = dict(zip(parameters, names, strict=True))
        wrapper = core.OpWrapper(function, qualified, places, result)
        return functools.update_wrapper(wrapper, function)

    return made

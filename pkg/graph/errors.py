# SPDX-License-Identifier: Apache-2.0
"""Errors of a run: one class for each code, with the operation that failed.

The codes and their names are TensorFlow's (and gRPC's).  What a run raises is also of
the class that the same mistake raises outside of a graph.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .building import Operation

__all__ = ["OpError", "error_of"]


class OpError(Exception):
    """An error of a run.

    message: what happened; op: the Operation that failed, or None; node_def: its plain
    description, or None; error_code: a number from 1 to 16.
    """

    error_code = 2

    def __init__(
        self, node_def: Any, op: Operation | None, message: str, code: int | None = None
    ) -> None:
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        if code is not None:
            self.error_code = code

    def __str__(self) -> str:
        """The message, with the operation and the Python line that made it."""
        if self.op is None:
            return self.message
        where = f", made at {self.op.call_site}" if self.op.call_site else ""
        return f"{self.message} [operation {self.op.name!r}, {self.op.type}{where}]"


# Codes are the places, from 1 on.
_NAMES = (
    "Cancelled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists "
    "PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange "
    "Unimplemented Internal Unavailable DataLoss Unauthenticated"
).split()
OK = 0


def _make_classes() -> None:
    for code, name in enumerate(_NAMES, 1):
        constant = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
        doc = f"An error of the code {constant}, {code}."
        made = type(f"{name}Error", (OpError,), {"error_code": code, "__doc__": doc})
        made.__module__ = __name__
        globals()[made.__name__], globals()[constant] = made, code
        __all__.extend([made.__name__, constant])


_make_classes()

# What the first that the exception is an instance of means; texts are the core's.
_KINDS: list[tuple[type[BaseException], str, str]] = [
    (RuntimeError, "Attempting to use uninitialized value", "FailedPrecondition"),
    (Exception, "Timed out", "DeadlineExceeded"),
    (Exception, "Session was closed", "Cancelled"),
    (MemoryError, "", "ResourceExhausted"),
    (NotImplementedError, "", "Unimplemented"),
    (RuntimeError, "internal check failed", "Internal"),
    (ValueError, "", "InvalidArgument"),
    (TypeError, "", "InvalidArgument"),
    (LookupError, "", "InvalidArgument"),
    (ArithmeticError, "", "InvalidArgument"),
    (RuntimeError, "", "InvalidArgument"),
]


@cache
def _also(kind: type[OpError], other: type[Exception]) -> type[OpError]:
    # The class of the code that is also the exception of the call outside of a graph.
    try:
        made = type(kind.__name__, (kind, other), {"__doc__": kind.__doc__})
    except TypeError:  # their objects are laid out in ways that do not go together
        return kind
    made.__module__ = __name__
    return made


def error_of(error: Exception, op: Operation | None) -> OpError:
    """The OpError for what a run raised, which is of the class of ``error``, too."""
    text = str(error)
    name = next(
        (n for kind, begin, n in _KINDS if isinstance(error, kind)
         and text.startswith(begin)), "Unknown"
    )  # fmt: skip
    kind = _also(globals()[f"{name}Error"], type(error))  # type: ignore[arg-type]
    return kind(op.node_def if op else None, op, text)

# SPDX-License-Identifier: Apache-2.0
"""Errors of a run: one class for each code, with the operation that failed.

The codes and their names are TensorFlow's (and gRPC's).  Each class is also the
built-in exception that the same mistake raises outside of a graph.
"""

from __future__ import annotations

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


# (class, code, built-in exceptions that it is as well)
_TABLE = """
    CancelledError 1
    UnknownError 2
    InvalidArgumentError 3 ValueError
    DeadlineExceededError 4 TimeoutError
    NotFoundError 5 LookupError
    AlreadyExistsError 6
    PermissionDeniedError 7
    ResourceExhaustedError 8 MemoryError
    FailedPreconditionError 9 RuntimeError
    AbortedError 10
    OutOfRangeError 11 IndexError
    UnimplementedError 12 NotImplementedError
    InternalError 13
    UnavailableError 14
    DataLossError 15
    UnauthenticatedError 16
"""


def _make_classes() -> None:
    import builtins

    for line in _TABLE.strip().splitlines():
        name, code, *also = line.split()
        bases = (OpError, *(getattr(builtins, base) for base in also))
        doc = f"An error of code {code}."
        made = type(name, bases, {"error_code": int(code), "__doc__": doc})
        made.__module__ = __name__
        globals()[name] = made
        globals()[name.removesuffix("Error").upper()] = int(code)
        __all__.append(name)


_make_classes()

# The first that the exception is an instance of.
_CLASSES: list[tuple[type[BaseException], str]] = [
    (MemoryError, "ResourceExhaustedError"),
    (NotImplementedError, "UnimplementedError"),
    (ValueError, "InvalidArgumentError"),
    (TypeError, "InvalidArgumentError"),
    (LookupError, "InvalidArgumentError"),
    (OverflowError, "InvalidArgumentError"),
    (ZeroDivisionError, "InvalidArgumentError"),
]


def error_of(error: Exception, op: Operation | None) -> OpError:
    """The OpError for what a run raised."""
    text = str(error)
    name = next((n for kind, n in _CLASSES if isinstance(error, kind)), "UnknownError")
    if "Attempting to use uninitialized value" in text:
        name = "FailedPreconditionError"
    elif text.startswith("Timed out"):
        name = "DeadlineExceededError"
    elif type(error).__name__ == "CancelledError":
        name = "CancelledError"
    elif type(error) is RuntimeError:
        name = "InternalError"
    made: OpError = globals()[name](op.node_def if op else None, op, text)
    return made

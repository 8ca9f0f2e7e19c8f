# SPDX-License-Identifier: Apache-2.0
"""Errors of a run: one class for each code, with the operation that failed.

The codes and their names are TensorFlow's (and gRPC's).  What a run raises is also of
the class that the same mistake raises outside of a graph.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from .._binding import core

if TYPE_CHECKING:
    from .symbols import Operation

__all__ = [
    "OpError", "error_code_from_exception_type", "error_of",
    "exception_type_from_error_code", "of_kind",
]  # fmt: skip


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
        where = ""
        if self.op.call_site:
            where = f", made by the line {self.op.call_site}"
        return f"{self.message} [operation {self.op.name!r}, {self.op.type}{where}]"

    def __reduce__(self) -> Any:
        """The text and the code: an operation is nothing without its graph."""
        return _unpickled, (_plain(type(self)), self.message, self.error_code)


def _plain(kind: type[OpError]) -> type[OpError]:
    # The class that a module has, without the one of the call outside of a graph.
    found: type[OpError] = next(
        base for base in kind.__mro__ if globals().get(base.__name__) is base
    )
    return found


def _unpickled(kind: type[OpError], message: str, code: int) -> OpError:
    return kind(None, None, message, code)


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


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of a code from 1 to 16; KeyError for any other."""
    if error_code not in range(1, len(_NAMES) + 1):
        raise KeyError(error_code)
    found: type[OpError] = globals()[f"{_NAMES[error_code - 1]}Error"]
    return found


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The code of a class of errors; KeyError for OpError itself, which has none."""
    if cls is OpError:
        raise KeyError(cls)
    return cls.error_code


# What the first that the exception is an instance of means; texts are the core's.
_KINDS: list[tuple[type[BaseException], str, str]] = [
    # The code of a status stands in front of the text (cpp/framework/status.cc).
    *(
        (RuntimeError, f"{re.sub('(?<=[a-z])(?=[A-Z])', '_', n).upper()}: ", n)
        for n in _NAMES
    ),
    (core.InternalError, "", "Internal"),
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
    if issubclass(other, UnicodeError):  # which is made of five arguments
        other = ValueError
    try:
        made = type(kind.__name__, (kind, other), {"__doc__": kind.__doc__})
    except TypeError:  # their objects are laid out in ways that do not go together
        return kind
    made.__module__ = __name__
    return made


# The end of what a kernel's status says; in a loop or choice the way to it follows.
IN_KERNEL = re.compile(r"\[Op:\w+\](?: \[in operation .*)?$", re.DOTALL)


def error_of(
    error: Exception, op: Operation | None, plain: bool = False, text: str | None = None
) -> OpError:
    """The OpError for what a run raised; ``text`` is what it says if not the same.

    It is of the class of ``error``, too, unless ``plain``.
    """
    said = text
    text = str(error)
    name = next(
        (n for kind, begin, n in _KINDS if isinstance(error, kind)
         and text.startswith(begin)), "Unknown"
    )  # fmt: skip
    # The OUT_OF_RANGE of a kernel's status; other wrong places are arguments.
    if isinstance(error, IndexError) and IN_KERNEL.search(text):
        name = "OutOfRange"
    kind: type[OpError] = globals()[f"{name}Error"]
    if not plain:
        kind = _also(kind, type(error))  # type: ignore[arg-type]
    return kind(op.node_def if op else None, op, text if said is None else said)


def of_kind(name: str, error: Exception) -> OpError:
    """The OpError of a code, "NotFound", for an error outside of any graph; it is of
    the class of ``error``, too, and says the same."""
    kind = _also(globals()[f"{name}Error"], type(error))  # type: ignore[arg-type]
    return kind(None, None, str(error))

# SPDX-License-Identifier: Apache-2.0
"""Operations that fail where something does not hold.

Such an operation takes an element of a vector of one: the first where the condition
holds, else the second, which is out of bounds.  The graph keeps what to say of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import graph as pg, ops
from ..._binding import core
from ...graph import Symbol, errors
from . import math
from .control import control_dependencies, no_op
from .convert import convert_to_tensor, rank_of
from .dtypes import as_dtype
from .exporting import exported
from .math import identity
from .shapes import TensorShape


def _guard(name: str, condition: Any, code: int, text: str) -> Any:
    condition = convert_to_tensor(condition)
    graph: Any = condition.graph

    def check() -> Any:
        place = ops.where(ops.all(condition), 0, 1).to(core.int64)
        return graph.record(
            scope, ops.index_select, one, 0, ops.reshape(place, [1])
        )

    with graph.as_default(), graph.name_scope(name) as scope:
        one = convert_to_tensor([0], name="one")
        made = graph.record(None, check)
    graph.failures[made.op.name] = (code, text)
    return made


def Assert(  # noqa: N802
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> pg.Operation:
    """An operation that fails unless all of the condition is true.

    data: what the error says; of a tensor in it its name.
    """
    text = "assertion failed: " + " ".join(f"[{part}]" for part in data)
    code = errors.error_code_from_exception_type(
        errors.InvalidArgumentError  # type: ignore[attr-defined]
    )
    op: pg.Operation = _guard(name or "Assert", condition, code, text).op
    return op


def _comparison(function: Any, said: str, doc: str) -> Any:
    def check(
        x: Any, y: Any, data: Any = None, summarize: int | None = None,
        message: str | None = None, name: str | None = None,
    ) -> pg.Operation:  # fmt: skip
        x = convert_to_tensor(x)
        y = convert_to_tensor(y, None if isinstance(y, Symbol) else x.dtype)
        if data is None:
            parts = [message] if message else []
            data = [
                *parts, f"Condition x {said} y did not hold element-wise:", "x =", x,
                "y =", y,
            ]  # fmt: skip
        return Assert(function(x, y), data, summarize, name or check.__name__)

    check.__doc__ = doc
    return check


def _sign(function: Any, said: str, doc: str) -> Any:
    def check(
        x: Any, data: Any = None, summarize: int | None = None,
        message: str | None = None, name: str | None = None,
    ) -> pg.Operation:  # fmt: skip
        x = convert_to_tensor(x)
        if data is None:
            parts = [message] if message else []
            data = [*parts, f"Condition x {said} 0 did not hold:", "x =", x]
        return Assert(function(x, 0), data, summarize, name or check.__name__)

    check.__doc__ = doc
    return check


assert_equal = _comparison(math.equal, "==", "Fails unless x == y everywhere.")
assert_none_equal = _comparison(math.not_equal, "!=", "Fails where x == y somewhere.")
assert_less = _comparison(math.less, "<", "Fails unless x < y everywhere.")
assert_less_equal = _comparison(math.less_equal, "<=", "Fails unless x <= y.")
assert_greater = _comparison(math.greater, ">", "Fails unless x > y everywhere.")
assert_greater_equal = _comparison(math.greater_equal, ">=", "Fails unless x >= y.")
assert_positive = _sign(math.greater, ">", "Fails unless x > 0 everywhere.")
assert_negative = _sign(math.less, "<", "Fails unless x < 0 everywhere.")
assert_non_negative = _sign(math.greater_equal, ">=", "Fails unless x >= 0.")
assert_non_positive = _sign(math.less_equal, "<=", "Fails unless x <= 0.")


def assert_rank(
    x: Any, rank: int, data: Any = None, summarize: int | None = None,
    message: str | None = None, name: str | None = None,
) -> pg.Operation:  # fmt: skip
    """An operation that does nothing; ValueError if x has not so many dimensions, which
    must be known."""
    x = convert_to_tensor(x)
    if rank_of("assert_rank", x) != rank:
        raise ValueError(
            f"{message or ''}{x.name} must have rank {rank}.  Received rank {x.ndim}, "
            f"shape {x.shape}"
        )
    return no_op(name or "static_checks_determined_all_ok")


def assert_rank_at_least(
    x: Any, rank: int, data: Any = None, summarize: int | None = None,
    message: str | None = None, name: str | None = None,
) -> pg.Operation:  # fmt: skip
    """The same for a tensor with fewer dimensions."""
    x = convert_to_tensor(x)
    if rank_of("assert_rank_at_least", x) < rank:
        raise ValueError(
            f"{message or ''}{x.name} must have rank at least {rank}.  Received rank "
            f"{x.ndim}, shape {x.shape}"
        )
    return no_op(name or "static_checks_determined_all_ok")


def assert_scalar(tensor: Any, name: str | None = None, message: str = "") -> Any:
    """The tensor; ValueError if it has dimensions."""
    tensor = convert_to_tensor(tensor)
    if not tensor.shape.is_compatible_with(TensorShape([])):
        raise ValueError(
            f"{message}Expected scalar shape for {tensor.name}, saw shape: "
            f"{tensor.shape}."
        )
    return tensor


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> pg.Operation:
    """An operation that does nothing; TypeError if the tensor has another dtype."""
    tensor = convert_to_tensor(tensor)
    if tensor.dtype != as_dtype(tf_type):
        raise TypeError(
            f"{message or ''}{tensor.name} must be of type {as_dtype(tf_type)!r}, got "
            f"{tensor.dtype!r}"
        )
    return no_op(name or "statically_determined_correct_type")


def assert_integer(
    x: Any, message: str | None = None, name: str | None = None
) -> pg.Operation:
    """An operation that does nothing; TypeError if the tensor is not of integers."""
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(
            f"{message or ''}Expected \"x\" to be integer type.  Found: {x.dtype!r}"
        )
    return no_op(name or "statically_determined_was_integer")


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """The variable's value, to which 1 is added; an OutOfRangeError at the limit."""
    graph: Any = ref.graph
    with graph.as_default(), graph.name_scope(name or "CountUpTo"):
        before = ref.read_value()
        code = errors.error_code_from_exception_type(
            errors.OutOfRangeError  # type: ignore[attr-defined]
        )
        said = f"Reached limit of {limit}"
        check = _guard("limit", math.less(before, limit), code, said)
        with control_dependencies([check, before]):
            done = ref.assign_add(1)
        with control_dependencies([done]):
            return identity(before)


if not TYPE_CHECKING:
    __all__ = exported(globals())

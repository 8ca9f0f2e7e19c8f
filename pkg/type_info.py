# SPDX-License-Identifier: Apache-2.0
"""Facts about dtypes under PyTorch's names: limits, promotion, the default.

``pkg/__init__.py`` shows them; they load at first use.
"""

from __future__ import annotations

from typing import Any

from . import ops
from ._binding import core
from .tensor import Tensor

__all__ = [
    "can_cast",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "promote_types",
    "result_type",
    "set_default_dtype",
]

# Digits after the point and the smallest exponent, in binary; decimal digits.
_FLOATS = {
    "float16": (10, -14, 3),
    "bfloat16": (7, -126, 2),
    "float32": (23, -126, 6),
    "float64": (52, -1022, 15),
}


class finfo:  # noqa: N801  (PyTorch's name)
    """Limits of a floating dtype; of the default one without an argument.

    bits; eps, the step after 1; max, min; tiny = smallest_normal; resolution, the
    decimal eps; dtype, the name.  TypeError for a dtype without fractions.
    """

    def __init__(self, type: Any = None) -> None:
        """Look up ``type``."""
        dtype = get_default_dtype() if type is None else core.dtype(type)
        if dtype.name not in _FLOATS:
            raise TypeError(
                f"[finfo] expected a floating dtype, got {dtype!r}. Use pkg.iinfo."
            )
        digits, lowest, decimals = _FLOATS[dtype.name]
        self.dtype = dtype.name
        self.bits = 8 * dtype.itemsize
        self.eps = 2.0**-digits
        self.tiny = self.smallest_normal = 2.0**lowest
        # Exponents are balanced: the largest is 1 - lowest.
        self.max = (2.0 - self.eps) * 2.0 ** (1 - lowest)
        self.min = -self.max
        self.resolution = 10.0**-decimals

    def __repr__(self) -> str:
        """All of them."""
        shown = ("resolution", "min", "max", "eps", "smallest_normal", "dtype")
        return _text(self, *shown)


class iinfo:  # noqa: N801
    """Limits of an integer dtype: bits, max, min; dtype, the name.

    TypeError for other dtypes.
    """

    def __init__(self, type: Any) -> None:
        """Look up ``type``."""
        dtype = core.dtype(type)
        if dtype.is_floating_point or dtype.name == "bool":
            raise TypeError(
                f"[iinfo] expected an integer dtype, got {dtype!r}. Use pkg.finfo."
            )
        signed = dtype.name.startswith("int")
        self.dtype = dtype.name
        self.bits = 8 * dtype.itemsize
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -self.max - 1 if signed else 0

    def __repr__(self) -> str:
        """All of them."""
        return _text(self, "min", "max", "dtype")


def _text(info: object, *names: str) -> str:
    facts = ", ".join(f"{name}={getattr(info, name)}" for name in names)
    return f"{type(info).__name__}({facts})"


def get_default_dtype() -> core.dtype:
    """The dtype of floats from Python and of new tensors: float32 at first."""
    return core.tensor(0.0).dtype


def set_default_dtype(d: Any) -> None:
    """Make ``d`` the default dtype of the process; TypeError unless it is floating."""
    try:
        dtype = core.dtype(d)
    except TypeError:
        if isinstance(d, str):  # the error names it
            raise
        kind = type(d).__name__
        raise TypeError(
            f"[set_default_dtype] expected a floating dtype for 'd', got {kind}"
        ) from None
    core.set_default_dtype(dtype.name)


def result_type(tensor1: Any, tensor2: Any) -> core.dtype:
    """The dtype of an op of the two, which are tensors or numbers."""

    def alike(t: Any) -> Any:  # as little as there can be, without values
        if not isinstance(t, Tensor):
            return t
        return ops.empty([1] * min(t.ndim, 1), dtype=t.dtype, device="meta")

    return ops.add(alike(tensor1), alike(tensor2)).dtype


def promote_types(type1: Any, type2: Any) -> core.dtype:
    """The smallest dtype that ops of tensors of both give."""
    pair = [ops.empty([1], dtype=t, device="meta") for t in (type1, type2)]
    return result_type(*pair)


def can_cast(from_: Any, to: Any) -> bool:
    """Whether in-place ops may write ``from_`` into ``to``: kinds only widen.

    The kinds are bool, integers and floats.
    """
    return _kind(core.dtype(from_)) <= _kind(core.dtype(to))


def _kind(dtype: core.dtype) -> int:
    return 2 if dtype.is_floating_point else int(dtype.name != "bool")

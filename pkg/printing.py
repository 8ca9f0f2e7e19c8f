# SPDX-License-Identifier: Apache-2.0
"""Text form of tensors, laid out as PyTorch does.  Called by Tensor.__repr__.

Only what is shown is read: printing a large tensor copies its corners.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .type_info import get_default_dtype

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["get_printoptions", "printoptions", "set_printoptions", "tensor_text"]


class PrintOptions(NamedTuple):
    """How tensors are printed."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = PrintOptions()

_GAP = None  # stands in nested lists for what is left out
Format = Callable[[Any], str]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; what is None stays.

    precision: digits after the point.  threshold: elements above which only
    ``edgeitems`` at each end of a dimension are shown.  linewidth: characters.
    profile: "default", "short" or "full", taken first.  sci_mode: whether 1.0000e+00 is
    used; with None it depends on the numbers.
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(
            "[set_printoptions] expected profile "
            f"{', '.join(map(repr, _PROFILES))}, got {profile!r}."
        )
    options = _options if profile is None else _PROFILES[profile]
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    _options = options._replace(**changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the options by name."""
    return _options._asdict()


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Set options for the length of a ``with`` block."""
    global _options
    before = _options
    try:
        set_printoptions(**options)
        yield
    finally:
        _options = before


def tensor_text(tensor: Tensor) -> str:
    """Return ``tensor([[1., 2.],\\n        [3., 4.]])`` with dtype and history.

    Waits for pending work.
    """
    prefix = "tensor("
    if tensor.device == "meta":
        body = "..."
    elif tensor.numel() == 0:
        body = "[]"
    else:
        shown = _shown(tensor.detach(), tensor.numel() > _options.threshold)
        numbers = list(_flat(shown))
        floating = tensor.dtype.is_floating_point
        style = _float_style(numbers) if floating else str
        width = _width(numbers, style, floating)
        body = _layout(shown, lambda n: style(n).rjust(width), width, len(prefix))
    return _with_suffixes(prefix + body, _suffixes(tensor), len(prefix))


def _suffixes(tensor: Tensor) -> list[str]:
    # What distinguishes it from a plain tensor of floats, int64 or bool.
    parts = []
    meta, empty = tensor.device == "meta", tensor.numel() == 0
    if tensor.device != "cpu":
        parts.append(f"device='{tensor.device}'")
    if meta or (empty and tensor.ndim != 1):
        parts.append(f"size={tuple(tensor.shape)}")
    # Without numbers to look at, only the default dtype goes without saying.
    plain = ("int64", "bool") if not meta and not empty else ()
    if tensor.dtype.name not in (get_default_dtype().name, *plain):
        parts.append(f"dtype={tensor.dtype!r}")
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return parts


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    # Each on the last line while that has room.
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _shown(tensor: Tensor, summarize: bool) -> Any:
    # Nested lists; the middle of long dimensions is one _GAP.
    edge = _options.edgeitems
    if not summarize or tensor.ndim == 0:
        return tensor.tolist()
    if tensor.shape[0] <= 2 * edge:
        return [_shown(row, summarize) for row in tensor.unbind(0)]
    if tensor.ndim == 1:
        size = tensor.shape[0]
        return [*tensor[:edge].tolist(), _GAP, *tensor[size - edge :].tolist()]
    first, last = range(edge), range(tensor.shape[0] - edge, tensor.shape[0])
    ends = [[_shown(tensor[i], summarize) for i in end] for end in (first, last)]
    return [*ends[0], _GAP, *ends[1]]


def _flat(shown: Any) -> Iterator[Any]:
    if not isinstance(shown, list):
        yield shown
        return
    for value in shown:
        if value is not _GAP:
            yield from _flat(value)


def _float_style(numbers: list[float]) -> Format:
    sizes = [abs(n) for n in numbers if math.isfinite(n) and n != 0]
    whole = all(n == int(n) for n in sizes)
    scientific = _options.sci_mode
    if scientific is None:
        scientific = bool(sizes) and (
            max(sizes) / min(sizes) > 1000 or max(sizes) > 1e8 or min(sizes) < 1e-4
        )
    if scientific:
        spec = f".{_options.precision}e"
    elif whole:
        return lambda n: f"{n:.0f}." if math.isfinite(n) else f"{n}"
    else:
        spec = f".{_options.precision}f"
    return lambda n: format(n, spec)


def _width(numbers: list[Any], style: Format, floating: bool) -> int:
    # Zeros, infinities and NaN do not widen a column of floats.
    if floating:
        numbers = [n for n in numbers if math.isfinite(n) and n != 0]
    return max((len(style(n)) for n in numbers), default=1)


def _layout(shown: Any, show: Format, width: int, indent: int) -> str:
    if not isinstance(shown, list):
        return show(shown)
    if not any(isinstance(value, list) for value in shown):
        texts = [" ..." if value is _GAP else show(value) for value in shown]
        per_line = max(1, (_options.linewidth - indent) // (width + 2))
        lines = [texts[i : i + per_line] for i in range(0, len(texts), per_line)]
        separator = ",\n" + " " * (indent + 1)
        return "[" + separator.join(", ".join(line) for line in lines) + "]"
    parts = [
        "..." if value is _GAP else _layout(value, show, width, indent + 1)
        for value in shown
    ]
    separator = "," + "\n" * (_depth(shown) - 1) + " " * (indent + 1)
    return "[" + separator.join(parts) + "]"


def _depth(shown: Any) -> int:
    depth = 0
    while isinstance(shown, list):
        depth += 1
        shown = next((value for value in shown if value is not _GAP), None)
    return depth

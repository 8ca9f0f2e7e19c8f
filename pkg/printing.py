# SPDX-License-Identifier: Apache-2.0
"""Text form of tensors, laid out as PyTorch does."""

import math

EDGE_ITEMS = 3
THRESHOLD = 1000
PRECISION = 4


def tensor_text(tensor):
    """``tensor([[1., 2.],\\n        [3., 4.]])`` with dtype and requires_grad."""
    prefix = "tensor("
    suffix = _suffix(tensor)
    if tensor.device == "meta":
        return f"{prefix}..., size={tensor.shape}{suffix})"
    values = tensor.detach()
    summarize = values.numel() > THRESHOLD
    shown = _collect(values.tolist(), values.ndim, summarize)
    formatter = _formatter(_flatten(shown), tensor.dtype.is_floating_point)
    body = _layout(shown, formatter, len(prefix))
    return f"{prefix}{body}{suffix})"


def _suffix(tensor):
    """What distinguishes it from a plain float32 or int64 tensor."""
    parts = []
    if tensor.numel() == 0 and tensor.ndim != 1:
        parts.append(f"size={tensor.shape}")
    if tensor.dtype.name not in ("float32", "int64", "bool"):
        parts.append(f"dtype={tensor.dtype!r}")
    if tensor.device != "cpu":
        parts.append(f"device='{tensor.device}'")
    if getattr(tensor, "grad_fn", None) is not None:
        parts.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return "".join(", " + part for part in parts)


def _collect(values, ndim, summarize):
    """Nested lists with the middle of long dimensions replaced by None."""
    if ndim == 0:
        return values
    if summarize and len(values) > 2 * EDGE_ITEMS:
        ends = values[:EDGE_ITEMS], values[-EDGE_ITEMS:]
        head, tail = ([_collect(v, ndim - 1, summarize) for v in end] for end in ends)
        return [*head, None, *tail]
    return [_collect(v, ndim - 1, summarize) for v in values]


def _flatten(values):
    """The numbers that will be printed."""
    if isinstance(values, list):
        return [x for v in values if v is not None for x in _flatten(v)]
    return [values]


def _formatter(numbers, floating):
    """A function from number to text, all of one width."""
    if not floating:
        texts = {n: str(n) for n in numbers}
    else:
        finite = [abs(n) for n in numbers if math.isfinite(n)]
        nonzero = [n for n in finite if n != 0]
        whole = all(n == int(n) for n in finite)
        scientific = bool(nonzero) and (
            max(nonzero) / min(nonzero) > 1000.0
            or max(nonzero) > 1.0e8
            or min(nonzero) < 1.0e-4
        )
        if whole and not (nonzero and max(nonzero) > 1.0e8):
            style = "{:.0f}."
        else:
            style = f"{{:.{PRECISION}{'e' if scientific else 'f'}}}"
        texts = {n: style.format(n) if math.isfinite(n) else str(n) for n in numbers}
    width = max((len(t) for n, t in texts.items() if math.isfinite(n)), default=0)
    return lambda number: (
        texts[number].rjust(width) if number == number else ("nan".rjust(width))
    )


def _layout(values, formatter, indent):
    """Brackets, commas and line breaks."""
    if not isinstance(values, list):
        return formatter(values).strip()
    if not any(isinstance(v, list) for v in values):
        texts = ["..." if v is None else formatter(v) for v in values]
        per_line = max(
            1, (80 - indent) // (max((len(t) for t in texts), default=1) + 2)
        )
        lines = [texts[i : i + per_line] for i in range(0, len(texts), per_line)]
        separator = ",\n" + " " * (indent + 1)
        return "[" + separator.join(", ".join(line) for line in lines) + "]"
    depth = _depth(values)
    parts = ["..." if v is None else _layout(v, formatter, indent + 1) for v in values]
    separator = "," + "\n" * (depth - 1) + " " * (indent + 1)
    return "[" + separator.join(parts) + "]"


def _depth(values):
    """Levels of nesting."""
    depth = 0
    while isinstance(values, list):
        depth += 1
        values = next((v for v in values if v is not None), None)
    return depth

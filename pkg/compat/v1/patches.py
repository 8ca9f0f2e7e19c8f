# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling in TensorFlow's order: rows, columns, channels."""

from __future__ import annotations

from typing import Any

from ... import ops
from .convert import first, pair
from .record import last, recorded

__all__ = ["avg_pool", "conv2d", "max_pool"]


def _two(values: Any, what: str, data_format: str) -> list[int]:
    values = [values] * 4 if isinstance(values, int) else values
    given = [int(v) for v in values]
    if len(given) == 2:
        return given
    at = 2 if data_format == "NCHW" else 1
    rest = [given[0], given[1 if at == 2 else 3]]
    if len(given) != 4 or rest != [1, 1]:
        raise ValueError(
            f"[{what}] expected four numbers, of which those of the batch and the "
            f"channels are 1, got {given}."
        )
    return given[at : at + 2]


def _borders(
    x: Any, window: list[int], steps: list[int], padding: Any
) -> list[tuple[int, int]]:
    # Before and after, of rows and columns.
    if padding == "VALID":
        return [(0, 0), (0, 0)]
    if padding != "SAME":
        raise ValueError(f"[padding] expected 'SAME' or 'VALID', got {padding!r}.")
    made = []
    for place, (size, step) in enumerate(zip(window, steps)):
        total = size - 1
        if step > 1:
            known = None if x.ndim is None else list(x.shape)[2 + place]
            known = getattr(known, "value", known)
            if known is None:
                raise ValueError(
                    "[padding] expected known rows and columns for 'SAME' with "
                    f"strides, got {x.shape}."
                )
            total = max((-(-known // step) - 1) * step + size - known, 0)
        made.append((total // 2, total - total // 2))
    return made


def _padded(x: Any, borders: list[tuple[int, int]], value: float) -> Any:
    if not any(map(any, borders)):
        return x
    (top, bottom), (left, right) = borders
    return ops.pad(x, [left, right, top, bottom], "constant", value)


def _channels_first(x: Any, data_format: str) -> Any:
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(
            f"[data_format] expected 'NHWC' or 'NCHW', got {data_format!r}."
        )
    return x if data_format == "NCHW" else ops.permute(x, [0, 3, 1, 2])


def _back(op: Any, data_format: str, *args: Any) -> Any:
    if data_format == "NCHW":
        return last(op, *args)
    return last(ops.permute, op(*args), [0, 2, 3, 1])


@recorded("Conv2D", scope=True)
def conv2d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None,  # noqa: A002
    use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1), filters: Any = None,
) -> Any:  # fmt: skip
    """Products of each window with the filters (rows, columns, channels, outputs)."""
    x, w = pair(input, filters if filter is None else filter, "Conv2D", "if")
    steps = _two(strides, "strides", data_format)
    spread = _two(dilations, "dilations", data_format)
    x = _channels_first(x, data_format)
    kernel = ops.permute(w, [3, 2, 0, 1])
    sizes = [None, None] if w.ndim is None else [
        getattr(n, "value", n) for n in list(w.shape)[:2]
    ]  # fmt: skip
    if padding == "SAME" and None in sizes:
        raise ValueError(f"[conv2d] expected filters of a known size, got {w.shape}.")
    window = [
        0 if n is None else (int(n) - 1) * d + 1 for n, d in zip(sizes, spread)
    ]
    x = _padded(x, _borders(x, window, steps, padding), 0)
    return _back(ops.conv2d, data_format, x, kernel, None, steps, [0, 0], spread)


def _pool_parts(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str
) -> tuple[Any, list[int], list[int], list[tuple[int, int]]]:
    window = _two(ksize, "ksize", data_format)
    steps = _two(strides, "strides", data_format)
    x = _channels_first(first(value), data_format)
    return x, window, steps, _borders(x, window, steps, padding)


@recorded("MaxPool", scope=True)
def max_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC"
) -> Any:
    """The largest element of each window."""
    x, window, steps, borders = _pool_parts(
        value, ksize, strides, padding, data_format
    )
    x = _padded(x, borders, float("-inf"))
    return _back(ops.max_pool2d, data_format, x, window, steps)


@recorded("AvgPool", scope=True)
def avg_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC"
) -> Any:
    """The mean of each window, of what lies inside of the image."""
    x, window, steps, borders = _pool_parts(
        value, ksize, strides, padding, data_format
    )
    if not any(map(any, borders)):
        return _back(ops.avg_pool2d, data_format, x, window, steps)
    inside = ops.avg_pool2d(_padded(ops.ones_like(x), borders, 0), window, steps)
    mean = ops.avg_pool2d(_padded(x, borders, 0), window, steps)
    return _back(ops.div, data_format, mean, inside)



# SPDX-License-Identifier: Apache-2.0
"""Pooling of images that lie otherwise in memory, or have 16 bits: as of dense ones."""

from __future__ import annotations

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F

LAYOUTS = {
    "transposed": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "channels last": lambda x: x.transpose(1, -1).contiguous().transpose(1, -1),
    "turned": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1),
    "stepped": lambda x: pkg.stack([x, x], -1)[..., 0],
    "expanded": lambda x: x[:1].expand(*x.shape),
    "flipped rows": lambda x: pkg.stack([x, x], -2)[..., 1, :],
}
CALLS = {
    "adaptive_avg_pool2d": [(1,), ((4, 3),), ((2, 7),)],
    "avg_pool2d": [(2,), (3, 2, 1), (3, 1)],
    "max_pool2d": [(2,), (3, 2, 1), (2, 1), (1, 2)],
    "adaptive_avg_pool1d": [(1,), (4,)],
    "avg_pool1d": [(2,), (3, 2, 1)],
    "max_pool1d": [(2,), (3, 2, 1), (1, 2)],
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("op", CALLS)
def test_layouts(op, layout, dtype, level):
    rng = np.random.default_rng(0)
    shapes = [(2, 3, 9, 35), (3, 2, 8, 7), (2, 1, 4, 5), (1, 5, 7, 1), (2, 3, 7, 40)]
    for shape in shapes:
        shape = shape if op.endswith("2d") else (shape[0], shape[1] * 6, shape[3] + 6)
        whole = pkg.tensor(rng.integers(-20, 20, shape) / 4).to(getattr(pkg, dtype))
        x = LAYOUTS[layout](whole)
        dense = x.contiguous()
        for options in CALLS[op]:
            if op.endswith("2d") and shape[3] < 7 and op != "max_pool2d":
                continue
            if shape[3:] and shape[3] == 1:
                continue
            results = []
            for t in (x, dense.double()):
                t = t.detach().requires_grad_()
                out = getattr(F, op)(t, *options)
                g = pkg.tensor(np.random.default_rng(1).integers(-3, 4, out.shape))
                out.backward(g.to(out.dtype))
                results.append((out.detach().double(), t.grad.double()))
            for got, want in zip(*results):
                error = {"float64": 1e-14, "float32": 1e-6}.get(dtype, 1e-2)
                limit = error * max(1.0, float(want.abs().max()))
                assert float((got - want).abs().max()) <= limit, (shape, options)


@pytest.mark.parametrize("pool", [F.avg_pool1d, F.adaptive_avg_pool1d])
def test_lines_whose_channels_lie_last_stay_so(pool):
    lines = pkg.randn(2, 9, 4).transpose(1, 2)
    assert pool(lines, 3).stride()[1] == 1
    assert pool(lines[0], 3).is_contiguous()

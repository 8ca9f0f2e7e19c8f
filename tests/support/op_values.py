# SPDX-License-Identifier: Apache-2.0
"""Inputs of a row of the op table, its results, and what compares them with NumPy."""

import numpy as np

import pkg


def inputs_of(case, makers=None, seed=0):
    """Fresh NumPy inputs."""
    rng = np.random.default_rng(seed)
    return [
        np.asarray(make(rng)) for make in (case.inputs if makers is None else makers)
    ]


def outputs(result):
    """One or several results as a list."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def compare(case, got, arrays, tolerance):
    """Results against the reference: shape, kind of dtype, values."""
    with np.errstate(all="ignore"):
        want = outputs(case.reference(*arrays))
    got = outputs(got)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        if type(g) is not pkg.Tensor:
            assert g == w and type(g) is type(w)
            continue
        g, w = g.detach().numpy(), np.asarray(w)
        assert g.shape == w.shape
        assert g.dtype.kind == w.dtype.kind
        if g.dtype.kind in "iub":
            assert g.dtype == w.dtype
        if g.dtype == np.float16:
            w = w.astype(np.float16)
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True)


def equal_bits(got, wanted):
    """The same dtype, shape and bytes; a NaN is a NaN whatever its sign."""
    assert got.dtype == wanted.dtype
    assert tuple(got.shape) == tuple(wanted.shape)
    if got.dtype.is_floating_point:
        got, wanted = got.double(), wanted.double()  # exact; NumPy has no bfloat16
    got, wanted = got.numpy(), wanted.numpy()
    if got.dtype.kind == "f":
        assert np.array_equal(np.isnan(got), np.isnan(wanted))
        got, wanted = np.nan_to_num(got), np.nan_to_num(wanted)
    assert got.tobytes() == wanted.tobytes()


def scattered(array):
    """A tensor of these values with gaps between them and dimensions out of order."""
    order = tuple(range(array.ndim))[::-1]
    wide = np.zeros([2 * n + 1 for n in array.T.shape], array.dtype)
    inside = tuple(slice(1, 2 * n + 1, 2) for n in array.T.shape)
    wide[inside] = array.T
    view = pkg.tensor(wide)
    if array.ndim:
        view = view[inside].permute(order)
    assert array.size < 2 or not view.is_contiguous()
    return view


def floating(results):
    """The results that gradients flow to."""
    return [r for r in outputs(results) if r.dtype in (pkg.float32, pkg.float64)]


class InPlace:
    """pkg, but the op of this name is its in-place form, on a copy of its input."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if name != self.name:
            return getattr(pkg, name)

        def form(x, *args, **kwargs):
            self.target = x.clone()
            result = getattr(self.target, name + "_")(*args, **kwargs)
            assert result is self.target
            return result

        return form

# SPDX-License-Identifier: Apache-2.0
"""The text form of tensors: fixed examples, options, and PyTorch's texts."""

import math
import re

import numpy as np
import pytest

import pkg
from pkg import printing

EXAMPLES = [
    (lambda: pkg.tensor(3.5), "tensor(3.5000)"),
    (lambda: pkg.tensor(3), "tensor(3)"),
    (lambda: pkg.tensor(float("nan")), "tensor(nan)"),
    (lambda: pkg.tensor([True, False]), "tensor([ True, False])"),
    (lambda: pkg.tensor([1.0, -2.0, 0.0]), "tensor([ 1., -2.,  0.])"),
    (lambda: pkg.tensor([1.0, 0.25]), "tensor([1.0000, 0.2500])"),
    (lambda: pkg.tensor([1.0, 2000.0]), "tensor([1.0000e+00, 2.0000e+03])"),
    (lambda: pkg.tensor([1e-5, 0.0]), "tensor([1.0000e-05, 0.0000e+00])"),
    (lambda: pkg.tensor([1.5, math.inf, -math.inf, math.nan]),
     "tensor([1.5000,    inf,   -inf,    nan])"),
    (
        lambda: pkg.tensor([[1, -20], [300, 4]]),
        "tensor([[  1, -20],\n        [300,   4]])",
    ),
    (lambda: pkg.zeros([1, 1, 2]), "tensor([[[0., 0.]]])"),
    (lambda: pkg.zeros([2, 1, 1]), "tensor([[[0.]],\n\n        [[0.]]])"),
    (lambda: pkg.zeros([0]), "tensor([])"),
    (lambda: pkg.zeros([0], dtype=pkg.int64), "tensor([], dtype=pkg.int64)"),
    (lambda: pkg.zeros([2, 0]), "tensor([], size=(2, 0))"),
    (lambda: pkg.empty([2], device="meta"), "tensor(..., device='meta', size=(2,))"),
    (lambda: pkg.tensor([1], dtype=pkg.int32), "tensor([1], dtype=pkg.int32)"),
    (
        lambda: pkg.tensor([0.1], dtype=pkg.float16),
        "tensor([0.1000], dtype=pkg.float16)",
    ),
    (lambda: pkg.ones([1], requires_grad=True), "tensor([1.], requires_grad=True)"),
]  # fmt: skip


@pytest.mark.parametrize("make,text", EXAMPLES)
def test_examples_read_as_pytorch_prints_them(make, text):
    assert repr(make()) == str(make()) == text


def test_history_is_named_and_long_suffixes_go_on_a_line_of_their_own():
    x = pkg.ones([2], requires_grad=True)
    assert repr(x * 2).startswith("tensor([2., 2.], grad_fn=<Mul")
    wide = pkg.arange(14, dtype=pkg.float64) / 3
    wide.requires_grad_()
    assert repr(wide).splitlines()[-1] == "       requires_grad=True)"


def test_large_tensors_show_their_corners():
    assert repr(pkg.arange(1001)) == (
        "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    )
    text = repr(pkg.arange(2000).reshape([40, 50]))
    assert text.splitlines()[2:5] == [
        "        [ 100,  101,  102,  ...,  147,  148,  149],",
        "        ...,",
        "        [1850, 1851, 1852,  ..., 1897, 1898, 1899],",
    ]
    assert "..." not in repr(pkg.arange(1000))


def test_only_what_is_shown_is_read():
    x = pkg.zeros([1]).expand([1 << 40])  # more elements than there is memory
    assert repr(x) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"


def test_options_apply_within_their_block_and_profiles_reset():
    x = pkg.tensor([1.23456, 2.0])
    before = printing.get_printoptions()
    with printing.printoptions(precision=2):
        assert repr(x) == "tensor([1.23, 2.00])"
    with printing.printoptions(sci_mode=True):
        assert repr(x) == "tensor([1.2346e+00, 2.0000e+00])"
    with printing.printoptions(sci_mode=False):
        assert repr(pkg.tensor([1e-9, 1.5])) == "tensor([0.0000, 1.5000])"
    with printing.printoptions(threshold=3, edgeitems=1):
        assert repr(pkg.arange(4)) == "tensor([0,  ..., 3])"
    with printing.printoptions(linewidth=20):
        assert repr(pkg.arange(5)) == "tensor([0, 1, 2, 3,\n        4])"
    with printing.printoptions(profile="full"):
        assert "..." not in repr(pkg.arange(1001))
    with printing.printoptions(profile="short"):
        assert repr(x) == "tensor([1.23, 2.00])"
    with pytest.raises(ValueError, match="expected profile"):
        printing.set_printoptions(profile="long")
    assert printing.get_printoptions() == before


def test_a_failing_block_restores_the_options():
    before = printing.get_printoptions()
    with pytest.raises(ZeroDivisionError), printing.printoptions(precision=9):
        _ = 1 / 0
    assert printing.get_printoptions() == before


def cases():
    """Arrays of many kinds, as (name, array)."""
    rng = np.random.default_rng(0)
    shapes = [(), (1,), (7,), (30,), (3, 4), (2, 3, 4), (2, 1, 2, 3), (0,), (0, 2),
              (1200,), (40, 50), (11, 12, 13), (2, 600), (600, 2)]  # fmt: skip
    for shape in shapes:
        for scale in (1e-6, 1e-2, 1.0, 1e3, 1e6, 1e12):
            values = np.asarray(rng.normal(size=shape) * scale)
            yield f"normal-{shape}-{scale}", values.astype(np.float32)
            yield f"whole-{shape}-{scale}", np.trunc(values).astype(np.float64)
        yield f"ints-{shape}", np.asarray(rng.integers(-99, 9999, size=shape))
        yield f"bytes-{shape}", np.asarray(rng.integers(0, 256, size=shape), np.uint8)
        yield f"bools-{shape}", np.asarray(rng.integers(0, 2, size=shape), bool)
        yield f"halves-{shape}", np.asarray(rng.normal(size=shape), np.float16)
        odd = np.asarray(rng.normal(size=shape))
        odd[np.asarray(rng.uniform(size=shape) < 0.3)] = np.nan
        odd[np.asarray(rng.uniform(size=shape) < 0.2)] = -np.inf
        odd[np.asarray(rng.uniform(size=shape) < 0.2)] = 0
        yield f"odd-{shape}", odd
        yield f"nothing-{shape}", np.full(shape, np.nan)


def one_line_suffix(text):
    """Without the line break before the dtype: our dtypes have shorter names."""
    return re.sub(r",\n +(dtype|size)", r", \1", text).replace("torch.", "pkg.")


def test_texts_agree_with_pytorch():
    torch = pytest.importorskip("torch")
    for name, array in cases():
        for options in ({}, {"precision": 2, "linewidth": 50}):
            torch.set_printoptions(profile="default", **options)
            wanted = one_line_suffix(repr(torch.tensor(array)))
            with printing.printoptions(profile="default", **options):
                assert one_line_suffix(repr(pkg.tensor(array))) == wanted, name
    torch.set_printoptions(profile="default")

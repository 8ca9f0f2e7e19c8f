# SPDX-License-Identifier: Apache-2.0
"""Bools of others whose bytes are not 0 and 1: copied as True, or refused."""

import numpy as np
import pytest

import pkg

RNG = np.random.default_rng(3)
LAYOUTS = {
    "whole": lambda x: x,
    "turned": lambda x: x.T,
    "steps": lambda x: x[..., ::2],
    "backwards": lambda x: x[..., ::-1],
    "repeated": lambda x: np.broadcast_to(x, (2, *x.shape)),
}


def odd_bools():
    """NumPy's views of bytes as bools, and what they are meant to say."""
    for shape in [(1,), (5,), (3, 4), (17, 70), (2, 3, 1, 2, 1, 2, 3)]:
        for layout in LAYOUTS.values():
            numbers = layout(RNG.choice(np.array([0, 1, 2, 128, 255], np.uint8), shape))
            if numbers.flags.writeable:
                numbers.flat[0] = 255
            if (numbers > 1).any():
                yield numbers.view(np.bool_), numbers != 0


def check(tensor, want):
    assert tensor.dtype is pkg.bool and tensor.tolist() == want.tolist()
    assert (tensor.numpy().view(np.uint8) <= 1).all()
    assert tensor.sum().item() == want.sum()
    assert (~tensor).tolist() == (~want).tolist()
    assert (tensor == True).tolist() == want.tolist()  # noqa: E712
    assert tensor.to(pkg.float32).tolist() == want.astype(float).tolist()


def test_copies_have_true_for_what_is_not_zero():
    for array, want in odd_bools():
        check(pkg.tensor(array), want)
        check(pkg.asarray(array), want)
        check(pkg.tensor([array, array])[1], want)
        check(pkg.zeros(*want.shape, dtype=pkg.bool) | array, want)
        if array.flags.writeable and all(step >= 0 for step in array.strides):
            check(pkg.from_dlpack(array), want)
            check(pkg.from_dlpack(array, copy=True), want)


def test_they_are_not_shared():
    for array, _ in odd_bools():
        if not array.flags.writeable or any(step < 0 for step in array.strides):
            continue
        with pytest.raises(ValueError, match="expected bytes 0 and 1"):
            pkg.from_numpy(array)
        with pytest.raises(ValueError, match="can't alias ndarray"):
            pkg.asarray(array, copy=False)
        with pytest.raises(BufferError, match="expected bytes 0 and 1"):
            pkg.from_dlpack(array, copy=False)


def test_plain_ones_are():
    for shape in [(), (0,), (5,), (17, 70)]:
        array = RNG.integers(0, 2, shape).astype(np.bool_)
        for make in (pkg.from_numpy, pkg.asarray, pkg.from_dlpack):
            assert make(array).data_ptr() == array.ctypes.data or array.size == 0

# SPDX-License-Identifier: Apache-2.0
"""Signatures of older PyTorch programs, which work and are warned of."""

from __future__ import annotations

import warnings

import pytest

import pkg
from child import run_child

X, Y, Z = pkg.tensor([1.0, 2.0]), pkg.tensor([3.0, 4.0]), pkg.tensor([2.0, 8.0])

# The call, and what it means.
CALLS = {
    "add": (lambda: X.add(2, Y), [7, 10]),
    "function": (lambda: pkg.add(X, 2, Y), [7, 10]),
    "keyword": (lambda: X.add(2, other=Y), [7, 10]),
    "add_": (lambda: X.clone().add_(0.5, Y), [2.5, 4]),
    "sub": (lambda: X.sub(2, Y), [-5, -6]),
    "sub_": (lambda: X.clone().sub_(2, Y), [-5, -6]),
    "addcmul": (lambda: X.addcmul(0.5, Y, Z), [4, 18]),
    "addcdiv": (lambda: pkg.addcdiv(X, 2, Y, Z), [4, 3]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_values(name: str) -> None:
    """Are those of the signature that there is now."""
    call, expected = CALLS[name]
    assert call().tolist() == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gradients_and_graphs() -> None:
    """It is a call of the op itself, by its own schema."""
    x, y = (t.clone().requires_grad_() for t in (X, Y))
    z = x.add(3, y)
    assert repr(z.grad_fn) == "<AddBackward>"
    z.sum().backward()
    assert x.grad.tolist() == [1, 1] and y.grad.tolist() == [3, 3]
    assert pkg.compile(lambda a, b: a.add(3, b))(X, Y).tolist() == [10, 14]


def test_the_warning() -> None:
    """Comes once, with what to write instead, at the line of the call."""
    code = """
    import sys, warnings, pkg
    x = pkg.ones(2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x.add(x)
        x.add(x, alpha=2)
        assert not seen
        x.add(2, x)
        line = sys._getframe().f_lineno - 1
        pkg.add(x, 3, x)
    (one,) = seen
    assert one.category is DeprecationWarning
    assert (one.filename, one.lineno) == (sys._getframe().f_code.co_filename, line)
    print(one.message)
    """
    status, out, err, _ = run_child(code)
    assert (status, err) == (0, "")
    assert out == (
        "This overload of add is deprecated: add(Number alpha, Tensor other) Consider "
        "using one of the following signatures instead: "
        "add(Tensor other, *, Number alpha)\n"
    )


def test_a_warning_that_is_an_error() -> None:
    """Ends the call, each time."""
    code = """
    import warnings, pkg
    warnings.simplefilter("error")
    x = pkg.ones(2)
    for _ in range(2):
        try:
            x.add_(2, x)
        except DeprecationWarning as warning:
            assert "add_(Number alpha, Tensor other)" in str(warning)
        else:
            raise AssertionError("no error")
    assert x.tolist() == [1, 1]
    """
    assert run_child(code)[0] == 0


def test_what_fits_nothing_is_refused_as_before() -> None:
    """Numbers are no tensors there, nor tensors numbers; nothing is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: X.add(1, 2),
            lambda: X.add(Y, Z),
            lambda: X.add(pkg.tensor(2.0), Y),
            lambda: X.mul(2, Y),
        ):
            with pytest.raises(TypeError, match="takes 2 positional arguments but 3"):
                call()
        with pytest.raises(TypeError, match="missing required argument: 'other'"):
            X.add()
        assert pkg.ops.add._schema.startswith("pkg::add(Tensor self, Tensor other, *")

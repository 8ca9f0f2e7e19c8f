# SPDX-License-Identifier: Apache-2.0
"""What vjp, jvp and hvp refuse and what they take by themselves."""

import pytest

import pkg

F64 = pkg.float64


def test_v_may_be_left_out_where_there_is_one_element():
    """Of the output for vjp, of the input for jvp, hvp and vhp."""
    ag, x = pkg.autograd, pkg.tensor(3.0, dtype=F64)
    for product in (ag.vjp, ag.jvp):
        value, derivative = product(lambda t: t**3, x)
        assert (value.item(), derivative.item()) == (27.0, 27.0)
    for product in (ag.hvp, ag.vhp):
        value, second = product(lambda t: t**3, x)
        assert (value.item(), second.item()) == (27.0, 18.0)
    long = pkg.ones(2, dtype=F64)
    for product, whose in [
        (ag.vjp, "the user-provided function returns"),
        (ag.jvp, "the input to the user-provided function is"),
        (ag.hvp, "the input to the user-provided function is"),
    ]:
        with pytest.raises(RuntimeError, match=f"can only be None if {whose} a single"):
            product(lambda t: t * 2, long)


def test_strict_refuses_what_does_not_depend_on_the_inputs():
    """A value, or for second derivatives a gradient; otherwise they count as zeros."""
    ag, x = pkg.autograd, pkg.ones(2, dtype=F64)
    cases = [
        ("vjp", lambda t: pkg.ones(2, dtype=F64)),
        ("jvp", lambda t: pkg.ones(2, dtype=F64)),
        ("hvp", lambda t: pkg.ones(1, dtype=F64)),
        ("hvp", lambda t: t.sum()),
        ("vhp", lambda t: t.sum()),
    ]
    for name, func in cases:
        product = getattr(ag, name)
        assert product(func, x, x)[1].tolist() == [0.0, 0.0]
        with pytest.raises(RuntimeError, match="independent of the inputs"):
            product(func, x, x, strict=True)
    for matrix in (ag.jacobian, ag.hessian):
        assert matrix(lambda t: pkg.ones(1, dtype=F64), x).numel() > 0
        with pytest.raises(RuntimeError, match="independent of the inputs"):
            matrix(lambda t: pkg.ones(1, dtype=F64), x, strict=True)


def test_second_derivatives_are_of_one_element():
    """As in PyTorch, whoever asks for them."""
    x = pkg.ones(2, dtype=F64)
    for name in ("hessian", "hvp"):
        arguments = (x,) if name == "hessian" else (x, x)
        with pytest.raises(
            RuntimeError, match=f"given to {name} should return a single"
        ):
            getattr(pkg.autograd, name)(lambda t: t * 2, *arguments)

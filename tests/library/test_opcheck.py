# SPDX-License-Identifier: Apache-2.0
"""opcheck finds what an op does and did not say; assert_close tells what differs."""

from __future__ import annotations

import pytest
from test_custom_op import fresh

import pkg
from pkg.library import OpCheckError, opcheck


def made(function, fake=None, backward=None, keep=None, schema="(Tensor x) -> Tensor"):
    """An op of a function, with what else is given."""
    op = pkg.library.custom_op(fresh("check"), function, mutates_args=(), schema=schema)
    if fake:
        op.register_fake(fake)
    if backward:
        op.register_autograd(backward, setup_context=keep)
    return op


def failure(op, test, *args):
    """The text of this test, which fails."""
    outcome = opcheck(op, args, raise_exception=False)
    wrong = {name: error for name, error in outcome.items() if error != "SUCCESS"}
    assert test in wrong, wrong
    with pytest.raises(OpCheckError):
        opcheck(op, args, test_utils=test)
    return str(wrong[test])


def test_an_argument_that_is_changed():
    def change(x):
        x += 1
        return x.clone()

    x = pkg.zeros(2)
    text = failure(made(change, pkg.empty_like), "test_schema", x)
    assert "argument 'x' is not defined as mutable but was mutated" in text
    assert x.tolist() == [0, 0]


def test_results_that_share_memory():
    text = failure(made(lambda x: x, pkg.empty_like), "test_schema", pkg.zeros(2))
    assert "shares memory with argument 'x'" in text
    view = made(lambda x: x[:1], lambda x: pkg.empty_like(x[:1]))
    assert "shares memory" in failure(view, "test_schema", pkg.zeros(2))

    def twice(x):
        y = x + 1
        return y, y

    both = made(
        twice,
        lambda x: (pkg.empty_like(x),) * 2,
        schema="(Tensor x) -> (Tensor, Tensor)",
    )
    assert "two results share memory" in failure(both, "test_schema", pkg.zeros(2))


def test_no_gradient_where_one_is_asked_for():
    op = made(lambda x: x + 1, pkg.empty_like)
    x = pkg.zeros(2, requires_grad=True)
    assert "register_autograd" in failure(op, "test_autograd_registration", x)


def test_a_fake_kernel_that_is_wrong_or_missing():
    x = pkg.zeros(3)
    assert "no fake kernel" in failure(made(lambda x: x + 1), "test_faketensor", x)
    other = made(lambda x: x + 1, lambda x: pkg.empty_like(x[:1]))
    outcome = opcheck(other, (x,), raise_exception=False)
    assert "has shape (1,)" in str(outcome["test_faketensor"])
    data = made(lambda x: x + 1, lambda x: pkg.empty(3))
    assert "has data" in str(
        opcheck(data, (x,), raise_exception=False)["test_faketensor"]
    )
    dtype = made(lambda x: x + 1, lambda x: pkg.empty_like(x, dtype=pkg.float64))
    outcome = opcheck(dtype, (x,), raise_exception=False)
    assert "dtype" in str(outcome["test_faketensor"])


def test_a_wrong_gradient():
    def keep(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]  # half of it

    op = made(lambda x: x * x, pkg.empty_like, backward, keep)
    for dtype in (pkg.float64, pkg.float32):
        x = (pkg.rand(4, dtype=dtype) + 1).requires_grad_()
        text = failure(op, "test_gradients", x)
        assert "central differences give" in text


def test_results_without_a_gradient_are_no_part_of_it():
    def keep(ctx, inputs, output):
        ctx.mark_non_differentiable(output[0])
        ctx.save_for_backward(inputs[0])

    op = made(
        lambda x: (x.floor(), x * x),
        lambda x: (pkg.empty_like(x), pkg.empty_like(x)),
        lambda ctx, floor, square: square * 2 * ctx.saved_tensors[0],
        keep,
        schema="(Tensor x) -> (Tensor, Tensor)",
    )
    x = (pkg.rand(4, dtype=pkg.float64) * 0.5 + 1.2).requires_grad_()
    assert set(opcheck(op, (x,)).values()) == {"SUCCESS"}


def test_arguments_that_share_memory_stay_apart():
    def put(out, x, how, n):
        out += x * 0 + 1

    op = pkg.library.custom_op(
        fresh("check"),
        put,
        mutates_args=(),
        schema="(Tensor(a!) out, Tensor x, str how='a, b', int n=1) -> ()",
    )
    both = pkg.arange(4.0)
    test = "test_schema"
    assert opcheck(op, (both[:2], both[2:]), test_utils=test) == {test: "SUCCESS"}
    assert opcheck(op, (both[::2], both[1::2], "c"), {"n": 2}, test_utils=test)
    wide = pkg.ones(1).expand(2)
    assert opcheck(op, (both[:2], wide), test_utils=test) == {test: "SUCCESS"}
    with pytest.raises(OpCheckError, match="'x' is not defined as mutable"):
        opcheck(op, (both[:2], both[1:3]), test_utils=test)
    assert both.tolist() == [0, 1, 2, 3]


def test_a_wrong_fake_shows_when_a_kernel_fills_given_results():
    op = made(lambda x: x + 1, lambda x: pkg.empty_like(x[:1]))
    run = pkg.compile(lambda x: op(x * 2) * 3)
    with pytest.raises(
        RuntimeError, match=r"describes it, of shape \(1,\).*got shape \(3,\)"
    ):
        run(pkg.ones(3))
    # The thread remembers which operation failed, until another run begins.
    assert pkg.compile(lambda x: x + 1)(pkg.ones(1)).item() == 2


def test_arguments_of_opcheck():
    with pytest.raises(ValueError, match="expected tests among test_schema"):
        opcheck(pkg.add, (pkg.ones(1), 2), test_utils="test_nothing")
    with pytest.raises(TypeError, match="expected an op"):
        opcheck(abs, (pkg.ones(1),))
    assert set(opcheck(pkg.add, (pkg.ones(2), pkg.ones(2))).values()) == {"SUCCESS"}


def test_check():
    pkg._check(True)
    with pytest.raises(RuntimeError, match="Expected the condition to be True"):
        pkg._check(False)
    with pytest.raises(RuntimeError, match="^why$"):
        pkg._check(False, lambda: "why")
    with pytest.raises(TypeError, match="expected a bool, got Tensor"):
        pkg._check(pkg.ones(1) > 0)


def test_assert_close():
    close = pkg.testing.assert_close
    close(pkg.ones(2), pkg.ones(2) + 1e-7)
    close([pkg.ones(2), 1.0], (pkg.ones(2), 1.0))
    close({"a": pkg.inf}, {"a": pkg.inf})
    close(pkg.tensor([pkg.nan]), pkg.tensor([pkg.nan]), equal_nan=True)
    close(pkg.tensor([1.0]), pkg.tensor([1.1]), rtol=0.2, atol=0)
    for wrong, words in [
        ((pkg.ones(2), pkg.ones(2) + 1e-3), "2 of 2 elements are not close"),
        ((pkg.tensor([pkg.nan]), pkg.tensor([pkg.nan])), "1 of 1"),
        ((pkg.ones(2), pkg.ones(3)), r"expected shape \(3,\), got \(2,\)"),
        ((pkg.ones(2), pkg.ones(2).double()), "expected dtype pkg.float64"),
        (([pkg.ones(2)], []), "expected 0 items, got 1"),
        (({"a": 1}, {"b": 1}), r"expected the keys \['b'\]"),
        (([1, 2], [1, 3]), r"values\[1\]: 1 of 1"),
    ]:
        with pytest.raises(AssertionError, match=words):
            close(*wrong)
    with pytest.raises(AssertionError, match="^mine$"):
        close(1.0, 2.0, msg="mine")
    with pytest.raises(
        ValueError, match="both specified or unspecified|must be either"
    ):
        close(1.0, 1.0, rtol=1e-3)

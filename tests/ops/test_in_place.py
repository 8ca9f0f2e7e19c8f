# SPDX-License-Identifier: Apache-2.0
"""Ops that write to their first argument, against the forms that do not."""

import itertools
import operator

import numpy as np
import pytest
from test_ops import make

import pkg
from op_table import ELEMENTWISE

ROWS = [r for r in ELEMENTWISE if hasattr(pkg.ops, f"{r.name}_")]


def test_the_table_has_in_place_forms():
    """The list above is read from the registry: it must not have become empty."""
    assert len(ROWS) >= 10


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_result_is_written_to_self(row):
    """Dense and strided self, a broadcast operand; same object, same values."""
    rng = np.random.default_rng(0)
    op, in_place = getattr(pkg, row.name), getattr(pkg.ops, f"{row.name}_")
    for view in (lambda t: t, lambda t: t.t(), lambda t: t[::2, 1:]):
        args = [pkg.tensor(a) for a in make(row, row.dtypes[0], (4, 4), rng)]
        args[1:] = [view(a)[0] for a in args[1:]]
        want = op(view(args[0]), *args[1:])
        if want.dtype is not args[0].dtype:
            continue
        target = view(args[0])
        version = target._version
        assert in_place(target, *args[1:]) is target
        np.testing.assert_array_equal(target.numpy(), want.numpy())
        np.testing.assert_array_equal(view(args[0]).numpy(), want.numpy())
        assert target._version > version


def test_filling_and_copying():
    """Constants, and values of another dtype and a broadcast shape."""
    x = pkg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.fill_(7).tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert pkg.ops.fill(x, 2.5).tolist() == [[2.5, 2.5], [2.5, 2.5]]
    x[:, 1].zero_()
    assert x.tolist() == [[7.0, 0.0], [7.0, 0.0]]
    assert x.copy_(pkg.tensor([1, 2])) is x
    assert x.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(RuntimeError, match="3"):
        x.copy_(pkg.zeros(3))


def test_random_filling():
    """Written in place, inside the bounds, and repeated by the same seed."""
    x = pkg.empty(1000)
    pkg.manual_seed(5)
    assert x.uniform_(2, 3) is x
    first = x.tolist()
    assert min(first) >= 2 and max(first) <= 3 and abs(np.mean(first) - 2.5) < 0.05
    pkg.manual_seed(5)
    assert x.uniform_(2, 3).tolist() == first
    values = x.normal_(10, 2).numpy()
    assert abs(values.mean() - 10) < 0.3 and abs(values.std() - 2) < 0.2


#: Python's statements `x op= y` on integers, and whether floats have them too.
OPERATORS = {
    "iadd": True, "isub": True, "imul": True, "itruediv": True, "ifloordiv": True,
    "imod": True, "ipow": True, "iand": False, "ior": False, "ixor": False,
    "ilshift": False, "irshift": False,
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_write_in_place(name):
    """The name stays bound to the object, its aliases see it, autograd counts it."""
    assign = getattr(operator, name)
    plain = getattr(operator, {"iand": "and_", "ior": "or_"}.get(name, name[1:]))
    if name == "itruediv":
        with pytest.raises(RuntimeError, match="can't be cast|cannot be cast"):
            assign(pkg.tensor([6, 7]), 2)
    kinds = ["float32"] * OPERATORS[name] + ["int64"] * (name != "itruediv")
    for kind, other in itertools.product(kinds, (2, [[3], [1]])):
        values, other = np.array([[6, 7], [5, 2]], kind), np.array(other, kind)
        x = pkg.tensor(values)
        alias, version = x[1], x._version
        operand = pkg.tensor(other) if other.ndim else other.item()
        same = assign(x, operand)
        want = plain(values, other)
        assert same is x and x.tolist() == want.tolist()
        assert alias.tolist() == want[1].tolist() and alias._version > version
    with pytest.raises(TypeError, match="unsupported operand"):
        assign(pkg.ones(2), object())


def test_operators_with_a_number_in_front():
    """Shifts as the other operators; the tensor's dtype decides."""
    x = pkg.tensor([1, 3], dtype=pkg.int32)
    assert (1 << x).tolist() == [2, 8] and (x << 1).tolist() == [2, 6]
    assert (9 >> x).tolist() == [4, 1] and (x >> 1).tolist() == [0, 1]
    assert (1 << x).dtype is pkg.int32


def test_whole_numbers_have_no_negative_power():
    """A number as exponent is refused; the elements of a tensor round towards zero."""
    x = pkg.tensor([1, 2, -1])
    for call in (
        lambda: x**-1,
        lambda: x.pow(np.int64(-2)),
        lambda: x.pow_(-1),
        lambda: (x > 0) ** -1,
        lambda: pkg.ones(2, dtype=pkg.int64, device="meta") ** -1,
    ):
        with pytest.raises(RuntimeError, match="negative integer powers"):
            call()
    assert (x ** pkg.tensor([-1, -1, -1])).tolist() == [1, 0, -1]
    assert (x**-1.0).tolist() == [1, 0.5, -1] and (x.double() ** -1)[1] == 0.5
    assert (x**0).tolist() == [1, 1, 1]

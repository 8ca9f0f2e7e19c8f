# SPDX-License-Identifier: Apache-2.0
"""Ops in place whose operands share memory with what is written.

As in NumPy, operands are read before anything is written: x[:-1].mul_(x[1:]) is what
it is of copies.  Generated from the registry: every op that writes to its first
argument and takes other tensors.
"""

import itertools
import re

import numpy as np
import pytest

import pkg
from pkg._binding import core

#: Past the blocks of the loops and the pieces of threads.
SIZES = (7, 1003, 70_001)
SCHEMA = re.compile(r"(?P<name>\w+_)(\.\w+)?\((?P<rest>Tensor\(a!\) self.*)\) -> ")


def in_place_ops():
    """Name of the other form, and how many more tensors it takes."""
    found = {}
    for name in core.operator_names("pkg"):
        for schema in core.Operator(name, "pkg").schemas:
            match = SCHEMA.match(schema)
            if not match or name in INDEXED:
                continue
            parts = match["rest"].split(", ")[1:]
            count = sum(part.startswith("Tensor") for part in parts)
            if count:
                found[name] = count
    return found


def shuffled(n):
    return pkg.tensor(np.random.default_rng(1).permutation(n))


#: Ops with indices: the call, given what is written, an index and what is read.
INDEXED = {
    "index_add_": lambda f, x, i, v: f(x, 0, i, v),
    "index_copy_": lambda f, x, i, v: f(x, 0, i, v),
    "index_fill_": lambda f, x, i, v: f(x, 0, i[: len(i) // 2], 3),
    "index_put_": lambda f, x, i, v: f(x, [i], v),
    "_index_put_": lambda f, x, i, v: f(x, [i], v),
    "_slices_put_": lambda f, x, i, v: f(x, 0, i, v),
    "scatter_": lambda f, x, i, v: f(x, 0, i, v),
    "_scatter_": lambda f, x, i, v: f(x, 0, i, v),
    "scatter_add_": lambda f, x, i, v: f(x, 0, i, v),
}
OPS = in_place_ops()
PLACES, DENSE = 13, 3  # what overlaps() yields


def overlaps(x):
    """What is written and what is read, of one vector."""
    n = len(x)
    side = int(n**0.5)
    square = x[: side * side].reshape(side, side)
    yield "ahead", x[:-1], x[1:]
    yield "behind", x[1:], x[:-1]
    yield "far", x[n // 3 :], x[: n - n // 3]
    yield "apart", x[: n // 2 * 2 : 2], x[: n // 2]
    yield "wider", x[: n // 2], x[: n // 2 * 2 : 2]
    yield "turned", square, square.t()
    yield "to turned", square.t(), square
    yield "row", square, square[1]
    yield "column", square, square[:, 1:2]
    yield "one", x, x[2:3]
    yield "number", x, x[2]
    yield "itself", x, x
    yield "as itself", x, x[:]


def values(dtype, n):
    """Numbers that every op has a value for."""
    numbers = np.random.default_rng(n).integers(1, 5, n)
    return pkg.tensor(numbers).to(getattr(pkg, dtype))


def check(name, call, base, written, reads, label):
    """The op in place against the other form on copies."""
    other = core.Operator(name[:-1], "pkg")
    want = call(other, written.clone(), *[r.clone() for r in reads])
    if want.dtype is not written.dtype:
        return
    whole = base.clone().numpy()
    target = np.lib.stride_tricks.as_strided(
        whole[written.storage_offset() :],
        written.shape,
        [step * whole.itemsize for step in written.stride()],
    )
    target[...] = want.numpy()
    call(core.Operator(name, "pkg"), written, *reads)
    which = f"{name} of {len(base)}, {label}"
    np.testing.assert_array_equal(base.numpy(), whole, which)


def takes(name, tensors):
    """Whether the op has values of this dtype."""
    try:
        core.Operator(name[:-1], "pkg")(*tensors)
    except (NotImplementedError, RuntimeError):
        return False
    return True


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("name", OPS)
def test_operands_are_read_before_they_are_written(name, dtype):
    few = values(dtype, 3)
    if name == "masked_fill_" or not takes(name, [few] * (1 + OPS[name])):
        return
    for n in SIZES:
        for place, at in itertools.product(range(PLACES), range(OPS[name])):
            base = values(dtype, n)
            label, written, read = list(overlaps(base))[place]
            rest = values(dtype, written.numel()).reshape(written.shape)
            reads = [read if i == at else rest for i in range(OPS[name])]
            check(name, lambda f, *a: f(*a), base, written, reads, label)


def fill_true(f, x, mask):
    return f(x, mask, True)


def test_masks_and_their_value_are_read_before_they_are_written():
    for n in SIZES:
        for place in range(PLACES):
            base = values("bool", n)
            base[::3] = False
            label, written, read = list(overlaps(base))[place]
            check("masked_fill_", fill_true, base, written, [read], label)
        base = values("float32", n)
        reads = [base > 2, base[n // 2]]
        check("masked_fill_", lambda f, *a: f(*a), base, base, reads, "value")


@pytest.mark.parametrize("name", INDEXED)
def test_values_and_indices_are_read_before_they_are_written(name):
    for n in SIZES:
        for place in range(DENSE):  # nothing broadcasts here
            base = values("float64", n)
            label, written, read = list(overlaps(base))[place]
            reads = [shuffled(len(written)), read]
            check(name, INDEXED[name], base, written, reads, label)
            numbers = shuffled(n) % (n // 2)
            label, written, read = list(overlaps(numbers))[place]
            reads = [read, pkg.ones(len(read), dtype=pkg.int64)]
            check(name, INDEXED[name], numbers, written, reads, f"index {label}")

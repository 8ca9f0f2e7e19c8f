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


#: What NumPy has too.
DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"]


def size_of(dtype):
    return np.dtype(dtype).itemsize


def over(memory, dtype, begin, n, step=1):
    """A tensor over some bytes of an array: nothing but addresses says that others
    lie there too."""
    room = memory[begin:][: ((n - 1) * step + 1) * size_of(dtype)]
    return pkg.from_numpy(room.view(dtype)[::step])


def written_over(memory, dtype, begin, step, values):
    """The memory, had the values been written to such a tensor."""
    expected = memory.copy()
    if dtype == "bool":  # whose bytes are as those of uint8, but memory holds others
        dtype, values = "uint8", values.to(pkg.uint8)
    over(expected, dtype, begin, len(values), step).copy_(values)
    return expected


@pytest.fixture(params=[1, 2])
def sizes(request):
    """With two threads what they share."""
    before = pkg.get_num_threads()
    pkg.set_num_threads(request.param)
    yield [40_000] if request.param == 2 else [9, 2500]
    pkg.set_num_threads(before)


@pytest.mark.parametrize("source", DTYPES)
def test_conversions_over_one_array(source, sizes):
    rng = np.random.default_rng(len(source))
    for target, n in itertools.product(DTYPES, sizes):
        one, other = size_of(source), size_of(target)
        by = int(rng.choice([1, 2, 3, 31, 1024, 1500]))
        step, own_step = rng.integers(1, 4, 2).tolist() if n < 40_000 else (1, 1)
        ahead = rng.random() < 0.5
        begin, own_begin = (by * one, 0) if ahead else (0, by * other)
        memory = np.zeros(32 * n + 16_000, "uint8")
        written = over(memory, target, own_begin, n, own_step)
        read = over(memory, source, begin, n, step)
        read.copy_(pkg.tensor(rng.integers(0, 100, n)).to(read.dtype))
        if source in ("int64", "float64"):
            read[n // 2] = 2**60  # past what converts the short way
        want = read.clone().to(written.dtype)
        expected = written_over(memory, target, own_begin, own_step, want)
        written.copy_(read)
        which = f"{n} {source} {step} by {by} to {target} {own_step}, {ahead}"
        np.testing.assert_array_equal(memory, expected, which)


@pytest.mark.parametrize("name", sorted(OPS))
def test_operands_over_one_array(name, sizes):
    rng = np.random.default_rng(len(name))
    written_as = "bool" if name == "masked_fill_" else "float32"
    for dtype, n, at in itertools.product(
        [written_as, "int64", "uint8"], sizes, range(OPS[name])
    ):
        if not takes(name, [values(dtype, 3)] * (1 + OPS[name])):
            continue
        by, step, own_step = rng.integers(1, 4, 3).tolist()
        memory = np.zeros(33 * n, "uint8")
        over(memory, dtype, 0, 4 * n).copy_(values(dtype, 4 * n))
        begin, own_begin = rng.permutation([0, by * size_of(dtype)]).tolist()
        written = over(memory, dtype, own_begin, n, own_step)
        reads = [values(dtype, n) for _ in range(OPS[name])]
        reads[at] = over(memory, dtype, begin, n, step)
        copies = [read.clone() for read in reads]
        want = core.Operator(name[:-1], "pkg")(written.clone(), *copies)
        if want.dtype is not written.dtype:
            continue
        expected = written_over(memory, dtype, own_begin, own_step, want)
        core.Operator(name, "pkg")(written, *reads)
        which = f"{name} of {n} {dtype}, {begin} {step} and {own_begin} {own_step}"
        np.testing.assert_array_equal(memory, expected, which)


@pytest.mark.parametrize("name", INDEXED)
def test_values_and_indices_over_one_array(name):
    for n, behind, index in itertools.product((9, 3000), (0, 1), (False, True)):
        memory = np.zeros(8 * n + 8, "uint8")
        dtype = "int64" if index else "float64"
        start = shuffled(n + 1) % (n // 2)
        over(memory, dtype, 0, n + 1).copy_(start)
        written = over(memory, dtype, 8 * behind, n)
        read = over(memory, dtype, 8 - 8 * behind, n)
        reads = [read, pkg.ones(n, dtype=pkg.int64)] if index else [shuffled(n), read]
        other = core.Operator(name[:-1], "pkg")
        want = INDEXED[name](other, written.clone(), *[r.clone() for r in reads])
        expected = written_over(memory, dtype, 8 * behind, 1, want)
        INDEXED[name](core.Operator(name, "pkg"), written, *reads)
        np.testing.assert_array_equal(memory, expected, f"{name} {n} {behind} {index}")

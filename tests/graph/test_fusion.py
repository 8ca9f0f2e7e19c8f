# SPDX-License-Identifier: Apache-2.0
"""Pointwise steps that run together: bitwise what the eager calls give, one by one."""

import math

import numpy as np
import pytest

import pkg
import pkg.graph
from op_table import CASES
from op_values import equal_bits, inputs_of, outputs

#: From how many elements on steps are fused, and more than one chunk of them.
LARGE = 10_000


def enlarged(arrays):
    """Repeated along the dimensions that are longer than one, alike in all of them."""
    shapes = [array.shape for array in arrays if array.ndim]
    if not shapes or max(array.size for array in arrays) < 2:
        return None
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        return None  # it is no pointwise call
    long = [d for d, size in enumerate(shape) if size > 1]
    times = [1] * len(shape)
    while math.prod(s * t for s, t in zip(shape, times)) < LARGE:
        for d in long:
            times[d] += 1
    return [
        np.tile(array, [t if size > 1 else 1 for size, t in zip(
            array.shape, times[len(shape) - array.ndim :])]) if array.ndim else array
        for array in arrays
    ]  # fmt: skip


def pointwise_cases():
    for case in CASES:
        large = enlarged(inputs_of(case))
        if large is None:
            continue
        shape = np.broadcast_shapes(*[array.shape for array in large])
        try:
            made = outputs(case.call(pkg, *map(pkg.tensor, large)))
        except Exception:
            continue  # it wants the sizes of its row
        if any(getattr(result, "shape", None) == shape for result in made):
            yield case


POINTWISE = list(pointwise_cases())


def around(case, x, *rest):
    """The call between two others, which it is fused with where it can be."""
    before = x.logical_not() if x.dtype == pkg.bool else x * 1
    results = outputs(case.call(pkg, before, *rest))
    return [r.logical_not() if r.dtype == pkg.bool else r + r for r in results]


def test_the_table_has_pointwise_rows():
    assert len({case.name for case in POINTWISE}) > 100


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("case", POINTWISE, ids=str)
def test_every_pointwise_op(case, dtype):
    tensors = []
    for array in enlarged(inputs_of(case)):
        tensor = pkg.tensor(array)
        floating = array.dtype.kind == "f"
        tensors.append(tensor.to(getattr(pkg, dtype)) if floating else tensor)
    with pkg.graph.Graph().as_default():
        given = [pkg.graph.placeholder(t.dtype, t.shape) for t in tensors]
        try:
            wanted = around(case, *tensors)
        except Exception as error:
            with pytest.raises(type(error)):
                pkg.graph.Session().run(around(case, *given), dict(zip(given, tensors)))
            return
        run = pkg.graph.Session().make_callable(around(case, *given), given)
        for _ in range(2):
            for got, expected in zip(run(*tensors), wanted, strict=True):
                equal_bits(got, expected)


UNARY = ("relu", "sigmoid", "tanh", "abs", "exp", "neg", "square", "sin")
BINARY = ("add", "sub", "mul", "maximum", "minimum", "div")
REDUCED = ("sum", "mean", "amax")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "bool")


def operands(rng, shape):
    """Tensors that broadcast to the shape, of several layouts and dtypes."""
    ways = [shape, shape, shape[1:], (shape[-1],), (1,)]
    ways += [(shape[0],) + (1,) * (len(shape) - 1), shape[:-1] + (1,), ()]
    for _ in range(4):
        way = ways[rng.integers(len(ways))]
        values = pkg.tensor(rng.uniform(-2, 2, way).astype("f4"))
        yield values.to(getattr(pkg, DTYPES[rng.integers(len(DTYPES))]))


def program(rng, n_steps):
    """Random steps: each picks from what there is, and some results are kept."""
    steps = []
    for _ in range(n_steps):
        kind = rng.integers(10)
        pick = rng.integers(1 << 30, size=2)
        if kind < 4:
            steps.append((UNARY[rng.integers(len(UNARY))], pick[:1]))
        elif kind < 8:
            steps.append((BINARY[rng.integers(len(BINARY))], pick))
        elif kind < 9:
            steps.append(("number", pick[:1]))
        else:
            steps.append((REDUCED[rng.integers(len(REDUCED))], pick[:1]))

    def run(*given):
        values = list(given)
        for name, picks in steps:
            taken = [values[pick % len(values)] for pick in picks]
            if name == "number":
                made = taken[0] * 0.5 + 1
            elif name in REDUCED:
                made = getattr(taken[0].float(), name)()
            elif name in UNARY:
                made = getattr(taken[0].float(), name)()
            else:
                second = taken[1].float() if name == "sub" else taken[1]
                made = getattr(pkg, name)(taken[0].float(), second)
            values.append(made)
        return values[len(given) :][-5:]

    return run


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed, threads):
    """Of tensors that are fed and tensors that the graph refers to."""
    rng = np.random.default_rng(seed)
    ndim = rng.integers(1, 8)
    most = 9 if ndim < 5 else 3
    shape = tuple(int(n) for n in rng.integers(1, most, ndim - 1)) + (3000,)
    shape = tuple(rng.permutation(shape).tolist())
    tensors = list(operands(rng, shape)) + [pkg.tensor(rng.random(shape))]
    run = program(rng, 14)
    before = pkg.get_num_threads()
    pkg.set_num_threads(threads)
    try:
        wanted = run(*tensors)
        with pkg.graph.Graph().as_default():
            fed = rng.random(len(tensors)) < 0.6
            given = [
                pkg.graph.placeholder(t.dtype, t.shape) if feed else t
                for t, feed in zip(tensors, fed)
            ]
            made = run(*given)
            fetches = [m for m in made if isinstance(m, pkg.graph.Symbol)]
            expected = [
                w for w, m in zip(wanted, made) if isinstance(m, pkg.graph.Symbol)
            ]
            feeds = {g: t for g, t, feed in zip(given, tensors, fed) if feed}
            session = pkg.graph.Session()
            for _ in range(2):
                for got, want in zip(session.run(fetches, feeds), expected):
                    equal_bits(got, want)
    finally:
        pkg.set_num_threads(before)


@pytest.mark.parametrize("size", [50, 70, 100, 200])
def test_a_step_that_reads_two_views_of_a_buffer(size):
    """A result must not lie where another view is still read."""
    a = pkg.tensor(np.random.default_rng(size).random((size, size)).astype("f4"))

    def programs(x):
        t = x * 2
        yield (t + t.transpose(0, 1)).sum(0)
        t = x * 3
        yield (t * t[0]).sum(0)
        t = x * 4
        yield (t - t[:1]).sum(0)
        t = x * 5
        yield (t - t[0, 0]).sum(0)

    with pkg.graph.Graph().as_default():
        x = pkg.graph.placeholder(pkg.float32, a.shape)
        for made, wanted in zip(list(programs(x)), programs(a)):
            equal_bits(pkg.graph.Session().run(made, {x: a}), wanted)


@pytest.mark.parametrize("size", [1000, 20000])
def test_a_feed_that_shares_memory_with_what_is_written(size):
    """Order is the program's, whether steps are fused or not."""

    def call(kept, x):
        a = x * 2 + 1
        kept.mul_(2)
        return (x * 3 + a).tanh() * x

    values = np.linspace(0.1, 1, size).astype("f4")
    kept, other = pkg.tensor(values), pkg.tensor(values)
    wanted = call(other, other[:])
    compiled = pkg.compile(lambda x: call(kept, x))
    equal_bits(compiled(kept[:]), wanted)

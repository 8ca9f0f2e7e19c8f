# SPDX-License-Identifier: Apache-2.0
"""Every row of the op table through a graph: bitwise what the eager call gives."""

import re

import pytest

import pkg
import pkg.graph
from op_table import CASES
from op_values import equal_bits, inputs_of, outputs, scattered

#: Their results are no tensors.
NOT_IN_GRAPHS = ("allclose", "equal")
CASES = [case for case in CASES if case.name not in NOT_IN_GRAPHS]
#: Their results have shapes that depend on values.
UNPLANNED = {
    "bincount", "masked_select", "nonzero", "one_hot", "repeat_interleave", "where",
}  # fmt: skip
#: They have as many results as a size says.
COUNTED = ("split", "unbind")
#: What a call says that needs to know more before it runs.
NOT_KNOWN = r"as many results as a size says|number of dimensions is not known"
DIFFERENTIABLE = [case for case in CASES if case.differentiable]


SHAPES = {
    "known": lambda array: array.shape,
    "sizes": lambda array: [None] * array.ndim,
    "rank": lambda array: None,
}


def symbols(arrays, unknown):
    """A placeholder for each array, of its shape or without what is not known of it."""
    shape = SHAPES[unknown]
    return [pkg.graph.placeholder(pkg.tensor(a).dtype, shape(a)) for a in arrays]


def in_graph(case, arrays, unknown):
    """The results of a case from a session, and its callable."""
    with pkg.graph.Graph().as_default() as graph:
        given = symbols(arrays, unknown)
        if given:
            made = outputs(case.call(pkg, *given))
        else:
            made = outputs(graph.record(None, case.call, pkg))
        session = pkg.graph.Session()
        handle = session._handle.make_callable(given, made, [])
        feeds = [pkg.tensor(array) for array in arrays]
        return [handle.run(feeds) for _ in range(2)], handle, made


@pytest.mark.parametrize("unknown", SHAPES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values(case, unknown):
    """Twice, as the second run uses the memory of the first."""
    arrays = inputs_of(case)
    wanted = outputs(case.call(pkg, *map(pkg.tensor, arrays)))
    try:
        runs, _, made = in_graph(case, arrays, unknown)
    except ValueError as error:
        assert re.search(NOT_KNOWN, str(error))
        counted = case.name in COUNTED or len(wanted) != 1 or case.name == "index"
        assert counted and unknown != "known"
        return
    assert unknown == "known" or str(case) not in COUNTED
    for results in runs:
        assert len(results) == len(wanted)
        for result, expected, symbol in zip(results, wanted, made):
            equal_bits(result, expected)
            shape = symbol.shape
            assert symbol.dtype == expected.dtype or shape.ndims is None
            if shape.ndims is not None:
                assert len(shape) == expected.ndim
                for size, real in zip(shape, expected.shape):
                    assert size in (None, real)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_other_dtypes(case, dtype):
    """What the eager call gives or refuses; feeds are made row-major."""
    kind = getattr(pkg, dtype)
    tensors = []
    for array in inputs_of(case):
        tensor = scattered(array)
        tensors.append(tensor.to(kind) if array.dtype.kind == "f" else tensor)
    with pkg.graph.Graph().as_default():
        given = [pkg.graph.placeholder(t.dtype, t.shape) for t in tensors]
        try:
            wanted = outputs(case.call(pkg, *[t.contiguous() for t in tensors]))
        except Exception as error:
            with pytest.raises(type(error)):
                made = outputs(case.call(pkg, *given))
                pkg.graph.Session().run(made, dict(zip(given, tensors)))
            return
        if not given:
            return
        made = outputs(case.call(pkg, *given))
        results = pkg.graph.Session().run(made, dict(zip(given, tensors)))
    for result, expected in zip(results, wanted, strict=True):
        equal_bits(result, expected)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradients(case):
    """Of the sum of the results, as ``autograd.grad`` gives it."""
    arrays = inputs_of(case)
    places = [i for i, array in enumerate(arrays) if array.dtype.kind == "f"]
    tensors = [pkg.tensor(array) for array in arrays]
    for i in places:
        tensors[i].requires_grad_()
    ys = [y for y in outputs(case.call(pkg, *tensors)) if y.requires_grad]
    wanted = pkg.autograd.grad(
        ys, [tensors[i] for i in places], [pkg.ones_like(y) for y in ys],
        allow_unused=True,
    )  # fmt: skip
    with pkg.graph.Graph().as_default():
        given = symbols(arrays, "known" if case.name in COUNTED else "sizes")
        made = outputs(case.call(pkg, *given))
        ys = [y for y in made if y.dtype.is_floating_point]
        found = pkg.graph.gradients(ys, [given[i] for i in places])
        session = pkg.graph.Session()
        asked = [grad for grad in found if grad is not None]
        results = iter(session.run(asked, dict(zip(given, map(pkg.tensor, arrays)))))
    for grad, expected in zip(found, wanted):
        if grad is None:
            assert expected is None
        elif expected is None:
            assert not next(results).numpy().any()
        else:
            equal_bits(next(results), expected)


def test_all_but_a_few_ops_run_by_a_plan():
    """Those without are known: their shapes depend on values."""
    unplanned = set()
    for case in CASES:
        _, handle, _ = in_graph(case, inputs_of(case), "known")
        if handle.unplanned():
            unplanned.add(case.name)
    assert unplanned == UNPLANNED

# SPDX-License-Identifier: Apache-2.0
"""Numbers given to ops: one that the dtype it is converted to cannot hold is refused.

Generated from the schemas: an op with a new parameter of this kind fails here until it
has a row.
"""

import re

import pytest

import pkg
from pkg._binding import core

SCHEMAS = {
    schema.partition("(")[0]: schema
    for name in core.operator_names("pkg")
    for schema in core.Operator(name, "pkg").schemas
}
OPS = {op: s for op, s in SCHEMAS.items() if re.search(r"\bScalar\??\s+\w+", s)}
#: Tensors of these names become elements of the result, and so do numbers for them.
#: (Numbers that are only computed with, as in `x + 300`, wrap.)
ELEMENTS = {
    "clamp": ["min", "max"],
    "clamp_min": ["min"],
    "clamp_max": ["max"],
    "clip": ["min", "max"],
    "copy": ["src"],
    "lerp": ["weight"],
    "masked_fill": ["value"],
    "pow": ["exponent"],
    "where": ["self", "other"],
}
#: Counts and orders are no elements: they stay what they are.
OTHERS = {"arange", "arange.start", "dist", "norm", "linalg_vector_norm", "normalize"}
PLACES = {"dim": 0, "index": [0], "pad": [1, 1], "size": [2], "steps": 3}
SHAPES = {
    "addmm": {"mat1": (2, 2), "mat2": (2, 2)},
    "addmv": {"mat": (2, 2)},
    "addbmm": {"batch1": (2, 2, 2), "batch2": (2, 2, 2)},
    "index_add": {"source": (1,)},
}
SHAPES["baddbmm"] = SHAPES["addbmm"]
SHAPES["index_add_"] = SHAPES["index_add"]
#: Limits go together, for one must not be above the other.
LIMITS = dict.fromkeys(("min_val", "max_val"), ("min_val", "max_val"))
TOO_LARGE = {
    pkg.float32: 1e300,
    pkg.float16: 1e300,
    pkg.bfloat16: -1e300,
    pkg.int8: 1000,
    pkg.uint8: 300,
}


def parameters(schema):
    """(type, name) of each."""
    inside = schema.partition("(")[2].rpartition(") ->")[0]
    return re.findall(r"([A-Z]\w*\??(?:\(a!\))?|int\[\]|int|float) (\w+)", inside)


CASES = [
    pytest.param(op, name, dtype, id=f"{op}-{name}-{str(dtype).rpartition('.')[2]}")
    for op, schema in OPS.items()
    if op not in OTHERS and not op.endswith("_backward")  # the op has checked them
    for kind, name in parameters(schema)
    if kind.startswith("Scalar")
    for dtype in TOO_LARGE
]


TENSOR_CASES = [
    pytest.param(op, name, dtype, id=f"{op}-{name}-{str(dtype).rpartition('.')[2]}")
    for op in SCHEMAS
    for name in ELEMENTS.get(op.removesuffix("_"), [])
    for dtype in TOO_LARGE
    if not (op.startswith("pow") and dtype == pkg.float32)  # an exponent is a double's
]


def call(op, dtype, device="cpu", **numbers):
    """The op with 1 for every number but those given."""
    named = {}
    for kind, name in parameters(SCHEMAS[op]):
        if name in numbers:
            named[name] = numbers[name]
        elif name in ("mask", "condition"):
            named[name] = pkg.ones(2, dtype=pkg.bool, device=device)
        elif name == "index":
            named[name] = pkg.tensor([0])
        elif name in PLACES:
            named[name] = PLACES[name]
        elif kind.startswith("Tensor"):
            shape = SHAPES.get(op, {}).get(name, (2,))
            named[name] = pkg.ones(*shape, dtype=dtype, device=device)
        elif kind.startswith("Scalar"):
            named[name] = 1
    if "DType?" in SCHEMAS[op] and not any(
        kind.startswith("Tensor") for kind, _ in parameters(SCHEMAS[op])
    ):
        named["dtype"] = dtype
    return core.Operator(op.partition(".")[0], "pkg")(**named)


@pytest.mark.parametrize("op, name, dtype", CASES)
def test_numbers_fit_the_dtype(op, name, dtype):
    try:
        taken = call(op, dtype).dtype
    except (NotImplementedError, RuntimeError) as error:
        assert re.search("float|cast", str(error))  # no op of integers
        return
    with pytest.raises(RuntimeError, match="converted to type .* without overflow"):
        call(op, dtype, **dict.fromkeys(LIMITS.get(name, (name,)), TOO_LARGE[taken]))


#: Numbers that are written or chosen, and not computed with.
WRITTEN = ("copy", "copy_", "where", "_index_put", "_index_put_")


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("op, name, dtype", TENSOR_CASES)
def test_numbers_for_tensors_fit_the_dtype(op, name, dtype, device):
    try:
        call(op, dtype, device, **{name: 1})
    except NotImplementedError as error:
        assert "float" in str(error)  # no op of integers
        return
    if dtype.itemsize == 2 and op in WRITTEN:  # where it is infinite
        call(op, dtype, device, **{name: TOO_LARGE[dtype]})
        return
    with pytest.raises(RuntimeError, match="converted to type .* without overflow"):
        call(op, dtype, device, **{name: TOO_LARGE[dtype]})


def test_tensors_of_one_element_that_fill_fit_the_dtype():
    for dtype, number in TOO_LARGE.items():
        x, mask = pkg.zeros(2, dtype=dtype), pkg.tensor([True, False])
        large = pkg.tensor(number, dtype=pkg.float64)
        for fill in (x.masked_fill, x.masked_fill_):
            with pytest.raises(RuntimeError, match="without overflow"):
                fill(mask, large)
        assert x.tolist() == [0, 0]


def test_exponents_of_float32_are_those_of_a_double():
    inf = float("inf")
    x = pkg.tensor([1.0, 2.0])
    assert x.pow(1e39).tolist() == (x**1e39).tolist() == [1, inf]
    assert (pkg.tensor([1, 2]) ** 1e39).tolist() == x.pow_(1e39).tolist() == [1, inf]
    for dtype, power in ((pkg.uint8, 256), (pkg.int8, 300), (pkg.int32, 2**32 + 1)):
        with pytest.raises(RuntimeError, match=r"\[pow\] .* without overflow"):
            pkg.full((2,), 3, dtype=dtype) ** power


def test_fractions_of_numbers_are_cut_and_infinities_are_floats():
    x = pkg.ones(2, dtype=pkg.int8)
    assert pkg.addcmul(x, x, x, value=2.7).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="overflow .*value=inf"):
        pkg.addcmul(x, x, x, value=float("inf"))
    x = pkg.ones(2)
    assert pkg.add(x, x, alpha=float("inf")).tolist() == [float("inf")] * 2
    assert pkg.clamp(x, max=float("inf")).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"\[clamp\] .*overflow \(max=1e\+40\)"):
        x.clamp(max=1e40)
    with pytest.raises(RuntimeError, match=r"\[pow\] .*overflow \(exponent=1e\+10\)"):
        x.to(pkg.float16) ** 1e10


@pytest.mark.parametrize("dtype", [pkg.float16, pkg.bfloat16], ids=str)
@pytest.mark.parametrize("number", [0.1, 2.90123, -0.3003])
def test_numbers_are_rounded_where_they_meet_16_bit_floats(dtype, number):
    """0.1 equals a tensor of 0.1.  Factors and divisors are not, as in PyTorch."""
    same = pkg.full((5,), number, dtype=dtype)
    rounded, exact = same[0].item(), pkg.tensor(number, dtype=pkg.float64)
    for other in (number, exact, exact.float()):
        assert (same == other).all() and not (same != other).any()
        assert not (same < other).any() and (same >= other).all()
        assert (same - other).tolist() == [0.0] * 5
        assert (same % other).tolist() == [0.0] * 5
    x = pkg.tensor([0.3, 1.7, 2.9, 13.7, 100.3], dtype=dtype)
    for op in (pkg.add, pkg.sub, pkg.remainder, pkg.fmod, pkg.pow, pkg.eq, pkg.gt):
        assert pkg.equal(op(x, number), op(x, rounded)) or number < 0 and op is pkg.pow
    for op in (pkg.mul, pkg.div):
        assert pkg.equal(op(x, number), op(x.float(), number).to(dtype))


@pytest.mark.parametrize("dtype", [pkg.float16, pkg.bfloat16], ids=str)
@pytest.mark.parametrize("limit", [0.7, 0.3, 0.1, 2.3])
def test_gradients_compare_with_limits_as_the_results_did(dtype, limit):
    """16-bit floats meet limits in float32, backward as forward."""
    f = pkg.nn.functional
    x = pkg.tensor([limit], dtype=dtype).requires_grad_()
    above = x.item() > limit
    passes = [
        (f.hardtanh(x, -limit, limit), x.item() < limit),
        (f.threshold(x, limit, 9.0), above),
    ]
    if above:
        passes.append((f.softplus(x, beta=1, threshold=limit), True))
    for y, through in passes:
        (grad,) = pkg.autograd.grad(y, x)
        assert grad.item() == float(through)


@pytest.mark.parametrize("dtype", [pkg.float16, pkg.bfloat16], ids=str)
def test_numbers_that_are_written_to_16_bit_floats_may_be_infinite(dtype):
    inf = float("inf")
    for number in (1e39, 1e300):
        x = pkg.ones(3, dtype=dtype)
        x[0] = number
        x[pkg.tensor([1])] = number
        x[x == 1] = -number
        assert x.tolist() == [inf, inf, -inf]
        assert pkg.where(x > 0, x, -number).tolist() == [inf, inf, -inf]
    assert pkg.logspace(300, 3, 1, dtype=dtype).tolist() == [inf]
    assert pkg.linspace(-1, 5, 1, dtype=pkg.uint8).tolist() == [255]

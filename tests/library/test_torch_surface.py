# SPDX-License-Identifier: Apache-2.0
"""Every kind of parameter, result, key and error of PyTorch's style (surface.cc)."""

from __future__ import annotations

import numpy as np
import pytest

import pkg
from pkg._binding import core


def text(tensor):
    """The characters of a tensor of bytes."""
    return bytes(tensor.tolist()).decode()


def test_every_kind_of_parameter(surface):
    x = pkg.ones(2, 3)
    given = surface.every_kind(
        x, None, [x, x], 2.5, 3, 1, True, [4, 5], "hi", pkg.float64
    )
    assert text(given) == "[2, 3] 0 2 2.5 3 1 1 [4, 5] hi float64 -1 -1 0 0"
    given = surface.every_kind(
        x, x, [], 2, 3, 0.5, False, 7, "", pkg.bool,
        maybe=4, dims=[1, 2], floats=[1, 2.5], more=3,
    )  # fmt: skip
    assert text(given) == "[2, 3] 1 0 2 3 0.5 0 [7]  bool 4 2 2 1"


def test_every_kind_of_result(surface):
    x = pkg.ones(2, 3)
    assert [t.sum().item() for t in surface.seven(x)] == [6 * i for i in range(1, 8)]
    assert [t.tolist() for t in surface.parts(pkg.arange(4), 2)] == [[0, 1], [2, 3]]
    assert surface.count(x) == 6
    y = pkg.zeros(3)
    assert surface.increase(y, 2) is y and surface.increase(y).tolist() == [3, 3, 3]
    assert surface.more(y).tolist() == [-3, -3, -3]


def test_schemas(surface):
    assert surface.count._schema == "surface::count(Tensor _0) -> int"
    assert surface.increase.default._schema == (
        "surface::increase(Tensor(a!) x, Scalar by=1) -> Tensor(a!)"
    )
    assert (
        pkg.ops.max.other._schema
        == "pkg::max.other(Tensor self, Tensor other) -> Tensor"
    )
    assert pkg.ops.max.dim(pkg.eye(2), 0).indices.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="got all of them: default, dim, other"):
        pkg.ops.max._schema  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'none'"):
        pkg.ops.max.none  # noqa: B018


def test_accessors_and_dispatch_over_dtypes(surface):
    for dtype in (pkg.float32, pkg.int64, pkg.bool):
        x = pkg.tensor([[0, 1, 1], [1, 0, 0]]).to(dtype)
        assert surface.elements(x).tolist() == x.flip(1).tolist()


def test_composed_ops_have_the_gradients_of_what_they_call(surface):
    w = pkg.randn(4, dtype=pkg.float64, requires_grad=True)
    assert pkg.autograd.gradcheck(surface.composed, (w,))
    pkg.testing.assert_close(surface.composed(w), (2 * w).tanh() - w / 3)
    run = pkg.compile(surface.composed)
    pkg.testing.assert_close(run(w.detach()), surface.composed(w.detach()))
    assert "composite" in pkg.library.dump_dispatch_table(surface.composed)


def test_a_kernel_above_another_passes_keys_on(surface):
    x = pkg.ones(2)
    assert surface.twice(x).tolist() == [2, 2]
    assert surface.twice(x.requires_grad_()).tolist() == [102, 102]


def test_ops_of_the_core_by_name(surface):
    assert surface.by_name(pkg.ones(2)).tolist() == [[4, 4], [1, 1]]


@pytest.mark.parametrize(
    ("which", "error", "words"),
    [
        (0, LookupError, "Could not find schema for surface::none."),
        (1, LookupError, "pkg::max.wrong but we found the overloads: default, dim"),
        (2, RuntimeError, r"expected at::Tensor\(const at::Tensor&\), got at::Tensor"
                          r"\(double\) at .*surface.cc:\d+"),
        (4, LookupError, "aten::max.wrong but we found the overloads: default, dim"),
        (5, RuntimeError, "surface::twice: expected a result by value, since the op"),
    ],
)  # fmt: skip
def test_lookups_that_fail(surface, which, error, words):
    with pytest.raises(error, match=words):
        surface.lookup(which)
    assert surface.lookup(3) == 1


def test_a_typed_call_returns_a_reference_to_what_it_writes(surface):
    x = pkg.zeros(2)
    assert surface.increase_by_name(x) is True and x.tolist() == [2, 2]


def test_literals_have_the_dtypes_of_python(surface):
    wanted = [pkg.int64, pkg.float32, pkg.float32, pkg.uint8, pkg.bool, pkg.float64]
    found = surface.literals()
    assert [t.dtype for t in found] == [*wanted, pkg.int32, pkg.float64]
    assert [t.tolist() for t in found[:3]] == [[1, 2], [1.5], 2.5]


def test_memory_without_a_type_is_written_after_what_reads_it(surface):
    for _ in range(5):
        x = pkg.ones(2_000_000)
        y = x.exp().log().exp()
        surface.clear(x)
        assert x.sum().item() == 0
        pkg.testing.assert_close(y.min().item(), np.e, rtol=1e-5, atol=0)


def test_a_scheduled_kernel_waits_for_a_tensor_beside_its_arguments(surface):
    x = pkg.ones(2_000_000)
    for _ in range(5):
        surface.hold(x.exp().log().exp().log().exp())
        y = surface.add_held(x * 2)
        pkg.testing.assert_close(y.min().item(), np.e + 2, rtol=1e-5, atol=0)
    surface.hold(None)


def test_functions_with_lists_numbers_and_outputs_saved(surface):
    a, b = (pkg.randn(3, dtype=pkg.float64, requires_grad=True) for _ in range(2))
    product, first = surface.weighted([a, b], 3.0)
    pkg.testing.assert_close(product, 3 * a * b)
    pkg.testing.assert_close(first, a)
    assert pkg.autograd.gradcheck(
        lambda a, b: tuple(surface.weighted([a, b], 3.0)), (a, b)
    )
    assert pkg.autograd.gradcheck(
        lambda b: surface.weighted([a.detach(), b], 3.0)[0], (b,)
    )


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        (0, RuntimeError, r"Expected how != 0 to be true.*surface.cc:\d+"),
        (1, ValueError, "a value of 1. Expected how != 1"),
        (2, IndexError, "an index of 2"),
        (3, TypeError, "a type"),
        (4, NotImplementedError, "not here"),
        (5, core.InternalError, "INTERNAL ASSERT FAILED: this cannot be"),
        (6, ValueError, "of the standard library"),
        (7, NotImplementedError, "\"fails\" not implemented for 'int64'"),
        (8, RuntimeError, "expected cpu or meta, got cuda"),
    ],
)
def test_errors_have_their_classes(surface, how, error, words):
    with pytest.raises(error, match=words):
        surface.fails(pkg.arange(3), how)


def test_results_of_several_kinds(surface):
    x = pkg.tensor([1.0, 2.0, 4.0])
    got = surface.spread(x)
    assert got.n == 3 and type(got.n) is int and got.half == 0.5
    assert np.allclose(got.var.item(), np.var(x.numpy(), ddof=1))
    assert np.allclose(got.std.item(), np.std(x.numpy()))


def test_methods_of_tensors(surface):
    x = np.array([[-3.0, 0.5], [2.0, 1.0]], dtype="float32")
    got = surface.methods(pkg.tensor(x), pkg.tensor([[0, 0], [1, 0]]))
    want = np.clip(x, -1, 1) + 0.5 * x * x + [[2, 0], [1, 1]]
    want[0] += x[0, ::-1]
    assert np.allclose(got.numpy(), np.maximum(want, 0))
    y = np.array([2.0, 3.0, 1.0], dtype="float32")
    found = [t.tolist() for t in surface.ordered(pkg.tensor(y))]
    assert found[:5] == [[3, 2, 1], [1, 0, 2], [3], 6, 6] and found[6] == [7, 7, 7]
    assert np.allclose(found[5], np.log(np.exp(y).sum()))


def test_a_gradient_for_a_number_is_refused(surface):
    # The number is the second argument; PyTorch counts positions from 1.
    y = surface.too_generous(pkg.ones(2, requires_grad=True), 2.0)
    with pytest.raises(RuntimeError, match="TooGenerousBackward.* None at position 2,"):
        y.sum().backward()


def test_sums_in_the_type_of_the_elements(surface):
    for dtype in ("float16", "bfloat16", "float32", "float64", "uint8", "int64"):
        x = pkg.tensor([1, 2, 3]).to(getattr(pkg, dtype))
        assert surface.sum_of_squares(x).item() == 14
    with pytest.raises(NotImplementedError, match='"squares" not implemented for'):
        surface.sum_of_squares(pkg.ones(2, dtype=pkg.bool))


def test_kernels_that_read_memory_at_every_key(surface):
    """A graph calls them with values, since shapes cannot be asked of them."""
    ids = pkg.tensor([0, 2, 2])
    assert surface.counted(ids, 3).tolist() == [1, 0, 2]
    compiled = pkg.compile(lambda x: surface.counted(x, 3) + 1)
    assert compiled(ids).tolist() == compiled(ids).tolist() == [2, 1, 3]
    with pytest.raises(NotImplementedError, match="a tensor with data.*on meta"):
        surface.counted(pkg.zeros(2, dtype=pkg.int64, device="meta"), 3)


def test_gradients_of_another_op_in_a_graph(surface):
    """Ask none of an op that has none and is not on the way."""
    from pkg.compat import v1 as compat

    with compat.Graph().as_default():
        x = compat.placeholder(compat.float32, [None])
        beside = surface.sum_of_squares(x)
        slope = compat.gradients(x * x, x)[0]
        with compat.Session() as session:
            got = session.run([slope, beside], {x: [1.0, 3.0]})
            assert got[0].tolist() == [2, 6] and got[1] == 10
        bad = compat.gradients(beside, x)[0]
        lost = compat.errors.UnimplementedError
        with compat.Session() as session, pytest.raises(lost):
            session.run(bad, {x: [1.0, 3.0]})


def test_numbers_among_results_in_a_graph(surface):
    """Are refused: a graph has tensors only."""
    with pkg.graph.Graph().as_default():
        x = pkg.graph.placeholder(pkg.float32, [2])
        with pytest.raises(
            NotImplementedError, match="spread.*returns int n, which only"
        ):
            surface.spread(x)

# SPDX-License-Identifier: Apache-2.0
"""Ops made in Python: custom_op, Library, and what is registered for them."""

from __future__ import annotations

import functools
import gc
import itertools
import threading

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from libraries import output_of
from pkg._binding import core
from pkg.library import Library, custom_op, infer_schema, opcheck

numbers = itertools.count()


def fresh(word="op"):
    """A name that no test has used: what is registered stays."""
    return f"tests14::{word}{next(numbers)}"


def make_scale():
    """x * factor + shift through NumPy, with shapes and a gradient."""

    @custom_op(fresh("scale"), mutates_args=())
    def scale(x: pkg.Tensor, factor: float = 2.0, *, shift: int = 0) -> pkg.Tensor:
        """x * factor + shift."""
        return pkg.from_numpy(x.numpy() * factor + shift)

    @scale.register_fake
    def _(x, factor=2.0, *, shift=0):
        return pkg.empty_like(x)

    def keep(ctx, inputs, keyword_only_inputs, output):
        ctx.factor = inputs[1]
        assert (
            keyword_only_inputs.keys() == {"shift"} and output.shape == inputs[0].shape
        )

    scale.register_autograd(lambda ctx, g: (g * ctx.factor, None), setup_context=keep)
    return scale


@pytest.fixture(scope="module")
def scale():
    """One for the tests that only call it."""
    return make_scale()


def test_calls(scale):
    x = pkg.randn(3)
    pkg.testing.assert_close(scale(x), x * 2)
    pkg.testing.assert_close(scale(x, 3, shift=1), x * 3 + 1)
    schema = f"{scale._name}(Tensor x, float factor=2.0, *, int shift=0) -> Tensor"
    assert (
        scale._opoverload._schema == schema and scale.__doc__ == "x * factor + shift."
    )
    op = getattr(pkg.ops.tests14, scale.__name__)
    pkg.testing.assert_close(op(x, shift=2), x * 2 + 2)
    with pytest.raises(TypeError, match="shift"):
        op(x, shift="a")


def test_gradients_shapes_graphs_and_large_tensors(scale):
    w = pkg.randn(3, dtype=pkg.float64, requires_grad=True)
    assert pkg.autograd.gradcheck(lambda w: scale(w, 3.0, shift=1), (w,))
    assert set(opcheck(scale, (w, 3.0), {"shift": 2}).values()) == {"SUCCESS"}
    assert scale(w.detach().to("meta")).shape == (3,)
    run = pkg.compile(lambda x: scale(x * 2, 3.0) + 1)
    x = pkg.randn(5)
    pkg.testing.assert_close(run(x), x * 6 + 1)
    graph = pkg.graph.Graph()
    with graph.as_default():
        fed = pkg.graph.placeholder(pkg.float32, (None,))
        (slope,) = pkg.graph.gradients(scale(fed, 3.0).sum(), [fed])
        with pkg.graph.Session(graph=graph) as session:
            assert session.run(slope, {fed: x}).tolist() == [3.0] * 5
    assert [o.type for o in graph.get_operations()].count(scale._name) == 1
    big = pkg.randn(3_000_000)
    pkg.testing.assert_close(scale(big * 2), big * 4)


def test_what_a_kernel_keeps_of_its_arguments_stays_as_it_was():
    """A tensor, and a view, of what is fed, of what is made on the way, in a plan."""
    kept = []

    def keep(x):
        kept.append((x, x[1:]))
        return x * 2

    op = custom_op(fresh(), keep, mutates_args=(), schema="(Tensor x) -> Tensor")
    op.register_fake(lambda x: pkg.empty_like(x))
    compiled = pkg.compile(lambda x: (op(op(x * 3) + 0) * x, op(x) - 1))
    expected = []
    for k in range(4):
        x = pkg.ones(2) * (k + 1)
        results = [value.tolist() for value in compiled(x)]
        assert results == [[12 * (k + 1) ** 2] * 2, [2 * k + 1] * 2]
        expected += [3 * (k + 1), 6 * (k + 1), k + 1]
        del x
    gc.collect()
    pkg.ones(10_000).sum().item()
    found = sorted(whole.tolist() for whole, _ in kept)
    assert found == sorted([n, n] for n in expected)
    assert all(part.tolist() == whole.tolist()[1:] for whole, part in kept)
    kept.clear()


def test_without_a_fake_kernel():
    op = custom_op(
        fresh(), lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    x = pkg.randn(3)
    pkg.testing.assert_close(pkg.compile(lambda x: op(x) * 2)(x), (x + 1) * 2)
    with pytest.raises(NotImplementedError, match="Could not run .* from the 'Meta'"):
        op(x.to("meta"))
    with pytest.raises(NotImplementedError, match="no gradient.*register_autograd"):
        op(x.requires_grad_())


def test_written_arguments():
    @custom_op(fresh(), mutates_args={"out"})
    def add_into(a: pkg.Tensor, out: pkg.Tensor) -> None:
        out += a

    x, out = pkg.randn(3), pkg.zeros(3)
    before = out._version
    assert add_into(x, out) is None and out._version > before
    pkg.testing.assert_close(out, x)
    assert "Tensor(a!) out) -> ()" in add_into._opoverload._schema
    assert set(opcheck(add_into, (x, out)).values()) == {"SUCCESS"}
    with pytest.raises(RuntimeError, match="writes to no argument"):
        add_into.register_autograd(lambda ctx: None)


def test_lists_and_several_results():
    @custom_op(fresh(), mutates_args=())
    def several(
        xs: list[pkg.Tensor], n: int | None = None
    ) -> tuple[pkg.Tensor, pkg.Tensor]:
        return xs[0] * xs[1], xs[0] + 1

    several.register_fake(lambda xs, n=None: (pkg.empty_like(xs[0]),) * 2)

    def backward(ctx, product, shifted):
        assert ctx.needs_input_grad == ((True, True), False)
        a, b = ctx.saved_tensors
        return [product * b + shifted, product * a], None

    several.register_autograd(
        backward,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[0]),
    )
    a, b = (pkg.randn(3, dtype=pkg.float64, requires_grad=True) for _ in range(2))
    assert pkg.autograd.gradcheck(lambda a, b: several([a, b]), (a, b))
    assert set(opcheck(several, ([a, b],)).values()) == {"SUCCESS"}


class OwnError(Exception):
    """Of a kernel."""


def test_errors_keep_their_class_and_wrong_results_are_refused():
    error = OwnError("mine")

    @custom_op(fresh("bad"), mutates_args=())
    def bad(x: pkg.Tensor, how: int) -> pkg.Tensor:
        if how == 0:
            raise error
        return [3.0, None, (x, x)][how - 1]

    x = pkg.ones(2)
    with pytest.raises(OwnError) as caught:
        bad(x, 0)
    assert caught.value is error
    for how, word in enumerate(("float", "NoneType", "tuple"), 1):
        with pytest.raises(TypeError, match=f"kernel to return a Tensor, got {word}"):
            bad(x, how)
    backwards = make_scale()
    backwards.register_autograd(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="returns 2 gradients.*got 1"):
        backwards(x.requires_grad_()).sum().backward()
    error.__traceback__ = None


def test_kernels_run_on_the_calling_thread():
    seen = []

    @custom_op(fresh(), mutates_args=())
    def who(x: pkg.Tensor) -> pkg.Tensor:
        seen.append(threading.get_ident())
        return x.clone()

    who.register_fake(pkg.empty_like)
    who(pkg.ones(3_000_000) * 2)
    assert seen == [threading.get_ident()]


def test_names_and_schemas_that_are_wrong():
    name = fresh()

    def f(x: pkg.Tensor) -> pkg.Tensor:
        return x + 1

    custom_op(name, f, mutates_args=())
    with pytest.raises(
        RuntimeError, match=f"{name} is already registered at .*test_custom"
    ):
        custom_op(name, f, mutates_args=())
    with pytest.raises(ValueError, match="expected a name such as"):
        custom_op("alone", f, mutates_args=())
    with pytest.raises(ValueError, match="annotation of parameter 'x'"):
        custom_op(fresh(), lambda x: x, mutates_args=())
    with pytest.raises(ValueError, match=r"in mutates_args, got \['y'\]"):
        custom_op(fresh(), f, mutates_args={"y"})
    with pytest.raises(ValueError, match="expected device types"):
        custom_op(fresh(), f, mutates_args=(), device_types="abacus")
    with pytest.raises(LookupError, match="No op registered: tests14::nothing"):
        pkg.library.register_fake("tests14::nothing", f)
    with pytest.raises(RuntimeError, match="names that pkg does not use"):
        custom_op("random::x", f, mutates_args=())


def test_infer_schema():
    def everything(
        a: pkg.Tensor, b: pkg.Tensor | None, c: list[int], d: int | float,
        e: str = "a", *, f: bool = False, g: pkg.dtype | None = None,
    ) -> tuple[pkg.Tensor, int]:  # fmt: skip
        raise AssertionError

    assert infer_schema(everything, mutates_args={"a"}) == (
        "(Tensor(a0!) a, Tensor? b, int[] c, Scalar d, str e='a', *, bool f=False, "
        "DType? g=None) -> (Tensor, int)"
    )
    unknown = infer_schema(everything, mutates_args="unknown")
    assert "Tensor(a1!)? b" in unknown

    def odd(a: dict[str, int]) -> None:
        raise AssertionError

    with pytest.raises(ValueError, match="a type that schemas have for 'a'"):
        infer_schema(odd)


def test_library():
    space = f"lib14_{next(numbers)}"
    library = Library(space, "DEF")
    assert library.define("f(Tensor x) -> Tensor") == "f"
    library.impl("f", lambda x: x * 2, "CPU")
    x = pkg.randn(3)
    pkg.testing.assert_close(getattr(pkg.ops, space).f(x), x * 2)
    with pytest.raises(
        RuntimeError, match=f"Only a single .* namespace {space}.*test_cus"
    ):
        Library(space, "DEF")
    more = Library(space, "FRAGMENT")
    more.define(f"{space}::f.two(Tensor x, Tensor y) -> Tensor")
    more.impl("f.two", lambda x, y: x * y)
    w = pkg.randn(3, requires_grad=True)
    assert getattr(pkg.ops, space).f.two(w, w).grad_fn.name() == "MulBackward"
    with pytest.warns(RuntimeWarning, match=f"{space}::f has a kernel at CPU already"):
        more.impl("f", lambda x: x * 5, "CPU")
    with pytest.raises(LookupError, match=f"No op registered: {space}::g"):
        more.impl("g", np.sin, "CPU")
    with pytest.raises(ValueError, match="could not parse dispatch key: Nope"):
        more.impl("f", np.sin, "Nope")
    with pytest.raises(ValueError, match="<--- HERE"):
        more.define("h(Tensr x) -> Tensor")
    with pytest.raises(RuntimeError, match="got IMPL"):
        Library(space, "IMPL").define("h(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="DEF, IMPL or FRAGMENT"):
        Library(space, "OTHER")


def test_what_is_registered(scale):
    assert scale._name in pkg.library.registrations("CPU")
    assert scale._name in pkg.library.registrations("Autograd")
    assert "pkg::add" in pkg.library.registrations()
    assert "pkg::add" not in pkg.library.registrations("Autograd")
    with pytest.raises(ValueError, match="could not parse dispatch key: Nope"):
        pkg.library.registrations("Nope")
    table = pkg.library.dump_dispatch_table(scale).splitlines()
    rows = {line.split()[0]: line for line in table[1:]}
    for key in ("CPU", "Meta", "Autograd"):
        assert f"{__file__}:" in rows[key] and " kernel " in rows[key]
    assert "nothing" in rows["Python"] and "fallback" in rows["Graph"]
    assert pkg.library.dump_dispatch_table("pkg::max.dim").startswith("pkg::max.dim(")


def test_numpy_in_no_grad_mode():
    x = pkg.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()
    with pkg.no_grad():
        assert x.numpy().tolist() == [1, 1]


EXP = """
import warnings
import pkg
import pkg.graph as pg
warnings.simplefilter("ignore", RuntimeWarning)
pkg.library.Library("pkg", "IMPL").impl("exp", lambda x: x * 0 + 7, "CPU")
x, w = pkg.zeros(2), pkg.ones(2, requires_grad=True)
assert x.exp_() is x and x.tolist() == [7, 7]
large = pkg.zeros(3_000_000) * 2
assert large.exp_() is large and large.min().item() == large.max().item() == 7
y = w * 1
y.exp_()
y.sum().backward()
print(w.grad.tolist(), y.tolist())
pkg.library.Library("pkg", "IMPL").impl("exp", lambda x: x[:1].clone(), "CPU")
try:
    x.exp_()
except RuntimeError as error:
    print(error)
"""


def test_forms_of_an_op_of_the_core_write_what_another_kernel_makes(tmp_path):
    lines = output_of(EXP, tmp_path).splitlines()
    assert lines[0] == "[7.0, 7.0] [7.0, 7.0]", "exp's gradient is its result"
    assert lines[1].startswith("[exp_] output with shape (2,) doesn't match")


def test_kernels_get_devices_and_lists_of_floats():
    library, seen = Library(f"lib14_{next(numbers)}", "DEF"), []
    library.define(
        "f(Tensor x, float[] a, Device d, *, float[]? b=None, Device? e=None) -> Tensor"
    )

    def kernel(x, a, d, *, b=None, e=None):
        seen.append((a, d, b, e))
        return x * a[0]

    library.impl("f", kernel, "CPU")
    op, x = getattr(pkg.ops, library.ns).f, pkg.ones(2)
    cpu = pkg.device("cpu")
    assert op(x, [1.5, 2], cpu).tolist() == [1.5, 1.5]
    assert seen[-1] == ([1.5, 2.0], cpu, None, None)
    assert [type(number) for number in seen[-1][0]] == [float, float]
    assert isinstance(seen[-1][1], pkg.device)
    assert op(x, (2,), "cpu", b=[], e=cpu).tolist() == [2, 2]
    assert seen[-1] == ([2.0], cpu, [], cpu)
    for wrong, text in [
        (([1.0], 3), "expected a device for 'd', got int"),
        ((["x"], "cpu"), r"expected a number for 'a\[0\]', got str"),
        ((2.0, "cpu"), "expected a list of numbers for 'a', got float"),
    ]:
        with pytest.raises(TypeError, match=text):
            op(x, *wrong)
    assert len(seen) == 2


def test_a_second_composite_replaces_the_first():
    library = Library(f"lib14_{next(numbers)}", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x * 2)
    with pytest.warns(RuntimeWarning, match="CompositeImplicitAutograd already"):
        library.impl("f", lambda x: x * 3)
    w = pkg.ones(2, requires_grad=True)
    y = getattr(pkg.ops, library.ns).f(w)
    y.sum().backward()
    assert y.tolist() == [3, 3] and w.grad.tolist() == [3, 3]
    assert getattr(pkg.ops, library.ns).f(w.detach().to("meta")).shape == (2,)


def test_a_gradient_that_would_be_lost_is_refused():
    op = custom_op(
        fresh(),
        lambda x, *, text, by: x * by,
        mutates_args=(),
        schema="(Tensor x, *, str text=', *, Tensor a', Tensor by) -> Tensor",
    )
    with pytest.raises(NotImplementedError, match="got Tensor by behind"):
        op.register_autograd(lambda ctx, grad: grad)


def test_a_kernel_that_switches_grad_mode_on_leaves_the_gradient_to_the_op():
    @custom_op(fresh(), mutates_args=())
    def twice(x: pkg.Tensor) -> pkg.Tensor:
        with pkg.enable_grad():
            return x * 2

    twice.register_autograd(lambda ctx, grad: grad * 10)
    w = pkg.ones(2, requires_grad=True)
    twice(w).sum().backward()
    assert w.grad.tolist() == [10, 10]
    with pkg.no_grad():
        assert not twice(w).requires_grad


def test_what_fails_half_way_leaves_no_op():
    def f(x: pkg.Tensor) -> pkg.Tensor:
        return x + 1

    name = fresh()
    with pytest.raises(ValueError, match="expected device types"):
        custom_op(name, f, mutates_args=(), device_types="abacus")
    with pytest.raises(TypeError, match="expected a callable, got 5"):
        custom_op(name, 5, mutates_args=(), schema="(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="names that pkg does not use"):
        custom_op("linalg::half_way", f, mutates_args=())
    assert "linalg" not in core.operator_namespaces()
    assert custom_op(name, f, mutates_args=())(pkg.ones(1)).item() == 2


def test_functions_without_a_source():
    class Adds:
        def __call__(self, x):
            return x + 1

    for function in (Adds(), functools.partial(lambda x, by: x + by, by=1)):
        op = custom_op(
            fresh(), function, mutates_args=(), schema="(Tensor x) -> Tensor"
        )
        assert op(pkg.ones(1)).item() == 2
        assert f"{__file__}:" in pkg.library.dump_dispatch_table(op)


def test_names_of_ops():
    assert core.Operator("exp", "aten")(pkg.zeros(1)).item() == 1
    for name, namespace in (("max.dim", "pkg"), ("aten::exp", "pkg")):
        with pytest.raises(LookupError, match="expected the name of an op alone"):
            core.Operator(name, namespace)
    with pytest.raises(LookupError, match="No op registered: pkg::nothing"):
        core.Operator("nothing", "aten")
    assert not hasattr(pkg.ops.exp, "\ud800"), "no UTF-8 names it"


def test_a_fake_kernel_that_refuses_is_heard_in_graphs():
    @custom_op(fresh(), mutates_args=())
    def halve(x: pkg.Tensor) -> pkg.Tensor:
        return x[: len(x) // 2].clone()

    @halve.register_fake
    def _(x):
        if x.shape[0] % 2:
            raise ValueError(f"an even number of items, got {x.shape[0]}")
        return pkg.empty(x.shape[0] // 2, device="meta")

    compiled = pkg.compile(lambda x: halve(x) + 1)
    assert compiled(pkg.ones(4)).tolist() == [2, 2]
    with pytest.raises(ValueError, match="even number of items, got 3"):
        compiled(pkg.ones(3))
    # Of a size that is not known any number may be meant.
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [None])
        assert session.run(halve(x), {x: pkg.ones(6)}).tolist() == [1, 1, 1]

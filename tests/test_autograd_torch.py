# SPDX-License-Identifier: Apache-2.0
"""Rules of autograd that no formula decides: one program, run with pkg and PyTorch.

Each program takes the library and returns plain values; both must return the same.
Skipped where PyTorch is not installed.
"""

import pytest

import pkg

torch = pytest.importorskip("torch")

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_same_as_pytorch(run):
    assert run(pkg) == run(torch)


def leaf(lib, *values):
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


def constant(lib, *values):
    return lib.tensor(list(values), dtype=lib.float64)


def values(tensors):
    """Lists of what tensors hold; None stays."""
    return [t if t is None else t.detach().tolist() for t in tensors]


def refused(call):
    """The words of the error, up to the first that is each library's own."""
    try:
        call()
    except RuntimeError as error:
        text = str(error).replace("torch.", "").split(" ([")[0].split("[")[0]
        return text.rstrip(".")
    return None


# --- what runs for grad(outputs, inputs) and backward(inputs=) ------------------------


@program
def only_paths_to_an_input_run(lib):
    a, b = leaf(lib, 2.0), leaf(lib, 3.0)
    seen = []
    left, right = a * 2, b * 3
    for name, t in (("a", a), ("b", b), ("left", left), ("right", right)):
        t.register_hook(lambda g, name=name: seen.append(name))
        if t.grad_fn is not None:
            t.grad_fn.register_prehook(lambda g, name=name: seen.append("pre " + name))
            t.grad_fn.register_hook(lambda *_, name=name: seen.append("post " + name))
    out = left * right
    got = lib.autograd.grad(out, b, retain_graph=True)
    first = list(seen)
    got += lib.autograd.grad(out, left, retain_graph=True)
    got += lib.autograd.grad(out, (left, b))
    # PyTorch runs leaves as soon as it can, pkg runs them last.
    return values(got), first, sorted(seen), values([a.grad, b.grad])


@program
def an_input_in_the_middle_sees_its_own_hooks_only(lib):
    x = leaf(lib, 2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    seen = []
    y.grad_fn.register_prehook(lambda g: seen.append("pre") or (g[0] * 100,))
    y.grad_fn.register_hook(lambda *_: seen.append("post"))
    z = (y * y).sum()
    got = lib.autograd.grad(z, y, retain_graph=True)
    runs = [len(seen)]
    # Of y too, PyTorch would return what came before the hook now that its node runs.
    got += lib.autograd.grad(z, (x, x), retain_graph=True)
    runs.append(len(seen))
    z.backward()
    return values(got), runs, values([y.grad, x.grad])


@program
def a_branch_that_was_spoilt_matters_only_if_it_runs(lib):
    x, w = leaf(lib, 2.0), leaf(lib, 3.0)
    spoilt = (w * 1).exp()
    out = (x * x + spoilt * 1).sum()
    spoilt.mul_(2)
    got = lib.autograd.grad(out, x, retain_graph=True)
    return values(got), refused(lambda: lib.autograd.grad(out, w))


@program
def what_did_not_run_is_not_freed(lib):
    x, w = leaf(lib, 2.0), leaf(lib, 3.0)
    y, z = x * x, w * w
    out = y + z
    got = lib.autograd.grad(out, x)
    z.backward()
    return values([*got, w.grad]), bool(refused(y.backward))


@program
def outputs_that_are_inputs_or_lead_to_none(lib):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 3.0)
    y, z = (x * x).sum(), w * w
    got = lib.autograd.grad((y, z), (y, x), retain_graph=True)
    got += lib.autograd.grad((y, z), (w, x), retain_graph=True, allow_unused=True)
    got += lib.autograd.grad(y, (w, x), retain_graph=True, allow_unused=True)
    got += lib.autograd.grad(z, x * 1, retain_graph=True, allow_unused=True)
    unused = refused(lambda: lib.autograd.grad(y, w, retain_graph=True))
    return values(got), unused


@program
def second_derivatives_of_an_inner_result(lib):
    x = leaf(lib, 0.5, 2.0)
    y = x.sin()
    z = (y**3 * x).sum()
    (first,) = lib.autograd.grad(z, y, create_graph=True)
    got = lib.autograd.grad(first.sum(), (x, y))
    return [[round(v, 12) for v in one] for one in values(got)]


# --- retain_grad and what is written in place -----------------------------------------


@program
def retain_grad_follows_a_write(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: g * 2)
    (y * y).sum().backward()
    return y.retains_grad, values([y.grad, x.grad])


@program
def retain_grad_follows_a_write_through_a_view(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y[0].mul_(3)
    (y * y).sum().backward()
    return y.retains_grad, values([y.grad, x.grad])


@program
def a_view_retains_after_a_write_to_its_base(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    v = y[:1]
    v.retain_grad()
    y.mul_(3)
    (v * v).sum().backward()
    return v.retains_grad, values([v.grad, x.grad])


@program
def a_view_retains_after_a_write_to_itself(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    v = y[:1]
    v.retain_grad()
    v.mul_(3)
    (v * v).sum().backward()
    return v.retains_grad, values([v.grad, x.grad])


# --- what may not be written ----------------------------------------------------------


@program
def views_of_a_leaf_that_is_a_view(lib):
    base = constant(lib, 1.0, 2.0, 3.0)
    v = base[1:].requires_grad_()
    inner = v[0]
    texts = [refused(lambda: inner.add_(1)), refused(lambda: v[:1].zero_())]
    with lib.no_grad():
        v[0].add_(1)
    (v * v).sum().backward()
    return texts, values([base, v.grad])


def doubled_in_place(lib, tensor):
    """By a Function of that library."""

    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Double.apply(tensor)


@program
def a_function_may_change_a_view(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    base = x * 1
    view, other = base[1:], base[:2]
    out = doubled_in_place(lib, view)
    same = out is view
    (base * base + other.sum()).sum().backward()
    return same, view.requires_grad, values([base, other, x.grad])


@program
def a_function_may_not_change_a_view_of_a_leaf(lib):
    x = leaf(lib, 1.0, 2.0)
    return refused(lambda: doubled_in_place(lib, x[:1]))


# --- poles of formulas ----------------------------------------------------------------


def derivatives(lib, call, *inputs):
    """Value, first and second derivatives as text, so that NaN equals NaN."""
    tensors = [leaf(lib, *values) for values in inputs]
    out = call(*tensors)
    first = lib.autograd.grad(out.sum(), tensors, create_graph=True)
    graphs = [g for g in first if g.requires_grad]
    second = (
        lib.autograd.grad(
            sum(g.sum() for g in graphs), tensors, allow_unused=True,
            materialize_grads=True,
        )  # fmt: skip
        if graphs else ()
    )  # fmt: skip
    return [[f"{v:.12g}" for v in t.detach().tolist()] for t in (out, *first, *second)]


@program
def binary_cross_entropy_at_its_poles(lib):
    x, y = leaf(lib, 0.0, 1.0, 0.0, 1.0, 0.3), leaf(lib, 0.0, 1.0, 1.0, 0.0, 0.6)
    loss = lib.nn.functional.binary_cross_entropy(x, y, reduction="none")
    got = lib.autograd.grad(loss.sum(), x)
    a, b = leaf(lib, 0.2, 0.7), leaf(lib, 0.0, 0.4)
    loss2 = lib.nn.functional.binary_cross_entropy(a, b)
    (first,) = lib.autograd.grad(loss2, a, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), a)
    # The bound at the poles is a float in PyTorch.
    return [[f"{v:.8g}" for v in one] for one in values([loss, *got, first, second])]


@program
def atan2_at_the_origin(lib):
    x, y = leaf(lib, 0.0, 1.0, 0.0), leaf(lib, 0.0, 0.0, 2.0)
    return values(lib.autograd.grad(lib.atan2(x, y).sum(), (x, y)))


@program
def xlogy_at_its_poles(lib):
    inf = float("inf")
    # The gradient of y at (0, 0) is NaN in PyTorch, 0 in pkg.
    x, y = leaf(lib, 0.0, 0.0, 2.0, 0.0), leaf(lib, 0.0, 3.0, 0.5, -1.0)
    out = lib.xlogy(x, y)
    got = lib.autograd.grad(out.sum(), x)
    more = lib.xlogy(constant(lib, 0.0, 0.0), constant(lib, inf, float("nan")))
    return [[f"{v:.12g}" for v in one] for one in values([out, *got, more])]


@program
def bare_numbers_are_as_precise_as_the_tensor(lib):
    x = [0.3, 1.7, 0.9]
    return [
        derivatives(lib, lambda t: lib.xlogy(t, 2.3), x),
        derivatives(lib, lambda t: lib.xlogy(0.7, t), x),
        derivatives(lib, lambda t: t.norm(p=1.3) * lib.ones(1, dtype=lib.float64), x),
        derivatives(lib, lambda t: t.norm(p=3) * lib.ones(1, dtype=lib.float64), x),
        derivatives(lib, lambda t: lib.nn.functional.elu(t, alpha=0.7), [-0.3, 1.0]),
        derivatives(lib, lambda t: t**0.3, x),
        derivatives(lib, lambda t: lib.nn.functional.softplus(t, beta=0.7), x),
        derivatives(lib, lambda t: lib.nn.functional.gelu(t), x),
        derivatives(lib, lambda t: lib.nn.functional.selu(t), [-0.3, 1.0]),
        derivatives(lib, lambda t: lib.lerp(t, t * t, 0.3), x),
        derivatives(lib, lambda t: 0.7 / t, x),
        derivatives(lib, lambda t: lib.atan2(t, t * t + 0.3), x),
        derivatives(lib, lambda t: lib.nn.functional.silu(t), x),
        derivatives(lib, lambda t: lib.nn.functional.mish(t), x),
    ]


# --- detach_ --------------------------------------------------------------------------


@program
def detach_in_place_cuts_the_graph(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    early = y * 3
    version = y._version
    same = y.detach_() is y
    late = y * 5
    early.sum().backward()
    state = y.requires_grad, y.is_leaf, y.grad_fn, late.requires_grad, same
    x.detach_()
    y.requires_grad_()
    (y * y).sum().backward()
    return state, x.requires_grad, values([x.grad, y.grad]), y._version - version


@program
def a_view_cannot_be_detached_in_place(lib):
    y = leaf(lib, 1.0, 2.0) * 2
    return refused(lambda: y[:1].detach_()).split(" If ")[0].rstrip(".")


# --- backward(inputs=) ----------------------------------------------------------------


@program
def backward_fills_the_chosen_leaves(lib):
    a, b, c = leaf(lib, 2.0), leaf(lib, 3.0), leaf(lib, 5.0)
    seen = []
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b") or g * 10)
    b.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    side = a * 7
    side.grad_fn.register_hook(lambda *_: seen.append("side"))
    out = (side * b * c).sum()
    out.backward(inputs=[b, c], retain_graph=True)
    grads = b.grad, c.grad
    lib.autograd.backward(out, inputs=b, retain_graph=True)
    same = b.grad is grads[0]
    out.backward(lib.ones_like(out), inputs=(b,))
    return values([a.grad, b.grad, c.grad]), seen, same


@program
def backward_fills_results_too(lib):
    x = leaf(lib, 2.0)
    y = x * 3
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    first = values([x.grad, y.grad]), y.retains_grad
    z.backward(inputs=[y, x])
    return first, values([x.grad, y.grad])


@program
def backward_to_what_is_not_there(lib):
    x, w = leaf(lib, 2.0), leaf(lib, 3.0)
    y = x * x
    y.backward(inputs=[w], retain_graph=True)
    assert refused(lambda: y.backward(inputs=constant(lib, 1.0)))
    return values([x.grad, w.grad]), refused(lambda: y.backward(inputs=[]))

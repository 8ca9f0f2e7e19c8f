# SPDX-License-Identifier: Apache-2.0
"""Rules of autograd that no formula decides: one program, run with pkg and PyTorch.

Each program takes the library and returns plain values.  What PyTorch 2.13 returned
stands above it; pkg must return the same, and so must PyTorch where it is installed.
"""

import pytest

import pkg

PROGRAMS = []


def gives(expected):
    """Decorate a program: what it returns."""

    def keep(function):
        PROGRAMS.append(pytest.param(function, expected, id=function.__name__))
        return function

    return keep


@pytest.mark.parametrize("run, expected", PROGRAMS)
def test_pkg_gives_what_pytorch_gave(run, expected):
    assert run(pkg) == expected


@pytest.mark.parametrize("run, expected", PROGRAMS)
def test_pytorch_gives_it_still(run, expected):
    assert run(pytest.importorskip("torch")) == expected


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


@gives(
    ([[12.0], [9.0], [9.0], [12.0]], ["right", "pre right", "post right", "b"],
     ["b", "b", "left", "left", "post right", "post right", "pre right",
      "pre right", "right", "right"],
     [None, None])
)  # fmt: skip
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


@gives(([[120.0], [36000.0], [36000.0]], [0, 2], [[360.0], [36000.0]]))
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


@gives(
    ([[4.0]],
     "one of the variables needed for gradient computation has been modified by an "
     "inplace operation: ")
)  # fmt: skip
def a_branch_that_was_spoilt_matters_only_if_it_runs(lib):
    x, w = leaf(lib, 2.0), leaf(lib, 3.0)
    spoilt = (w * 1).exp()
    out = (x * x + spoilt * 1).sum()
    spoilt.mul_(2)
    got = lib.autograd.grad(out, x, retain_graph=True)
    return values(got), refused(lambda: lib.autograd.grad(out, w))


@gives(([[4.0], [6.0]], True))
def what_did_not_run_is_not_freed(lib):
    x, w = leaf(lib, 2.0), leaf(lib, 3.0)
    y, z = x * x, w * w
    out = y + z
    got = lib.autograd.grad(out, x)
    z.backward()
    return values([*got, w.grad]), bool(refused(y.backward))


@gives(
    ([1.0, [2.0, 4.0], [6.0], [2.0, 4.0], None, [2.0, 4.0], None],
     "The differentiated Tensor at index 0 appears to not have been used in the "
     "graph. Set allow_unused=True if this is the desired behavior")
)  # fmt: skip
def outputs_that_are_inputs_or_lead_to_none(lib):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 3.0)
    y, z = (x * x).sum(), w * w
    got = lib.autograd.grad((y, z), (y, x), retain_graph=True)
    got += lib.autograd.grad((y, z), (w, x), retain_graph=True, allow_unused=True)
    got += lib.autograd.grad(y, (w, x), retain_graph=True, allow_unused=True)
    got += lib.autograd.grad(z, x * 1, retain_graph=True, allow_unused=True)
    unused = refused(lambda: lib.autograd.grad(y, w, retain_graph=True))
    return values(got), unused


@gives([[1.95175301841, -2.060349540552], [1.438276615813, 10.911569121908]])
def second_derivatives_of_an_inner_result(lib):
    x = leaf(lib, 0.5, 2.0)
    y = x.sin()
    z = (y**3 * x).sum()
    (first,) = lib.autograd.grad(z, y, create_graph=True)
    got = lib.autograd.grad(first.sum(), (x, y))
    return [[round(v, 12) for v in one] for one in values(got)]


# --- retain_grad and what is written in place -----------------------------------------


@gives((True, [[24.0, 48.0], [144.0, 288.0]]))
def retain_grad_follows_a_write(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: g * 2)
    (y * y).sum().backward()
    return y.retains_grad, values([y.grad, x.grad])


@gives((True, [[12.0, 8.0], [72.0, 16.0]]))
def retain_grad_follows_a_write_through_a_view(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y[0].mul_(3)
    (y * y).sum().backward()
    return y.retains_grad, values([y.grad, x.grad])


@gives((True, [[12.0], [72.0, 0.0]]))
def a_view_retains_after_a_write_to_its_base(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    v = y[:1]
    v.retain_grad()
    y.mul_(3)
    (v * v).sum().backward()
    return v.retains_grad, values([v.grad, x.grad])


@gives((True, [[12.0], [72.0, 0.0]]))
def a_view_retains_after_a_write_to_itself(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    v = y[:1]
    v.retain_grad()
    v.mul_(3)
    (v * v).sum().backward()
    return v.retains_grad, values([v.grad, x.grad])


# --- what may not be written ----------------------------------------------------------


@gives(
    (["a view of a leaf Variable that requires grad is being used in an in-place "
      "operation",
      "a view of a leaf Variable that requires grad is being used in an in-place "
      "operation"],
     [[1.0, 3.0, 3.0], [6.0, 6.0]])
)  # fmt: skip
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


@gives(
    (True, True,
     [[1.0, 4.0, 6.0], [1.0, 4.0], [5.0, 22.0, 24.0], [0.0, 16.0, 24.0]])
)  # fmt: skip
def a_function_may_change_a_view(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    base = x * 1
    view, other = base[1:], base[:2]
    out = doubled_in_place(lib, view)
    same = out is view
    got = lib.autograd.grad((out * out).sum(), x, retain_graph=True)
    (base * base + other.sum()).sum().backward()
    return same, view.requires_grad, values([base, other, x.grad, *got])


@gives([[4.0, 8.0, 12.0], [0.0, 144.0, 96.0], [4.0, 8.0, 12.0]])
def a_function_may_change_each_row(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    base = x * x
    rows = [doubled_in_place(lib, base[i]) for i in range(3)]
    got = lib.autograd.grad(lib.stack(rows).sum(), x, retain_graph=True)
    got += lib.autograd.grad((rows[1] * rows[2]).sum(), x, retain_graph=True)
    return values([*got, *lib.autograd.grad(base.sum(), x)])


@gives([[10.0, 1.0], [10.0, 1.0]])
def an_op_may_change_what_a_function_changed(lib):
    x = leaf(lib, 1.0, 2.0)
    base = x * 1
    view, other = base[:1], base[:]
    doubled_in_place(lib, view)
    view.mul_(5)
    got = lib.autograd.grad(base.sum(), x, retain_graph=True)
    return values([*got, *lib.autograd.grad(other.sum(), x)])


@gives(([[100.0, 0.0]], 1, True))
def a_declared_write_reaches_views(lib):
    class Hundredfold(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 100

    x = leaf(lib, 1.0, 2.0)
    base = x * 1
    view, version = base[:1], base._version
    square = base * base
    Hundredfold.apply(base)
    got = lib.autograd.grad(view.sum(), x, retain_graph=True)
    return values(got), base._version - version, bool(refused(square.sum().backward))


@gives([True, True])
def a_function_may_not_change_a_view_without_history(lib):
    x = leaf(lib, 1.0, 2.0)
    base = x * 1
    with lib.no_grad():
        views = base[:1], x[:1]
    return [bool(refused(lambda v=v: doubled_in_place(lib, v))) for v in views]


@gives(
    "a view of a leaf Variable that requires grad is being used in an in-place "
    "operation"
)  # fmt: skip
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


@gives(
    [["0", "-0", "100", "100", "0.86505366"],
     ["0", "0", "-1e+12", "1e+12", "-1.4285714"], ["0.625", "0.71428571"],
     ["0.78125", "3.7414966"]]
)  # fmt: skip
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


@gives([[0.0, 0.0, 0.5], [-0.0, -1.0, -0.0]])
def atan2_at_the_origin(lib):
    x, y = leaf(lib, 0.0, 1.0, 0.0), leaf(lib, 0.0, 0.0, 2.0)
    return values(lib.autograd.grad(lib.atan2(x, y).sum(), (x, y)))


@gives(
    [["0", "0", "-1.38629436112", "0"],
     ["0", "1.09861228867", "-0.69314718056", "0"], ["0", "nan"]]
)  # fmt: skip
def xlogy_at_its_poles(lib):
    inf = float("inf")
    # The gradient of y at (0, 0) is NaN in PyTorch, 0 in pkg.
    x, y = leaf(lib, 0.0, 0.0, 2.0, 0.0), leaf(lib, 0.0, 3.0, 0.5, -1.0)
    out = lib.xlogy(x, y)
    got = lib.autograd.grad(out.sum(), x)
    more = lib.xlogy(constant(lib, 0.0, 0.0), constant(lib, inf, float("nan")))
    return [[f"{v:.12g}" for v in one] for one in values([out, *got, more])]


@gives(
    [[["0.249872736881", "1.41594550899", "0.749618210642"],
      ["0.832909122935", "0.832909122935", "0.832909122935"]],
     [["-0.842780963028", "0.371439775744", "-0.0737523609605"],
      ["2.33333333333", "0.411764705882", "0.777777777778"],
      ["-7.77777777778", "-0.242214532872", "-0.864197530864"]],
     [["2.37246835182"], ["0.537744835469", "0.904845744182", "0.747674595629"],
      ["0.388810863126", "-0.0909276903602", "0.0421486829718"]],
     [["1.78307174859"], ["0.0283077187111", "0.908992300834", "0.2547694684"],
      ["0.150867973421", "-0.146007707728", "0.225503012347"]],
     [["-0.181427245523", "1"], ["0.518572754477", "1"], ["0.518572754477", "0"]],
     [["0.696845301936", "1.17255892427", "0.968886161197"],
      ["0.696845301936", "0.206922163107", "0.322962053732"],
      ["-1.62597237118", "-0.0852032436323", "-0.251192708459"]],
     [["1.14807083003", "2.07943732878", "1.50994327116"],
      ["0.552307909574", "0.766741064229", "0.652489462193"],
      ["0.173084717817", "0.125194443258", "0.158722874744"]],
     [["0.185373426657", "1.62423871331", "0.734345887188"],
      ["0.732327766827", "1.11531796878", "1.05541659956"],
      ["0.72845072753", "-0.0837036788654", "0.31664144738"]],
     [["-0.455667315379", "1.05070098736"], ["1.30243202547", "1.05070098736"],
      ["1.30243202547", "0"]],
     [["0.237", "2.057", "0.873"], ["0.88", "1.72", "1.24"], ["0.6", "0.6", "0.6"]],
     [["2.33333333333", "0.411764705882", "0.777777777778"],
      ["-7.77777777778", "-0.242214532872", "-0.864197530864"],
      ["51.8518518519", "0.284958273967", "1.92043895748"]],
     [["0.655695626242", "0.489631858405", "0.681298225288"],
      ["0.86741016109", "-0.198222882115", "-0.249742911709"],
      ["-6.30480814558", "0.120449756088", "-0.172611568355"]],
     [["0.172332755043", "1.43740904936", "0.639854552363"],
      ["0.647780010319", "1.06756450476", "0.895899779233"],
      ["0.477997768195", "0.1077734986", "0.332970276963"]],
     [["0.208001372348", "1.62076807398", "0.761205928953"],
      ["0.782827299551", "1.08425731595", "1.02791820053"],
      ["0.563394659002", "-0.0368144809268", "0.238349948019"]]]
)  # fmt: skip
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


@gives(((False, True, None, False, True), False, [[6.0, 6.0], [4.0, 8.0]], 0))
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


@gives(
    ("a view of a leaf Variable that requires grad is being used in an in-place "
     "operation",
     [[1.0, 0.0]], True)
)  # fmt: skip
def views_of_what_was_detached_in_place(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    kept = y[:1]
    y.detach_()
    write = refused(lambda: kept.mul_(2))
    got = lib.autograd.grad(kept.sum(), x)
    y = x * 1
    lost = y[:1]
    y.mul_(3)
    y.detach_()
    return write, values(got), bool(refused(lambda: lib.autograd.grad(lost.sum(), x)))


@gives([[1.0, 0.0], None])
def a_view_of_what_was_detached_follows_the_new_leaf(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    view = y[:1]
    y.mul_(3)
    y.detach_().requires_grad_()
    return values(lib.autograd.grad(view.sum(), (y, x), allow_unused=True))


@gives("Can't detach views in-place. Use detach() instead")
def a_view_cannot_be_detached_in_place(lib):
    y = leaf(lib, 1.0, 2.0) * 2
    return refused(lambda: y[:1].detach_()).split(" If ")[0].rstrip(".")


# --- backward(inputs=) ----------------------------------------------------------------


@gives(([None, [2100.0], [42.0]], ["b", [700.0], "b", [1400.0], "b", [2100.0]], True))
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


@gives((([None, [12.0]], True), [[36.0], [24.0]]))
def backward_fills_results_too(lib):
    x = leaf(lib, 2.0)
    y = x * 3
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    first = values([x.grad, y.grad]), y.retains_grad
    z.backward(inputs=[y, x])
    return first, values([x.grad, y.grad])


@gives(([None, None], "`inputs` argument to `backward()` cannot be empty"))
def backward_to_what_is_not_there(lib):
    x, w = leaf(lib, 2.0), leaf(lib, 3.0)
    y = x * x
    y.backward(inputs=[w], retain_graph=True)
    assert refused(lambda: y.backward(inputs=constant(lib, 1.0)))
    return values([x.grad, w.grad]), refused(lambda: y.backward(inputs=[]))

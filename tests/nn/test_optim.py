# SPDX-License-Identifier: Apache-2.0
"""Optimisers against NumPy written here, schedules against their closed form."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import pkg
from pkg import nn, optim
from pkg.optim import lr_scheduler

STEPS = 10


def sgd(p, grads, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    """Sutskever's momentum as PyTorch writes it."""
    buffer = None
    for g in grads:
        g = g + weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
    return p


def adam(p, grads, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    """Algorithm 1 of Kingma and Ba; decoupled: algorithm 2 of Loshchilov and Hutter."""
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        if decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        p = p - lr * m_hat / (np.sqrt(v_hat) + eps)
    return p


CASES = [
    (optim.SGD, sgd, {"lr": 0.1}),
    (optim.SGD, sgd, {"lr": 0.1, "weight_decay": 0.3}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True,
                      "weight_decay": 0.1}),
    (optim.Adam, adam, {"lr": 0.1}),
    (optim.Adam, adam, {"lr": 0.1, "betas": (0.5, 0.8), "eps": 1e-2,
                        "weight_decay": 0.1}),
    (optim.AdamW, adam, {"lr": 0.1, "weight_decay": 0.2}),
]  # fmt: skip


def run(make, start, grads):
    """Ten steps with given gradients; a second parameter has none at first."""
    p = nn.Parameter(pkg.tensor(start))
    late = nn.Parameter(pkg.tensor(start))
    optimizer = make([p, late])
    for i, g in enumerate(grads):
        p.grad = pkg.tensor(g)
        late.grad = pkg.tensor(g) if i >= 3 else None
        optimizer.step()
    return p.detach().numpy(), late.detach().numpy()


@pytest.mark.parametrize("dtype,tolerance", [("float64", 1e-12), ("float32", 2e-5)])
@pytest.mark.parametrize("make,reference,options", CASES)
def test_ten_steps_follow_the_published_algorithm(
    make, reference, options, dtype, tolerance
):
    rng = np.random.default_rng(0)
    start = rng.normal(size=(3, 70))
    grads = rng.normal(size=(STEPS, 3, 70))
    options = dict(options)
    got, late = run(
        lambda p: make(p, **options), start.astype(dtype), grads.astype(dtype)
    )
    if make is optim.AdamW:
        options["decoupled"] = True
    np.testing.assert_allclose(
        got, reference(start, grads, **options), rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        late, reference(start, grads[3:], **options), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("make,reference,options", CASES)
def test_maximize_climbs(make, reference, options):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=4), rng.normal(size=(STEPS, 4))
    up, _ = run(lambda p: make(p, maximize=True, **options), start, grads)
    down, _ = run(lambda p: make(p, **options), start, -grads)
    np.testing.assert_array_equal(up, down)


@pytest.mark.parametrize("make,reference,options", CASES)
def test_steps_agree_with_pytorch(make, reference, options):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=(2, 5)), rng.normal(size=(STEPS, 2, 5))
    got, _ = run(lambda p: make(p, **options), start, grads)
    p = torch.nn.Parameter(torch.tensor(start))
    theirs = getattr(torch.optim, make.__name__)([p], **options)
    for g in grads:
        p.grad = torch.tensor(g)
        theirs.step()
    np.testing.assert_allclose(got, p.detach().numpy(), rtol=1e-10)


def test_defaults_are_those_of_pytorch():
    p = [nn.Parameter(pkg.zeros([1]))]
    assert optim.SGD(p).defaults == {
        "lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0,
        "nesterov": False, "maximize": False,
    }  # fmt: skip
    wanted = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "maximize": False}
    assert optim.Adam(p).defaults == {**wanted, "weight_decay": 0}
    assert optim.AdamW(p).defaults == {**wanted, "weight_decay": 1e-2}


def test_parameters_change_in_place_also_through_gaps():
    storage = pkg.zeros([4, 6])
    p = nn.Parameter(storage[:, ::2])
    p.grad = pkg.ones([4, 3])
    optim.SGD([p], lr=1.0).step()
    want = np.zeros((4, 6))
    want[:, ::2] = -1
    np.testing.assert_array_equal(storage.numpy(), want)


def test_groups_have_their_own_options():
    a, b = nn.Parameter(pkg.zeros([1])), nn.Parameter(pkg.zeros([1]))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 2.0}], lr=1.0)
    c = nn.Parameter(pkg.zeros([1]))
    optimizer.add_param_group({"params": [c], "lr": 3.0})
    for p in (a, b, c):
        p.grad = pkg.ones([1])
    optimizer.step()
    assert [p.item() for p in (a, b, c)] == [-1.0, -2.0, -3.0]
    optimizer.param_groups[0]["lr"] = 10.0
    optimizer.step()
    assert a.item() == -11.0
    assert "Parameter Group 2\n    dampening: 0.0\n    lr: 3.0" in repr(optimizer)
    assert repr(optimizer).startswith("SGD (\nParameter Group 0\n")


def test_wrong_parameters_and_options_are_refused():
    p = nn.Parameter(pkg.zeros([1]))
    for wrong, error, text in [
        ([], ValueError, "empty parameter list"),
        (p, TypeError, "iterable of Tensors or dicts"),
        ({p}, TypeError, "ordered collections"),
        ([3], TypeError, "one of the params is int"),
        ([p * 2], ValueError, "non-leaf"),
        ([p, p], ValueError, "duplicate"),
        ([{"params": [p]}, {"params": [p]}], ValueError, "more than one parameter"),
    ]:
        with pytest.raises(error, match=text):
            optim.SGD(wrong)
    with pytest.raises(TypeError, match="must be a dict"):
        optim.SGD([p]).add_param_group([p])
    for make, options, text in [
        (optim.SGD, {"lr": -1}, "Invalid learning rate: -1"),
        (optim.SGD, {"lr": float("nan")}, "Invalid learning rate: nan"),
        (optim.SGD, {"momentum": -1}, "Invalid momentum value: -1"),
        (optim.SGD, {"weight_decay": -1}, "Invalid weight_decay value: -1"),
        (optim.SGD, {"nesterov": True}, "Nesterov momentum requires"),
        (optim.SGD, {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "Nesterov"),
        (optim.Adam, {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        (optim.AdamW, {"betas": (0.9, -0.1)}, "Invalid beta parameter at index 1"),
        (optim.Adam, {"eps": -1}, "Invalid epsilon value: -1"),
    ]:
        with pytest.raises(ValueError, match=text):
            make([p], **options)


def test_parameters_may_come_with_their_names():
    model = nn.Linear(2, 3)
    optimizer = optim.SGD(model.named_parameters(), lr=0.1, foreach=True, fused=None)
    (group,) = optimizer.param_groups
    assert group["param_names"] == ["weight", "bias"]
    assert group["params"][0] is model.weight and group["params"][1] is model.bias


def test_step_returns_the_closures_loss_and_records_no_graph():
    p = nn.Parameter(pkg.ones([2]))
    optimizer = optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with pkg.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 2.0 and loss.requires_grad
    assert p.tolist() == [0.0, 0.0] and p.is_leaf
    assert optimizer.step() is None


def test_zero_grad_drops_or_zeroes_in_place():
    p = nn.Parameter(pkg.ones([2]))
    optimizer = optim.SGD([p])
    grad = p.grad = pkg.tensor([1.0, float("inf")])
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is grad and grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert p.grad is None


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.AdamW(p, lr=0.1),
])  # fmt: skip
def test_a_restored_optimizer_continues_exactly(make):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=(2, 3)), rng.normal(size=(6, 2, 3))
    whole, _ = run(make, start, grads)
    p = nn.Parameter(pkg.tensor(start))
    first = make([p])
    for g in grads[:3]:
        p.grad = pkg.tensor(g)
        first.step()
    state = pickle.loads(pickle.dumps(first.state_dict()))
    q = nn.Parameter(p.detach().clone())
    second = make([q])
    second.param_groups[0]["lr"] = 99.0
    second.load_state_dict(state)
    assert second.param_groups[0]["lr"] == 0.1
    for g in grads[3:]:
        q.grad = pkg.tensor(g)
        second.step()
    np.testing.assert_array_equal(q.detach().numpy(), whole)


@pytest.mark.parametrize(
    "make, wrong",
    [
        (lambda p: optim.Adam(p, lr=0.1), "eps"),
        (lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5), "lr"),
    ],
    ids=["Adam", "SGD"],
)
def test_a_step_that_fails_leaves_no_state(make, wrong):
    results = []
    for fails in (False, True):
        p = nn.Parameter(pkg.ones(2))
        optimizer = make([p])
        p.grad = pkg.ones(2)
        if fails:
            good = optimizer.param_groups[0][wrong]
            optimizer.param_groups[0][wrong] = "x"
            with pytest.raises((TypeError, ValueError)):
                optimizer.step()
            optimizer.param_groups[0][wrong] = good
            assert p.tolist() == [1, 1]
        optimizer.step()
        optimizer.step()
        results.append(p.tolist())
    assert results[0] == results[1]


def test_states_of_pytorch_go_on():
    """Its count of steps is a tensor, and functions are None."""
    p = nn.Parameter(pkg.ones(2))
    optimizer = optim.Adam([p], lr=0.1)
    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    p.grad = pkg.ones(2)
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = pkg.tensor(1.0)
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.state[p]["step"] == 2
    scheduler.load_state_dict({**scheduler.state_dict(), "lr_lambdas": [None]})
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.05


def test_groups_refuse_sets_and_sequences_what_is_no_schedule_of_epochs():
    p = nn.Parameter(pkg.ones(1))
    for params in ({p}, [{"params": {p}}], [{"params": frozenset([p])}]):
        with pytest.raises(TypeError, match="ordered collections"):
            optim.SGD(params, lr=0.1)
    optimizer = optim.SGD([p], lr=0.1)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(ValueError, match="got ReduceLROnPlateau"):
        lr_scheduler.SequentialLR(optimizer, [plateau], [])


def test_state_dict_numbers_parameters_and_loading_copies():
    a, b = nn.Parameter(pkg.ones([1])), nn.Parameter(pkg.ones([2]))
    optimizer = optim.Adam([{"params": [a]}, {"params": [b], "lr": 1.0}])
    b.grad = pkg.ones([2])
    optimizer.step()
    state = optimizer.state_dict()
    assert [g["params"] for g in state["param_groups"]] == [[0], [1]]
    assert list(state["state"]) == [1] and state["state"][1]["step"] == 1
    other = optim.Adam([
        {"params": [nn.Parameter(pkg.ones([1]))]},
        {"params": [nn.Parameter(pkg.ones([2], dtype=pkg.float64))]},
    ])  # fmt: skip
    other.load_state_dict(state)
    mean = other.state[other.param_groups[1]["params"][0]]["exp_avg"]
    assert mean.dtype == pkg.float64 and mean.tolist() == pytest.approx([0.1, 0.1])
    mean.zero_()
    assert state["state"][1]["exp_avg"].tolist() != [0.0, 0.0]


@pytest.mark.parametrize("make", [pkg.optim.SGD, pkg.optim.Adam, pkg.optim.AdamW])
def test_parameters_whose_elements_share_memory_are_not_stepped(make):
    whole = pkg.nn.Parameter(pkg.ones(2))
    row = pkg.ones(1)
    shared = pkg.nn.Parameter(row.expand(3))
    whole.grad, shared.grad = pkg.ones(2), pkg.ones(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        make([whole, shared], lr=0.1).step()
    assert whole.tolist() == [1, 1] and row.tolist() == [1]
    empty = pkg.nn.Parameter(row.expand(0, 1).expand(0, 3))
    empty.grad = pkg.ones(0, 3)
    make([empty], lr=0.1).step()  # nothing is there that could be written twice


def test_loading_a_state_that_does_not_fit_changes_nothing():
    p, q = nn.Parameter(pkg.ones([1])), nn.Parameter(pkg.ones([1]))
    optimizer = optim.SGD([p], lr=0.5)
    state = optimizer.state_dict()
    two_groups = optim.SGD([{"params": [p]}, {"params": [q]}]).state_dict()
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict(two_groups)
    with pytest.raises(ValueError, match="size of optimizer's group"):
        optimizer.load_state_dict(optim.SGD([p, q]).state_dict())
    stray = copy.deepcopy(state)
    stray["param_groups"][0]["lr"], stray["state"] = 9.0, {5: {}}
    with pytest.raises(ValueError, match="state of no parameter"):
        optimizer.load_state_dict(stray)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_a_small_network_learns():
    pkg.manual_seed(0)
    x = pkg.randn([64, 3])
    y = x @ pkg.tensor([[1.0], [-2.0], [0.5]]) + 3.0
    for make in (
        lambda p: optim.SGD(p, 0.1, momentum=0.9),
        lambda p: optim.Adam(p, 0.1),
    ):
        layer = nn.Linear(3, 1)
        optimizer = make(layer.parameters())
        for _ in range(200):
            optimizer.zero_grad()
            nn.functional.mse_loss(layer(x), y).backward()
            optimizer.step()
        np.testing.assert_allclose(layer.weight.tolist(), [[1, -2, 0.5]], atol=1e-2)
        assert layer.bias.item() == pytest.approx(3.0, abs=1e-2)


# --- schedules ------------------------------------------------------------------------


def optimizer_at(lr):
    """An optimiser without anything to do."""
    return optim.SGD([nn.Parameter(pkg.zeros([1]))], lr=lr)


def rates(make, count, lr=0.8):
    """The rate of each epoch."""
    optimizer = optimizer_at(lr)
    scheduler = make(optimizer)
    found = []
    for _ in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        assert scheduler.get_last_lr() == [found[-1]]
        optimizer.step()
        scheduler.step()
    return found


def cosine(epoch, low=0.1, high=0.8, period=4):
    """Closed form."""
    return low + (high - low) * (1 + math.cos(math.pi * epoch / period)) / 2


SCHEDULES = {
    "step": (
        lambda o, s: s.StepLR(o, 3, gamma=0.5),
        lambda e: 0.8 * 0.5 ** (e // 3),
    ),
    "milestones": (
        lambda o, s: s.MultiStepLR(o, [5, 2, 5]),
        lambda e: 0.8 * 0.1 ** ((e >= 2) + 2 * (e >= 5)),
    ),
    "exponential": (lambda o, s: s.ExponentialLR(o, 0.9), lambda e: 0.8 * 0.9**e),
    "constant": (
        lambda o, s: s.ConstantLR(o, 0.5, 4), lambda e: 0.4 if e < 4 else 0.8,
    ),
    "linear": (
        lambda o, s: s.LinearLR(o, 0.25, 0.75, 4),
        lambda e: 0.8 * (0.25 + 0.5 * min(e, 4) / 4),
    ),
    "lambda": (lambda o, s: s.LambdaLR(o, lambda e: 1 / (e + 1)),
               lambda e: 0.8 / (e + 1)),
    "cosine": (lambda o, s: s.CosineAnnealingLR(o, 4, eta_min=0.1), cosine),
    "warm-up": (
        lambda o, s: s.SequentialLR(
            o, [s.LinearLR(o, 0.25, 1.0, 3), s.CosineAnnealingLR(o, 4, 0.1)], [3]
        ),
        lambda e: 0.8 * (0.25 + 0.25 * e) if e < 3 else cosine(e - 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_follow_their_closed_form(name):
    make, want = SCHEDULES[name]
    got = rates(lambda o: make(o, lr_scheduler), 18)
    np.testing.assert_allclose(got, [want(e) for e in range(18)], rtol=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_agree_with_pytorch(name):
    torch = pytest.importorskip("torch")
    theirs = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.8)
    scheduler = SCHEDULES[name][0](theirs, torch.optim.lr_scheduler)
    want = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(18):
            want.append(theirs.param_groups[0]["lr"])
            theirs.step()
            scheduler.step()
    got = rates(lambda o: SCHEDULES[name][0](o, lr_scheduler), 18)
    np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_continue_from_their_state(name):
    make, want = SCHEDULES[name]
    optimizer = optimizer_at(0.8)
    scheduler = make(optimizer, lr_scheduler)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
    saved = pickle.loads(pickle.dumps((optimizer.state_dict(), scheduler.state_dict())))
    optimizer = optimizer_at(0.8)
    scheduler = make(optimizer, lr_scheduler)
    optimizer.load_state_dict(saved[0])
    scheduler.load_state_dict(saved[1])
    for epoch in range(5, 12):
        assert optimizer.param_groups[0]["lr"] == pytest.approx(want(epoch))
        optimizer.step()
        scheduler.step()


def test_schedules_multiply_and_keep_each_groups_own_rate():
    a, b = nn.Parameter(pkg.zeros([1])), nn.Parameter(pkg.zeros([1]))
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": [b], "lr": 10.0}])
    schedules = [lr_scheduler.ExponentialLR(optimizer, 0.5),
                 lr_scheduler.StepLR(optimizer, 2)]  # fmt: skip
    for _ in range(2):
        optimizer.step()
        for scheduler in schedules:
            scheduler.step()
    assert schedules[1].get_last_lr() == pytest.approx([0.025, 0.25])
    per_group = lr_scheduler.LambdaLR(optimizer, [lambda e: 1.0, lambda e: 2.0])
    assert per_group.get_last_lr() == [1.0, 20.0]


def test_schedules_warn_when_they_come_before_the_optimizer():
    optimizer = optimizer_at(0.1)
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()


def test_schedules_refuse_what_they_cannot_use():
    optimizer = optimizer_at(0.1)
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(optimizer, 1, last_epoch=3)
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas, got 2"):
        lr_scheduler.LambdaLR(optimizer, [abs, abs])
    with pytest.raises(ValueError, match="factor"):
        lr_scheduler.LinearLR(optimizer, 0.0)
    with pytest.raises(ValueError, match="factor"):
        lr_scheduler.ConstantLR(optimizer, 2.0)
    step = lr_scheduler.StepLR(optimizer, 1)
    with pytest.raises(ValueError, match="milestone"):
        lr_scheduler.SequentialLR(optimizer, [step], [1])
    with pytest.raises(ValueError, match="another's"):
        lr_scheduler.SequentialLR(optimizer_at(1.0), [step], [])


@pytest.mark.parametrize("mode,values", [
    ("min", [3, 2, 2, 2, 2, 1, 1, 1, 1]), ("max", [1, 2, 2, 2, 2, 3, 3, 3, 3]),
])  # fmt: skip
def test_plateau_lowers_the_rate_after_patience_and_cools_down(mode, values):
    optimizer = optimizer_at(1.0)
    scheduler = lr_scheduler.ReduceLROnPlateau(
        optimizer, mode, factor=0.5, patience=1, cooldown=1, min_lr=0.3
    )
    found = []
    for value in values:
        scheduler.step(pkg.tensor(float(value)))
        found.append(scheduler.get_last_lr()[0])
    assert found == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3]
    other = lr_scheduler.ReduceLROnPlateau(optimizer_at(1.0), mode)
    other.load_state_dict(scheduler.state_dict())
    assert other.best == scheduler.best and other.patience == 1
    for wrong in ({"factor": 1.0}, {"mode": "up"}, {"threshold_mode": "share"}):
        with pytest.raises(ValueError):
            lr_scheduler.ReduceLROnPlateau(optimizer, **wrong)


def test_plateau_agrees_with_pytorch():
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).normal(size=60).cumsum()
    for options in [{"mode": "max"}, {"threshold_mode": "abs", "threshold": 0.5},
                    {"patience": 2, "cooldown": 3}]:  # fmt: skip
        ours, theirs = optimizer_at(1.0), torch.optim.SGD([torch.zeros(1)], lr=1.0)
        a = lr_scheduler.ReduceLROnPlateau(ours, **options)
        b = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options)
        for value in values:
            a.step(value)
            b.step(value)
            assert a.get_last_lr() == b.get_last_lr()


def test_the_norm_of_gradients_of_several_dtypes_has_the_widest():
    for dtypes in ((pkg.bfloat16, pkg.float32), (pkg.float32, pkg.float64)):
        for order in (dtypes, dtypes[::-1]):
            params = [nn.Parameter(pkg.ones(2, dtype=dtype)) for dtype in order]
            for p in params:
                p.grad = pkg.ones_like(p)
            norm = nn.utils.clip_grad_norm_(params, 1e9)
            assert norm.dtype == dtypes[1] and norm.item() == 2


def test_the_norm_of_gradients_is_no_bare_number():
    """Its dtype decides, as that of other tensors."""
    p = pkg.ones(3, dtype=pkg.float64).requires_grad_()
    p.grad = pkg.ones(3, dtype=pkg.float64)
    norm = pkg.nn.utils.clip_grad_norm_([p], 1.0)
    for x in (norm, norm.clone(), norm * 2, -norm):
        assert x.dtype == pkg.float64

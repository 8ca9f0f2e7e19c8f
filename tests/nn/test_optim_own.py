# SPDX-License-Identifier: Apache-2.0
"""Optimisers of users: subclasses of Optimizer, written as for PyTorch."""

import warnings

import numpy as np
import pytest

import pkg
from pkg import nn, optim
from pkg.optim import lr_scheduler


class Signs(optim.Optimizer):
    """A step of fixed size; its options have names of its own."""

    def __init__(self, params, size=0.5, **options):
        super().__init__(params, dict(size=size, **options))

    def step(self, closure=None):
        loss = None if closure is None else closure()
        self.state["calls"] = self.state.get("calls", 0) + 1
        with pkg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.sub_(p.grad.sign() * group["size"])
                        self.state[p]["seen"] = p.grad.clone()
        return loss


def trained(optimizer, p, steps=1):
    for _ in range(steps):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
    return p.tolist()


def test_options_are_the_subclass_affair():
    """Neither 'lr' nor 'weight_decay' need be there, nor anything."""
    p, q = (nn.Parameter(pkg.tensor([2.0, -2.0])) for _ in range(2))
    optimizer = Signs([p], names={"a": 1}, lr=None)
    assert trained(optimizer, p) == [1.5, -1.5]
    optimizer.add_param_group({"params": [q], "size": 1.0})
    assert optimizer.param_groups[1]["names"] == {"a": 1}
    (q * q).sum().backward()
    assert optimizer.step(lambda: 7) == 7 and q.tolist() == [1.0, -1.0]
    assert "size: 0.5" in repr(optimizer)
    assert optim.Optimizer([p], {}).param_groups == [{"params": [p]}]
    with pytest.raises(NotImplementedError, match="does not define _step_group"):
        optim.Optimizer([p], {}).step()


def test_state_of_its_own_is_saved_and_restored():
    """Of parameters, and under keys that are none."""
    p = nn.Parameter(pkg.tensor([2.0, -2.0]))
    optimizer = Signs([p])
    trained(optimizer, p, 2)
    saved = optimizer.state_dict()
    assert set(saved["state"]) == {0, "calls"} and saved["state"]["calls"] == 2
    fresh = Signs([p], size=9.0)
    fresh.load_state_dict(saved)
    assert fresh.state["calls"] == 2 and fresh.param_groups[0]["size"] == 0.5
    assert fresh.state[p]["seen"].tolist() == [3.0, -3.0]
    assert fresh.state[p]["seen"] is not optimizer.state[p]["seen"]


def test_schedules_of_an_optimizer_without_rate():
    """The error names what is missing, and where."""
    p = nn.Parameter(pkg.zeros(1))
    makers = [
        lambda o: lr_scheduler.StepLR(o, 1),
        lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1.0),
        lambda o: lr_scheduler.CosineAnnealingLR(o, 3),
        lambda o: lr_scheduler.ReduceLROnPlateau(o),
        lambda o: lr_scheduler.SequentialLR(o, [], []),
    ]
    for make in makers:
        with pytest.raises((KeyError, ValueError), match="'lr' in every|milestone"):
            make(Signs([p]))
    with pytest.raises(KeyError, match=r"got 'size' .*Signs, param_groups\[0\]"):
        makers[0](Signs([p]))


def test_schedules_of_an_optimizer_with_a_step_of_its_own():
    """They work, and do not warn of steps that they cannot count."""
    p = nn.Parameter(pkg.ones(1))
    optimizer = Signs([p], lr=1.0)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            trained(optimizer, p)
            scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.25


def test_keys_of_a_loaded_state_are_numbers():
    """Whatever has __index__; the texts that JSON makes of numbers are an error."""
    p = nn.Parameter(pkg.ones(2))
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    p.sum().backward()
    optimizer.step()
    saved = optimizer.state_dict()
    for kind in (np.int64, np.uint8):
        fresh = optim.SGD([p], lr=0.1, momentum=0.9)
        fresh.load_state_dict({**saved, "state": {kind(0): saved["state"][0]}})
        assert fresh.state[p]["momentum_buffer"].tolist() == [1, 1]
        with pytest.raises(ValueError, match="state of no parameter"):
            fresh.load_state_dict({**saved, "state": {kind(7): {}}})
    with pytest.raises(ValueError, match=r"\[load_state_dict\] .* got texts \['0'\]"):
        fresh.load_state_dict({**saved, "state": {"0": {}, "mine": 1}})

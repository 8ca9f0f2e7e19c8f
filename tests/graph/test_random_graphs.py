# SPDX-License-Identifier: Apache-2.0
"""Random programs as graphs: values and gradients have the bits of the eager ones."""

import numpy as np
import pytest

import pkg
import pkg.graph
from op_values import equal_bits


def same_shape(a, b):
    return tuple(a.shape) == tuple(b.shape)


#: Steps of a program: what is asked of the operands, and the call.
STEPS = {
    "add": (2, same_shape, lambda a, b: a + b),
    "mul": (2, same_shape, lambda a, b: a * b),
    "sub": (2, same_shape, lambda a, b: a - b),
    "maximum": (2, same_shape, pkg.maximum),
    "where": (2, same_shape, lambda a, b: pkg.where(a > 0, a, b)),
    "tanh": (1, None, lambda a: a.tanh()),
    "sigmoid": (1, None, lambda a: a.sigmoid()),
    "relu": (1, None, lambda a: a.relu()),
    "number": (1, None, lambda a: a * 0.5 + 1),
    "sin": (1, None, lambda a: a.sin()),
    "root": (1, None, lambda a: (a * a + 1).sqrt()),
    "softmax": (1, lambda a: a.ndim > 0, lambda a: pkg.softmax(a, -1)),
    "centred": (1, lambda a: a.ndim > 0, lambda a: a - a.mean(-1, keepdim=True)),
    "summed": (1, lambda a: a.ndim > 0, lambda a: a.sum(0)),
    "largest": (1, lambda a: a.ndim > 0, lambda a: a.amax(-1)),
    "scaled": (1, lambda a: a.ndim > 1, lambda a: a * a.sum(0)),
    "turned": (1, lambda a: a.ndim > 1, lambda a: a.transpose(0, 1)),
    "flat": (1, lambda a: a.ndim > 1, lambda a: a.reshape(-1)),
    "row": (1, lambda a: a.ndim > 1, lambda a: a[-1]),
    "every second": (1, lambda a: a.ndim > 0, lambda a: a[::2]),
    "joined": (2, lambda a, b: a.ndim > 0 and same_shape(a, b),
               lambda a, b: pkg.cat([a, b], 0)),
    "product": (2, lambda a, b: a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0],
                lambda a, b: (a @ b) * 0.1),
    "gram": (1, lambda a: a.ndim == 2, lambda a: (a @ a.transpose(0, 1)) * 0.1),
    "symmetric": (1, lambda a: a.ndim == 2 and a.shape[0] == a.shape[1],
                  lambda a: a + a.transpose(0, 1)),
    "by its row": (1, lambda a: a.ndim == 2, lambda a: a * a[0]),
    "less its element": (1, lambda a: a.ndim == 1, lambda a: a - a[0]),
    "norm": (1, lambda a: a.ndim > 0 and a.shape[-1] > 1,
             lambda a: pkg.nn.functional.layer_norm(a, tuple(a.shape[-1:]))),
    "cumulated": (1, lambda a: a.ndim > 0, lambda a: pkg.cumsum(a, 0) * 0.1),
    "picked": (1, lambda a: a.ndim > 0, lambda a: a[pkg.tensor([0, 0])]),
}  # fmt: skip


class Program:
    """Steps that are chosen while it runs with values, and repeated with symbols."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.rows = int(self.rng.choice([3, 5, 80]))
        self.columns = int(self.rng.choice([4, 7, 90]))
        self.dtype = [pkg.float32, pkg.float64][self.rng.integers(2)]
        shapes = [(self.rows, self.columns), (self.columns, self.rows),
                  (self.rows, self.columns), (self.columns,)]  # fmt: skip
        self.inputs = [
            pkg.tensor(self.rng.uniform(-1, 1, shape)).to(self.dtype)
            for shape in shapes
        ]
        self.steps = []

    def choose(self, values):
        while True:
            name = list(STEPS)[self.rng.integers(len(STEPS))]
            count, fits, _ = STEPS[name]
            picks = self.rng.integers(len(values), size=count).tolist()
            taken = [values[i] for i in picks]
            if fits is None or fits(*taken):
                return name, picks

    def run(self, inputs, length=12):
        """The last values, which the rest hangs together with more or less."""
        values = list(inputs)
        for i in range(length):
            if len(self.steps) <= i:
                self.steps.append(self.choose(values))
            name, picks = self.steps[i]
            values.append(STEPS[name][2](*[values[p] for p in picks]))
        return values[-3:]


def loss_of(results):
    total = results[0].sum()
    for result in results[1:]:
        total = total + (result * result).mean()
    return total


@pytest.mark.parametrize("seed", range(200))
def test_values_and_gradients(seed):
    """Twice, as the second run uses the memory of the first."""
    program = Program(seed)
    leaves = [t.clone().requires_grad_() for t in program.inputs]
    wanted = program.run(leaves)
    wanted_grads = pkg.autograd.grad(loss_of(wanted), leaves, allow_unused=True)
    with pkg.graph.Graph().as_default():
        # layer_norm is told the size.
        known = seed % 3 > 0 or any(name == "norm" for name, _ in program.steps)
        given = [
            pkg.graph.placeholder(t.dtype, t.shape if known else [None] * t.ndim)
            for t in program.inputs
        ]
        made = program.run(given)
        grads = pkg.graph.gradients(loss_of(made), given)
        fetches = [*made, *(g for g in grads if g is not None)]
        expected = [*wanted, *(w for g, w in zip(grads, wanted_grads) if g is not None)]
        feeds = dict(zip(given, program.inputs))
        session = pkg.graph.Session()
        for _ in range(2):
            for got, want in zip(session.run(fetches, feeds), expected, strict=True):
                if want is None:
                    assert not got.numpy().any()
                else:
                    equal_bits(got.detach(), want.detach())
        for grad, want in zip(grads, wanted_grads):
            assert grad is not None or want is None


@pytest.mark.parametrize("seed", range(200, 220))
def test_gradients_of_gradients(seed):
    program = Program(seed)
    leaves = [t.clone().requires_grad_() for t in program.inputs]
    loss = loss_of(program.run(leaves, 6))
    first = pkg.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
    used = [i for i, grad in enumerate(first) if grad is not None]
    penalty = sum((first[i] * first[i]).sum() for i in used)
    if not penalty.requires_grad:
        return
    wanted = pkg.autograd.grad(penalty, leaves, allow_unused=True)
    with pkg.graph.Graph().as_default():
        given = [pkg.graph.placeholder(t.dtype, t.shape) for t in program.inputs]
        loss = loss_of(program.run(given, 6))
        first = pkg.graph.gradients(loss, given)
        penalty = sum((first[i] * first[i]).sum() for i in used)
        grads = pkg.graph.gradients(penalty, given)
        asked = [g for g in grads if g is not None]
        values = iter(pkg.graph.Session().run(asked, dict(zip(given, program.inputs))))
        for grad, want in zip(grads, wanted):
            if grad is None:
                assert want is None
            elif want is None:
                assert not next(values).numpy().any()
            else:
                equal_bits(next(values), want)

# SPDX-License-Identifier: Apache-2.0
"""Compiled functions whose tensors from outside are bound anew between calls."""

import threading

import numpy as np
import pytest

import pkg

scale = None
offset = None
both = None
traces = []


@pytest.fixture(autouse=True)
def fresh():
    """No traces yet, and no tensors that stay."""
    traces.clear()
    yield
    globals().update(scale=None, offset=None, both=None)


def bind(**values):
    """Gives global names of this module other values."""
    globals().update(values)


def number(value):
    """A tensor of two numbers."""
    return pkg.tensor([float(value), 1.0])


def test_a_global_name_is_one_more_graph():
    """However often it is bound."""

    @pkg.compile
    def scaled(x):
        traces.append(1)
        return x * scale

    for i in range(6):
        bind(scale=number(i))
        assert scaled(pkg.tensor([3.0, 4.0])).tolist() == [3.0 * i, 4.0]
    assert len(traces) == 2


def test_a_variable_of_a_function_around():
    """State that goes from step to step, read by a function within, too."""
    state = pkg.zeros(2)

    @pkg.compile
    def step(x):
        traces.append(1)
        return (lambda: x + state)()

    for i in range(6):
        state = step(pkg.ones(2))
        assert state.tolist() == [i + 1, i + 1]
    assert len(traces) == 2


def test_methods_and_two_places():
    """Both become inputs, each when it is bound anew."""

    class Model:
        rate = 2.0

        @pkg.compile
        def run(self, x):
            traces.append(1)
            return x * scale * self.rate + offset

    model = Model()
    bind(offset=number(0))
    for i in range(4):
        bind(scale=number(i))
        assert model.run(pkg.ones(2)).tolist() == [2 * i, 3]
    assert len(traces) == 2
    for i in range(4):
        bind(scale=number(i), offset=number(10 * i))
        assert model.run(pkg.ones(2)).tolist() == [12 * i, 3]
    assert len(traces) == 3


@pytest.mark.parametrize("dynamic", [False, True])
def test_other_shapes_and_dtypes(dynamic):
    """Count as those of arguments; another dtype or rank is found like a first one."""

    @pkg.compile(dynamic=dynamic)
    def scaled(x):
        traces.append(1)
        return x * scale

    for size in (2, 2, 3, 3, 4):
        bind(scale=pkg.tensor(np.full(size, 3.0)))
        assert scaled(pkg.ones(size, dtype=pkg.float64)).tolist() == [3.0] * size
    assert len(traces) == (2 if dynamic else 4)
    bind(scale=pkg.tensor([2]))
    assert scaled(pkg.ones(2, dtype=pkg.float64)).tolist() == [2, 2]
    bind(scale=7)
    assert scaled(pkg.ones(2, dtype=pkg.float64)).tolist() == [7, 7]
    bind(scale=pkg.tensor(np.full(2, 5.0)))
    assert scaled(pkg.ones(2, dtype=pkg.float64)).tolist() == [5, 5]


def test_gradients_flow_to_each():
    """Recorded where one of them wants it."""

    @pkg.compile
    def total(x):
        traces.append(1)
        return (x * scale).sum()

    for i in range(4):
        bind(scale=pkg.tensor([float(i), 1.0], requires_grad=i != 2))
        result = total(pkg.tensor([3.0, 4.0]))
        assert result.requires_grad == (i != 2)
        if i != 2:
            result.backward()
            assert scale.grad.tolist() == [3, 4]
    assert len(traces) == 2


def test_who_asks_for_values_is_traced_for_each():
    """As a symbol has none."""

    @pkg.compile
    def chosen(x):
        return x * 2 if scale.item() > 2 else x

    for i, wanted in [(0, 1), (1, 1), (3, 2), (4, 2), (0, 1)]:
        bind(scale=pkg.tensor(float(i)))
        assert chosen(pkg.ones(1)).item() == wanted


def test_who_writes_to_it_is_traced_for_each():
    """And writes to the tensor that is there."""

    @pkg.compile
    def counted(x):
        scale.add_(1)
        return x * scale

    for i in range(4):
        bind(scale=number(i))
        assert counted(pkg.ones(2)).tolist() == [i + 1, 2]
        assert scale.tolist() == [i + 1, 2]


def helper(x):
    """Reads what the compiled function reads."""
    return x + both


def test_what_another_function_reads_too_stays_as_it_was():
    """It would see the tensor, and not the symbol."""

    @pkg.compile
    def shifted(x):
        return helper(x) * both

    for i in range(4):
        bind(both=pkg.tensor(float(i)))
        assert shifted(pkg.ones(1)).item() == (1 + i) * i


def test_nobody_else_sees_a_symbol():
    """While a graph is made, the names have their tensors."""
    seen = []

    @pkg.compile
    def scaled(x):
        seen.append(type(globals_of_module()["scale"]))
        return x * scale

    for i in range(3):
        bind(scale=number(i))
        scaled(pkg.ones(2))
    assert set(seen) == {pkg.Tensor}


def globals_of_module():
    """Those that all but the copy of the function have."""
    return globals()


def test_threads_that_bind_and_call():
    """Each gets the product of a tensor that was there."""
    bind(scale=number(0))

    @pkg.compile
    def scaled(x):
        return x * scale

    wrong = []

    def work(first):
        for i in range(first, 200, 2):
            bind(scale=number(i % 7))
            got = scaled(pkg.ones(2)).tolist()
            if got[1] != 1 or got[0] not in range(7):
                wrong.append(got)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

# SPDX-License-Identifier: Apache-2.0
"""Grad modes, and where errors of a pass say they come from."""

import inspect
import threading

import pytest

import pkg
from functions import leaf


def test_anomaly_mode_names_the_forward_line():
    """0 * inf in the gradient of sqrt at 0."""
    x = leaf(0.0)
    with pkg.autograd.detect_anomaly():
        y = x.sqrt() * 0.0
        line = inspect.currentframe().f_lineno - 1
        with pytest.raises(RuntimeError, match="returned nan values") as caught:
            y.backward()
    assert f"test_autograd_modes.py:{line}" in str(caught.value)
    assert "SqrtBackward" in str(caught.value)
    (x.sqrt() * 0.0).backward()  # off again: NaN passes


def test_errors_of_a_pass_name_the_forward_line():
    """By default, without any mode."""
    x = leaf(1.0, 2.0)
    y = x * x
    line = inspect.currentframe().f_lineno - 1
    z = y.sum()
    z.backward()
    with pytest.raises(RuntimeError) as caught:
        z.backward()
    assert "second time" in str(caught.value)
    w = x * 3
    v = w * w
    place = inspect.currentframe().f_lineno - 1
    w.add_(1)
    with pytest.raises(RuntimeError) as caught:
        v.sum().backward()
    assert f"MulBackward, recorded at {__file__}:{place}" in str(caught.value)
    assert f":{line}" not in str(caught.value)


def test_grad_modes_as_context_managers_and_decorators():
    """Nested, decorated with and without parentheses, and set for the thread."""
    x = leaf(1.0)
    with pkg.no_grad():
        assert not (x * 2).requires_grad
        with pkg.enable_grad():
            assert (x * 2).requires_grad

        @pkg.enable_grad()
        def recorded():
            return x * 2

        assert recorded().requires_grad

    @pkg.no_grad
    def silent():
        return x * 2

    @pkg.set_grad_enabled(False)
    def quiet():
        return x * 2

    assert pkg.is_grad_enabled() and not silent().requires_grad
    assert not quiet().requires_grad and pkg.is_grad_enabled()
    with pkg.inference_mode():
        assert pkg.is_inference_mode_enabled() and not (x * 2).requires_grad
        with pkg.inference_mode(False):
            assert not pkg.is_inference_mode_enabled()
    with pkg.set_grad_enabled(False):
        assert not pkg.is_grad_enabled()
    assert pkg.is_grad_enabled()
    other = []
    pkg.set_grad_enabled(False)
    thread = threading.Thread(target=lambda: other.append(pkg.is_grad_enabled()))
    thread.start()
    thread.join()
    pkg.set_grad_enabled(True)
    assert other == [True]  # the mode is the thread's own


def test_modes_decorate_generators():
    """Each step runs in the mode, the caller between them not; values go through."""
    x = leaf(1.0)

    @pkg.no_grad()
    def steps():
        got = yield (x * 2).requires_grad
        try:
            yield (x * 2).requires_grad, got
        except KeyError:
            yield (x * 2).requires_grad
        return "end"

    run = steps()
    assert next(run) is False and (x * 2).requires_grad
    assert run.send(5) == (False, 5)
    assert run.throw(KeyError("k")) is False
    with pytest.raises(StopIteration) as stop:
        next(run)
    assert stop.value.value == "end" and pkg.is_grad_enabled()


def test_inference_mode_stays_off_and_decorates_bare():
    """enable_grad and set_grad_enabled inside do not record."""
    x = leaf(1.0)

    @pkg.inference_mode
    def silent(t):
        with pkg.enable_grad():
            first = (t * 2).requires_grad
        with pkg.set_grad_enabled(True):
            return first, (t * 2).requires_grad

    assert silent(x) == (False, False) and (x * 2).requires_grad

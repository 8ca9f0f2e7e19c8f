# SPDX-License-Identifier: Apache-2.0
"""Grad mode: whether ops record how to differentiate them."""

import functools

from ._binding import core

is_grad_enabled = core.is_grad_enabled


class set_grad_enabled:  # noqa: N801  (PyTorch's name)
    """Sets grad mode of this thread; also a context manager and a decorator."""

    def __init__(self, mode):
        self._mode = bool(mode)
        self._before = core.is_grad_enabled()
        core.set_grad_enabled(self._mode)

    def __enter__(self):
        core.set_grad_enabled(self._mode)
        return self

    def __exit__(self, *exc):
        core.set_grad_enabled(self._before)


class _GradMode:
    """Context manager and decorator with a fixed mode."""

    _mode = False

    def __enter__(self):
        self._before = core.is_grad_enabled()
        core.set_grad_enabled(self._mode)
        return self

    def __exit__(self, *exc):
        core.set_grad_enabled(self._before)

    def __call__(self, function):
        """Decorates a function to run in this mode."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with type(self)():
                return function(*args, **kwargs)

        return wrapper


class no_grad(_GradMode):  # noqa: N801
    """Nothing inside is recorded."""


class enable_grad(_GradMode):  # noqa: N801
    """Recording is on inside, also within no_grad."""

    _mode = True


def _as_tuple(value, length=None):
    """One tensor, None or a sequence, as a tuple."""
    if value is None:
        return () if length is None else (None,) * length
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False):
    """Adds the gradients of `tensors` to the .grad of the leaves they depend on.

    grad_tensors: one gradient per tensor; may be left out for one-element tensors.
    RuntimeError when nothing requires grad or the graph was already freed.
    """
    keep = create_graph if retain_graph is None else retain_graph
    core._backward(_as_tuple(tensors), _as_tuple(grad_tensors), keep, create_graph)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    allow_unused=False,
):
    """Gradients of `outputs` with respect to `inputs`, as a tuple; nothing accumulates.

    create_graph makes the result differentiable; an unused input is a RuntimeError, or
    None with allow_unused.
    """
    keep = create_graph if retain_graph is None else retain_graph
    return core._grad(
        _as_tuple(outputs),
        _as_tuple(inputs),
        _as_tuple(grad_outputs),
        keep,
        create_graph,
        allow_unused,
    )

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

# SPDX-License-Identifier: Apache-2.0
"""Grad mode: whether this thread's ops record how to differentiate them."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .._binding import core

F = TypeVar("F", bound=Callable[..., Any])

is_grad_enabled = core.is_grad_enabled
_thread = threading.local()


def _set_grad_enabled(mode: bool) -> bool:
    """Set the thread's grad mode, which inference mode keeps off; what it was."""
    return core.set_grad_enabled(mode and not is_inference_mode_enabled())


class _Mode:
    """Context manager and decorator; may be entered again, also inside itself."""

    _mode = False  # what it is inside

    def __init__(self) -> None:
        self._before: list[bool] = []

    def _again(self) -> _Mode:
        return type(self)()

    def __enter__(self) -> None:
        self._before.append(_set_grad_enabled(self._mode))

    def __exit__(self, *exc: object) -> None:
        core.set_grad_enabled(self._before.pop())

    def __call__(self, function: F) -> F:
        """Decorate a function to run in this mode; a generator's steps all do."""
        if inspect.isgeneratorfunction(function):
            return self._generator(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    def _generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        # The caller's code between the steps keeps its own mode.
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            steps = function(*args, **kwargs)
            step, given = steps.send, None
            while True:
                try:
                    with self._again():
                        value = step(given)
                except StopIteration as stop:
                    return stop.value
                try:
                    step, given = steps.send, (yield value)
                except GeneratorExit:
                    with self._again():
                        steps.close()
                    raise
                except BaseException as error:
                    step, given = steps.throw, error

        return wrapper


class no_grad(_Mode):  # noqa: N801  (PyTorch's names)
    """Nothing inside is recorded; also a decorator (``@no_grad()`` or ``@no_grad``)."""

    def __new__(cls, function: F | None = None) -> Any:
        self = super().__new__(cls)
        if function is None:
            return self
        _Mode.__init__(self)
        return self(function)

    def __init__(self, function: None = None) -> None:
        super().__init__()


class enable_grad(no_grad):  # noqa: N801
    """Recording is on inside, also within no_grad; also a decorator."""

    _mode = True


class set_grad_enabled(_Mode):  # noqa: N801
    """Set grad mode of this thread at once; as a context manager, until the end of it.

    As a decorator the mode holds inside the function only.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self._mode = bool(mode)
        self._first = _set_grad_enabled(self._mode)

    def __enter__(self) -> None:
        super().__enter__()
        self._before[-1] = self._first

    def __call__(self, function: F) -> F:
        """Decorate a function; the mode of the thread is as it was before."""
        core.set_grad_enabled(self._first)
        return super().__call__(function)

    def _again(self) -> _Mode:
        return set_grad_enabled(self._mode)


class inference_mode(_Mode):  # noqa: N801
    """Nothing inside is recorded, and ``is_inference_mode_enabled()`` says so.

    Unlike PyTorch's, tensors made inside are ordinary ones: they may be used under
    autograd later.  mode: False switches it off again inside.  Also a decorator
    (``@inference_mode()`` or ``@inference_mode``).
    """

    def __new__(cls, mode: Any = True) -> Any:
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._inference = bool(mode)
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        self._outer.append(is_inference_mode_enabled())
        self._mode = not self._inference and core.is_grad_enabled()
        super().__enter__()
        _thread.inference = self._inference

    def __exit__(self, *exc: object) -> None:
        _thread.inference = self._outer.pop()
        super().__exit__(*exc)

    def _again(self) -> _Mode:
        return inference_mode(self._inference)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode``."""
    return getattr(_thread, "inference", False)

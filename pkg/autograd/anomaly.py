# SPDX-License-Identifier: Apache-2.0
"""Anomaly detection: every gradient is checked for NaN as it is made."""

from __future__ import annotations

from .._binding import core


class set_detect_anomaly:  # noqa: N801  (PyTorch's names)
    """Switch the check on or off in the process; also a context manager.

    A NaN is a RuntimeError that names the node and the Python line of the forward call.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = core.detect_anomaly()
        core.set_detect_anomaly(bool(mode) and check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        core.set_detect_anomaly(self._before)


class detect_anomaly:  # noqa: N801
    """Context manager: the check is on inside."""

    def __init__(self, check_nan: bool = True) -> None:
        self._wanted = check_nan

    def __enter__(self) -> None:
        self._before = core.detect_anomaly()
        core.set_detect_anomaly(self._wanted)

    def __exit__(self, *exc: object) -> None:
        core.set_detect_anomaly(self._before)

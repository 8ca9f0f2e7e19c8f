# SPDX-License-Identifier: Apache-2.0
"""What scripts ask PyTorch about GPUs; there is no GPU back end."""

from __future__ import annotations

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed_all"]


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed_all(seed: int) -> None:
    """Seeds the random streams of all of the 0 devices."""


def empty_cache() -> None:
    """Gives back the cached memory of the 0 devices; see ``pkg.empty_cache``."""

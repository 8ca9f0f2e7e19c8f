# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg info``: what this build is and what it found on this machine."""

from .. import config


def run(args):
    """Prints one fact a line."""
    for name, value in config.info().items():
        print(f"{name:16} {value}")
    return 0

# SPDX-License-Identifier: Apache-2.0
"""What tests of the scheduler share."""


def fail_here():
    raise KeyError("the key")

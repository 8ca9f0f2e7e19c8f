# SPDX-License-Identifier: Apache-2.0
"""Optimizers, in-place forms and objects on 2 ranks: programs/training.py has the
checks, all of which run in one launch."""

import functools

import pytest
from ranks import checks_of, launch


@functools.cache
def outcome():
    return launch(2, "training")


@pytest.mark.parametrize("check", checks_of("training"))
def test_both_ranks_pass(check):
    status, out, err, _ = outcome()
    said = {f"[{rank}]<stdout>:ok {check}" for rank in range(2)}
    assert said <= set(out.splitlines()), (status, err[-3000:])

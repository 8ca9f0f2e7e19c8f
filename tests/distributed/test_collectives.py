# SPDX-License-Identifier: Apache-2.0
"""The collectives on 2 and 4 ranks: programs/collectives.py has the checks, all of
which run in one launch for each number of ranks."""

import functools

import pytest
from ranks import checks_of, launch

CHECKS = checks_of("collectives")


@functools.cache
def outcome(count, **env):
    return launch(count, "collectives", **env)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("check", CHECKS)
def test_all_ranks_pass(check, count):
    """A line of each rank says so."""
    status, out, err, _ = outcome(count)
    said = {f"[{rank}]<stdout>:ok {check}" for rank in range(count)}
    assert said <= set(out.splitlines()), (status, err[-3000:])


@pytest.mark.parametrize("count", [2, 4])
def test_the_program_ends_well(count):
    status, _, err, _ = outcome(count)
    assert status == 0, err[-3000:]


def test_a_small_cache_forgets_and_nothing_else_changes():
    """Most checks again with room for three tensors: numbers are always forgotten."""
    status, out, err, _ = launch(
        2, "collectives", "--without", "the_steady_state_sends_numbers_and_fuses",
        HOROVOD_CACHE_CAPACITY="3", HOROVOD_FUSION_THRESHOLD="1000",
    )  # fmt: skip
    assert status == 0 and out.count(":ok ") == 2 * (len(CHECKS) - 1), err[-3000:]

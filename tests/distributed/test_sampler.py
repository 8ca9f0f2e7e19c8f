# SPDX-License-Identifier: Apache-2.0
"""DistributedSampler's shares."""

import pytest

from pkg.distributed import DistributedSampler


@pytest.mark.parametrize("count", [1, 7, 8, 9])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shares_cover_everything_and_are_equally_long(count, shuffle):
    data = range(count)
    ranks = [DistributedSampler(data, 4, r, shuffle=shuffle) for r in range(4)]
    shares = [list(sampler) for sampler in ranks]
    assert {len(share) for share in shares} == {len(ranks[0])} == {-(-count // 4)}
    assert {i for share in shares for i in share} == set(data)
    dropped = [list(DistributedSampler(data, 4, r, drop_last=True)) for r in range(4)]
    flat = [i for share in dropped for i in share]
    assert len(set(flat)) == len(flat) == count // 4 * 4


def test_an_epoch_has_its_own_order():
    sampler = DistributedSampler(range(100), 1, 0)
    first = list(sampler)
    assert first == list(sampler)
    sampler.set_epoch(1)
    assert first != list(sampler)
    assert list(DistributedSampler(range(5), 2, 1, shuffle=False)) == [1, 3, 0]
    with pytest.raises(ValueError, match="Invalid rank 2"):
        DistributedSampler(range(5), 2, 2)

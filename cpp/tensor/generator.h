// SPDX-License-Identifier: Apache-2.0
// tensor/generator.h: the counter-based random generator behind all random ops.
//
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011): number i of a stream is a function of (seed, i), so results do not
// depend on how work is split over threads.
#pragma once

#include <array>
#include <cstdint>

namespace pkg {

/// Four 32-bit numbers for one counter value.
inline std::array<uint32_t, 4> philox(uint64_t seed, uint64_t counter) {
  uint32_t c0 = uint32_t(counter), c1 = uint32_t(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = uint32_t(p1 >> 32) ^ c1 ^ k0, n2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
    c1 = uint32_t(p1);
    c3 = uint32_t(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

/// Part of the default stream: a seed, and the first counter value that is reserved.
struct RandomStream {
  uint64_t seed;
  uint64_t first;
};

/// Restarts the default stream.
void manual_seed(uint64_t seed);
/// Where the default stream stands; set_random_state() goes back there.
RandomStream random_state();
void set_random_state(RandomStream state);
/// Takes `count` counter values that nobody else gets.  Thread-safe.
RandomStream reserve_random(uint64_t count);

}  // namespace pkg

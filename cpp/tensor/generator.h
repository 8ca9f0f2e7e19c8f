// SPDX-License-Identifier: Apache-2.0
// tensor/generator.h: the default stream of random numbers: a seed, and how far it is.
//
// Numbers are functions of the seed and their position (kernels/cpu/random/philox.h).
#pragma once

#include <cstdint>

namespace pkg {

/// Part of the default stream: a seed, and the first position that is reserved.
struct RandomStream {
  uint64_t seed;
  uint64_t first;
};

/// Restarts the default stream.
void manual_seed(uint64_t seed);
/// Where the default stream stands; set_random_state() goes back there.
RandomStream random_state();
void set_random_state(RandomStream state);
/// Takes `count` positions that nobody else gets, one for each number.  Thread-safe.
RandomStream reserve_random(uint64_t count);

/// While it lives, calls of this thread take no numbers away: they are made to see what a
/// result is like.
class RandomTrial {
 public:
  RandomTrial();
  RandomTrial(const RandomTrial&) = delete;
  ~RandomTrial();
};

}  // namespace pkg

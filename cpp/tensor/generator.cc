// SPDX-License-Identifier: Apache-2.0
// tensor/generator.cc: the default random stream.
#include "tensor/generator.h"

#include <mutex>
#include <random>

#include "scheduler/fork_locks.h"

namespace pkg {
namespace {

constinit std::mutex g_mutex;
const detail::HeldOverFork g_held{detail::ForkLock::Random, g_mutex};
RandomStream g_stream{std::random_device{}(), 0};
thread_local int t_trials = 0;

}  // namespace

void manual_seed(uint64_t seed) {
  std::lock_guard lock(g_mutex);
  g_stream = {seed, 0};
}

RandomStream random_state() {
  std::lock_guard lock(g_mutex);
  return g_stream;
}

void set_random_state(RandomStream state) {
  std::lock_guard lock(g_mutex);
  g_stream = state;
}

RandomStream reserve_random(uint64_t count) {
  std::lock_guard lock(g_mutex);
  const RandomStream taken = g_stream;
  if (t_trials == 0) g_stream.first += count;
  return taken;
}

RandomTrial::RandomTrial() { ++t_trials; }
RandomTrial::~RandomTrial() { --t_trials; }

}  // namespace pkg

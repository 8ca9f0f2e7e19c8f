// SPDX-License-Identifier: Apache-2.0
// collectives/backoff.h: the pause between two looks at something that nobody announces.
#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

namespace pkg::collectives {

/// Gives the processor to others; returns whether it came back soon.  If not, others work
/// there: they have their whole slice each time, unless somebody who slept is woken.
inline bool yield_briefly() {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  sched_yield();
  return Clock::now() - began < std::chrono::microseconds(200);
}

/// Gives the processor away for longer the longer nothing happens: what comes soon is seen
/// soon, and ranks that share a processor do not keep it from each other.
class Backoff {
 public:
  /// `patience`: how long what is waited for may well take while it needs our looks to go
  /// on, so that nobody sleeps for long meanwhile.
  explicit Backoff(std::chrono::microseconds patience = {})
      : eager_until_(std::chrono::steady_clock::now() + patience) {}
  void pause() {
    const bool eager = std::chrono::steady_clock::now() < eager_until_;
    if (alone_ && (++rounds_ < 64 || eager)) {
      alone_ = yield_briefly();
    } else {
      const bool soon = eager || ++rounds_ < 1000;
      std::this_thread::sleep_for(std::chrono::microseconds(soon ? 20 : 200));
    }
  }
  void reset() { rounds_ = 0; }

 private:
  const std::chrono::steady_clock::time_point eager_until_;
  bool alone_ = true;  // on our processor, as far as we know
  int rounds_ = 0;
};

}  // namespace pkg::collectives

// SPDX-License-Identifier: Apache-2.0
// collectives/backoff.h: the pause between two looks at something that nobody announces.
#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

namespace pkg::collectives {

/// Gives the processor away for longer the longer nothing happens: what comes soon is seen
/// soon, and ranks that share a processor do not keep it from each other.
class Backoff {
 public:
  /// `patience`: how long what is waited for may well take while it needs our looks to go
  /// on, so that nobody sleeps meanwhile.
  explicit Backoff(std::chrono::microseconds patience = {})
      : eager_until_(std::chrono::steady_clock::now() + patience) {}
  void pause() {
    if (++rounds_ < 64 || std::chrono::steady_clock::now() < eager_until_) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(rounds_ < 1000 ? 20 : 200));
    }
  }
  void reset() { rounds_ = 0; }

 private:
  const std::chrono::steady_clock::time_point eager_until_;
  int rounds_ = 0;
};

}  // namespace pkg::collectives

// SPDX-License-Identifier: Apache-2.0
// autograd/reading.h: several passes read what a node saved, until one lets go of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace pkg {

/// Counts who reads.  After release() nobody begins, and the last reader clears: each
/// function that may turn out to be the last gets `clear` to call, which happens once and
/// must not throw.
class Reading {
 public:
  /// False after release().
  template <class F>
  bool begin(F clear) {
    if (!(state_.fetch_add(1, std::memory_order_acquire) & kReleased)) return true;
    end(clear);
    return false;
  }

  template <class F>
  void end(F clear) {
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kReleased | 1)) finish(clear);
  }

  template <class F>
  void release(F clear) {
    state_.fetch_or(kReleased, std::memory_order_acq_rel);
    finish(clear);
  }

  /// end() and release(); cheaper when nobody else reads.
  template <class F>
  void end_and_release(F clear) {
    uint32_t alone = 1;
    if (state_.compare_exchange_strong(alone, kReleased | kCleared,
                                       std::memory_order_acq_rel)) {
      return clear();
    }
    state_.fetch_or(kReleased, std::memory_order_acq_rel);
    end(clear);
  }

 private:
  static constexpr uint32_t kReleased = 1u << 31, kCleared = 1u << 30;

  template <class F>
  void finish(F clear) {
    uint32_t last = kReleased;
    if (state_.compare_exchange_strong(last, kReleased | kCleared,
                                       std::memory_order_acq_rel)) {
      clear();
    }
  }

  std::atomic<uint32_t> state_{0};
};

/// Ends a reading that has begun, however the scope is left.
template <class F>
class EndReading {
 public:
  EndReading(Reading& reading, F clear) : reading_(reading), clear_(clear) {}
  ~EndReading() { reading_.end(clear_); }
  EndReading(const EndReading&) = delete;
  EndReading& operator=(const EndReading&) = delete;

 private:
  Reading& reading_;
  F clear_;
};

}  // namespace pkg

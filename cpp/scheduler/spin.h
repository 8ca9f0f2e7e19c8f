// SPDX-License-Identifier: Apache-2.0
// scheduler/spin.h: short busy waiting.  Internal.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>

namespace pkg::detail {

/// How often a thread that waits or works for long asks whether it shall end.
inline constexpr auto kPollInterval = std::chrono::milliseconds(40);

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// In turn after turn of a wait for a few instructions of another thread, which may have been
/// preempted.
inline void pause_or_yield(int turn) noexcept {
  if (turn % 64) {
    cpu_pause();
  } else {
    sched_yield();
  }
}

/// For critical sections of a few instructions.
class SpinLock {
 public:
  void lock() noexcept {
    for (int turn = 0; locked_.exchange(true, std::memory_order_acquire); ++turn) {
      while (locked_.load(std::memory_order_relaxed)) pause_or_yield(++turn);
    }
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

/// Polls `ready` for `microseconds`, longer where others want the processor; returns
/// whether it became true.
template <class Ready>
bool spin_until(Ready&& ready, int microseconds) {
  if (ready()) return true;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now(), end = begin + std::chrono::microseconds(microseconds);
  // Who makes it true may have been woken on this very processor: but to leave it at once
  // would be to leave it to any process that has something to do.
  const auto alone = begin + std::chrono::microseconds(4);
  for (auto now = begin; now < end; now = Clock::now()) {
    for (int i = 0; i < 8; ++i) {
      cpu_pause();
      if (ready()) return true;
    }
    if (now > alone) sched_yield();
  }
  return false;
}

}  // namespace pkg::detail

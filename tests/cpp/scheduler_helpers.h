// SPDX-License-Identifier: Apache-2.0
// tests/cpp/scheduler_helpers.h: what the test programs of the scheduler share.
#pragma once

#include <chrono>
#include <cstdio>
#include <vector>

#include "scheduler/scheduler.h"

using namespace pkg;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int kSlow = 10;  // rounds are divided by this
#else
inline constexpr int kSlow = 1;
#endif

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Blocks tasks until opened; opens itself when destroyed.
struct Gate {
  Ref<ManualEvent> event = Ref<ManualEvent>::make("gate");
  bool open = false;
  void set() {
    if (!open) event->set();
    open = true;
  }
  ~Gate() { set(); }
};

struct Threads {
  explicit Threads(int n) : before(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before;
};

inline std::vector<Ref<Event>> after(const Ref<Event>& event) { return {event}; }

// Errors that earlier tests left unseen on purpose.
inline void forget_errors() {
  try {
    synchronize();
  } catch (...) {}
}

// ThreadSanitizer knows no threads that a child of fork() starts.
inline bool children_have_threads() {
#ifdef __SANITIZE_THREAD__
  std::puts("  skipped: ThreadSanitizer knows no threads that a child of fork() starts");
  return false;
#else
  return true;
#endif
}

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/threads.h: threads of C++ that call Python and that nobody stops.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace threads {

inline std::atomic<int64_t> made{0};
/// Calls that have come back.
inline int64_t calls() { return made; }
inline int plain(int value) { return value + 1; }

/// Overridden in Python.
class Job {
 public:
  virtual ~Job() = default;
  virtual int work(const std::string& text, const std::vector<int>& values) {
    return int(text.size() + values.size());
  }
};
/// Each on n threads, until the process ends or a call fails.
inline void start_jobs(std::shared_ptr<Job> job, int n) {
  for (int i = 0; i < n; ++i) {
    std::thread([job] {
      try {
        for (;; ++made) job->work("some text", {1, 2, 3});
      } catch (const std::exception&) {}
    }).detach();
  }
}
using Callback = std::function<int(const std::string&, const std::vector<int>&)>;
inline void start_callbacks(Callback function, int n) {
  for (int i = 0; i < n; ++i) {
    std::thread([function] {
      try {
        for (;; ++made) function("some text", {1, 2, 3});
      } catch (const std::exception&) {}
    }).detach();
  }
}

/// Once the process ends, and Python has: here, which prints the error, and on a thread,
/// which prints when it comes back.
inline void call_at_exit(Callback function) {
  static auto* kept = new Callback(std::move(function));
  static const auto call = [] {
    try {
      (*kept)("late", {});
      std::puts("was called");
    } catch (const std::exception& error) { std::puts(error.what()); }
  };
  // Registered by the first call only: those of a soak are many.
  static const int registered = std::atexit([] {
    call();
    std::thread(call).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  });
  static_cast<void>(registered);
}

}  // namespace threads

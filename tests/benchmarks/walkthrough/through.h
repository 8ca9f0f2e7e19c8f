// SPDX-License-Identifier: Apache-2.0
// tests/benchmarks/walkthrough/through.h: empty jobs through a pool, however it takes
// them.  Used by naive.cc and ours.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

/// Seconds from the first of `jobs` to the last one's end, when `submitters` threads
/// submit an equal share each, as fast as they can.
template <class Submit>
double time_through(int submitters, int jobs, Submit submit) {
  std::atomic<int> left{jobs / submitters * submitters};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int t = 0; t < submitters; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < jobs / submitters; ++i) submit([&left] { --left; });
    });
  }
  for (auto& thread : threads) thread.join();
  while (left > 0) std::this_thread::yield();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

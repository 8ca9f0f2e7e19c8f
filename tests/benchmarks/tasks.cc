// SPDX-License-Identifier: Apache-2.0
// tests/benchmarks/tasks.cc: what tasks and loops cost in C++, without work in them.
// Compiled twice by tasks.py: over pkg's scheduler, and with -DPEER over oneTBB.
// `program THREADS SECONDS` prints a line per row: name, nanoseconds of one task or loop.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef PEER
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#else
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#endif

namespace {

std::atomic<int64_t> g_done{0};
void count() { g_done.fetch_add(1, std::memory_order_relaxed); }

#ifdef PEER

void one_at_a_time(int n) {
  tbb::task_group group;
  for (int i = 0; i < n; ++i) {
    group.run(count);
    group.wait();
  }
}

void many_then_wait(int n) {
  tbb::task_group group;
  for (int i = 0; i < n; ++i) group.run(count);
  group.wait();
}

void tree(tbb::task_group& group, int depth) {
  count();
  if (depth == 0) return;
  group.run([&group, depth] { tree(group, depth - 1); });
  group.run([&group, depth] { tree(group, depth - 1); });
}
void nested(int depth) {
  tbb::task_group group;
  group.run([&] { tree(group, depth); });
  group.wait();
}

// A task_group has no dependencies: each task runs the next one, which is the least that
// a chain can cost there.
void link(tbb::task_group& group, int left) {
  count();
  if (left > 1) group.run([&group, left] { link(group, left - 1); });
}
void chain(int n) {
  tbb::task_group group;
  group.run([&] { link(group, n); });
  group.wait();
}

void fan(int rounds, int width) {
  for (int i = 0; i < rounds; ++i) {
    tbb::task_group group;
    count();
    for (int j = 0; j < width; ++j) group.run(count);
    group.wait();
    count();
  }
}

template <class F>
void loop(int64_t n, int64_t grain, F f) {
  tbb::parallel_for(
      tbb::blocked_range<int64_t>(0, n, size_t(grain)),
      [&](const tbb::blocked_range<int64_t>& part) { f(part.begin(), part.end()); },
      tbb::static_partitioner());
}

#else

using pkg::Event;
using pkg::Ref;

void one_at_a_time(int n) {
  for (int i = 0; i < n; ++i) pkg::submit(count)->wait();
}

void many_then_wait(int n) {
  for (int i = 0; i < n; ++i) pkg::submit(count);
  pkg::synchronize();
}

void tree(int depth) {
  count();
  if (depth == 0) return;
  pkg::submit([depth] { tree(depth - 1); });
  pkg::submit([depth] { tree(depth - 1); });
}
void nested(int depth) {
  pkg::submit([depth] { tree(depth); });
  while (g_done.load(std::memory_order_relaxed) != (2 << depth) - 1) pkg::synchronize();
}

void chain(int n) {
  Ref<Event> last;
  for (int i = 0; i < n; ++i) last = pkg::submit(count, {last});
  last->wait();
}

void fan(int rounds, int width) {
  Ref<Event> last;
  for (int i = 0; i < rounds; ++i) {
    const Ref<Event> first = pkg::submit(count, {last});
    std::vector<Ref<Event>> middle;
    for (int j = 0; j < width; ++j) middle.push_back(pkg::submit(count, {first}));
    last = pkg::submit(count, middle);
  }
  last->wait();
}

template <class F>
void loop(int64_t n, int64_t grain, F f) {
  pkg::parallel_for(0, n, grain, f);
}

#endif

using Clock = std::chrono::steady_clock;

// The fastest of the runs that fit into `seconds`, per task.
template <class F>
void row(const char* name, double seconds, int64_t tasks, F run) {
  const auto begin = Clock::now();
  double best = 1e30;
  for (int turn = 0;
       turn < 3 || Clock::now() - begin < std::chrono::duration<double>(seconds); ++turn) {
    g_done = 0;
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    if (turn > 0) best = std::min(best, took.count() / double(tasks));
  }
  std::printf("%s\t%.1f\n", name, best);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
#ifdef PEER
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, size_t(threads));
#else
  pkg::set_num_threads(threads);
#endif
  constexpr int kMany = 10000, kDepth = 12, kLoops = 200, kRounds = 500, kWidth = 8;
  row("empty task, submitted and waited for", seconds, kMany, [] { one_at_a_time(kMany); });
  row("empty task, 10,000 then a wait", seconds, kMany, [] { many_then_wait(kMany); });
  row("empty task, each submits two", seconds, (2 << kDepth) - 1, [] { nested(kDepth); });
  row("chain of 10,000 tasks", seconds, kMany, [] { chain(kMany); });
  row("1 to 8 to 1 task, 500 times", seconds, kRounds * (kWidth + 2),
      [] { fan(kRounds, kWidth); });
  row("parallel_for, 64 empty grains", seconds, kLoops, [] {
    for (int i = 0; i < kLoops; ++i) loop(64, 1, [](int64_t, int64_t) {});
  });
  std::vector<float> values(1 << 20, 1.0f);
  for (const auto& [name, n] : {std::pair{"parallel_for, 100,000 floats + 1", 100000},
                                std::pair{"parallel_for, 1,000,000 floats + 1", 1000000}}) {
    row(name, seconds, kLoops, [&values, n = n] {
      for (int i = 0; i < kLoops; ++i) {
        loop(n, 16384, [data = values.data()](int64_t begin, int64_t end) {
          for (int64_t at = begin; at < end; ++at) data[at] += 1.0f;
        });
      }
    });
  }
}

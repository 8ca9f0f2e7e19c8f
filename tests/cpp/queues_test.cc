// SPDX-License-Identifier: Apache-2.0
// tests/cpp/queues_test.cc: the queue of the pool and the roster of waiting tasks: nothing is
// lost, nothing comes twice, and what was first comes first.
#include "check.h"

#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "scheduler/pool.h"
#include "scheduler_helpers.h"

using pkg::detail::Runnable;
using pkg::detail::RunQueue;

namespace {

struct Item final : Runnable {
  std::atomic<int> taken{0};
  void run(bool) noexcept override {}
  void drop() noexcept override {}
};

constexpr int kMost = 32;

}  // namespace

TEST(a_queue_gives_what_was_first_first) {
  std::mt19937 dice(7);
  auto queue = std::make_unique<RunQueue>();
  std::vector<Item> items(20000);
  std::deque<Runnable*> expected;
  size_t next = 0;
  bool fills = true;
  while (next < items.size() || !expected.empty()) {
    // Fills to several thousand, which grows it, and empties to nothing, in turns.
    if (dice() % 500 == 0) fills = !fills;
    if (next < items.size() && dice() % 10 < (fills ? 9u : 1u)) {
      queue->push(&items[next]);
      expected.push_back(&items[next++]);
    } else {
      Runnable* taken[kMost];
      const int64_t most = 1 + dice() % kMost;
      int64_t n = queue->pop(taken, most);
      CHECK(n <= most && (n > 0) == !expected.empty());
      for (int64_t i = 0; i < n; ++i) {
        CHECK(taken[i] == expected.front());
        expected.pop_front();
      }
    }
    CHECK(queue->empty() == expected.empty());
  }
  CHECK(!queue->pop());
}

TEST(a_queue_of_many_threads_loses_nothing) {
  constexpr int kThreads = 3, kEach = 60000 / kSlow;
  auto queue = std::make_unique<RunQueue>();
  std::vector<std::vector<Item>> items;
  for (int from = 0; from < kThreads; ++from) { items.emplace_back(kEach); }
  std::atomic<int> left{kThreads * kEach};
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      std::mt19937 dice(me);
      for (Item& item : items[me]) {
        queue->push(&item);
        if (dice() % 64 == 0) std::this_thread::yield();
      }
    });
    threads.emplace_back([&, me] {
      std::mt19937 dice(100 + me);
      while (left > 0) {
        Runnable* taken[kMost];
        const int64_t n = queue->pop(taken, 1 + dice() % kMost);
        if (n == 0) std::this_thread::yield();
        for (int64_t i = 0; i < n; ++i) ++static_cast<Item*>(taken[i])->taken;
        left -= int(n);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(left == 0 && queue->empty());
  for (const auto& some : items) {
    for (const Item& item : some) CHECK(item.taken == 1);
  }
}

TEST(all_that_wait_are_found_however_many) {
  forget_errors();
  for (const int n : {1, 255, 256, 257, 5000}) {
    Gate gate;
    std::vector<Ref<Event>> events;
    for (int i = 0; i < n; ++i) {
      events.push_back(submit([] {}, {gate.event}));
      submit([] {}, {ready_event()});  // waits for nothing
    }
    CHECK(cancel_pending() >= n);
    for (const auto& event : events) CHECK(event->done() && event->failed());
  }
  synchronize();
  CHECK(cancel_pending() == 0);
}

TEST(tasks_come_and_go_while_somebody_cancels) {
  forget_errors();
  Threads two(2);
  constexpr int kThreads = 3, kRounds = 4000 / kSlow;
  std::atomic<bool> stop{false};
  std::atomic<int> well{0}, cancelled{0}, other{0};
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        Gate gate;
        Ref<Event> first = submit([] {}, {gate.event});
        Ref<Event> last = submit([] {}, {first});
        gate.set();
        try {
          last->wait();
          ++well;
        } catch (const CancelledError&) { ++cancelled; } catch (...) {
          ++other;
        }
      }
    });
  }
  std::thread canceller([&] {
    while (!stop) {
      cancel_pending();
      std::this_thread::yield();
    }
  });
  for (auto& thread : threads) thread.join();
  stop = true;
  canceller.join();
  CHECK(well + cancelled == kThreads * kRounds && other == 0);
  CHECK(well > 0 && cancelled > 0);
  synchronize();
}

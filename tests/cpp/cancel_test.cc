// SPDX-License-Identifier: Apache-2.0
// tests/cpp/cancel_test.cc: what is cancelled, when it counts as done, and what still waits;
// stop points; functions called when an event is done.
#include "check.h"

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/hooks.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "scheduler/stream.h"
#include "scheduler_helpers.h"

namespace {

bool is_cancelled(const Ref<Event>& event) {
  if (!event->wait_for(20)) return false;
  try {
    event->wait();
  } catch (const CancelledError&) { return true; } catch (...) {
  }
  return false;
}

void wait_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

}  // namespace

TEST(what_is_cancelled_is_done_at_once_with_all_that_needs_it) {
  Gate gate, other;
  std::atomic<int> ran{0};
  auto first = submit([&] { ++ran; }, {gate.event});
  auto second = submit([&] { ++ran; }, {first, other.event});
  auto join = submit(nullptr, {second, gate.event});
  auto beside = submit([&] { ++ran; }, {gate.event});
  CHECK(cancel(first) && first->done() && second->done() && join->done());
  CHECK(!cancel(first) && !cancel(second) && !beside->done());
  auto late = submit([&] { ++ran; }, {gate.event, join});  // what is cancelled already
  CHECK(late->done());
  for (const auto& event : {first, second, join, late}) CHECK(is_cancelled(event));
  CHECK(pending_tasks() == 1);
  gate.set();
  beside->wait();
  other.set();
  synchronize();
  CHECK(ran == 1);
}

TEST(a_manual_event_that_is_cancelled_ends_the_waits_behind_it) {
  Gate gate;
  auto manual = Ref<ManualEvent>::make();
  auto behind = submit([] {}, {gate.event, manual});
  CHECK(cancel(manual) && behind->done() && is_cancelled(behind));
}

TEST(what_is_cancelled_keeps_its_place_in_the_order) {
  const auto stream = Ref<Stream>::make();
  const auto other = Ref<Stream>::make();
  std::atomic<bool> go{false}, first_done{false}, kept{true};
  stream->submit([&] {
    wait_until(go);
    first_done = true;
  });
  auto cancelled = stream->submit([] {});
  auto third = stream->submit([&] { kept = kept && first_done; });
  CHECK(cancel(cancelled) && cancelled->done() && !cancelled->settled());
  auto fourth = stream->submit([&] { kept = kept && first_done; });
  auto after_it = submit([&] { kept = kept && first_done; }, {},
                         {.after = {&cancelled, 1}});
  other->wait(cancelled);
  auto elsewhere = other->submit([&] { kept = kept && first_done; });
  auto last = stream->submit([] {});
  CHECK(cancel(last));
  CHECK(!stream->query() && !stream->record()->done() && !other->query());
  std::this_thread::sleep_for(5ms);
  CHECK(!third->done() && !fourth->done() && !after_it->done() && !elsewhere->done());
  go = true;
  for (const auto& event : {third, fourth, after_it, elsewhere}) event->wait();
  stream->synchronize();
  CHECK(kept && stream->query() && other->query());
}

TEST(a_deadlock_through_what_is_cancelled_is_found) {
  const auto stream = Ref<Stream>::make();
  Ref<Event> last;
  std::atomic<bool> ready{false};
  auto first = stream->submit([&] {
    wait_until(ready);
    last->wait();
  });
  auto cancelled = stream->submit([] {});
  last = stream->submit([] {});
  cancel(cancelled);
  ready = true;
  CHECK_THROWS(first->wait(), RuntimeError, "would deadlock");
  last->wait();
}

TEST(cancel_pending_leaves_nothing_to_begin) {
  forget_errors();
  Threads two(2);
  const auto stream = Ref<Stream>::make();
  std::atomic<int> ran{0};
  std::atomic<bool> begun{false};
  auto running = stream->submit([&] {
    begun = true;
    for (;;) stop_point();
  });
  wait_until(begun);
  Gate gate;
  std::vector<Ref<Event>> events;
  for (int i = 0; i < 100; ++i) {
    events.push_back(stream->submit([&] { ++ran; }));  // order alone
    events.push_back(submit([&] { ++ran; }, {gate.event}));
    events.push_back(submit([&] { ++ran; }, {events.back()}));
  }
  CHECK(cancel_pending() >= 200);
  const auto start = Clock::now();
  synchronize();  // and no error: what somebody cancelled nobody must see
  CHECK(seconds_since(start) < 2 && ran == 0 && is_cancelled(running));
  for (const auto& event : events) CHECK(event->done() && is_cancelled(event));
  CHECK(cancel_pending() == 0);
  submit([&] { ++ran; })->wait();
  CHECK(ran == 1);
}

TEST(cancel_pending_inside_a_task_spares_it) {
  Gate gate;
  auto victim = submit([] {}, {gate.event});
  bool asked = true;
  submit([&] {
    cancel_pending();
    asked = cancel_requested();
  })->wait();
  CHECK(!asked && is_cancelled(victim));
}

TEST(stop_points_end_a_loop_of_several_threads) {
  forget_errors();
  for (int threads : {1, 2, 4}) {
    Threads some(threads);
    std::atomic<bool> begun{false};
    auto task = submit([&] {
      parallel_for(0, int64_t{1} << 40, 1, [&](int64_t, int64_t) {
        begun = true;
        std::this_thread::sleep_for(1ms);
      });
    });
    wait_until(begun);
    CHECK(!cancel(task) && is_cancelled(task));
  }
  synchronize();
}

TEST(no_stop_lets_a_loop_run_to_its_end) {
  Threads two(2);
  std::atomic<bool> begun{false};
  std::atomic<int> done{0};
  auto task = submit([&] {
    const NoStop to_the_end;
    parallel_for(0, 200, 1, [&](int64_t begin, int64_t end) {
      begun = true;
      std::this_thread::sleep_for(1ms);
      done += int(end - begin);
    });
  });
  wait_until(begun);
  cancel(task);
  task->wait();
  CHECK(done == 200);
}

namespace {
std::atomic<bool> g_interrupt{false};
}

TEST(an_interrupt_ends_loops_on_the_caller) {
  set_hooks({.check_interrupt = [] {
    if (g_interrupt.exchange(false)) throw IndexError("interrupted");
  }});
  for (int threads : {1, 2}) {
    Threads some(threads);
    for (const bool caller_sleeps : {false, true}) {
      const auto caller = std::this_thread::get_id();
      std::atomic<Clock::rep> sent{0};
      std::thread sender([&] {
        std::this_thread::sleep_for(100ms);
        sent = Clock::now().time_since_epoch().count();
        g_interrupt = true;
      });
      const auto body = [&](int64_t begin, int64_t) {
        const bool own = std::this_thread::get_id() == caller;
        if (threads > 1 && caller_sleeps && own && begin > 0) return;
        StopCounter stop;
        for (int i = 0; i < 3000; ++i) {  // three seconds in one call
          std::this_thread::sleep_for(1ms);
          stop(1 << 20);
        }
      };
      CHECK_THROWS(parallel_for(0, 2, 1, body), IndexError, "interrupted");
      const double late = double(Clock::now().time_since_epoch().count() - sent) * 1e-9;
      CHECK(late < 0.5);
      sender.join();
    }
  }
  set_hooks({});
}

TEST(a_task_that_runs_inside_of_a_wait_has_stop_points_of_its_own) {
  Threads two(2);
  for (const bool in_loop : {true, false}) {
    std::atomic<bool> occupied{false}, go{false}, nested_runs{false};
    Ref<Event> nested;
    auto other = submit([&] {  // the other worker shall not take what is nested
      occupied = true;
      wait_until(go);
    });
    wait_until(occupied);
    const auto submit_and_wait = [&](auto body) {
      nested = submit(body);
      nested->wait_for(HUGE_VAL);
    };
    if (in_loop) {  // one chunk fails while the other's helper runs something else
      const auto caller = std::this_thread::get_id();
      const auto body = [&](int64_t, int64_t) {
        if (std::this_thread::get_id() == caller) {
          wait_until(nested_runs);
          throw ValueError("chunk");
        }
        submit_and_wait([&] {
          nested_runs = true;
          for (int i = 0; i < 50; ++i, std::this_thread::sleep_for(1ms)) stop_point();
        });
      };
      CHECK_THROWS(parallel_for(0, 2, 1, body), ValueError, "chunk");
      CHECK(nested->done() && !nested->failed());
    } else {  // who may not stop waits for what may
      auto outer = submit([&] {
        NoStop to_the_end;
        submit_and_wait([&] {
          nested_runs = true;
          for (int i = 0; i < 5000; ++i, std::this_thread::sleep_for(1ms)) stop_point();
        });
      });
      wait_until(nested_runs);
      cancel(nested);
      outer->wait();
      CHECK(is_cancelled(nested));
    }
    go = true;
    other->wait();
  }
}

TEST(the_error_of_a_loop_is_that_of_its_first_failing_chunk) {
  for (int threads : {2, 4}) {
    Threads some(threads);
    for (int round = 0; round < 1000 / kSlow; ++round) {
      // Chunks of one element; the later one of two that fail often does first.
      const int64_t n = threads * 8, first = 1 + round % (n - 1);
      const std::string expected = str("chunk ", first, "!");
      std::atomic<int64_t> before{0};
      const auto body = [&](int64_t begin, int64_t) {
        if (begin >= first) throw ValueError(str("chunk ", begin, "!"));
        for (int i = 0; i < 50; ++i) stop_point();
        ++before;
      };
      CHECK_THROWS(parallel_for(0, n, 1, body), ValueError, expected.c_str());
      CHECK(before == first);
    }
  }
}

TEST(when_done_calls_once) {
  Gate gate;
  std::atomic<int> calls{0};
  auto task = submit([] {}, {gate.event});
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> alive = token;
  for (int i = 0; i < 3; ++i) task->when_done([&calls, token] { ++calls; });
  token = nullptr;
  CHECK(calls == 0);
  gate.set();
  task->wait();
  while (calls < 3 || !alive.expired()) std::this_thread::yield();
  task->when_done([&] { ++calls; });
  CHECK(calls == 4);

  Gate second;
  auto cancelled = submit([] {}, {second.event});
  auto behind = submit([] {}, {cancelled});
  behind->when_done([&] { ++calls; });
  cancel(cancelled);  // on this thread
  CHECK(calls == 5);
  auto dropped = Ref<ManualEvent>::make();
  dropped->when_done([&] { ++calls; });
  dropped = nullptr;
  CHECK(calls == 6);
}

// A task runs after all that it depends on, in data or order and through cancelled ones, has
// ended; it runs or is cancelled, never both and never neither.
TEST(random_graphs_under_cancelling_threads) {
  forget_errors();
  constexpr size_t kTasks = 60;
  ready_event();  // made once, and kept
  const int64_t live_before = live_count(Live::Events);
  for (int round = 0; round < 300 / kSlow; ++round) {
    std::mt19937 rng(check::seed() + unsigned(round));
    std::vector<Ref<Stream>> streams;
    for (int i = 0; i < 3; ++i) streams.push_back(Ref<Stream>::make());
    std::array<std::set<size_t>, kTasks> before;
    std::array<std::optional<size_t>, 3> last;
    std::array<int, kTasks> began{}, ended{};
    std::atomic<int> clock{0};
    std::vector<Ref<Event>> events(kTasks);
    std::atomic<size_t> made{0};
    std::atomic<bool> stop{false};
    Gate gate;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, own = rng()] {
        std::mt19937 dice(static_cast<unsigned>(own));
        while (!stop) {
          const size_t n = made;
          if (n > 0 && dice() % 4 == 0) cancel(events[dice() % n]);
          if (dice() % 200 == 0) cancel_pending();
          std::this_thread::yield();
        }
      });
    }
    for (size_t i = 0; i < kTasks; ++i) {
      std::vector<Ref<Event>> deps, order;
      const auto comes_after = [&](size_t j) {
        before[i].insert(j);
        before[i].insert(before[j].begin(), before[j].end());
      };
      for (size_t k = rng() % 3; k > 0 && i > 0; --k) {
        const size_t j = rng() % i;
        (rng() % 2 ? deps : order).push_back(events[j]);
        comes_after(j);
      }
      if (rng() % 4 == 0) deps.push_back(gate.event);
      Stream* stream = nullptr;
      if (rng() % 2) {
        const size_t s = rng() % 3;
        stream = streams[s].get();
        if (last[s]) comes_after(*last[s]);
        last[s] = i;
      }
      const auto body = [&, i] {
        began[i] = ++clock;
        std::this_thread::yield();
        ended[i] = ++clock;
      };
      events[i] = submit(body, deps, {.name = "random", .stream = stream, .after = order});
      made = i + 1;
    }
    gate.set();
    stop = true;
    for (auto& thread : threads) thread.join();
    for (size_t i = 0; i < kTasks; ++i) {
      CHECK(is_cancelled(events[i]) == !began[i] && events[i]->done());
      if (!began[i]) continue;
      for (size_t j : before[i]) CHECK(!began[j] || ended[j] < began[i]);
    }
    for (const auto& stream : streams) stream->synchronize();
  }
  synchronize();
  const auto start = Clock::now();
  while (live_count(Live::Events) > live_before && seconds_since(start) < 5) {
    std::this_thread::yield();
  }
  CHECK(live_count(Live::Events) == live_before && pending_tasks() == 0);
}

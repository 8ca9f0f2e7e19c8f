// SPDX-License-Identifier: Apache-2.0
// tests/cpp/scheduler_test.cc: tasks, events, errors, cancelling, waiting.
#include "check.h"

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "base/error.h"
#include "scheduler/hooks.h"
#include "scheduler/runtime.h"
#include "scheduler/stream.h"
#include "scheduler_helpers.h"

TEST(task_runs_and_event_finishes) {
  int value = 0;
  auto event = submit([&] { value = 42; }, {}, {.name = "answer", .call_site = "a.py:1"});
  event->wait();
  CHECK(value == 42 && event->done() && !event->error());
  CHECK(event->name() == "answer" && event->call_site() == "a.py:1");
  CHECK(ready_event()->done());
}

TEST(dependencies_run_first_and_joins_need_no_body) {
  std::atomic<int> sum{0};
  std::vector<Ref<Event>> parts;
  for (int i = 1; i <= 100; ++i) parts.push_back(submit([&sum, i] { sum += i; }));
  parts.push_back(nullptr);
  submit(nullptr, parts)->wait();
  CHECK(sum == 5050);
}

TEST(captures_die_before_the_event_is_done) {
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> weak = token;
  auto event = submit([token = std::move(token)] {});
  event->wait();
  CHECK(weak.expired());
}

TEST(large_and_move_only_bodies) {
  std::array<char, 500> big{};
  big[499] = 7;
  std::atomic<int> seen{0};
  submit([big, &seen, p = std::make_unique<int>(1)] { seen = big[499] + *p; })->wait();
  CHECK(seen == 8);
}

TEST(errors_keep_their_class_and_poison_dependants) {
  auto bad = submit([] { throw IndexError("[take] index 9"); }, {},
                    {.name = "take", .call_site = "train.py:7"});
  bool ran = false;
  auto child = submit([&] { ran = true; }, {bad}, {.name = "child"});
  auto grandchild = submit([&] { ran = true; }, {ready_event(), child});
  CHECK_THROWS(grandchild->wait(), IndexError, "index 9");
  CHECK_THROWS(bad->wait(), IndexError, "index 9");
  CHECK_THROWS(bad->wait(), IndexError, "index 9");  // every time
  CHECK(!ran);
  CHECK(grandchild->error() == bad->error());
  CHECK(grandchild->name() == "take" && grandchild->call_site() == "train.py:7");
  auto late = submit([&] { ran = true; }, {bad});
  CHECK_THROWS(late->wait(), IndexError, "index 9");
  int order_only = 0;
  submit([&] { order_only = 1; }, {}, {.after = std::span(&bad, 1)})->wait();
  CHECK(order_only == 1);
  struct Foreign {};
  auto foreign = submit([] { throw Foreign(); });
  try {
    submit(nullptr, {foreign})->wait();
    CHECK(false);
  } catch (const Foreign&) {}
}

TEST(first_failed_dependency_in_order_wins) {
  for (int round = 0; round < 50; ++round) {
    Gate gate;
    auto one = submit([] { throw ValueError("one"); }, {gate.event});
    auto two = submit([] { throw TypeError("two"); }, {gate.event});
    auto join = submit(nullptr, {one, two});
    gate.set();
    CHECK_THROWS(join->wait(), ValueError, "one");
  }
}

TEST(ten_thousand_random_graphs_equal_the_sequential_result) {
  std::mt19937 random(check::seed());
  const int graphs = 10000 / kSlow;
  for (int graph = 0; graph < graphs; ++graph) {
    const int n = 2 + static_cast<int>(random() % 14);
    std::vector<uint64_t> expected(n), got(n, 0);
    std::vector<Ref<Event>> events;
    std::vector<Ref<Stream>> streams;
    for (int s = 0; s < 3; ++s) streams.push_back(Ref<Stream>::make());
    for (int i = 0; i < n; ++i) {
      std::set<int> inputs;
      for (int k = 0; i > 0 && k < static_cast<int>(random() % 7); ++k) {
        inputs.insert(static_cast<int>(random() % i));
      }
      auto combine = [i, inputs](const std::vector<uint64_t>& values) {
        uint64_t x = 1 + i;
        for (int j : inputs) x = x * 6364136223846793005ull + values[j];
        return x;
      };
      expected[i] = combine(expected);
      std::vector<Ref<Event>> deps;
      for (int j : inputs) deps.push_back(events[j]);
      const auto pick = random() % 4;  // 3: no stream
      Stream* stream = pick < 3 ? streams[pick].get() : nullptr;
      events.push_back(
          submit([&got, i, combine] { got[i] = combine(got); }, deps, {.stream = stream}));
    }
    for (const auto& event : events) event->wait();
    if (got != expected) {
      CHECK(got == expected);
      return;
    }
  }
}

TEST(long_chains_need_no_stack) {
  for (bool fails : {false, true}) {
    Gate gate;
    int count = 0;
    Ref<Event> last = submit(
        [fails] {
          if (fails) throw ValueError("root");
        },
        {gate.event});
    for (int i = 0; i < 100000 / kSlow; ++i) last = submit([&] { ++count; }, {last});
    gate.set();
    if (fails) {
      CHECK_THROWS(last->wait(), ValueError, "root");
      CHECK(count == 0);
    } else {
      last->wait();
      CHECK(count == 100000 / kSlow);
    }
  }
}

TEST(a_chain_does_not_starve_an_independent_task) {
  Threads one(1);
  Gate gate;
  std::atomic<int> count{0};
  std::atomic<int> at{-1};
  Ref<Event> last = gate.event;
  for (int i = 0; i < 10000; ++i) last = submit([&] { ++count; }, {last});
  auto independent = submit([&] { at = count.load(); }, {gate.event});
  gate.set();
  last->wait();
  independent->wait();
  CHECK(at < 9000);
}

TEST(cancel_what_has_not_begun_and_its_dependants) {
  forget_errors();
  Gate gate;
  std::atomic<int> ran{0};
  auto first = submit([&] { ++ran; }, {gate.event});
  auto second = submit([&] { ++ran; }, {first});
  auto third = submit([&] { ++ran; }, {second}, {.name = "third"});
  auto other = submit([&] { ++ran; }, {first});
  CHECK(cancel(second) && !cancel(second));  // done is done
  gate.set();
  CHECK_THROWS(third->wait(), CancelledError, "cancelled");
  CHECK_THROWS(second->wait(), CancelledError, "cancelled");
  other->wait();
  CHECK(ran == 2 && !cancel(first) && !cancel(second));
  synchronize();  // a cancelled task is no error that somebody must see

  Threads one(1);
  std::atomic<bool> go{false}, saw{false}, begun{false};
  auto running = submit([&] {
    begun = true;
    while (!go) std::this_thread::yield();
    saw = cancel_requested();
  });
  while (!begun) std::this_thread::yield();
  auto queued = submit([&] { ++ran; });
  CHECK(cancel(queued));
  CHECK_THROWS(queued->wait(), CancelledError, "cancelled");  // at once: it was ready
  CHECK(!cancel(running));
  go = true;
  running->wait();
  CHECK(saw && ran == 2);
}

TEST(cancelling_while_running_is_safe) {
  forget_errors();
  for (int round = 0; round < 20000 / kSlow; ++round) {
    std::atomic<int> ran{0};
    auto root = submit([] {});
    auto a = submit([&] { ran += 1; }, {root});
    auto b = submit([&] { ran += 2; }, {a});
    const bool stopped = cancel(a);
    try {
      b->wait();
      CHECK(!stopped && ran == 3);
    } catch (const CancelledError&) { CHECK(stopped && ran == 0); }
  }
  synchronize();
}

template <class... T>
constexpr bool kStayWhereTheyAre =
    ((!std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
      !std::is_move_constructible_v<T> && !std::is_move_assignable_v<T>) &&
     ...);

TEST(what_has_an_identity_cannot_be_copied) {
  static_assert(
      kStayWhereTheyAre<Event, ManualEvent, Stream, StreamGuard, BlockingRegion,
                        pkg::detail::Pool, pkg::detail::Task, pkg::detail::Parking,
                        pkg::detail::Ledger, pkg::detail::Runtime>);
  // A handle is something else: both mean the same stream.
  const auto stream = Ref<Stream>::make();
  const Ref<Stream> same = stream;
  CHECK(same.get() == stream.get());
}

TEST(manual_events) {
  auto manual = Ref<ManualEvent>::make("download");
  auto use = submit([] {}, {manual});
  CHECK(!use->wait_for(0.01));
  manual->set_error(std::make_exception_ptr(RuntimeError("no network")));
  CHECK_THROWS(use->wait(), RuntimeError, "no network");
  CHECK(use->name() == "download");
  CHECK_THROWS(manual->set(), RuntimeError, "done already");
  auto dropped = Ref<ManualEvent>::make("dropped");
  auto orphan = submit([] {}, {dropped});
  dropped = nullptr;
  CHECK_THROWS(orphan->wait(), CancelledError, "dropped");
}

TEST(waiting_inside_tasks) {
  for (int threads : {1, 2}) {
    Threads some(threads);
    // A task that submits a task and waits for it, forty deep.
    struct Deep {
      static int run(int n) {
        if (n == 0) return 0;
        int below = 0;
        submit([&] { below = run(n - 1); })->wait();
        return below + 1;
      }
    };
    int depth = 0;
    submit([&] { depth = Deep::run(40); })->wait();
    CHECK(depth == 40);
    // Waiting for something that is not ready: another worker takes our place.
    auto gate = Ref<ManualEvent>::make();
    auto end = submit([] {}, {gate});
    auto waiter = submit([&] { end->wait(); });
    auto opener = submit([&] { gate->set(); });
    waiter->wait();
    opener->wait();
  }
  Ref<Event> self;
  auto hold = Ref<ManualEvent>::make();
  self = submit([&] { self->wait(); }, {hold}, {.name = "ouroboros"});
  hold->set();
  CHECK_THROWS(self->wait(), RuntimeError, "would deadlock: task 'ouroboros'");
  auto sync = submit([] { synchronize(); }, {}, {.name = "impatient"});
  CHECK_THROWS(sync->wait(), RuntimeError, "inside task 'impatient'");
}

TEST(synchronize_waits_for_what_was_before) {
  forget_errors();
  std::atomic<bool> stop{false};
  std::thread feeder([&] {
    while (!stop) {
      auto event = submit([] { std::this_thread::sleep_for(1ms); });
      submit([] { std::this_thread::sleep_for(1ms); });
      event->wait();
    }
  });
  for (int i = 0; i < 50; ++i) {
    auto mine = submit([] {});
    synchronize();
    CHECK(mine->done());
  }
  stop = true;
  feeder.join();
  auto bad = submit([] { throw KeyError("first"); });
  CHECK_THROWS(synchronize(), KeyError, "first");
  synchronize();
  auto seen = submit([] { throw KeyError("seen"); });
  CHECK_THROWS(seen->wait(), KeyError, "seen");
  synchronize();
}

static std::atomic<int> g_depth{0}, g_entered{0};
static std::atomic<bool> g_interrupt{false};

TEST(waits_leave_the_lock_and_can_be_interrupted) {
  forget_errors();
  Hooks hooks;
  hooks.enter_blocking = []() -> void* {
    ++g_entered;
    ++g_depth;
    return &g_depth;
  };
  hooks.leave_blocking = [](void* token) {
    if (token) --g_depth;
  };
  hooks.check_interrupt = [] {
    if (g_interrupt) throw RuntimeError("KeyboardInterrupt");
  };
  hooks.mark_site = []() -> uint64_t { return 3; };
  hooks.site_text = [](uint64_t site) { return "notebook.py:" + std::to_string(site); };
  set_hooks(hooks);
  {
    Gate gate;
    auto task = submit([] {}, {gate.event});
    CHECK(task->call_site() == "notebook.py:3");
    std::thread ctrl_c([] {
      std::this_thread::sleep_for(30ms);
      g_interrupt = true;
    });
    const auto start = Clock::now();
    CHECK_THROWS(task->wait(), RuntimeError, "KeyboardInterrupt");
    CHECK(seconds_since(start) < 0.5);
    CHECK_THROWS(synchronize(), RuntimeError, "KeyboardInterrupt");
    ctrl_c.join();
    g_interrupt = false;
    CHECK(g_entered > 0 && g_depth == 0 && !task->done());
    gate.set();
    task->wait();
  }
  set_hooks({});
  std::string inner;
  submit([&] { inner = submit([] {})->call_site(); }, {}, {.call_site = "outer.py:1"})
      ->wait();
  CHECK(inner == "outer.py:1");
}

// It runs code of the language, which collects garbage, which ends a block of a stream.
TEST(who_is_asked_for_the_call_site_may_leave_the_stream) {
  set_hooks({.mark_site = []() -> uint64_t {
    set_current_stream(nullptr);
    return 0;
  }});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    set_current_stream(Ref<Stream>::make());
    submit([&] { ++ran; })->wait();
    CHECK(!current_stream());
  }
  set_hooks({});
  CHECK(ran == 100);
}

TEST(inline_execution_gives_the_same_results) {
  forget_errors();
  set_async(false);
  const auto before = scheduler_stats().inline_runs;
  const auto here = std::this_thread::get_id();
  auto stream = Ref<Stream>::make();
  StreamGuard guard(stream);
  auto event = submit([&] {
    CHECK(std::this_thread::get_id() == here);
    submit([] {})->wait();  // must not queue up behind its own parent
  });
  CHECK(event->done());
  auto bad = submit([] { throw TypeError("inline"); });
  auto poisoned = submit([] {}, {bad});
  CHECK_THROWS(poisoned->wait(), TypeError, "inline");
  CHECK(scheduler_stats().inline_runs == before + 3);
  set_async(true);
}

TEST(statistics_add_up) {
  forget_errors();
  const auto before = scheduler_stats();
  Gate gate;
  auto good = submit([] {});
  auto bad = submit([] { throw ValueError("x"); });
  auto poisoned = submit([] {}, {bad});
  auto cancelled = submit([] {}, {gate.event});
  CHECK(cancel(cancelled) && pending_tasks() >= 1);
  gate.set();
  CHECK_THROWS(synchronize(), ValueError, "x");
  const auto now = scheduler_stats();
  CHECK(now.submitted - before.submitted == 4);
  CHECK(now.completed - before.completed == 1);
  CHECK(now.failed - before.failed == 2);
  CHECK(now.cancelled - before.cancelled == 1);
  CHECK(pending_tasks() == 0);
}

// SPDX-License-Identifier: Apache-2.0
// tests/cpp/scheduler_life_test.cc: fork, shutdown, exit and environment variables.
// What ends the scheduler or needs another environment runs in a child of this program
// (PKG_CHILD=name).
#define CHECK_NO_MAIN
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "autograd/engine.h"
#include "autograd/hooks.h"
#include "base/error.h"
#include "ops/functions.h"
#include "scheduler/parallel.h"
#include "scheduler/stream.h"
#include "scheduler_helpers.h"
#include "tensor/generator.h"

namespace {

std::map<std::string, int (*)()>& children() {
  static std::map<std::string, int (*)()> all;
  return all;
}
struct RegisterChild {
  RegisterChild(const char* name, int (*run)()) { children()[name] = run; }
};
#define CHILD(name)                                               \
  int child_##name();                                             \
  const RegisterChild register_child_##name(#name, child_##name); \
  int child_##name()

std::string g_program;
int run_child(const std::string& name, const std::string& environment = "") {
  const std::string command = environment + " PKG_CHILD=" + name + " timeout 60 " +
                              g_program;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

}  // namespace

TEST(fork_gives_the_child_a_fresh_pool) {
  if (!children_have_threads()) return;
  forget_errors();
  for (bool idle : {true, false}) {
    auto stream = Ref<Stream>::make();
    std::atomic<int> ran{0};
    if (!idle) {
      for (int i = 0; i < 2000; ++i) stream->submit([&] { ++ran; });
    }
    Gate gate;
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      int value = 0;
      stream->submit([&] { value = 1; })->wait();
      std::atomic<int64_t> sum{0};
      parallel_for(0, 1000, 10, [&](int64_t b, int64_t e) { sum += e - b; });
      synchronize();
      const bool good = value == 1 && sum == 1000 && pending_tasks() == 0;
      _exit(good && quiesce(1) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    stream->synchronize();
    CHECK(idle || ran == 2000);
  }
}

TEST(fork_with_unfinished_work_is_an_error_in_the_child_not_a_hang) {
  Gate gate;
  auto pending = submit([] {}, {gate.event}, {.name = "pending"});
  const auto start = Clock::now();
  const pid_t child = fork();  // waits its five seconds
  if (child == 0) {
    alarm(20);
    int good = 0;
    try {
      pending->wait();
    } catch (const RuntimeError&) { ++good; }
    try {
      submit([] {}, {pending})->wait();
    } catch (const RuntimeError&) { ++good; }
    submit([&] { ++good; })->wait();
    _exit(good == 3 ? 0 : 1);
  }
  CHECK(seconds_since(start) < 8);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  gate.set();
  pending->wait();
}

// Each on two threads, which hold its locks most of the time, while a third forks.
TEST(fork_while_other_threads_hold_locks) {
  if (!children_have_threads()) return;
#ifdef __SANITIZE_ADDRESS__
  std::puts("  skipped: fork leaves locks of AddressSanitizer as they are");
  return;
#endif
  const Tensor big = empty(Shape{300, 300}, DType::Float32);
  const Tensor leaf = empty(Shape{3}, DType::Float32);
  set_requires_grad(leaf, true);
  const Tensor result = ops::mul(leaf, leaf);
  const std::function<void()> works[] = {
      [] {
        void* large = allocate(1 << 20);
        deallocate(large, 1 << 20);
        std::vector<void*> small(600);
        for (void*& block : small) block = allocate(64);
        for (void* block : small) deallocate(block, 64);
      },
      [] { std::thread([] { deallocate(allocate(64), 64); }).join(); },
      [] { reserve_random(1); },
      [] { Dispatcher::get().find("add"); },
      [&] {
        big.storage().add_reader(ready_event());
        big.storage().writable();
      },
      [&] { leaf.grad(); },
      [&] {
        register_hook(leaf, [](const Tensor& grad) { return grad; }).remove();
        retain_grad(result);
      },
      [&] { backward({ops::mul(leaf, leaf)}, {leaf}); },
      [&] { (void)ops::mm(big, big); },
  };
  for (const auto& work : works) {
    work();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        while (!stop) work();
      });
    }
    int bad = 0;
    for (int i = 0; i < 300 / kSlow && bad == 0; ++i) {
      quiesce(0);  // or fork would wait for them
      const pid_t child = fork();
      if (child == 0) {
        alarm(10);
        work();
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      bad += status != 0;
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    if (bad) check::fail(__FILE__, int(&work - works), "the child of a fork hung");
  }
}

CHILD(shutdown_drains) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) submit([&] { ++ran; });
  if (!shutdown(10) || ran != 1000 || scheduler_stats().threads != 0) return 1;
  if (!shutdown(10)) return 2;
  auto late = submit([&] { ++ran; });
  if (!late->done() || ran != 1001) return 3;
  std::atomic<int64_t> sum{0};
  parallel_for(0, 1000, 10, [&](int64_t b, int64_t e) { sum += e - b; });
  auto gate = Ref<ManualEvent>::make();
  auto waiting = submit([&] { ++ran; }, {gate});
  gate->set();
  waiting->wait();
  synchronize();
  return ran == 1002 && sum == 1000 ? 0 : 4;
}

CHILD(shutdown_is_bounded) {
  set_num_threads(1);
  static std::atomic<bool> go{false}, begun{false};
  auto running = submit([] {
    begun = true;
    while (!go) std::this_thread::sleep_for(1ms);
  });
  while (!begun) std::this_thread::yield();
  auto queued = submit([] {});
  const auto start = Clock::now();
  if (shutdown(0.2) || seconds_since(start) > 2) return 1;
  try {
    queued->wait();
    return 2;
  } catch (const CancelledError&) {}
  go = true;
  running->wait();
  return shutdown(5) ? 0 : 3;
}

CHILD(exit_with_pending_work) {
  for (int i = 0; i < 100; ++i) submit([] { std::this_thread::sleep_for(20ms); });
  return 7;
}

CHILD(exit_inside_a_task) {
  submit([] { std::exit(9); });
  std::this_thread::sleep_for(10s);
  return 1;
}

CHILD(async_off) {
  if (async_enabled()) return 1;
  int value = 0;
  auto event = submit([&] { value = 1; });
  if (!event->done() || value != 1 || scheduler_stats().inline_runs != 1) return 2;
  auto bad = submit([] { throw ValueError("kept"); });
  try {
    submit([] {}, {bad})->wait();
  } catch (const ValueError&) { return 0; }
  return 3;
}

CHILD(threads_from_environment) { return num_threads() == 3 ? 0 : 1; }

CHILD(bad_environment) {
  try {
    num_threads();
  } catch (const ValueError& error) {
    return std::strstr(error.what(), "PKG_NUM_THREADS") ? 0 : 1;
  }
  return 2;
}

TEST(shutdown_and_exit) {
  CHECK(run_child("shutdown_drains") == 0);
  CHECK(run_child("shutdown_is_bounded") == 0);
  const auto start = Clock::now();
  CHECK(run_child("exit_with_pending_work") == 7);
  CHECK(run_child("exit_inside_a_task") == 9);
  CHECK(seconds_since(start) < 8);
}

TEST(environment_variables) {
  CHECK(run_child("async_off", "PKG_ASYNC=0") == 0);
  CHECK(run_child("threads_from_environment", "PKG_NUM_THREADS=3") == 0);
  CHECK(run_child("bad_environment", "PKG_NUM_THREADS=many") == 0);
}

// Fork is tested on purpose with threads alive.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

int main(int argc, char** argv) {
  g_program = argv[0];
  if (const char* name = std::getenv("PKG_CHILD")) { return children().at(name)(); }
  return check::run_all(argc, argv);
}

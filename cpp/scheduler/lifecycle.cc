// SPDX-License-Identifier: Apache-2.0
// scheduler/lifecycle.cc: birth, fork and end of the runtime (Note [One runtime per
// process] in runtime.h).
#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "scheduler/block_cache.h"
#include "scheduler/cpu_count.h"
#include "scheduler/fork_locks.h"
#include "scheduler/hooks.h"
#include "scheduler/loop.h"
#include "scheduler/runtime.h"

namespace pkg {
namespace detail {

constinit std::atomic<Runtime*> g_runtime{nullptr};
constinit std::atomic<uint32_t> g_generation{0};

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kForkSeconds = 5;
constexpr auto kExitWait = std::chrono::seconds(2);
// A fork that follows a quiesce() this soon has waited already.
constexpr auto kQuiesceHolds = std::chrono::seconds(1);
thread_local Clock::time_point t_quiesced{};
// shutdown() has waited in vain, or Ctrl-C ended it: nobody waits again at exit.
constinit std::atomic<bool> g_waited_enough{false};

constinit std::array<std::span<std::mutex>, kForkLocks> g_fork_locks;
constinit std::mutex g_making;
constinit std::array<std::mutex, 16> g_stream_locks;
constinit std::array<std::mutex, 64> g_object_locks;
const HeldOverFork g_held[] = {{ForkLock::Runtime, g_making},
                               {ForkLock::Streams, g_stream_locks},
                               {ForkLock::Objects, g_object_locks}};

SpinLock& task_memory_lock() {
  return BlockCache<sizeof(Task), alignof(Task)>::shared_lock();
}

// Plain polling: inside fork() the interpreter lock may not be given up, and no hook
// may run.  A fork from inside a task cannot wait for that task.
void wait_idle_before_fork() {
  if (!runtime_if_made() || running_task()) return;
  if (Clock::now() - t_quiesced < kQuiesceHolds) return;
  const auto deadline = Clock::now() + std::chrono::duration<double>(kForkSeconds);
  while (pending_tasks() != 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void before_fork() {
  wait_idle_before_fork();
  for (const auto& locks : g_fork_locks) {
    for (std::mutex& lock : locks) lock.lock();
  }
  // The innermost of all.
  task_memory_lock().lock();
  LoopMemory::shared_lock().lock();
}

void unlock_after_fork() {
  LoopMemory::shared_lock().unlock();
  task_memory_lock().unlock();
  for (const auto& locks : g_fork_locks) {
    for (std::mutex& lock : locks) lock.unlock();
  }
}

void after_fork_in_child() {
  if (Runtime* parent = g_runtime.load()) {
    g_generation.fetch_add(1);
    g_runtime.store(new Runtime(parent->pool.size(), parent));
  }
  unlock_after_fork();
}

// What has not begun stays undone: at this point running foreign code is not safe.
void at_exit() {
  Runtime* rt = g_runtime.load();
  if (!rt) return;
  set_hooks({});
  rt->closing = true;
  const auto wait = g_waited_enough ? Clock::duration::zero() : kExitWait;
  rt->pool.stop(Pool::Stop::kFreeze, Clock::now() + wait);
}

// While the library is loaded: also who never had a task has locks.
[[maybe_unused]] const int g_registered = pthread_atfork(before_fork, unlock_after_fork,
                                                         after_fork_in_child);

}  // namespace

Runtime& make_runtime() {
  std::lock_guard lock(g_making);
  if (Runtime* made = g_runtime.load()) return *made;
  auto* made = new Runtime(default_num_threads(), nullptr);
  std::atexit(at_exit);
  g_runtime.store(made, std::memory_order_release);
  return *made;
}

std::mutex& stream_lock(const void* stream) noexcept {
  return g_stream_locks[(reinterpret_cast<uintptr_t>(stream) >> 6) % g_stream_locks.size()];
}

std::mutex& object_lock(const void* object) noexcept {
  return g_object_locks[(reinterpret_cast<uintptr_t>(object) >> 6) % g_object_locks.size()];
}

HeldOverFork::HeldOverFork(ForkLock order, std::span<std::mutex> locks) noexcept {
  g_fork_locks[size_t(order)] = locks;
}

}  // namespace detail

bool wait_idle(double seconds) {
  auto* rt = detail::runtime_if_made();
  if (!rt) return true;
  return !detail::running_task() && rt->ledger.wait_all(rt->parking, seconds);
}

bool quiesce(double seconds) {
  struct Note {  // also when Ctrl-C ends the wait: a fork shall not begin another
    ~Note() { detail::t_quiesced = detail::Clock::now(); }
  } note;
  return wait_idle(seconds);
}

bool shutdown(double seconds) {
  using detail::Pool;
  if (const auto* running = detail::running_task()) {
    detail::raise<RuntimeError>("[shutdown] would deadlock: called inside task '",
                                running->task->name(), "'.");
  }
  auto& rt = detail::runtime();
  rt.closing = true;
  detail::g_waited_enough = true;  // until the wait has ended by itself
  const bool finished = rt.ledger.wait_all(rt.parking, seconds > 0 ? seconds : 0);
  if (finished) detail::g_waited_enough = false;
  else cancel_pending();
  BlockingRegion region;
  const auto grace = std::chrono::milliseconds(finished ? 1000 : 0);
  rt.pool.stop(finished ? Pool::Stop::kRunRest : Pool::Stop::kDropRest,
               detail::Clock::now() + grace);
  return finished;
}

}  // namespace pkg

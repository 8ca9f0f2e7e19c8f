// SPDX-License-Identifier: Apache-2.0
// scheduler/runtime.h: the state of the scheduler that a process has once: pool,
// accounts, parking places, unseen errors.  Internal.
//
// Note [One runtime per process]
// A Runtime is made on first use and never destroyed, so that threads which still run
// during exit find it intact.  After fork() the child makes a new one: the threads of
// the old are gone, its locks may be held by nobody (fork_locks.h).  Unfinished events of
// the parent are `lost` in the child: waiting for them is an error, not a hang.
//
// Note [Nothing dies under a lock]
// An error or a task may own objects of the embedding language, whose destruction takes
// that language's lock, while a thread that holds it may want ours.  So references are
// moved out from under a lock before they are dropped.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "scheduler/ledger.h"
#include "scheduler/pool.h"
#include "scheduler/roster.h"
#include "scheduler/spin.h"
#include "scheduler/task.h"

namespace pkg::detail {

/// Where threads sleep until an address is woken.
class Parking {
 public:
  /// Waits until `ready()`; false after `seconds` (negative: no limit).  Spins first,
  /// then sleeps in a BlockingRegion and polls the interrupt hook.  `waiters` is what
  /// the waking side reads to skip the wake: it must change the state before.
  bool wait(const void* key, std::atomic<uint32_t>& waiters, FunctionRef<bool()> ready,
            double seconds);
  void wake(const void* key);

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::condition_variable changed;
  };
  Shard& shard(const void* key);
  std::array<Shard, 16> shards_;
};

/// Errors that nobody has seen yet, oldest first.
class FailureLog {
 public:
  void add(Ref<Failure> failure);
  Ref<Failure> take_first_unseen();
  /// The same for the first failure of a stream.
  void add(const Stream* stream, Ref<Failure> failure);
  Ref<Failure> take(const Stream* stream);
  /// What somebody has seen is not kept: an error may keep its reader alive.
  void forget(const Failure* failure);

 private:
  std::mutex mutex_;
  std::vector<Ref<Failure>> failures_;
  std::unordered_map<const Stream*, Ref<Failure>> of_streams_;
};

struct Runtime {
  Runtime(int threads, Runtime* parent) : parent(parent), pool(threads) {
    if (parent) cancel_round = parent->cancel_round.load();
  }

  Runtime* const parent;  // of the process that forked; kept, never used
  Pool pool;
  Parking parking;
  Ledger ledger;
  Roster roster;
  FailureLog failures;
  WaitsInTasks waits;
  std::atomic<int64_t> failed{0};
  std::atomic<int64_t> cancelled{0};
  std::atomic<int64_t> inline_runs{0};
  std::atomic<uint32_t> cancel_round{0};  // how often all that is pending was cancelled
  std::atomic<bool> closing{false};       // shutdown began: submits run on the caller
};

extern constinit std::atomic<Runtime*> g_runtime;
Runtime& make_runtime();

/// The runtime of this process, or null before first use.
inline Runtime* runtime_if_made() noexcept {
  return g_runtime.load(std::memory_order_acquire);
}
/// The same, made on first use.
inline Runtime& runtime() {
  Runtime* made = runtime_if_made();
  return made ? *made : make_runtime();
}

/// What orders the tasks of a stream (Note [Locks and fork] in fork_locks.h).
std::mutex& stream_lock(const void* stream) noexcept;

}  // namespace pkg::detail

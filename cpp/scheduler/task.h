// SPDX-License-Identifier: Apache-2.0
// scheduler/task.h: one unit of work inside the scheduler: the event, the body, the
// count of unfinished dependencies.  Internal; `submit` makes tasks.
//
// Note [Life of a task]
// Waiting -> Queued -> Running, or Waiting -> Dropped, or Queued -> Dropped; whoever
// makes the last transition finishes the event.  One reference stands for "in flight":
// from submit until the task has finished, or, if it was queued, until it was popped.
// Who pops a task of which there is no other reference has it alone: nobody can cancel it
// or wait for it, so that its transitions need no atomic instruction.
// A task that is poisoned while waiting finishes when all it waits for has finished: which
// error it has shall not be a matter of luck.  A task that is cancelled while waiting, and
// what takes values from it, is done at once.  It is settled only when all it waits for
// has finished, since others rely on it for their order: until then it stays in flight.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/thread_local.h"
#include "scheduler/pool.h"
#include "scheduler/roster.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream.h"
#include "scheduler/trace.h"

namespace pkg {
class AskedToStop;
}

namespace pkg::detail {

Ref<Failure> cancelled_failure(const char* name, const std::string& call_site);

/// One dependency of a task, hung into the list of the event it waits for.
struct Link {
  Link* next = nullptr;
  Task* owner = nullptr;  // null: a Watcher
  bool data = false;      // a failure is passed on
  Ref<Failure> failure;   // set before the owner's count goes down
};

/// A function to call when an event is done.
struct Watcher final : Link, Runnable {
  explicit Watcher(UniqueFunction fn) : fn(std::move(fn)) {}
  void run(bool) noexcept override {
    fn();
    delete this;
  }
  void drop() noexcept override { delete this; }
  UniqueFunction fn;
};

/// What finished events set free.
struct Released {
  bool empty() const {
    return runnable.empty() && settled.empty() && cancelled.empty() && watchers.empty();
  }
  RunList runnable;
  RunList settled;    // finish without running
  RunList cancelled;  // the same before their turn; each with a reference
  RunList watchers;
};

class Task;

/// Who waits inside of which task; see WaitInTask.
struct WaitsInTasks {
  std::mutex mutex;
  std::unordered_multimap<const Event*, const Task*> waiters;  // by what they wait for
};

// The members that every task uses come first, in two cache lines.
class alignas(64) Task final : public Event, public Runnable {
 public:
  /// With two references: one for whoever submits it, one for "in flight".
  Task(UniqueFunction&& fn, const char* name, Ref<CallSite> call_site, Stream* stream);
  const Ref<CallSite>& site() const noexcept { return call_site_; }

  /// Makes room for so many dependencies.  Call once, before the task is visible: memory
  /// may end here.
  void reserve_links(size_t most);
  /// Call once: hangs the task into its dependencies and launches it.
  void launch(std::span<const Ref<Event>> deps, std::span<const Ref<Event>> after,
              Released& released);
  /// Instead, of a task with a body that waits for nothing: whoever calls it queues it.
  void be_queued() noexcept { state_.store(State::kQueued, std::memory_order_relaxed); }
  /// Instead of launching it: it was never submitted.
  void abandon() noexcept;
  void dependency_done(Link& link, const Ref<Failure>& failure, Released& released);
  /// In a handler: it has failed with the exception.
  void fail(bool stopped);
  /// Makes it done if it still waits: what it needs was cancelled.
  void cancel_waiting(const Ref<Failure>& failure, Released& released) noexcept;

  void run(bool on_pool_stack) noexcept override;
  void drop() noexcept override;
  /// Cancels it if it has not begun, as request_cancel(), but leaves the rest to
  /// finish_cancelled(), so that nothing which that sets free begins meanwhile.
  enum class Stopped : uint8_t { kNo, kWaiting, kQueued };
  Stopped stop_beginning() noexcept;
  void finish_cancelled(Stopped how) noexcept;
  /// Runs it on this thread if nobody else has begun to.
  bool try_run_here() override;
  bool request_cancel() override;
  /// Whether `event` waits, directly or through others, for this task, which is running.
  /// Called with the lock of `waits`, which has the waits inside of tasks.
  bool holds_up(const Event* event, const WaitsInTasks& waits) const;
  bool cancel_requested() const {
    return cancel_asked_.load(std::memory_order_relaxed) || stale();
  }
  /// Submitted before the last cancel_pending(), and not spared.
  bool stale() const noexcept;
  void spare() noexcept;

  void dispose() noexcept override { delete this; }
  static void* operator new(std::size_t size);
  static void operator delete(void* memory) noexcept;

 private:
  friend void finish_released(Released& released, bool at_end) noexcept;
  enum class State : uint8_t { kWaiting, kQueued, kRunning, kDropped };

  void attach(const Ref<Event>& event, bool data, Ref<Failure>& cancelled);
  ~Task() override;
  void wait_for_all(std::span<const Ref<Event>> deps, std::span<const Ref<Event>> after,
                    const Ref<Event>& tail, std::span<const Ref<Event>> waits,
                    Released& released);
  void on_ready(Released& released);
  void finish_early(Released& released) noexcept;
  void leave_roster() noexcept;
  void settle(Released& released) noexcept;
  bool become(State from, State to) noexcept {
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }
  bool begin() noexcept;  // Queued -> Running
  // `popped`: the caller has the reference of "in flight".  Who has but one of his own may
  // share it with other threads.
  void execute(bool at_end, bool popped) noexcept;
  [[gnu::noinline]] void call_apart();
  void complete(Released& released, bool popped) noexcept;
  void note_task(trace::Span& span) const;

  static constexpr int kInlineLinks = 2;
  Ref<Stream> stream_;
  std::atomic<int> remaining_{0};
  std::atomic<State> state_{State::kWaiting};
  std::atomic<bool> cancel_asked_{false};
  // Of a task cancelled while waiting: whether the first of two has come, the end of all it
  // waits for and that of finish_early().  The second one settles it.
  std::atomic<bool> half_settled_{false};
  const bool has_body_;
  std::atomic<bool> inherits_{false};  // an input failed, and not by being cancelled
  uint8_t epoch_;
  std::atomic<uint32_t> cancel_round_;  // of the runtime, when it was submitted
  UniqueFunction fn_;
  int ready_count_ = 0;  // dependencies that were done at launch
  int link_count_ = 0;
  // Written to in tasks with dependencies; links are made as they are used.
  Roster::Place* place_ = nullptr;  // of a task that has to wait
  Link* links_in_use_ = nullptr;
  union {
    std::array<Link, kInlineLinks> inline_links_;
    std::unique_ptr<Link[]> more_links_;
  };
};

/// Finishes the cancelled and settled tasks, which may add more, queues the runnable ones
/// and calls the watchers.
void finish_released(Released& released, bool at_end) noexcept;

class Loop;

/// What the stop points of a thread obey besides its task.
struct StopScope {
  int forbidden = 0;                   // how many NoStop live
  Loop* helped = nullptr;              // the loop whose chunks this thread runs for another
  int64_t chunk = 0;                   // the one it runs
  bool stopped = false;                // a stop point has thrown in it, for all chunks
  const AskedToStop* asked = nullptr;  // the innermost
};
PKG_FAST_TLS extern thread_local constinit StopScope t_stop_scope;
/// Throws when work or a wait of this thread shall end; of workers who began it is asked,
/// not the interrupt hook.
void ask_whether_to_stop();

/// The tasks this thread is inside of, innermost first.  A task that begins inside of
/// a wait has nothing to do with who waits, so it has a scope of its own.
struct RunningTask {
  explicit RunningTask(Task* task) noexcept;
  ~RunningTask();
  RunningTask(const RunningTask&) = delete;
  Task* task;
  RunningTask* outer;
  const StopScope outside;
  bool stopped = false;  // a stop point has thrown in it
};
RunningTask* running_task() noexcept;

/// Notes, while it lives, that the tasks this thread is inside of wait for `event`.
/// RuntimeError when `event` waits for one of them: that would never end.
class WaitInTask {
 public:
  explicit WaitInTask(const Event* event);
  ~WaitInTask();
  WaitInTask(const WaitInTask&) = delete;

 private:
  const Event* const event_;
  RunningTask* const inside_;
};

}  // namespace pkg::detail

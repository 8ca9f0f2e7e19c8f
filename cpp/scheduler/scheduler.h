// SPDX-License-Identifier: Apache-2.0
// scheduler/scheduler.h: submit work with dependencies, wait for it, cancel it, and the
// life of the scheduler.  Called by the Async fallback, streams and the binding.  It
// runs closures and knows neither tensors nor Python.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "scheduler/event.h"
#include "scheduler/unique_function.h"

namespace pkg {

class Stream;

/// What accompanies a unit of work.
struct TaskOptions {
  const char* name = "task";  ///< the op, a string that lives as long as the process
  /// "file:line", perhaps ""; nothing: submission_site().
  std::optional<std::string> call_site = {};
  Stream* stream = nullptr;  ///< null: the current stream of the thread, if any
  /// Order only: run after these, whether they went well or not.
  std::span<const Ref<Event>> after = {};
};

/// Where what this thread submits now comes from: the hook says it, or it is where the
/// task that runs was submitted.  The hook may run foreign code, destructors of the
/// embedding language: who holds a lock asks before.
std::string submission_site();

/// Runs `fn` on a worker once all dependencies are done and returns its event at once.
/// If one of `deps` failed, `fn` is not run and the event carries the same exception.
/// An empty `fn` makes a pure join.  Null dependencies are skipped.
Ref<Event> submit(UniqueFunction fn, std::span<const Ref<Event>> deps = {},
                  TaskOptions options = {});
inline Ref<Event> submit(UniqueFunction fn, std::initializer_list<Ref<Event>> deps,
                         TaskOptions options = {}) {
  return submit(std::move(fn), std::span(deps.begin(), deps.size()), std::move(options));
}

/// Cancels work that has not begun: it and what takes values from it are done at once, with
/// CancelledError; what only comes after it keeps its place in the order.  Returns whether
/// this call prevented it.  Work that has begun is asked to stop: kernels do at their next
/// stop point, other work sees `cancel_requested()`.
bool cancel(const Ref<Event>& event);

/// Cancels all work that is pending, but for the tasks this thread is inside of.  Returns
/// how many tasks were kept from beginning.
int64_t cancel_pending();

/// Whether somebody asked to cancel the task this thread runs.
bool cancel_requested() noexcept;

/// An event that is done already.
Ref<Event> ready_event();

/// Waits for all work submitted before the call and throws the first error that nobody
/// has seen; the other unseen ones are forgotten (their events keep them).
void synchronize();

/// Work submitted and not finished.
int64_t pending_tasks();

/// Whether `submit` schedules (true) or runs the work on the caller when its
/// dependencies are done (false; the start value when PKG_ASYNC=0).
bool async_enabled() noexcept;
void set_async(bool enabled) noexcept;

/// Size of the worker pool: PKG_NUM_THREADS, or the CPUs this process may use.
int num_threads();
/// Whether this thread is one of the workers.
bool on_worker() noexcept;
void set_num_threads(int n);

/// Runs out the pending work for at most `seconds`, then ends the workers; what has not
/// begun by then is cancelled.  Later submits run on the caller.  Returns whether
/// everything was finished.  May be called again.
bool shutdown(double seconds = 10.0);

/// Waits up to `seconds` until nothing runs, so that fork() loses no work.  fork()
/// itself waits too, but cannot give up the interpreter lock: a binding calls this
/// before.
bool quiesce(double seconds = 5.0);

/// Waits up to `seconds` for the work submitted before the call and returns whether it is
/// done; false at once inside of a task.
bool wait_idle(double seconds);

struct SchedulerStats {
  int threads;  ///< workers alive
  int64_t submitted;
  int64_t completed;    ///< finished well
  int64_t failed;       ///< with an error, own or inherited
  int64_t cancelled;    ///< and their dependants
  int64_t inline_runs;  ///< run on the submitting thread
};
SchedulerStats scheduler_stats();

}  // namespace pkg

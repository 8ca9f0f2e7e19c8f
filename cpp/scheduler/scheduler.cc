// SPDX-License-Identifier: Apache-2.0
// scheduler/scheduler.cc: the public functions over tasks, ledger and pool.
#include "scheduler/scheduler.h"

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "scheduler/hooks.h"
#include "scheduler/runtime.h"

namespace pkg {

using detail::Released;
using detail::Runtime;
using detail::runtime;
using detail::Task;

namespace {

bool async_from_environment() {
  const char* text = std::getenv("PKG_ASYNC");
  const std::string_view value = text ? text : "";
  return value != "0" && value != "off" && value != "false";
}

std::atomic<bool> g_async{async_from_environment()};

}  // namespace

// Work submitted inside a task, where the language has no frame, counts as submitted
// where the task was.
std::string submission_site() {
  std::string site = call_site();
  if (site.empty()) {
    if (const auto* running = detail::running_task()) {
      site = running->task->Event::call_site();
    }
  }
  return site;
}

// What the options say, or submission_site(), which here is shared and not copied.
static Ref<detail::CallSite> site_of(TaskOptions& options) {
  if (options.call_site) return detail::CallSite::of(std::move(*options.call_site));
  if (const uint64_t site = mark_site()) {
    if (auto here = detail::CallSite::of(site_text(site))) return here;
  }
  const auto* running = detail::running_task();
  return running ? running->task->site() : nullptr;
}

Ref<Event> submit(UniqueFunction fn, std::span<const Ref<Event>> deps,
                  TaskOptions options) {
  auto site = site_of(options);  // may run foreign code, which leaves streams and forks
  Runtime& rt = runtime();
  Stream* const stream = options.stream ? options.stream : detail::t_current_stream;
  const bool waits = stream || !deps.empty() || !options.after.empty() || !fn;
  auto* task = new Task(std::move(fn), options.name, std::move(site), stream);
  Ref<Task> event = Ref<Task>::adopt(task);  // the other reference is "in flight"
  const bool scheduled = async_enabled() && !rt.closing.load();
  if (scheduled && !waits) {
    task->be_queued();
    rt.pool.push(task);
    return event;
  }
  Released released;
  try {
    task->launch(deps, options.after, released);
  } catch (...) {  // no memory
    task->abandon();
    throw;
  }
  if (!scheduled && !released.runnable.empty()) {
    rt.inline_runs.fetch_add(1, std::memory_order_relaxed);
    released.runnable.pop()->run(false);
  } else {
    detail::finish_released(released, false);
  }
  return event;
}

bool cancel(const Ref<Event>& event) {
  PKG_CHECK(event, ValueError, "[cancel] expected an event, got null");
  return !event->done() && event->request_cancel();
}

int64_t cancel_pending() {
  Runtime* rt = detail::runtime_if_made();
  if (!rt) return 0;
  rt->cancel_round.fetch_add(1);  // from here on nothing that was pending begins
  for (const auto* running = detail::running_task(); running; running = running->outer) {
    running->task->spare();
  }
  // What waits and what is queued shall be done now, and not when it is its turn.  No list
  // takes memory once the first task is stopped, so that none is lost.
  std::vector<Ref<Task>> waiting = rt->roster.all();
  std::vector<std::pair<Ref<Task>, Task::Stopped>> stopped;
  stopped.reserve(waiting.size());
  for (Ref<Task>& task : waiting) {
    const auto how = task->stale() ? task->stop_beginning() : Task::Stopped::kNo;
    if (how != Task::Stopped::kNo) stopped.emplace_back(std::move(task), how);
  }
  detail::RunList queued = rt->pool.take_queued(), ended, others;
  while (detail::Runnable* item = queued.pop()) {
    Task* task = dynamic_cast<Task*>(item);
    if (!task || !task->stale()) others.push(item);
    else if (task->stop_beginning() != Task::Stopped::kNo) ended.push(item);
    else task->release();  // the queue's reference
  }
  rt->pool.push_all(others, false);
  for (auto& [task, how] : stopped) task->finish_cancelled(how);
  auto count = static_cast<int64_t>(stopped.size());
  for (; detail::Runnable* item = ended.pop(); ++count) {
    Ref<Task>::adopt(static_cast<Task*>(item))->finish_cancelled(Task::Stopped::kQueued);
  }
  return count;
}

bool cancel_requested() noexcept {
  const auto* running = detail::running_task();
  return running && running->task->cancel_requested();
}

Ref<Event> ready_event() {
  static constinit std::atomic<ManualEvent*> first{nullptr};
  ManualEvent* event = first.load(std::memory_order_acquire);
  if (!event) {
    auto made = Ref<ManualEvent>::make("ready");
    made->set();
    if (first.compare_exchange_strong(event, made.get())) event = made.detach();
  }
  return Ref<Event>::share(event);
}

void synchronize() {
  if (const auto* running = detail::running_task()) {
    detail::raise<RuntimeError>("[synchronize] would deadlock: called inside task '",
                                running->task->name(), "'. Wait outside of tasks.");
  }
  Runtime& rt = runtime();
  {
    std::optional<trace::Timed> timed;
    if (trace::wanted(trace::Kind::Wait)) {
      timed.emplace(trace::Kind::Wait).span.name = "synchronize";
    }
    rt.ledger.wait_all(rt.parking, -1);
  }
  if (auto failure = rt.failures.take_first_unseen()) {
    std::rethrow_exception(failure->error);
  }
}

int64_t pending_tasks() {
  const auto& ledger = runtime().ledger;
  const int64_t finished = ledger.finished();  // first, or the difference may be < 0
  return ledger.submitted() - finished;
}

bool async_enabled() noexcept { return g_async.load(std::memory_order_relaxed); }

void set_async(bool enabled) noexcept { g_async.store(enabled); }

bool on_worker() noexcept { return detail::Pool::on_worker(); }

int num_threads() { return runtime().pool.size(); }

void set_num_threads(int n) {
  PKG_CHECK(n >= 1 && n <= detail::Pool::kMaxThreads, ValueError,
            "[set_num_threads] expected 1 to ", detail::Pool::kMaxThreads, ", got ", n);
  runtime().pool.resize(n);
}

SchedulerStats scheduler_stats() {
  const Runtime& rt = runtime();
  SchedulerStats stats{};
  stats.failed = rt.failed.load();
  stats.cancelled = rt.cancelled.load();
  stats.completed = rt.ledger.finished() - stats.failed - stats.cancelled;
  stats.submitted = rt.ledger.submitted();
  stats.inline_runs = rt.inline_runs.load();
  stats.threads = rt.pool.live();
  return stats;
}

}  // namespace pkg

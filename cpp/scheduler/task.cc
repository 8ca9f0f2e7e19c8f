// SPDX-License-Identifier: Apache-2.0
// scheduler/task.cc: how a task becomes ready, runs, fails, is cancelled.
#include "scheduler/task.h"

#include <cxxabi.h>
#include <unistd.h>

#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "scheduler/block_cache.h"
#include "scheduler/runtime.h"

namespace pkg::detail {
namespace {

thread_local RunningTask* t_running = nullptr;

// The language runtime ends a thread of ours by force when it is finalised under it.
// Unwinding through a noexcept worker would abort the process, so stay here instead.
[[noreturn]] void sleep_forever() {
  for (;;) pause();
}

}  // namespace

RunningTask* running_task() noexcept { return t_running; }

RunningTask::RunningTask(Task* task) noexcept : task(task), outer(t_running) {
  t_running = this;
}

RunningTask::~RunningTask() { t_running = outer; }

Ref<Failure> cancelled_failure(const char* name, const std::string& call_site) {
  return Ref<Failure>::make(
      std::make_exception_ptr(CancelledError(str("[", name, "] was cancelled"))), name,
      call_site, true);
}

static Ref<Failure> lost_failure(const char* name, const std::string& call_site) {
  return Ref<Failure>::make(
      std::make_exception_ptr(RuntimeError(str(
          "[", name, "] was not finished when the process forked; it ends in the ",
          "parent only."))),
      name, call_site);
}

Task::Task(UniqueFunction fn, const char* name, std::string call_site,
           Ref<Stream> stream)
    : Event(name, std::move(call_site)),
      fn_(std::move(fn)),
      stream_(std::move(stream)),
      epoch_(runtime().ledger.enter()) {}

void* Task::operator new(std::size_t size) {
  PKG_ASSERT(size == sizeof(Task));
  return BlockCache<sizeof(Task)>::take();
}

void Task::operator delete(void* memory) noexcept {
  BlockCache<sizeof(Task)>::give(memory);
}

void Task::launch(std::span<const Ref<Event>> deps, std::span<const Ref<Event>> after,
                  const Ref<Event>& tail, std::span<const Ref<Event>> waits,
                  Released& released) {
  const auto most = deps.size() + after.size() + waits.size() + 1;
  if (most > kInlineLinks) {
    more_links_ = std::make_unique<Link[]>(most);
    links_in_use_ = more_links_.get();
  }
  retain();  // in flight
  // One more than there can be, so that nobody starts the task before we are through.
  const int guard = static_cast<int>(most) + 1;
  remaining_.store(guard, std::memory_order_relaxed);
  for (const auto& event : deps) attach(event, true);
  for (const auto& event : after) attach(event, false);
  for (const auto& event : waits) attach(event, false);
  attach(tail, false);
  const int settled = guard - (link_count_ - ready_count_);
  if (remaining_.fetch_sub(settled, std::memory_order_acq_rel) == settled) {
    on_ready(released);
  }
}

void Task::attach(const Ref<Event>& event, bool data) {
  if (!event) return;
  Link& link = links_in_use_[link_count_++];
  link.owner = this;
  link.data = data;
  if (event->lost()) {
    ++ready_count_;
    if (data) link.failure = lost_failure(event->name_, event->call_site_);
  } else if (!event->add_link(&link)) {
    ++ready_count_;
    if (data) link.failure = event->failure_;
  }
}

void Task::dependency_done(Link& link, const Ref<Failure>& failure,
                           Released& released) {
  if (failure && link.data) link.failure = failure;
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) on_ready(released);
}

void Task::on_ready(Released& released) {
  Ref<Failure> inherited;  // of the first failed dependency in the order given
  for (int i = 0; i < link_count_; ++i) {
    if (!inherited) inherited = links_in_use_[i].failure;
    links_in_use_[i].failure = nullptr;
  }
  const bool runs = fn_ && !inherited;
  if (!become(State::kWaiting, runs ? State::kQueued : State::kDropped)) {
    failure_ = cancelled_failure(name_, call_site_);
    released.settled.push(this);
  } else if (runs) {
    released.runnable.push(this);
  } else {
    failure_ = std::move(inherited);
    released.settled.push(this);
  }
}

void Task::run(bool on_pool_stack) noexcept {
  if (become(State::kQueued, State::kRunning)) execute(on_pool_stack);
  release();
}

bool Task::try_run_here() {
  if (!become(State::kQueued, State::kRunning)) return false;
  execute(false);  // whoever pops it from the queue drops the reference
  return true;
}

void Task::execute(bool at_end) noexcept {
  {
    RunningTask here(this);
    StreamGuard no_stream(nullptr);  // what it submits does not queue up behind itself
    try {
      fn_();
    } catch (const abi::__forced_unwind&) {
      sleep_forever();
    } catch (...) {
      failure_ = Ref<Failure>::make(std::current_exception(), name_, call_site_);
      runtime().failures.add(failure_);
    }
  }
  Released released;
  complete(released);
  finish_released(released, at_end);
}

// The captures die before anybody hears that the work is done: who waited may rely on
// their memory being free.
void Task::complete(Released& released) noexcept {
  fn_.reset();
  Runtime& rt = runtime();
  const bool ours = generation_ == fork_generation();
  if (failure_) {
    if (stream_ && !failure_->cancelled) {
      stream_->noted_ = true;
      rt.failures.add(stream_.get(), failure_);
    }
    if (ours) (failure_->cancelled ? rt.cancelled : rt.failed).fetch_add(1);
  }
  Ref<Stream> stream = std::move(stream_);
  close(released);
  // A failed task would keep its error, and that perhaps the stream.
  if (stream) stream->forget(this);
  stream = nullptr;  // before anybody hears that all is done
  if (ours) rt.ledger.leave(epoch_, rt.parking);
}

void finish_released(Released& released, bool at_end) noexcept {
  while (Runnable* item = released.settled.pop()) {
    Task* task = static_cast<Task*>(item);
    task->complete(released);
    task->release();
  }
  if (!released.runnable.empty()) runtime().pool.push_all(released.runnable, at_end);
}

// While this task runs, what depends on it cannot finish: those tasks stay alive, and
// their lists of dependants only grow.
bool Task::holds_up(const Event* event, const WaitsInTasks& waits) const {
  std::vector<const Task*> todo{this};
  std::unordered_set<const Task*> seen{this};
  while (!todo.empty()) {
    const Task* task = todo.back();
    todo.pop_back();
    const auto visit = [&](const Task* waiter) {
      if (seen.insert(waiter).second) todo.push_back(waiter);
      return waiter == event;
    };
    const Link* link = task->links_.load(std::memory_order_acquire);
    for (; link && link != kClosed(); link = link->next) {
      if (visit(link->owner)) return true;
    }
    const auto [first, last] = waits.waiters.equal_range(task);
    for (auto entry = first; entry != last; ++entry) {
      if (visit(entry->second)) return true;
    }
  }
  return false;
}

WaitInTask::WaitInTask(const Event* event) : event_(event), inside_(running_task()) {
  if (!inside_) return;
  WaitsInTasks& waits = runtime().waits;
  std::lock_guard lock(waits.mutex);
  for (const RunningTask* running = inside_; running; running = running->outer) {
    const Task& task = *running->task;
    PKG_CHECK(&task != event, RuntimeError, "[wait] would deadlock: task '",
              event->name(), "' waits for itself (submitted at '", event->call_site(),
              "').");
    PKG_CHECK(!task.holds_up(event, waits), RuntimeError, "[wait] would deadlock: task '",
              task.name(), "' waits for task '", event->name(),
              "', which waits for it (submitted at '", task.call_site(), "' and '",
              event->call_site(), "').");
  }
  for (const RunningTask* running = inside_; running; running = running->outer) {
    waits.waiters.emplace(event, running->task);
  }
}

WaitInTask::~WaitInTask() {
  if (!inside_) return;
  WaitsInTasks& waits = runtime().waits;
  std::lock_guard lock(waits.mutex);
  for (const RunningTask* running = inside_; running; running = running->outer) {
    const auto [first, last] = waits.waiters.equal_range(event_);
    for (auto entry = first; entry != last; ++entry) {
      if (entry->second != running->task) continue;
      waits.waiters.erase(entry);
      break;
    }
  }
}

void Failure::note_seen() noexcept {
  if (!seen.exchange(true)) runtime().failures.forget(this);
}

void Task::drop() noexcept {
  request_cancel();
  release();
}

bool Task::request_cancel() {
  cancel_asked_.store(true, std::memory_order_relaxed);
  if (become(State::kWaiting, State::kDropped)) return true;
  if (become(State::kQueued, State::kDropped)) {
    failure_ = cancelled_failure(name_, call_site_);
    Released released;
    complete(released);
    finish_released(released, false);
    return true;
  }
  return state_.load(std::memory_order_acquire) == State::kDropped && !done();
}

}  // namespace pkg::detail

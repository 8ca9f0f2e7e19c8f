// SPDX-License-Identifier: Apache-2.0
// scheduler/task.cc: how a task becomes ready, runs, fails, is cancelled.
#include "scheduler/task.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/block_cache.h"
#include "scheduler/runtime.h"
#include "scheduler/trace.h"

namespace pkg::detail {
namespace {

PKG_FAST_TLS thread_local constinit RunningTask* t_running = nullptr;

// The language runtime ends a thread of ours by force when it is finalised under it.
// Unwinding through a noexcept worker would abort the process, so stay here instead.
[[noreturn]] void sleep_forever() {
  for (;;) pause();
}

}  // namespace

RunningTask* running_task() noexcept { return t_running; }

RunningTask::RunningTask(Task* task) noexcept
    : task(task), outer(t_running), outside(std::exchange(t_stop_scope, {})) {
  t_running = this;
}

RunningTask::~RunningTask() {
  t_running = outer;
  t_stop_scope = outside;
}

Ref<Failure> cancelled_failure(const char* name, const std::string& call_site) {
  return Ref<Failure>::make(
      std::make_exception_ptr(CancelledError(str("[", name, "] was cancelled"))), name,
      call_site, true);
}

static Ref<Failure> lost_failure(const char* name, const std::string& call_site) {
  return Ref<Failure>::make(
      std::make_exception_ptr(RuntimeError(
          str("[", name, "] was not finished when the process forked; it ends in the ",
              "parent only."))),
      name, call_site);
}

Task::Task(UniqueFunction&& fn, const char* name, Ref<CallSite> call_site, Stream* stream)
    : Event(name, std::move(call_site), 2),
      stream_(Ref<Stream>::share(stream)),
      has_body_(fn),
      epoch_(runtime().ledger.enter()),
      cancel_round_(runtime().cancel_round.load(std::memory_order_relaxed)),
      fn_(std::move(fn)) {}

Task::~Task() {
  if (!links_in_use_) return;
  if (links_in_use_ == inline_links_.data()) inline_links_.~array();
  else more_links_.~unique_ptr();
}

bool Task::stale() const noexcept {
  return cancel_round_.load(std::memory_order_relaxed) !=
         runtime().cancel_round.load(std::memory_order_relaxed);
}

void Task::spare() noexcept { cancel_round_.store(runtime().cancel_round.load()); }

void* Task::operator new(std::size_t size) {
  PKG_ASSERT(size == sizeof(Task));
  return BlockCache<sizeof(Task), alignof(Task)>::take();
}

void Task::operator delete(void* memory) noexcept {
  BlockCache<sizeof(Task), alignof(Task)>::give(memory);
}

void Task::launch(std::span<const Ref<Event>> deps, std::span<const Ref<Event>> after,
                  Released& released) {
  Stream::Order order;
  if (stream_) order = stream_->append(this, deps.size() + after.size());
  const auto& [tail, waits] = order;
  const auto there = [](const Ref<Event>& event) { return bool(event); };
  if (!tail && waits.empty() && !std::ranges::any_of(deps, there) &&
      !std::ranges::any_of(after, there)) {
    state_.store(has_body_ ? State::kQueued : State::kDropped, std::memory_order_relaxed);
    (has_body_ ? released.runnable : released.settled).push(this);
  } else {
    wait_for_all(deps, after, tail, waits, released);
  }
}

void Task::reserve_links(size_t most) {
  if (most > kInlineLinks) {
    new (&more_links_) std::unique_ptr<Link[]>(new Link[most]);
    links_in_use_ = more_links_.get();
  } else {
    new (&inline_links_) std::array<Link, kInlineLinks>;
    links_in_use_ = inline_links_.data();
  }
}

void Task::abandon() noexcept {
  runtime().ledger.leave(epoch_, runtime().parking);
  release();  // the reference of "in flight"
}

void Task::wait_for_all(std::span<const Ref<Event>> deps, std::span<const Ref<Event>> after,
                        const Ref<Event>& tail, std::span<const Ref<Event>> waits,
                        Released& released) {
  const auto most = deps.size() + after.size() + waits.size() + 1;
  if (!links_in_use_) reserve_links(most);
  const auto waits_for = [](const Ref<Event>& event) { return event && !event->settled(); };
  if (std::ranges::any_of(deps, waits_for) || std::ranges::any_of(after, waits_for) ||
      std::ranges::any_of(waits, waits_for) || waits_for(tail)) {
    runtime().roster.enter(this, place_);
  }
  // One more than there can be, so that nobody starts the task before we are through.
  const int guard = static_cast<int>(most) + 1;
  remaining_.store(guard, std::memory_order_relaxed);
  Ref<Failure> cancelled;
  for (const auto& event : deps) attach(event, true, cancelled);
  for (const auto& event : after) attach(event, false, cancelled);
  for (const auto& event : waits) attach(event, false, cancelled);
  attach(tail, false, cancelled);
  if (cancelled) cancel_waiting(cancelled, released);
  const int settled = guard - (link_count_ - ready_count_);
  if (remaining_.fetch_sub(settled, std::memory_order_acq_rel) == settled) {
    on_ready(released);
  }
}

void Task::attach(const Ref<Event>& event, bool data, Ref<Failure>& cancelled) {
  if (!event) return;
  Link& link = links_in_use_[link_count_++];
  link.owner = this;
  link.data = data;
  if (event->lost()) {
    ++ready_count_;
    if (data) link.failure = lost_failure(event->name_, event->own_call_site());
  } else if (!event->add_link(&link)) {
    const Ref<Failure> failure = data ? event->failure_ : nullptr;
    if (failure && !failure->cancelled) inherits_.store(true, std::memory_order_relaxed);
    else if (failure && !cancelled) cancelled = failure;
    if (event->add_late_link(&link)) return;
    ++ready_count_;
    link.failure = failure;
  }
}

void Task::dependency_done(Link& link, const Ref<Failure>& failure, Released& released) {
  if (failure && link.data) {
    link.failure = failure;
    if (failure->cancelled) cancel_waiting(failure, released);
    else inherits_.store(true, std::memory_order_relaxed);
  }
  // The last of them need not tell the others.
  if (remaining_.load(std::memory_order_acquire) == 1 ||
      remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    on_ready(released);
  }
}

void Task::on_ready(Released& released) {
  Ref<Failure> inherited;  // of the first failed dependency in the order given
  for (int i = 0; i < link_count_; ++i) {
    if (!inherited) inherited = links_in_use_[i].failure;
    links_in_use_[i].failure = nullptr;
  }
  const bool runs = has_body_ && !inherited;
  const bool our_turn = become(State::kWaiting, runs ? State::kQueued : State::kDropped);
  if (our_turn) leave_roster();
  if (!our_turn) {
    if (half_settled_.exchange(true)) released.settled.push(this);
  } else if (runs) {
    released.runnable.push(this);
  } else {
    failure_ = std::move(inherited);
    released.settled.push(this);
  }
}

void Task::leave_roster() noexcept {
  if (place_ && generation_ == fork_generation()) Roster::leave(this, place_);
}

void Task::cancel_waiting(const Ref<Failure>& failure, Released& released) noexcept {
  if (inherits_.load(std::memory_order_relaxed)) return;  // a real error says more
  if (!become(State::kWaiting, State::kDropped)) return;
  failure_ = failure;
  retain();
  released.cancelled.push(this);
}

void Task::run(bool on_pool_stack) noexcept {
  if (stale()) finish_cancelled(stop_beginning());
  else if (begin()) execute(on_pool_stack, true);
  if (sole_owner()) dispose();
  else release();
}

bool Task::begin() noexcept {
  if (!sole_owner()) return become(State::kQueued, State::kRunning);
  if (state_.load(std::memory_order_relaxed) != State::kQueued) return false;
  state_.store(State::kRunning, std::memory_order_relaxed);
  return true;
}

bool Task::try_run_here() {
  if (stale()) finish_cancelled(stop_beginning());
  if (done()) return true;
  if (!become(State::kQueued, State::kRunning)) return false;
  execute(false, false);  // whoever pops it from the queue drops the reference
  return true;
}

void Task::fail(bool stopped) {
  failure_ = Ref<Failure>::make(std::current_exception(), name_, own_call_site(), stopped);
  if (!stopped) runtime().failures.add(failure_);
}

void Task::note_task(trace::Span& span) const {
  span.name = name_;
  span.line = own_call_site();
  span.stream = stream_ ? stream_->number() : 0;
}

void Task::execute(bool at_end, bool popped) noexcept {
  {
    RunningTask here(this);
    const bool apart = t_current_stream || trace::wanted(trace::Kind::Task);
    try {
      if (apart) call_apart();
      else fn_();
    } catch (const abi::__forced_unwind&) { sleep_forever(); } catch (Error& error) {
      error.settle();
      fail(here.stopped);
    } catch (...) { fail(here.stopped); }
    if (!apart && t_current_stream) set_current_stream(nullptr);  // left open
  }
  Released released;
  complete(released, popped);
  if (!released.empty()) finish_released(released, at_end);
}

// Where somebody traces, or the thread has a stream: what the body submits does not queue up
// behind itself.
void Task::call_apart() {
  StreamGuard no_stream(nullptr);
  std::optional<trace::Timed> timed;
  if (trace::wanted(trace::Kind::Task)) {
    try {
      note_task(timed.emplace(trace::Kind::Task).span);
    } catch (const std::bad_alloc&) {
      // The work is done all the same; its span lacks what there was no memory for.
    }
  }
  fn_();
}

// The captures die before anybody hears that the work is done: who waited may rely on
// their memory being free.
void Task::complete(Released& released, bool popped) noexcept {
  // A body that will not run may hold the last reference to an event: dropped, that is
  // cancelled, and ours shall have told its error before.
  const bool unused = state_.load(std::memory_order_relaxed) == State::kDropped;
  if (!unused) fn_.reset();
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
  close(released, popped && sole_owner());
  if (unused) fn_.reset();
  // A failed task would keep its error, and that perhaps the stream.
  if (stream) stream->forget(this);
  stream = nullptr;  // before anybody hears that all is done
  if (ours) rt.ledger.leave(epoch_, rt.parking);
}

void Task::finish_early(Released& released) noexcept {
  fn_.reset();
  Runtime& rt = runtime();
  const bool ours = generation_ == fork_generation();
  if (ours) {
    rt.cancelled.fetch_add(1);
    leave_roster();
  }
  close_early(released);
  if (ours) rt.ledger.leave(epoch_, rt.parking);
  if (half_settled_.exchange(true)) released.settled.push(this);
}

void Task::settle(Released& released) noexcept {
  if (!done()) return complete(released, true);
  Ref<Stream> stream = std::move(stream_);
  close_late(released);
  if (stream) stream->forget(this);
}

void finish_released(Released& released, bool at_end) noexcept {
  for (;;) {
    if (Runnable* item = released.cancelled.pop()) {
      Task* task = static_cast<Task*>(item);
      task->finish_early(released);
      task->release();
    } else if (Runnable* item = released.settled.pop()) {
      Task* task = static_cast<Task*>(item);
      task->settle(released);
      task->release();
    } else {
      break;
    }
  }
  if (!released.runnable.empty()) runtime().pool.push_all(released.runnable, at_end);
  while (Runnable* watcher = released.watchers.pop()) watcher->run(false);
}

// While this task runs, what depends on it is not settled: those tasks stay alive, and
// their lists of dependants only grow, but for close_early(), which takes the lock.
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
    for (const auto* list : {&task->links_, &task->late_links_}) {
      const Link* link = list->load(std::memory_order_acquire);
      for (; link && link != kClosed(); link = link->next) {
        if (link->owner && visit(link->owner)) return true;
      }
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
    PKG_CHECK(&task != event, RuntimeError, "[wait] would deadlock: task '", event->name(),
              "' waits for itself (submitted at '", event->call_site(), "').");
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

Task::Stopped Task::stop_beginning() noexcept {
  cancel_asked_.store(true, std::memory_order_relaxed);
  if (become(State::kWaiting, State::kDropped)) return Stopped::kWaiting;
  return become(State::kQueued, State::kDropped) ? Stopped::kQueued : Stopped::kNo;
}

void Task::finish_cancelled(Stopped how) noexcept {
  if (how == Stopped::kNo) return;
  failure_ = cancelled_failure(name_, own_call_site());
  Released released;
  if (how == Stopped::kWaiting) finish_early(released);
  else complete(released, false);
  finish_released(released, false);
}

bool Task::request_cancel() {
  const Stopped how = stop_beginning();
  finish_cancelled(how);
  return how != Stopped::kNo;
}

}  // namespace pkg::detail

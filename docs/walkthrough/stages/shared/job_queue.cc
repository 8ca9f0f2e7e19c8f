// SPDX-License-Identifier: Apache-2.0
#include "shared/job_queue.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "scheduler/hooks.h"
#include "scheduler/scheduler.h"
#include "shared/device.h"
#include "shared/wait.h"

namespace stages {

using EventRef = pkg::Ref<pkg::Event>;
using Deps = std::span<const EventRef>;

bool Job::done() const { return event_->done(); }
bool Job::cancel() const { return pkg::cancel(event_); }
std::string Job::call_site() const { return event_->call_site(); }
void Job::result(std::optional<double> timeout) const {
  if (!wait_for(*event_, timeout)) throw Timeout("[result] is not finished");
  event_->wait();
}

// One job: its event once there is one, who submits it till then, and whether it has begun.
struct JobQueue::Entry {
  EventRef event;        // these two under the queue's mutex
  bool refused = false;  // submit() raised
  std::atomic<bool> started{false};
  const std::thread::id submitter = std::this_thread::get_id();

  bool settled() const { return event || refused; }
  bool finished() const { return refused || (event && event->done()); }
  // Whether this thread is in submit(), as a job that runs there at once is.
  bool being_submitted_here() const {
    return !settled() && submitter == std::this_thread::get_id();
  }
};

JobQueue::JobQueue(bool ordered, std::optional<int64_t> limit, const std::string& policy)
    : stream_(ordered ? pkg::Ref<pkg::Stream>::make() : pkg::Ref<pkg::Stream>()),
      limit_(limit),
      policy_(policy) {
  if (policy != "block" && policy != "raise" && policy != "drop-oldest") {
    throw std::invalid_argument(
        "[JobQueue] expected 'block', 'raise' or 'drop-oldest', got '" + policy +
        "' (policy).");
  }
  if (limit && *limit < 1) {
    throw std::invalid_argument("[JobQueue] expected 1 or more, got " +
                                std::to_string(*limit) + " (limit).");
  }
}

Job JobQueue::submit(std::function<void()> work) {
  return Job(schedule(std::move(work), {}, 0));
}

EventRef JobQueue::schedule(pkg::UniqueFunction work, Deps deps, double seconds) {
  const auto entry = std::make_shared<Entry>();
  while (!enter(entry)) make_room();
  try {
    EventRef event = push(entry, std::move(work), deps, seconds);
    settle(*entry, event);
    return event;
  } catch (...) {
    settle(*entry, {});
    throw;
  }
}

EventRef JobQueue::push(const std::shared_ptr<Entry>& entry, pkg::UniqueFunction work,
                        Deps deps, double seconds) {
  const auto submit = [&](pkg::UniqueFunction step, Deps inputs) {
    pkg::TaskOptions options{.name = "job"};
    return stream_ ? stream_->submit(std::move(step), inputs, std::move(options))
                   : pkg::submit(std::move(step), inputs, std::move(options));
  };
  if (seconds <= 0) {
    return submit(
        [entry, work = std::move(work)]() mutable {
          entry->started = true;
          work();
        },
        deps);
  }
  // The first step is the only owner of the device's event: if it never runs, because an
  // input failed or was cancelled, the event is dropped and the second step with it.
  auto on_device = pkg::Ref<pkg::ManualEvent>::make();
  const EventRef second_inputs[] = {submit(
                                        [entry, seconds, on_device] {
                                          entry->started = true;
                                          finish_after(seconds, on_device);
                                        },
                                        deps),
                                    on_device};
  on_device = {};
  try {
    return submit(std::move(work), second_inputs);
  } catch (...) {
    pkg::cancel(second_inputs[0]);
    throw;
  }
}

// Takes the job in if there is room.
bool JobQueue::enter(const std::shared_ptr<Entry>& entry) {
  Entries finished;  // die after the lock is given back
  std::lock_guard lock(mutex_);
  if (closed_) throw QueueClosed("[submit] expected an open queue, got a closed one.");
  if (limit_ || entries_.size() >= purge_at_) {
    forget_finished(finished);
    purge_at_ = std::max<size_t>(64, 2 * entries_.size());
  }
  if (!limit_ || int64_t(entries_.size()) < *limit_) {
    entries_.push_back(entry);
    return true;
  }
  if (policy_ == "raise") {
    throw QueueFull("[submit] expected fewer than " + std::to_string(*limit_) +
                    " pending jobs, got " + std::to_string(entries_.size()) +
                    " (limit=" + std::to_string(*limit_) + ").");
  }
  return false;
}

void JobQueue::settle(Entry& entry, EventRef event) {
  {
    std::lock_guard lock(mutex_);
    entry.refused = !event;
    entry.event = std::move(event);
  }
  changed_.notify_all();
}

// Drops a job that waits, or waits for the oldest to finish.
void JobQueue::make_room() {
  const Entries pending = submitted();
  const auto waiting = std::ranges::find_if(
      pending, [](const auto& entry) { return !entry->started.load(); });
  if (policy_ == "drop-oldest" && waiting != pending.end()) {
    pkg::cancel((*waiting)->event);
    return;
  }
  if (!pending.empty()) {
    wait_for(*pending.front()->event);
    return;
  }
  Entries all = snapshot();
  std::lock_guard lock(mutex_);
  if (std::ranges::any_of(all, [](auto& each) { return each->being_submitted_here(); })) {
    throw std::runtime_error("[submit] would deadlock: called inside a pending job.");
  }
}

void JobQueue::forget_finished(Entries& finished) {
  const auto first = std::stable_partition(
      entries_.begin(), entries_.end(), [](const auto& each) { return !each->finished(); });
  finished.assign(std::move_iterator(first), std::move_iterator(entries_.end()));
  entries_.erase(first, entries_.end());
}

// The pending jobs; the finished ones are forgotten.
JobQueue::Entries JobQueue::snapshot() {
  Entries finished;  // die after the lock is given back
  std::lock_guard lock(mutex_);
  forget_finished(finished);
  return entries_;
}

// The same, once other threads have got the events of what they submit.
JobQueue::Entries JobQueue::submitted() {
  Entries pending = snapshot();
  pkg::BlockingRegion region;  // who submits may need the interpreter
  std::unique_lock lock(mutex_);
  std::erase_if(pending, [](const auto& each) { return each->being_submitted_here(); });
  changed_.wait(lock, [&] {
    return std::ranges::all_of(pending, [](auto& each) { return each->settled(); });
  });
  std::erase_if(pending, [](const auto& each) { return each->refused; });
  return pending;
}

int64_t JobQueue::queue_size() { return stats().first; }
int64_t JobQueue::pending() { return int64_t(snapshot().size()); }
std::pair<int64_t, int64_t> JobQueue::stats() {
  const Entries pending = snapshot();
  const int64_t running = std::ranges::count_if(
      pending, [](const auto& entry) { return entry->started.load(); });
  return {int64_t(pending.size()) - running, running};
}

void JobQueue::flush(bool idle, bool raise_errors) {
  do {
    const Entries pending = submitted();
    // The last first: one sleep, not one for each.
    for (auto entry = pending.rbegin(); entry != pending.rend(); ++entry) {
      wait_for(*(*entry)->event);
    }
    for (const auto& entry : pending) {
      if (raise_errors && entry->event->failed()) entry->event->wait();
    }
  } while (idle && !submitted().empty());
}

void JobQueue::close(const std::string& policy) {
  if (policy != "drain" && policy != "cancel") {
    throw std::invalid_argument("[close] expected 'drain' or 'cancel', got '" + policy +
                                "' (policy).");
  }
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  const Entries pending = policy == "cancel" ? submitted() : Entries();
  for (auto entry = pending.rbegin(); entry != pending.rend(); ++entry) {
    if (!(*entry)->started) pkg::cancel((*entry)->event);
  }
  flush();
}

}  // namespace stages

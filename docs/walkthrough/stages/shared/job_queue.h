// SPDX-License-Identifier: Apache-2.0
// shared/job_queue.h: the articles' TaskQueue and ThreadPool over the core's scheduler.  It
// has no thread and no counter of its own: what is pending is told by the events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifndef SWIG
#include <condition_variable>
#include <mutex>
#include <span>

#include "scheduler/event.h"
#include "scheduler/stream.h"
#endif

namespace stages {

#ifndef SWIG  // which need not know them: %exceptions does
/// A job was submitted after close().
class QueueClosed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The queue holds `limit` jobs, and its policy is 'raise'.
class QueueFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Waiting took longer than it was to.
class Timeout : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
#endif

/// Work that was submitted.
class Job {
 public:
  /// Whether it has finished, well or not.
  bool done() const;
  /// Cancels it and what depends on it; False if it has begun.
  bool cancel() const;
  /// Waits for it and raises its error.
  void result(std::optional<double> timeout = std::nullopt) const;
  /// Where it was submitted.
  std::string call_site() const;

  explicit Job(pkg::Ref<pkg::Event> event) : event_(std::move(event)) {}
#ifndef SWIG
  const pkg::Ref<pkg::Event>& event() const { return event_; }

 private:
  pkg::Ref<pkg::Event> event_;
#endif
};

/// Jobs in order of submission (`ordered`) or as their inputs are ready.
///
/// limit: most jobs pending at a time; what happens beyond it says `policy`: 'block'
/// (submit waits), 'raise' (QueueFull) or 'drop-oldest' (cancels one that waits).
class JobQueue {
 public:
  explicit JobQueue(bool ordered = true, std::optional<int64_t> limit = std::nullopt,
                    const std::string& policy = "block");
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// Runs work(); QueueClosed after close().  When it raises, the job is in no queue.
  Job submit(std::function<void()> work);
  /// Jobs that wait; those that run are not counted.
  int64_t queue_size();
  /// Jobs that wait or run.
  int64_t pending();
  /// (jobs waiting, jobs running) of one moment.
  std::pair<int64_t, int64_t> stats();
  /// Waits for all jobs submitted before the call, by any thread.  idle: until nothing is
  /// pending.  raise_errors: raises the first error among them.  RuntimeError inside a job
  /// of this queue: it would wait for itself.
  void flush(bool idle = false, bool raise_errors = false);
  /// Refuses further jobs; waits for the pending ones, or with 'cancel' drops those that
  /// have not begun.  Without close(), dropping the queue loses no job.
  void close(const std::string& policy = "drain");

#ifndef SWIG
  /// Runs work() after `deps` and `seconds` on the device.
  pkg::Ref<pkg::Event> schedule(pkg::UniqueFunction work,
                                std::span<const pkg::Ref<pkg::Event>> deps, double seconds);

 private:
  struct Entry;
  using Entries = std::vector<std::shared_ptr<Entry>>;

  pkg::Ref<pkg::Event> push(const std::shared_ptr<Entry>& entry, pkg::UniqueFunction work,
                            std::span<const pkg::Ref<pkg::Event>> deps, double seconds);
  bool enter(const std::shared_ptr<Entry>& entry);
  void settle(Entry& entry, pkg::Ref<pkg::Event> event);
  void make_room();
  void forget_finished(Entries& finished);
  Entries snapshot();
  Entries submitted();

  const pkg::Ref<pkg::Stream> stream_;
  const std::optional<int64_t> limit_;
  const std::string policy_;
  // Covers the looks at the list and the entries, but no work, no wait and no destructor.
  std::mutex mutex_;
  std::condition_variable changed_;  // an entry got its event, or was refused
  Entries entries_;
  size_t purge_at_ = 64;
  bool closed_ = false;
#endif
};

}  // namespace stages

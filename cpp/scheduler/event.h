// SPDX-License-Identifier: Apache-2.0
// scheduler/event.h: the completion of one unit of work.  A tensor's storage keeps the
// event that makes it ready; streams, `submit` and the binding wait for events.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "base/intrusive.h"
#include "base/thread_local.h"
#include "scheduler/failure.h"
#include "scheduler/unique_function.h"

namespace pkg {

namespace detail {
struct Link;
struct Released;
class Task;

extern constinit std::atomic<uint32_t> g_generation;
/// How many forks are between the first process and this one.
inline uint32_t fork_generation() noexcept {
  return g_generation.load(std::memory_order_relaxed);
}
}  // namespace detail

/// Finishes exactly once, well or with an error.  All methods may be called from any
/// thread.
class Event : public Intrusive {
 public:
  /// Whether the work has finished, well or not.  Never blocks, never throws.
  bool done() const noexcept { return links_.load(std::memory_order_acquire) == kClosed(); }

  /// Blocks until the work has finished and rethrows its error.  The thread is inside a
  /// BlockingRegion meanwhile and polls the interrupt hook; what the hook throws ends
  /// the wait, and the work goes on.
  void wait();

  /// Waits at most `seconds`, infinity for no limit; returns done().  Does not throw the
  /// error of the work.
  bool wait_for(double seconds);

  /// Whether it is done and nothing comes before it any more.  Work that was cancelled is
  /// done at once, but what comes after it in some order still waits for what came before.
  bool settled() const noexcept;

  /// Calls `fn`, which must not throw, once when the work has finished: on the thread that
  /// finishes it, or on this one if it has.  RuntimeError if it never will.
  void when_done(UniqueFunction fn);

  /// Whether the work has finished with an error.  Asking is not seeing it.
  bool failed() const noexcept { return done() && failure_; }

  /// The error of finished work, null when it went well or has not finished.  Of a
  /// poisoned event it is the very exception of the work that failed first.
  std::exception_ptr error() const;

  /// For a collector of cycles, which asks whoever holds this event: the error if nobody
  /// else keeps the event or the error alive, else null.  Asking is not seeing.
  const std::exception_ptr* error_held_alone() const noexcept;

  /// What failed and the "file:line" that submitted it; of an event that did not fail,
  /// its own.
  std::string name() const;
  std::string call_site() const;

 protected:
  Event(const char* name, Ref<detail::CallSite> call_site, uint32_t references) noexcept
      : Intrusive(references),
        name_(name),
        call_site_(std::move(call_site)),
        generation_(detail::fork_generation()) {
    count_live(Live::Events, 1);
  }
  ~Event() override { count_live(Live::Events, -1); }

  // Marks the event finished, wakes its waiters and collects what it set free.  The
  // caller holds a reference; `unseen`: the only one there is, so that nobody waits on a
  // thread or comes to depend on it meanwhile.
  void close(detail::Released& released, bool unseen = false) noexcept {
    if (unseen && !links_.load(std::memory_order_relaxed)) {
      links_.store(kClosed(), std::memory_order_relaxed);
    } else {
      close_seen(released, unseen);
    }
  }
  // The same for work that was cancelled before its turn: what needs its values is cancelled
  // too, and nothing comes before close_late().
  void close_early(detail::Released& released) noexcept;
  void close_late(detail::Released& released) noexcept;

  // Belongs to a process that forked, and will not finish in this one.
  bool lost() const noexcept;

  Ref<detail::Failure> failure_;  // written before close(), read after done()
  const char* const name_;
  const Ref<detail::CallSite> call_site_;

  /// Of the work itself, whatever failed.
  std::string own_call_site() const { return call_site_ ? call_site_->text : ""; }

 private:
  friend class detail::Task;
  friend bool cancel(const Ref<Event>& event);

  static detail::Link* kClosed() noexcept {
    return reinterpret_cast<detail::Link*>(uintptr_t{1});
  }
  // Runs the work on this thread if it only waits for a worker.
  virtual bool try_run_here() { return false; }
  virtual bool request_cancel() { return false; }

  void close_seen(detail::Released& released, bool unseen) noexcept;
  bool add_link(detail::Link* link) noexcept;
  bool add_late_link(detail::Link* link) noexcept;
  void serve(detail::Link* links, detail::Released& released) noexcept;
  void check_waitable();
  bool block(double seconds);

  const uint32_t generation_;                  // of the process that submitted the work
  std::atomic<uint32_t> waiters_{0};           // threads blocked on this event
  std::atomic<detail::Link*> links_{nullptr};  // who waits for us; kClosed when done
  // Who waits for our turn; open between close_early() and close_late() only.
  std::atomic<detail::Link*> late_links_{kClosed()};
};

/// An event that its owner finishes by hand: the bridge to work done elsewhere.
/// Dropping it unfinished cancels what depends on it.
class ManualEvent final : public Event {
 public:
  explicit ManualEvent(const char* name = "manual_event", std::string call_site = {});
  void set();
  void set_error(std::exception_ptr error);

 private:
  void dispose() noexcept override;
  bool request_cancel() override;
  bool finish(std::exception_ptr error, bool cancelled);

  std::atomic<bool> finished_{false};
};

}  // namespace pkg

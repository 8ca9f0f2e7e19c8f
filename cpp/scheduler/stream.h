// SPDX-License-Identifier: Apache-2.0
// scheduler/stream.h: an order, not a thread.  Work of one stream runs first in, first
// out; streams run beside each other on the one pool.  Any thread may use any stream.
// Work without a stream is ordered by its dependencies alone.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "base/device.h"
#include "base/thread_local.h"
#include "scheduler/scheduler.h"

namespace pkg {

class Stream final : public Intrusive {
 public:
  /// NotImplementedError for another device than the processor.
  explicit Stream(Device device = {});
  ~Stream() override;

  /// Submits work that runs after all earlier work of this stream.  A failure of
  /// earlier work does not stop it; a failure of one of `deps` does.
  Ref<Event> submit(UniqueFunction fn, std::span<const Ref<Event>> deps = {},
                    TaskOptions options = {});

  /// Waits for the work submitted so far; throws the first error nobody has seen.
  void synchronize();

  /// An event that is done when the work submitted so far is; it never fails.
  Ref<Event> record();

  /// Later work of this stream waits for `event`, whether it goes well or not.
  void wait(Ref<Event> event);

  /// Whether all work submitted so far is done.
  bool query() const;

  /// Counts the streams of the process, from 1 on.
  uint64_t number() const { return number_; }

 private:
  friend class detail::Task;

  // What the next task must wait for.
  struct Order {
    Ref<Event> tail;
    std::vector<Ref<Event>> waits;
  };
  // The task becomes the stream's last one; it waits for `others` beside the stream.
  Order append(detail::Task* task, size_t others);
  // What is done need not be waited for.
  void forget(const Event* task);

  const uint64_t number_;
  // All other members are guarded by the stream's lock shard (see runtime.h).
  Ref<Event> tail_;
  std::vector<Ref<Event>> waits_;
  std::atomic<bool> noted_{false};  // the log of failures may know of one of ours
};

/// The stream that this thread submits to; null: no order besides dependencies.
Ref<Stream> current_stream();
void set_current_stream(Ref<Stream> stream);
/// The same for blocks of a language, `with stream:`, which end in the reverse order on the
/// thread that began them; RuntimeError where there is none to leave.
void enter_stream(Ref<Stream> stream);
void leave_stream();
/// Its number; 0 where there is none.
uint64_t current_stream_number() noexcept;
namespace detail {
PKG_FAST_TLS extern thread_local constinit Stream* t_current_stream;  // owned
}

/// Makes `stream` current on this thread while it lives.
class StreamGuard {
 public:
  explicit StreamGuard(Ref<Stream> stream) : previous_(current_stream()) {
    set_current_stream(std::move(stream));
  }
  ~StreamGuard() { set_current_stream(std::move(previous_)); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Ref<Stream> previous_;
};

}  // namespace pkg

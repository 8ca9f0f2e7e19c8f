// SPDX-License-Identifier: Apache-2.0
// scheduler/stream.cc: a stream is the event of its last work and what to wait for.
#include "scheduler/stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/runtime.h"

namespace pkg {

// Null again after the thread's destructors: static destructors may still submit.
PKG_FAST_TLS thread_local constinit Stream* detail::t_current_stream = nullptr;

namespace {

using detail::t_current_stream;

constinit std::atomic<uint64_t> g_streams_made{0};
struct Current {
  ~Current() { Ref<Stream>::adopt(std::exchange(t_current_stream, nullptr)); }
};

uint64_t next_number(Device device) {
  PKG_CHECK(device.type == DeviceType::CPU, NotImplementedError,
            "[Stream] expected 'cpu', got '", device,
            "' (device). This build has no other back end.");
  return g_streams_made.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Stream::Stream(Device device) : number_(next_number(device)) {
  count_live(Live::Streams, 1);
}
Stream::~Stream() {
  if (noted_) detail::runtime().failures.take(this);
  count_live(Live::Streams, -1);
}

Ref<Event> Stream::submit(UniqueFunction fn, std::span<const Ref<Event>> deps,
                          TaskOptions options) {
  options.stream = this;
  return pkg::submit(std::move(fn), deps, std::move(options));
}

Stream::Order Stream::append(detail::Task* task, size_t others) {
  std::lock_guard lock(detail::stream_lock(this));
  // Nothing may fail when the stream waits for the task.
  const size_t most = others + waits_.size() + 1;
  if (tail_ || most > 1) task->reserve_links(most);
  Order order{std::move(tail_), std::move(waits_)};
  tail_ = Ref<detail::Task>::share(task);
  waits_.clear();
  return order;
}

void Stream::forget(const Event* task) {
  Ref<Event> done;  // dies after the lock is given back
  std::lock_guard lock(detail::stream_lock(this));
  if (tail_.get() == task) done = std::move(tail_);
}

Ref<Event> Stream::record() {
  {
    std::lock_guard lock(detail::stream_lock(this));
    const bool done = !tail_ || tail_->settled();
    if (done && waits_.empty()) return ready_event();
  }
  return submit(nullptr, {}, {.name = "record"});
}

void Stream::synchronize() {
  record()->wait();
  if (!noted_) return;
  const Ref<detail::Failure> failure = detail::runtime().failures.take(this);
  if (!failure || failure->seen.load()) return;
  failure->note_seen();
  std::rethrow_exception(failure->error);
}

void Stream::wait(Ref<Event> event) {
  if (!event || event->settled()) return;
  std::vector<Ref<Event>> done;  // dies after the lock is given back
  std::lock_guard lock(detail::stream_lock(this));
  const auto first_done = std::partition(waits_.begin(), waits_.end(),
                                         [](const auto& e) { return !e->settled(); });
  std::move(first_done, waits_.end(), std::back_inserter(done));
  waits_.erase(first_done, waits_.end());
  waits_.push_back(std::move(event));
}

bool Stream::query() const {
  std::lock_guard lock(detail::stream_lock(this));
  return (!tail_ || tail_->settled()) &&
         std::all_of(waits_.begin(), waits_.end(),
                     [](const auto& event) { return event->settled(); });
}

Ref<Stream> current_stream() { return Ref<Stream>::share(t_current_stream); }

void set_current_stream(Ref<Stream> stream) {
  if (stream) {
    static thread_local Current current;
    (void)current;
  }
  // What was there dies when it is no longer current.
  stream = Ref<Stream>::adopt(std::exchange(t_current_stream, stream.detach()));
}

namespace {
thread_local std::vector<Ref<Stream>> t_entered;  // current before each block
}

void enter_stream(Ref<Stream> stream) {
  t_entered.push_back(current_stream());
  set_current_stream(std::move(stream));
}
void leave_stream() {
  PKG_CHECK(!t_entered.empty(), RuntimeError,
            "[Stream] left a `with` block that this thread did not enter.");
  set_current_stream(std::move(t_entered.back()));
  t_entered.pop_back();
}

uint64_t current_stream_number() noexcept {
  return t_current_stream ? t_current_stream->number() : 0;
}

}  // namespace pkg

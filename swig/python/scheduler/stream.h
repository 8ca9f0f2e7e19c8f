// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/stream.h: what Python sees of streams.  swig/scheduler.i wraps
// the class as it stands here.
#pragma once

#include "event.h"

#include "scheduler/stream.h"

namespace pkg::python {

/// An order, not a thread: work of one stream runs first in, first out, streams run
/// beside each other on the one pool. Any thread may use any stream. `with stream:`
/// makes it current.
class StreamObject {
 public:
  // NotImplementedError for another device than the processor.
  explicit StreamObject(PyObject* device = nullptr);
  /// Runs callable() on a worker after all earlier work of this stream and after `deps`.
  /// Returns its Event. A failure of earlier work does not stop it, one of `deps` does.
  EventObject submit(const swigkit::PyCallable& callable, swigkit::Args deps) const;
  /// Waits for the work submitted so far; raises the first error that nobody has seen.
  void synchronize() const;
  /// Whether all work submitted so far is done.
  bool query() const { return stream_->query(); }
  /// An Event that is done when the work submitted so far is; it never fails.
  EventObject record_event() const { return {stream_->record(), nullptr}; }
  /// Later work of this stream waits for `event`, whether it goes well or not.
  void wait_event(const EventObject& event) const { stream_->wait(event.event()); }
  /// Later work of this stream waits for what `stream` has to do now.
  void wait_stream(const StreamObject& stream) const {
    stream_->wait(stream.stream_->record());
  }
  /// See record_event.
  EventObject record() const { return record_event(); }
  /// See wait_event.
  void wait(const EventObject& event) const { wait_event(event); }
  /// Makes the stream current on this thread.
  StreamObject& __enter__();
  /// Makes the stream before current again.
  void __exit__(swigkit::Args exc) const;
  std::string __repr__() const;
  long __hash__() const { return swigkit::address_hash(stream_.get()); }
  bool operator==(const StreamObject& other) const { return stream_ == other.stream_; }

#ifndef SWIG
  explicit StreamObject(Ref<Stream> stream) : stream_(std::move(stream)) {}
  Stream* get() const { return stream_.get(); }

 private:
  Ref<Stream> stream_;
#endif
};

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/event.h: what Python sees of an event.  swig/scheduler.i wraps
// the classes as they stand here.
#pragma once

#include "python/py_error.h"

#include <memory>
#include <optional>
#include <string>

#include "scheduler/scheduler.h"
#include "swigkit/function.h"

namespace pkg::python {

#ifndef SWIG
/// What a callable returned.  Written and read with the GIL; dies on any thread.
struct Outcome {
  PyObject* value = nullptr;

  ~Outcome() {
    if (!value || !interpreter_alive()) return;
    GilAcquire gil;
    drop(value);
  }
};
#endif

/// The completion of one unit of work.
class EventObject {
 public:
  /// `outcome` may be null: the work has no value.
  EventObject(Ref<Event> event, std::shared_ptr<Outcome> outcome)
      : event_(std::move(event)), outcome_(std::move(outcome)) {}
  /// Whether the work has finished, well or not. Never blocks.
  bool done() const { return event_->done(); }
  /// Waits until the work has finished and raises its exception, the original with its
  /// traceback. Returns False when `timeout` seconds have passed before, else True.
  bool wait(std::optional<double> timeout = std::nullopt) const;
  /// Waits and returns what the callable returned, or raises its exception.
  /// TimeoutError when it takes longer than `timeout` seconds.
  swigkit::PyRef result(std::optional<double> timeout = std::nullopt) const;
  /// Waits and returns the exception of the work, or None when it went well.
  /// TimeoutError when it takes longer than `timeout` seconds.
  swigkit::PyRef exception(std::optional<double> timeout = std::nullopt) const;
  /// Cancels work that has not begun: it and what depends on it are done at once, with
  /// CancelledError. Returns whether this call prevented it. Work that has begun is asked to
  /// stop: ops do soon, callables see cancel_requested().
  bool cancel() const { return pkg::cancel(event_); }
  /// Calls callable() once when the work has finished: on the thread that finishes it, or
  /// now.
  void _when_done(const swigkit::PyCallable& callable) const;
  /// Name of the work, or of the work that failed.
  std::string name() const { return event_->name(); }
  /// 'file:line' that submitted the work, or the work that failed.
  std::string call_site() const { return event_->call_site(); }
  /// Waits in the running asyncio loop.
  swigkit::PyRef __await__(swigkit::Self self) const;
  std::string __repr__(swigkit::Self self) const;

#ifndef SWIG
  const Ref<Event>& event() const { return event_; }
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  const HeldError* own_error() const;

 protected:
  Ref<Event> event_;
  std::shared_ptr<Outcome> outcome_;
#endif
};

/// An event that its owner finishes: the bridge to work done elsewhere.
/// Dropping it unfinished cancels what depends on it.
class ManualEventObject : public EventObject {
 public:
  ManualEventObject();
  /// Finishes the event; result() returns `value`. RuntimeError when it is done already.
  void set(PyObject* value = Py_None);
  /// Finishes the event with an exception, which reaches all that depends on it.
  void set_error(PyObject* error);
};

}  // namespace pkg::python

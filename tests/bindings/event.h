// SPDX-License-Identifier: Apache-2.0
// tests/bindings/event.h: events and streams as Python objects.
#pragma once

#include "casters.h"
#include "kept.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream.h"

namespace pkg::pybind {

/// An event and what the callable behind it returned, once it has.
struct EventObject {
  Ref<Event> event;
  Kept outcome;  // null: the work has no value
};
/// One that its owner finishes.
struct ManualEventObject : EventObject {
  ManualEvent& manual() const { return static_cast<ManualEvent&>(*event); }
};

/// The event inside; TypeError for another object.
Ref<Event> event_of(const char* function, const std::string& parameter, py::handle object);
/// Those of None, an Event or a sequence of events.
std::vector<Ref<Event>> events_of(py::handle deps);

/// Runs callable() on a worker; `stream` may be null.
EventObject submit_callable(const py::object& callable, py::handle deps, Stream* stream);

/// Throws the C++ exception being handled as the Python exception it becomes.
[[noreturn]] void throw_as_python();  // bind_error.cc

}  // namespace pkg::pybind

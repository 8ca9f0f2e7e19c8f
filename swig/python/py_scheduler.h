// SPDX-License-Identifier: Apache-2.0
// swig/python/py_scheduler.h: events, streams and `submit` as Python objects.
#pragma once

#include "py_error.h"

#include <memory>
#include <string_view>

#include "expect.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream.h"

namespace pkg::python {

/// What a callable returned.  Written and read with the GIL; dies on any thread.
struct Outcome {
  PyObject* value = nullptr;

  ~Outcome() {
    if (!value || !interpreter_alive()) return;
    GilAcquire gil;
    drop(value);
  }
};

struct PyEvent {
  PyObject_HEAD PyObject* weakrefs;
  Ref<Event> event;
  std::shared_ptr<Outcome> outcome;  // null: the work has no value
};

/// New Python object of an event.
PyObject* wrap_event(Ref<Event> event, std::shared_ptr<Outcome> outcome);
/// The event inside; TypeError when the object is not one.
const Ref<Event>& event_of(const Argument& where, PyObject* object);
bool is_event(PyObject* object);
/// The stream inside; TypeError when the object is not one.
const Ref<Stream>& stream_of(const Argument& where, PyObject* object);

/// Submits callable() and returns its Python event; `stream` may be null.
PyObject* submit_callable(PyObject* callable, PyObject* deps, Stream* stream);

void add_event_types(PyObject* module);  // py_event.cc
void add_stream_type(PyObject* module);  // py_stream.cc
/// Adds Event, ManualEvent, Stream and the functions around them to the module.
int add_scheduler(PyObject* module);

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/submit.cc: Python callables as work, and what the scheduler tells.
#include "submit.h"

#include <vector>

#include "dispatcher/dispatcher.h"
#include "scheduler/task_name.h"
#include "swigkit/by_hand.h"
#include "swigkit/pointers.h"

namespace pkg::python {
namespace {

// The body of a task: calls Python once.
struct PyCall {
  PyCallable callable;
  std::shared_ptr<Outcome> outcome;
  LocalKeys keys = t_local_keys;  // grad mode

  void operator()() {
    const UseKeys as_submitted(keys);
    GilAcquire gil;
    // It dies before the work counts as done.
    const PyCallable run = std::move(callable);
    outcome->value = run().release();
  }
};

const char* task_name(PyObject* callable) {
  PyRef keep;
  const char* text = text_attribute(callable, "__qualname__", keep);
  return lasting_name(text ? text : Py_TYPE(callable)->tp_name, "python");
}

std::vector<Ref<Event>> events_of(PyObject* deps) {
  Several<EventObject> given;
  if (!to_cpp(deps, given, {"submit", "deps"})) throw_python_error();
  std::vector<Ref<Event>> events;
  for (const EventObject* each : given.objects) events.push_back(each->event());
  return events;
}

}  // namespace

EventObject submit(const PyCallable& callable, PyObject* deps, Stream* stream) {
  auto outcome = std::make_shared<Outcome>();
  const auto events = events_of(deps);
  Ref<Event> event = pkg::submit(PyCall{callable, outcome}, events,
                                 {.name = task_name(callable.get()), .stream = stream});
  return {std::move(event), std::move(outcome)};
}

bool cancel(const EventObject& event) { return pkg::cancel(event.event()); }

}  // namespace pkg::python

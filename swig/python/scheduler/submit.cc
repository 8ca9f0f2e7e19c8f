// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/submit.cc: Python callables as work, and what the scheduler tells.
#include "stream.h"

#include <vector>

#include "dispatcher/dispatcher.h"
#include "scheduler/task_name.h"
#include "submit.h"

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
  PyRef qualname(call_python(PyObject_GetAttrString, callable, "__qualname__"));
  PyErr_Clear();
  const char* text = qualname && PyUnicode_Check(qualname.get())
                         ? PyUnicode_AsUTF8(qualname.get())
                         : Py_TYPE(callable)->tp_name;
  PyErr_Clear();
  return text ? lasting_name(text, "python") : "python";
}

std::vector<Ref<Event>> events_of(PyObject* deps) {
  std::vector<Ref<Event>> events;
  if (deps == Py_None) return events;
  const Argument where{"submit", "deps"};
  const auto event_of = [](const Argument& at, PyObject* object) {
    const auto* found = pointer_of<EventObject>(object, at);
    if (!found) throw_python_error();
    return found->event();
  };
  if (PyObject_TypeCheck(deps, class_of<EventObject>.type)) return {event_of(where, deps)};
  const PyRef list(call_python(PySequence_Fast, deps, ""));
  if (!list) {
    explain(where, "an Event or a sequence of them", deps);
    throw_python_error();
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list.get(), i);
    if (item != Py_None) events.push_back(event_of(where.item(i), item));
  }
  return events;
}

}  // namespace

EventObject submit_to(Stream* stream, const PyCallable& callable, PyObject* deps) {
  auto outcome = std::make_shared<Outcome>();
  const auto events = events_of(deps);
  Ref<Event> event = pkg::submit(PyCall{callable, outcome}, events,
                                 {.name = task_name(callable.get()), .stream = stream});
  return {std::move(event), std::move(outcome)};
}

EventObject submit(const PyCallable& callable, PyObject* deps, const StreamObject* stream) {
  return submit_to(stream ? stream->get() : nullptr, callable, deps);
}

bool cancel(const EventObject& event) { return pkg::cancel(event.event()); }

PyRef scheduler_stats() {
  const SchedulerStats s = pkg::scheduler_stats();
  using Long = long long;
  return PyRef(Py_BuildValue("{s:i,s:L,s:L,s:L,s:L,s:L}", "threads", s.threads, "submitted",
                             Long(s.submitted), "completed", Long(s.completed), "failed",
                             Long(s.failed), "cancelled", Long(s.cancelled), "inline_runs",
                             Long(s.inline_runs)));
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/py_scheduler.cc: `submit` of Python callables and the scheduler's functions.
#include "py_scheduler.h"
#include "dispatcher/dispatcher.h"
#include "py_type.h"

#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace pkg::python {
namespace {

// The body of a task: calls Python once.
class PyCall {
 public:
  PyCall(PyObject* callable, std::shared_ptr<Outcome> outcome)
      : callable_(new_ref(callable)), outcome_(std::move(outcome)) {}
  PyCall(PyCall&& other) noexcept
      : callable_(std::exchange(other.callable_, nullptr)),
        outcome_(std::move(other.outcome_)),
        keys_(other.keys_) {}
  PyCall& operator=(PyCall&&) = delete;
  ~PyCall() {  // still has the callable when it was never run
    if (!callable_ || !interpreter_alive()) return;
    GilAcquire gil;
    drop(callable_);
  }

  void operator()() {
    const UseKeys as_submitted(keys_);
    GilAcquire gil;
    outcome_->value = call_python(PyObject_CallNoArgs, callable_);
    if (!outcome_->value) {
      const PyError error = PyError::fetch();  // before anything else runs
      drop(std::exchange(callable_, nullptr));
      throw error;
    }
    drop(std::exchange(callable_, nullptr));
  }

 private:
  PyObject* callable_;
  std::shared_ptr<Outcome> outcome_;
  LocalKeys keys_ = t_local_keys;  // grad mode
};

// Names of tasks must live as long as the process.  There are as many as functions in
// the program, unless somebody makes them up: those beyond the limit share one.
const char* lasting_name(PyObject* callable) {
  constexpr size_t kMostNames = 4096;
  static auto* names = new std::set<std::string>;
  static std::mutex mutex;
  PyRef qualname(call_python(PyObject_GetAttrString, callable, "__qualname__"));
  PyErr_Clear();
  const char* text = qualname && PyUnicode_Check(qualname.get())
                         ? PyUnicode_AsUTF8(qualname.get())
                         : Py_TYPE(callable)->tp_name;
  if (!text) {
    PyErr_Clear();
    return "python";
  }
  std::lock_guard lock(mutex);
  const auto found = names->find(text);
  if (found != names->end()) return found->c_str();
  if (names->size() >= kMostNames) return "python";
  return names->insert(text).first->c_str();
}

std::vector<Ref<Event>> events_of(PyObject* deps) {
  std::vector<Ref<Event>> events;
  if (!deps || deps == Py_None) return events;
  const Argument where{"submit", "deps"};
  if (is_event(deps)) return {event_of(where, deps)};
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

PyObject* submit_function(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"", "deps", "stream", nullptr};
  PyObject *callable, *deps = nullptr, *stream = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OO:submit", const_cast<char**>(names),
                                   &callable, &deps, &stream)) {
    return nullptr;
  }
  return guarded([&] {
    const Argument where{"submit", "stream"};
    Stream* target = stream == Py_None ? nullptr : stream_of(where, stream).get();
    return submit_callable(callable, deps, target);
  });
}
PyObject* cancel_function(PyObject*, PyObject* event) {
  return guarded(
      [&] { return PyBool_FromLong(cancel(event_of({"cancel", "event"}, event))); });
}
PyObject* cancel_requested_function(PyObject*, PyObject*) {
  return PyBool_FromLong(cancel_requested());
}
PyObject* stats_function(PyObject*, PyObject*) {
  return guarded([&] {
    const SchedulerStats s = scheduler_stats();
    using Long = long long;
    return Py_BuildValue("{s:i,s:L,s:L,s:L,s:L,s:L}", "threads", s.threads, "submitted",
                         Long(s.submitted), "completed", Long(s.completed), "failed",
                         Long(s.failed), "cancelled", Long(s.cancelled), "inline_runs",
                         Long(s.inline_runs));
  });
}

PyMethodDef g_functions[] = {
    {"submit", with_keywords(submit_function), METH_VARARGS | METH_KEYWORDS,
     "submit(callable, /, *, deps=(), stream=None)\n--\n\nRuns callable() on a worker once "
     "all `deps` (an Event or a sequence of them) are done,\nand returns its Event at "
     "once. If one of them failed, callable is not run and the\nevent carries the same "
     "exception. `stream`: also after its earlier work; None means\nthe current stream of "
     "this thread, if any. TypeError for anything but a callable."},
    {"cancel", cancel_function, METH_O, "cancel(event, /)\n--\n\nSee Event.cancel."},
    {"cancel_requested", cancel_requested_function, METH_NOARGS,
     "cancel_requested()\n--\n\nWhether somebody asked to cancel the task this thread "
     "runs; long work polls it."},
    {"scheduler_stats", stats_function, METH_NOARGS,
     "scheduler_stats()\n--\n\nDict: threads alive; tasks submitted, completed, failed, "
     "cancelled, inline_runs."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* submit_callable(PyObject* callable, PyObject* deps, Stream* stream) {
  expect(PyCallable_Check(callable), {"submit", "callable"}, "a callable", callable);
  auto outcome = std::make_shared<Outcome>();
  const auto events = events_of(deps);
  Ref<Event> event = submit(PyCall(callable, outcome), events,
                            {.name = lasting_name(callable), .stream = stream});
  return wrap_event(std::move(event), std::move(outcome));
}

int add_scheduler(PyObject* module) {
  add_event_types(module);
  add_stream_type(module);
  return PyModule_AddFunctions(module, g_functions);
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/py_event.cc: the Event and ManualEvent types.
#include "py_scheduler.h"
#include "py_type.h"

#include <structmember.h>

#include <cmath>
#include <string>

#include "scheduler/hooks.h"

namespace pkg::python {
namespace {

PyTypeObject* g_event_type = nullptr;
PyTypeObject* g_manual_type = nullptr;

PyEvent& as_event(PyObject* self) { return *reinterpret_cast<PyEvent*>(self); }

PyObject* new_event(PyTypeObject* type, Ref<Event> event,
                    std::shared_ptr<Outcome> outcome) {
  PyObject* self = check(type->tp_alloc(type, 0)).release();
  new (&as_event(self).event) Ref<Event>(std::move(event));
  new (&as_event(self).outcome) std::shared_ptr<Outcome>(std::move(outcome));
  return self;
}

PyObject* event_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError,
               "[%s] expected no direct call. Hint: submit() and Stream make events.",
               type->tp_name);
  return nullptr;
}
int event_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  // A value that the task can still reach is not ours alone.
  const auto& outcome = as_event(self).outcome;
  if (outcome && outcome.use_count() == 1) Py_VISIT(outcome->value);
  // The frames of the traceback often have the event among their variables.
  const auto* error = as_event(self).event->error_held_alone();
  return error ? PyError::traverse(*error, visit, arg) : 0;
}
int event_clear(PyObject* self) {
  const auto& outcome = as_event(self).outcome;
  if (outcome && outcome.use_count() == 1) Py_CLEAR(outcome->value);
  const auto* error = as_event(self).event->error_held_alone();
  if (error) PyError::clear(*error);
  return 0;
}
void event_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (as_event(self).weakrefs) PyObject_ClearWeakRefs(self);
  as_event(self).event.~Ref<Event>();
  as_event(self).outcome.~shared_ptr<Outcome>();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// None: without limit (negative).
double seconds_of(const char* function, PyObject* timeout) {
  if (!timeout || timeout == Py_None) return -1;
  const double seconds = call_python(PyFloat_AsDouble, timeout);
  if (seconds == -1 && PyErr_Occurred()) {
    explain({function, "timeout"}, "a number or None", timeout);
    throw_python_error();
  }
  PKG_CHECK(!std::isnan(seconds), ValueError, "[", function,
            "] expected seconds or None, got nan (timeout=nan).");
  return seconds > 0 ? seconds : 0;
}

// Adds "submitted at file:line" to the current error, which is that of `event`, where
// its notes do not tell it yet.
void note_origin(const Event& event) noexcept {
  const std::string site = event.call_site();
  if (site.empty()) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  call_python(PyErr_NormalizeException, &type, &value, &traceback);
  PyRef text(
      PyUnicode_FromFormat("[%s] submitted at %s", event.name().c_str(), site.c_str()));
  PyRef notes(call_python(PyObject_GetAttrString, value, "__notes__"));
  PyErr_Clear();
  const bool told = notes && text &&
                    call_python(PySequence_Contains, notes.get(), text.get()) == 1;
  if (text && !told) {
    PyRef done(call_python(PyObject_CallMethod, value, "add_note", "O", text.get()));
  }
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
}

// Waits; false after `seconds`.  Throws the error of the work only if `raise`.
bool wait_for(const Ref<Event>& event, double seconds, bool raise) {
  // The object may be dropped by another thread while we wait.
  const Ref<Event> keep = event;
  if (seconds < 0) seconds = HUGE_VAL;
  if (!keep->wait_for(seconds)) return false;
  if (raise) keep->wait();
  return true;
}

// The argument of wait(), result() and exception(); false with an error set.
bool parse_timeout(PyObject* args, PyObject* kwargs, const char* function,
                   double* seconds) {
  static const char* names[] = {"timeout", nullptr};
  const std::string format = std::string("|O:") + function;
  PyObject* timeout = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format.c_str(), const_cast<char**>(names),
                                   &timeout)) {
    return false;
  }
  return guarded([&] {
    *seconds = seconds_of(function, timeout);
    return true;
  });
}

// Runs `f`; if it throws the error of the finished work, says where it came from.
template <class F>
PyObject* with_origin(PyObject* self, F&& f) {
  PyObject* value = guarded(std::forward<F>(f));
  const Ref<Event> event = as_event(self).event;
  if (!value && event && event->failed()) note_origin(*event);
  return value;
}

PyObject* raise_timeout(const Event& event) {
  PyErr_Format(PyExc_TimeoutError, "[%s] is not finished", event.name().c_str());
  return nullptr;
}

PyObject* event_done(PyObject* self, PyObject*) {
  return PyBool_FromLong(as_event(self).event->done());
}
PyObject* event_wait(PyObject* self, PyObject* args, PyObject* kwargs) {
  double seconds;
  if (!parse_timeout(args, kwargs, "wait", &seconds)) return nullptr;
  return with_origin(
      self, [&] { return PyBool_FromLong(wait_for(as_event(self).event, seconds, true)); });
}
PyObject* event_result(PyObject* self, PyObject* args, PyObject* kwargs) {
  double seconds;
  if (!parse_timeout(args, kwargs, "result", &seconds)) return nullptr;
  return with_origin(self, [&]() -> PyObject* {
    const PyEvent& event = as_event(self);
    const std::shared_ptr<Outcome> outcome = event.outcome;
    if (!wait_for(event.event, seconds, true)) { return raise_timeout(*event.event); }
    return new_ref(outcome && outcome->value ? outcome->value : Py_None);
  });
}
PyObject* event_exception(PyObject* self, PyObject* args, PyObject* kwargs) {
  double seconds;
  if (!parse_timeout(args, kwargs, "exception", &seconds)) return nullptr;
  return guarded([&]() -> PyObject* {
    const Ref<Event> event = as_event(self).event;
    if (!wait_for(event, seconds, false)) { return raise_timeout(*event); }
    const std::exception_ptr error = event->error();
    if (!error) Py_RETURN_NONE;
    try {
      std::rethrow_exception(error);
    } catch (...) { translate(); }
    note_origin(*event);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    call_python(PyErr_NormalizeException, &type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    drop(type);
    drop(traceback);
    return value;
  });
}
PyObject* event_cancel(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref<Event> event = as_event(self).event;
    return PyBool_FromLong(cancel(event));
  });
}
PyObject* event_when_done(PyObject* self, PyObject* callable) {
  return guarded([&] {
    expect(PyCallable_Check(callable), {"_when_done", "callable"}, "a callable", callable);
    auto held = std::make_shared<Outcome>();
    held->value = new_ref(callable);
    const Ref<Event> event = as_event(self).event;
    event->when_done([held = std::move(held)] {
      if (!interpreter_alive()) return;
      GilAcquire gil;
      PyObject *type, *value, *traceback;  // an event may die while an error is on its way
      PyErr_Fetch(&type, &value, &traceback);
      PyRef done(call_python(PyObject_CallNoArgs, held->value));
      if (!done) call_python(PyErr_WriteUnraisable, held->value);
      PyErr_Restore(type, value, traceback);
    });
    return new_ref(Py_None);
  });
}
PyObject* event_await(PyObject* self) {
  const PyRef module(call_python(PyImport_ImportModule, "pkg.scheduler"));
  if (!module) return nullptr;
  return call_python(PyObject_CallMethod, module.get(), "_await_event", "O", self);
}
PyObject* event_name(PyObject* self, void*) {
  return guarded(
      [&] { return PyUnicode_FromString(as_event(self).event->name().c_str()); });
}
PyObject* event_call_site(PyObject* self, void*) {
  return guarded(
      [&] { return PyUnicode_FromString(as_event(self).event->call_site().c_str()); });
}
PyObject* event_repr(PyObject* self) {
  return guarded([&] {
    const Event& event = *as_event(self).event;
    // error() would count as having seen the error; a name does not.
    return PyUnicode_FromFormat("<%s '%s' %s>", Py_TYPE(self)->tp_name,
                                event.name().c_str(), event.done() ? "done" : "pending");
  });
}

PyMethodDef g_event_methods[] = {
    {"done", event_done, METH_NOARGS,
     "done($self)\n--\n\nWhether the work has finished, well or not. Never blocks."},
    {"wait", with_keywords(event_wait), METH_VARARGS | METH_KEYWORDS,
     "wait($self, timeout=None)\n--\n\nWaits until the work has finished and raises its "
     "exception, the original with its\ntraceback. Returns False when `timeout` seconds "
     "have passed before, else True."},
    {"result", with_keywords(event_result), METH_VARARGS | METH_KEYWORDS,
     "result($self, timeout=None)\n--\n\nWaits and returns what the callable returned, or "
     "raises its exception.\nTimeoutError when it takes longer than `timeout` seconds."},
    {"exception", with_keywords(event_exception), METH_VARARGS | METH_KEYWORDS,
     "exception($self, timeout=None)\n--\n\nWaits and returns the exception of the work, "
     "or None when it went well.\nTimeoutError when it takes longer than `timeout` "
     "seconds."},
    {"cancel", event_cancel, METH_NOARGS,
     "cancel($self)\n--\n\nCancels work that has not begun: it and what depends on it are "
     "done at once, with\nCancelledError. Returns whether this call prevented it. Work "
     "that has begun is asked to\nstop: ops do soon, callables see cancel_requested()."},
    {"_when_done", event_when_done, METH_O,
     "_when_done($self, callable, /)\n--\n\nCalls callable() once when the work has "
     "finished: on the thread that finishes it, or now."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef g_event_getset[] = {
    {"name", event_name, nullptr, "Name of the work, or of the work that failed.", nullptr},
    {"call_site", event_call_site, nullptr,
     "'file:line' that submitted the work, or the work that failed.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef g_event_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyEvent, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot g_event_slots[] = {
    {Py_tp_doc, const_cast<char*>("The completion of one unit of work.")},
    {Py_tp_new, reinterpret_cast<void*>(event_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(event_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(event_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(event_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(event_repr)},
    {Py_am_await, reinterpret_cast<void*>(event_await)},
    {Py_tp_methods, g_event_methods},
    {Py_tp_getset, g_event_getset},
    {Py_tp_members, g_event_members},
    {0, nullptr}};
PyType_Spec g_event_spec = {"pkg.scheduler.Event", sizeof(PyEvent), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                            g_event_slots};

ManualEvent& as_manual(PyObject* self) {
  // Python lets people change the class of an object.
  auto* event = dynamic_cast<ManualEvent*>(as_event(self).event.get());
  if (!event) throw TypeError("[ManualEvent] expected an event that was made as one");
  return *event;
}
PyObject* manual_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":ManualEvent",
                                   const_cast<char**>(names))) {
    return nullptr;
  }
  return guarded([&] {
    return new_event(type, Ref<ManualEvent>::make("manual_event", call_site()),
                     std::make_shared<Outcome>());
  });
}
PyObject* manual_set(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"value", nullptr};
  PyObject* value = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:set", const_cast<char**>(names),
                                   &value)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Outcome& outcome = *as_event(self).outcome;
    if (!as_manual(self).done()) drop(std::exchange(outcome.value, new_ref(value)));
    as_manual(self).set();
    Py_RETURN_NONE;
  });
}
PyObject* manual_set_error(PyObject* self, PyObject* error) {
  return guarded([&]() -> PyObject* {
    expect(PyExceptionInstance_Check(error), {"set_error", "error"}, "an exception", error);
    PyErr_SetObject(PyExceptionInstance_Class(error), error);
    as_manual(self).set_error(std::make_exception_ptr(PyError::fetch()));
    Py_RETURN_NONE;
  });
}
PyMethodDef g_manual_methods[] = {
    {"set", with_keywords(manual_set), METH_VARARGS | METH_KEYWORDS,
     "set($self, value=None)\n--\n\nFinishes the event; result() returns `value`. "
     "RuntimeError when it is done already."},
    {"set_error", manual_set_error, METH_O,
     "set_error($self, error, /)\n--\n\nFinishes the event with an exception, which reaches "
     "all that depends on it."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot g_manual_slots[] = {
    {Py_tp_doc,
     const_cast<char*>("ManualEvent()\n--\n\nAn event that its owner finishes: the bridge "
                       "to work done elsewhere.\nDropping it unfinished cancels what "
                       "depends on it.")},
    {Py_tp_new, reinterpret_cast<void*>(manual_new)},
    {Py_tp_methods, g_manual_methods},
    {0, nullptr}};
PyType_Spec g_manual_spec = {"pkg.scheduler.ManualEvent", sizeof(PyEvent), 0,
                             Py_TPFLAGS_DEFAULT, g_manual_slots};  // GC is inherited

}  // namespace

PyObject* wrap_event(Ref<Event> event, std::shared_ptr<Outcome> outcome) {
  return new_event(g_event_type, std::move(event), std::move(outcome));
}

bool is_event(PyObject* object) { return PyObject_TypeCheck(object, g_event_type); }

const Ref<Event>& event_of(const Argument& where, PyObject* object) {
  expect(is_event(object), where, "an Event", object);
  return as_event(object).event;
}

void add_event_types(PyObject* module) {
  g_event_type = add_type(module, &g_event_spec, nullptr);
  g_manual_type = add_type(module, &g_manual_spec, g_event_type);
}

}  // namespace pkg::python

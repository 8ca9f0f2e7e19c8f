// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/event.cc: Event and ManualEvent as Python uses them.
#include "event.h"

#include "scheduler/hooks.h"
#include "scheduler/timeout.h"

namespace pkg::python {
namespace {

// The error of finished work, with a note of where it came from; none when it went well.
std::optional<HeldError> error_of(const Event& event) {
  const std::exception_ptr error = event.error();
  if (!error) return std::nullopt;
  const HeldError held = HeldError::of(error);
  const std::string site = event.call_site();
  if (!site.empty()) held.add_note(str("[", event.name(), "] submitted at ", site).c_str());
  return held;
}

void raise_error_of(const Event& event) {
  const std::optional<HeldError> error = error_of(event);
  if (!error) return;
  error->restore();
  throw_python_error();
}

[[noreturn]] void raise_timeout(const Event& event) {
  PyErr_Format(PyExc_TimeoutError, "[%s] is not finished", event.name().c_str());
  throw_python_error();
}

}  // namespace

// Python's object may be dropped by another thread while we wait: what is needed then has
// a share of its own, here and below.
bool EventObject::wait(std::optional<double> timeout) const {
  const Ref<Event> event = event_;
  if (!event->wait_for(seconds_of("wait", timeout))) return false;
  raise_error_of(*event);
  return true;
}

PyRef EventObject::result(std::optional<double> timeout) const {
  const Ref<Event> event = event_;
  const std::shared_ptr<Outcome> outcome = outcome_;
  if (!event->wait_for(seconds_of("result", timeout))) raise_timeout(*event);
  raise_error_of(*event);
  return PyRef::borrow(outcome && outcome->value ? outcome->value : Py_None);
}

PyRef EventObject::exception(std::optional<double> timeout) const {
  const Ref<Event> event = event_;
  if (!event->wait_for(seconds_of("exception", timeout))) raise_timeout(*event);
  const std::optional<HeldError> error = error_of(*event);
  return error ? error->value() : PyRef::borrow(Py_None);
}

void EventObject::_when_done(const PyCallable& callable) const {
  const Ref<Event> event = event_;
  event->when_done([callable] { callable.call_alone(); });
}

PyRef EventObject::__await__(swigkit::Self self) const {
  const PyRef module = check(call_python(PyImport_ImportModule, "pkg.scheduler"));
  return PyRef(
      call_python(PyObject_CallMethod, module.get(), "_await_event", "O", self.object));
}

std::string EventObject::__repr__(swigkit::Self self) const {
  // error() would count as having seen the error; a name does not.
  return str("<", Py_TYPE(self.object)->tp_name, " '", event_->name(), "' ",
             event_->done() ? "done" : "pending", ">");
}

// What Python's collector may see of the error: what is the event's alone.
const HeldError* EventObject::own_error() const {
  // The frames of the traceback often have the event among their variables.
  const auto* error = event_->error_held_alone();
  return error ? PyError::held_in(*error) : nullptr;
}

int EventObject::traverse(visitproc visit, void* arg) const {
  // A value that the task can still reach is not ours alone.
  if (outcome_ && outcome_.use_count() == 1) Py_VISIT(outcome_->value);
  const HeldError* error = own_error();
  return error ? error->traverse(visit, arg) : 0;
}

void EventObject::clear() {
  if (outcome_ && outcome_.use_count() == 1) Py_CLEAR(outcome_->value);
  if (const HeldError* error = own_error()) error->clear();
}

ManualEventObject::ManualEventObject()
    : EventObject(Ref<ManualEvent>::make("manual_event", pkg::call_site()),
                  std::make_shared<Outcome>()) {}

void ManualEventObject::set(PyObject* value) {
  if (!event_->done()) drop(std::exchange(outcome_->value, new_ref(value)));
  static_cast<ManualEvent&>(*event_).set();
}

void ManualEventObject::set_error(PyObject* error) {
  expect(PyExceptionInstance_Check(error), {"set_error", "error"}, "an exception", error);
  PyErr_SetObject(PyExceptionInstance_Class(error), error);
  static_cast<ManualEvent&>(*event_).set_error(std::make_exception_ptr(PyError::fetch()));
}

}  // namespace pkg::python

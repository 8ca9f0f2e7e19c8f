// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_event.cc: Event and ManualEvent.
#include "event.h"

#include "bind.h"
#include "scheduler/hooks.h"
#include "scheduler/timeout.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

/// Adds "submitted at file:line", where exceptions have notes (Python 3.11) and this one
/// does not tell it yet.
void note_origin(const py::object& error, const Event& event) {
  const std::string site = event.call_site();
  if (site.empty() || !py::hasattr(error, "add_note")) return;
  const py::str text("[" + event.name() + "] submitted at " + site);
  const py::object notes = py::getattr(error, "__notes__", py::list());
  if (!notes.contains(text)) error.attr("add_note")(text);
}

/// The error of finished work as the Python exception it becomes; null when it went well.
py::object exception_of(const Event& event) {
  const std::exception_ptr error = event.error();
  if (!error) return py::object();
  try {
    try {
      std::rethrow_exception(error);
    } catch (...) { throw_as_python(); }
  } catch (py::error_already_set& thrown) {
    const py::object value = thrown.value();
    if (thrown.trace()) value.attr("__traceback__") = thrown.trace();
    note_origin(value, event);
    return value;
  }
}

/// Waits without the GIL; false after `seconds`.
bool wait_for(const Ref<Event>& event, double seconds) {
  WithoutGil without_gil;
  return event->wait_for(seconds);
}

void raise_error_of(const Event& event) {
  const py::object error = exception_of(event);
  if (!error) return;
  py::set_error(py::type::of(error), error);
  throw py::error_already_set();
}

[[noreturn]] void raise_timeout(const Event& event) {
  py::set_error(PyExc_TimeoutError, ("[" + event.name() + "] is not finished").c_str());
  throw py::error_already_set();
}

bool wait(const EventObject& self, const std::optional<double>& timeout) {
  const Ref<Event> event = self.event;  // self may be dropped while we wait
  if (!wait_for(event, seconds_of("wait", timeout))) return false;
  raise_error_of(*event);
  return true;
}

py::object result(const EventObject& self, const std::optional<double>& timeout) {
  const Ref<Event> event = self.event;
  const Kept outcome = self.outcome;
  if (!wait_for(event, seconds_of("result", timeout))) raise_timeout(*event);
  raise_error_of(*event);
  return outcome && *outcome ? *outcome : py::none();
}

py::object exception(const EventObject& self, const std::optional<double>& timeout) {
  const Ref<Event> event = self.event;
  if (!wait_for(event, seconds_of("exception", timeout))) raise_timeout(*event);
  const py::object error = exception_of(*event);
  return error ? error : py::none();
}

void when_done(const EventObject& self, const py::object& callable) {
  expect(is_callable(callable), "_when_done", "callable", "a callable", callable);
  const Ref<Event> event = self.event;
  event->when_done([held = keep(callable)] {
    if (!interpreter_alive()) return;
    WithGil gil;
    const py::error_scope on_its_way;  // an event may die while an error is
    try {
      call(*held);
    } catch (py::error_already_set& error) { error.discard_as_unraisable(*held); }
  });
}

void set(const ManualEventObject& self, const py::object& value) {
  if (!self.event->done()) *self.outcome = value;
  self.manual().set();
}

void set_error(const ManualEventObject& self, const py::object& error) {
  expect(py::isinstance(error, PyExc_BaseException), "set_error", "error", "an exception",
         error);
  py::set_error(py::type::of(error), error);
  self.manual().set_error(std::make_exception_ptr(py::error_already_set()));
}

}  // namespace

Ref<Event> event_of(const char* function, const std::string& parameter, py::handle object) {
  expect(py::isinstance<EventObject>(object), function, parameter, "an Event", object);
  return object.cast<EventObject&>().event;
}

void bind_event(py::module_& m) {
  const py::module_ scope = public_scope("pkg.scheduler");
  py::class_<EventObject> cls(scope, "Event", "The completion of one unit of work.");
  m.attr("Event") = cls;
  cls.def(py::init([](const py::args&, const py::kwargs&) -> EventObject {
    throw TypeError("[pkg.scheduler.Event] expected no direct call. Hint: submit() and "
                    "Stream make events.");
  }));
  cls.def("__repr__", [](const py::object& self) {
    const Event& event = *self.cast<EventObject&>().event;
    // error() would count as having seen the error; a name does not.
    return str("<", type_name(self), " '", event.name(), "' ",
               event.done() ? "done" : "pending", ">");
  });
  cls.def(
      "done", [](const EventObject& self) { return self.event->done(); },
      "done(self)\n--\n\nWhether the work has finished, well or not. Never blocks.");
  cls.def("wait", &wait, py::arg("timeout") = py::none(),
          "wait(self, timeout=None)\n--\n\nWaits until the work has finished and raises "
          "its exception, the original with its\ntraceback. Returns False when `timeout` "
          "seconds have passed before, else True.");
  cls.def("result", &result, py::arg("timeout") = py::none(),
          "result(self, timeout=None)\n--\n\nWaits and returns what the callable "
          "returned, or raises its exception.\nTimeoutError when it takes longer than "
          "`timeout` seconds.");
  cls.def("exception", &exception, py::arg("timeout") = py::none(),
          "exception(self, timeout=None)\n--\n\nWaits and returns the exception of the "
          "work, or None when it went well.\nTimeoutError when it takes longer than "
          "`timeout` seconds.");
  cls.def(
      "cancel", [](const EventObject& self) { return cancel(self.event); },
      "cancel(self)\n--\n\nCancels work that has not begun: it and what depends on it "
      "are done at once, with\nCancelledError. Returns whether this call prevented it. "
      "Work that has begun is asked to\nstop: ops do soon, callables see "
      "cancel_requested().");
  cls.def("_when_done", &when_done, py::arg("callable"), py::pos_only(),
          "_when_done(self, callable, /)\n--\n\nCalls callable() once when the work has "
          "finished: on the thread that finishes it, or\nnow.");
  cls.def(
      "__await__",
      [](const py::object& self) {
        return py::module_::import("pkg.scheduler").attr("_await_event")(self);
      },
      "Return an iterator to be used in await expression.");
  cls.def_property_readonly(
      "name", [](const EventObject& self) { return self.event->name(); },
      "Name of the work, or of the work that failed.");
  cls.def_property_readonly(
      "call_site", [](const EventObject& self) { return self.event->call_site(); },
      "'file:line' that submitted the work, or the work that failed.");

  py::class_<ManualEventObject, EventObject> manual(
      scope, "ManualEvent", py::is_final(),
      "ManualEvent()\n--\n\nAn event that its owner finishes: the bridge to work done "
      "elsewhere.\nDropping it unfinished cancels what depends on it.");
  m.attr("ManualEvent") = manual;
  manual.def(py::init([] {
    return ManualEventObject{{Ref<ManualEvent>::make("manual_event", call_site()), keep()}};
  }));
  manual.def("set", &set, py::arg("value") = py::none(),
             "set(self, value=None)\n--\n\nFinishes the event; result() returns `value`. "
             "RuntimeError when it is done already.");
  manual.def("set_error", &set_error, py::arg("error"), py::pos_only(),
             "set_error(self, error, /)\n--\n\nFinishes the event with an exception, which "
             "reaches all that depends on it.");
}

}  // namespace pkg::pybind

// SPDX-License-Identifier: Apache-2.0
// tests/bindings/submit.cc: Python callables as work for the scheduler.
#include "dispatcher/dispatcher.h"
#include "event.h"
#include "scheduler/task_name.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

const char* task_name(const py::object& callable) {
  const py::object qualname = py::getattr(callable, "__qualname__", py::none());
  const std::string text = py::isinstance<py::str>(qualname) ? qualname.cast<std::string>()
                                                             : type_name(callable);
  return lasting_name(text, "python");
}

}  // namespace

std::vector<Ref<Event>> events_of(py::handle deps) {
  std::vector<Ref<Event>> events;
  if (deps.is_none()) return events;
  if (py::isinstance<EventObject>(deps)) return {event_of("submit", "deps", deps)};
  expect(py::isinstance<py::iterable>(deps), "submit", "deps",
         "an Event or a sequence of them", deps);
  size_t i = 0;
  for (py::handle entry : deps) {
    const std::string parameter = str("deps[", i++, ']');
    if (!entry.is_none()) events.push_back(event_of("submit", parameter, entry));
  }
  return events;
}

EventObject submit_callable(const py::object& callable, py::handle deps, Stream* stream) {
  expect(is_callable(callable), "submit", "callable", "a callable", callable);
  const std::vector<Ref<Event>> events = events_of(deps);
  const Kept outcome = keep();
  auto work = [function = keep(callable), outcome, keys = t_local_keys]() mutable {
    const UseKeys as_submitted(keys);
    WithGil gil;
    const py::object task = *std::exchange(function, nullptr);
    *outcome = call(task);
  };
  return {submit(std::move(work), events, {.name = task_name(callable), .stream = stream}),
          outcome};
}

}  // namespace pkg::pybind

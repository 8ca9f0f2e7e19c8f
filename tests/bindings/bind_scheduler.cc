// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_scheduler.cc: threads and pending work.  What waits does so
// without the GIL.
#include "bind.h"
#include "event.h"
#include "tensor/settings.h"

namespace pkg::pybind {
void bind_scheduler(py::module_& m) {
  const py::call_guard<WithoutGil> without_gil;
  bind_event(m);
  bind_stream(m);
  m.def(
      "cancel",
      [](const py::object& event) { return cancel(event_of("cancel", "event", event)); },
      py::arg("event"), py::pos_only(), "cancel(event, /)\n--\n\nSee Event.cancel.");
  m.def("cancel_requested", &cancel_requested,
        "cancel_requested()\n--\n\nWhether somebody asked to cancel the task this thread "
        "runs; long work polls it.");
  m.def("scheduler_stats", &settings::scheduler_stats,
        "scheduler_stats()\n--\n\nDict: threads alive; tasks submitted, completed, "
        "failed, cancelled, inline_runs.");
  m.def("num_threads", &num_threads, "num_threads()\n--\n\nSize of the worker pool.");
  m.def(
      "set_num_threads", &set_num_threads, py::arg("n"),
      "set_num_threads(n)\n--\n\nChanges the size of the worker pool; ValueError below 1.");
  m.def(
      "synchronize", &synchronize, without_gil,
      "synchronize()\n--\n\nWaits for all work submitted so far; raises the first error that "
      "nobody has seen.");
  m.def("pending_tasks", &pending_tasks,
        "pending_tasks()\n--\n\nNumber of tasks submitted and not finished.");
  m.def("cancel_pending", &cancel_pending,
        "cancel_pending()\n--\n\nCancels all pending work; how many tasks were kept from "
        "beginning.");
  m.def("async_enabled", &async_enabled,
        "async_enabled()\n--\n\nWhether work is scheduled, or run by who submits it.");
  m.def(
      "set_async", &set_async, py::arg("enabled"),
      "set_async(enabled)\n--\n\nSchedules work (True) or runs it on who submits it (False).");
  m.def(
      "shutdown", &shutdown, py::arg("seconds") = 10.0, without_gil,
      "shutdown(seconds=10.0)\n--\n\nFinishes the pending work for at most so long, then ends "
      "the workers; whether all was done.");
  m.def(
      "quiesce", &quiesce, py::arg("seconds") = 5.0, without_gil,
      "quiesce(seconds=5.0)\n--\n\nWaits for at most so long until nothing runs; whether that "
      "was reached.");
}

}  // namespace pkg::pybind

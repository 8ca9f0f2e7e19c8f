// SPDX-License-Identifier: Apache-2.0
// nanobind/later.h: shared/later.h and shared/job_queue.h by nanobind.
#pragma once

#include "shared/later.h"

#include "numbers.h"

inline void bind_later(nb::module_& m) {
  using namespace stages;
  join(m);
  nb::exception<QueueClosed>(m, "QueueClosed", PyExc_RuntimeError);
  nb::exception<QueueFull>(m, "QueueFull", PyExc_RuntimeError);
  nb::exception<Timeout>(m, "Timeout", PyExc_TimeoutError);
  const auto base = nb::steal(core_class("CancelledError"));
  nb::exception<pkg::CancelledError>(m, "CancelledError", base);
  nb::class_<Job>(m, "Job")
      .def("done", &Job::done)
      .def("cancel", &Job::cancel)
      .def("result", &Job::result, "timeout"_a = nb::none())
      .def("call_site", &Job::call_site);
  nb::class_<JobQueue>(m, "JobQueue")
      .def(nb::init<bool, std::optional<int64_t>, const std::string&>(), "ordered"_a = true,
           "limit"_a = nb::none(), "policy"_a = "block")
      .def("submit", &JobQueue::submit, "work"_a)
      .def("queue_size", &JobQueue::queue_size)
      .def("pending", &JobQueue::pending)
      .def("stats", &JobQueue::stats)
      .def("flush", &JobQueue::flush, "idle"_a = false, "raise_errors"_a = false)
      .def("close", &JobQueue::close, "policy"_a = "drain");
  nb::class_<Scalar> scalar(m, "Scalar");
  scalar.def(nb::init<double>(), "x"_a)
      .def(nb::init<double, std::shared_ptr<JobQueue>>(), "x"_a, "queue"_a)
      .def_prop_ro("v", &Scalar::get_value)
      .def("queue", &Scalar::queue)
      .def("result", &Scalar::result, "timeout"_a = nb::none())
      .def("done", &Scalar::done)
      .def("cancel", &Scalar::cancel);
  bind_value(scalar);
  scalar.def("__hash__",
             [](const Scalar& x) { return nb::hash(nb::float_(x.get_value())); });
  nb::class_<Promise>(m, "Promise")
      .def(nb::init<>())
      .def("scalar", &Promise::scalar)
      .def("set", &Promise::set, "value"_a)
      .def("fail", &Promise::fail, "text"_a);
  m.def("set_delay", &set_delay, "ms"_a);
}

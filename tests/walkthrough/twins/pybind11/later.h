// SPDX-License-Identifier: Apache-2.0
// pybind11/later.h: shared/later.h and shared/job_queue.h by pybind11.
#pragma once

#include "shared/later.h"

#include "numbers.h"

// The three modules have the same classes, and pybind11 one table for the process.
inline void bind_jobs(py::module_& m) {
  using namespace stages;
  py::class_<Job>(m, "Job", py::module_local())
      .def("done", &Job::done)
      .def("cancel", &Job::cancel)
      .def("result", &Job::result, py::arg("timeout") = py::none())
      .def("call_site", &Job::call_site);
  py::class_<JobQueue, std::shared_ptr<JobQueue>>(m, "JobQueue", py::module_local())
      .def(py::init<bool, std::optional<int64_t>, const std::string&>(),
           py::arg("ordered") = true, py::arg("limit") = py::none(),
           py::arg("policy") = "block")
      .def("submit", &JobQueue::submit, py::arg("work"))
      .def("queue_size", &JobQueue::queue_size)
      .def("pending", &JobQueue::pending)
      .def("stats", &JobQueue::stats)
      .def("flush", &JobQueue::flush, py::arg("idle") = false,
           py::arg("raise_errors") = false)
      .def("close", &JobQueue::close, py::arg("policy") = "drain");
}

inline void bind_later(py::module_& m) {
  using namespace stages;
  join(m);
  py::register_local_exception<QueueClosed>(m, "QueueClosed", PyExc_RuntimeError);
  py::register_local_exception<QueueFull>(m, "QueueFull", PyExc_RuntimeError);
  py::register_local_exception<Timeout>(m, "Timeout", PyExc_TimeoutError);
  const auto base = py::reinterpret_steal<py::object>(core_class("CancelledError"));
  py::register_local_exception<pkg::CancelledError>(m, "CancelledError", base);
  bind_jobs(m);
  py::class_<Scalar> scalar(m, "Scalar", py::module_local());
  scalar.def(py::init<double>(), py::arg("x"))
      .def(py::init<double, std::shared_ptr<JobQueue>>(), py::arg("x"), py::arg("queue"))
      .def_property_readonly("v", &Scalar::get_value,
                             "Get the (possibly async-computed) value; waits if needed")
      .def("queue", &Scalar::queue)
      .def("result", &Scalar::result, py::arg("timeout") = py::none())
      .def("done", &Scalar::done)
      .def("cancel", &Scalar::cancel)
      .def(py::pickle([](const Scalar& x) { return x.get_value(); },
                      [](double v) { return Scalar(v); }));
  bind_value(scalar);
  scalar.def("__hash__",
             [](const Scalar& x) { return py::hash(py::float_(x.get_value())); });
  py::class_<Promise, std::shared_ptr<Promise>>(m, "Promise", py::module_local())
      .def(py::init<>())
      .def("scalar", &Promise::scalar)
      .def("set", &Promise::set, py::arg("value"))
      .def("fail", &Promise::fail, py::arg("text"));
  m.def("set_delay", &set_delay, py::arg("ms"));
}

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/errors_pybind11.cc: errors.h by pybind11.
#include "errors.h"

#include <pybind11/functional.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>

namespace py = pybind11;
using namespace errors;
using Released = py::call_guard<py::gil_scoped_release>;

PYBIND11_MODULE(errors, m) {
  const auto error = py::register_exception<Error>(m, "GeometryError", PyExc_ValueError);
  py::register_exception<DeepError>(m, "DeepError", error);
  m.def("fail", &fail, py::arg("kind"), py::arg("text"));
  m.def("fail_noent", &fail_noent, py::arg("path"));
  m.def("empty_optional", &empty_optional);
  m.def("wrong_variant", &wrong_variant);
  m.def("too_large", &too_large);
  py::class_<Fragile>(m, "Fragile")
      .def(py::init<const std::string&>(), py::arg("kind") = "")
      .def_property("value", &Fragile::get_value, &Fragile::set_value)
      .def(py::self + py::self)
      .def_static("count", &Fragile::count)
      .def_static("stop", &Fragile::stop);

  m.def("call", &call, py::arg("function"));
  m.def("call_or_error", &call_or_error, py::arg("function"));
  m.def("call_and_replace", &call_and_replace, py::arg("function"));
  m.def("call_and_clean", &call_and_clean, py::arg("function"), py::arg("clean"));
  m.def("call_twice", &call_twice, py::arg("first"), py::arg("second"));

  m.def("meet", &meet, py::arg("milliseconds"), Released());
  m.def("wait", &errors::wait, py::arg("milliseconds"), Released());
  py::class_<Worker>(m, "Worker")
      .def(py::init<>())
      .def("meet", &Worker::meet, py::arg("milliseconds"), Released());
  m.def("sum_on_threads", &sum_on_threads, py::arg("function"), py::arg("n"), Released());
  m.def("start", &start, py::arg("function"), py::arg("n"));
  m.def("join", &join, Released());
  m.def("fail_on_thread", &fail_on_thread, py::arg("kind"), Released());
}

// SPDX-License-Identifier: Apache-2.0
// pybind11/myops_dispatch_cpu.cc: myops_dispatch_cpu.h by pybind11.
#include "myops_dispatch_cpu/myops_dispatch_cpu.h"

#include "numbers.h"

using namespace myops_dispatch_cpu;

PYBIND11_MODULE(myops_dispatch_cpu, m) {
  m.doc() = "Mini dispatcher (single CPU backend)";
  join(m, drop_ops);
  const auto base = py::reinterpret_steal<py::object>(stages::core_class("OpLookupError"));
  py::register_exception<OpLookupError>(m, "OpLookupError", base);
  py::class_<Registration>(m, "Registration").def("remove", &Registration::remove);
  m.def("register_op", &register_op, py::arg("name"), py::arg("fn"),
        py::arg("backend") = "CPU", py::arg("overwrite") = false);
  m.def("run_op", &run_op, py::arg("name"), py::arg("a"), py::arg("b"),
        py::arg("backend") = "CPU", py::call_guard<py::gil_scoped_release>(),
        "Run an op by name, e.g. run_op('add',3,4)");
  m.def("init_ops", &init_ops);
  init_ops();
}

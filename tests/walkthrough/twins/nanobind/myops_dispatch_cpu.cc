// SPDX-License-Identifier: Apache-2.0
// nanobind/myops_dispatch_cpu.cc: myops_dispatch_cpu.h by nanobind.
#include "myops_dispatch_cpu/myops_dispatch_cpu.h"

#include "numbers.h"

using namespace myops_dispatch_cpu;

NB_MODULE(myops_dispatch_cpu, m) {
  join(m, drop_ops);
  const auto base = nb::steal(stages::core_class("OpLookupError"));
  nb::exception<OpLookupError>(m, "OpLookupError", base);
  nb::class_<Registration>(m, "Registration").def("remove", &Registration::remove);
  m.def("register_op", &register_op, "name"_a, "fn"_a, "backend"_a = "CPU",
        "overwrite"_a = false);
  m.def("run_op", &run_op, "name"_a, "a"_a, "b"_a, "backend"_a = "CPU",
        nb::call_guard<nb::gil_scoped_release>(),
        "Run an op by name, e.g. run_op('add',3,4)");
  m.def("init_ops", &init_ops);
  init_ops();
}

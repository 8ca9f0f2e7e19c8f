// SPDX-License-Identifier: Apache-2.0
// nanobind/pydemo_int.cc: pydemo_int.h by nanobind.
#include "pydemo_int/pydemo_int.h"

#include <nanobind/nanobind.h>

using namespace nanobind::literals;

NB_MODULE(pydemo_int, m) {
  m.def("add", &pydemo_int::add, "a"_a, "b"_a,
        "Adds two 32-bit integers; OverflowError beyond 32 bits.");
}

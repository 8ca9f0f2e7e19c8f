// SPDX-License-Identifier: Apache-2.0
// nanobind/pydemo.cc: pydemo.h by nanobind.
#include "pydemo/pydemo.h"

#include <nanobind/nanobind.h>

using namespace nanobind::literals;

NB_MODULE(pydemo, m) { m.def("add", &pydemo::add, "a"_a, "b"_a, "Adds two doubles."); }

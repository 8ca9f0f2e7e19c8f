// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_profiler.cc: traces.
#include "bind.h"
#include "dispatcher/profile.h"

namespace pkg::pybind {

void bind_profiler(py::module_& m) {
  m.def("_trace_begin", &profiling::_trace_begin, py::arg("kinds"), py::arg("max_events"),
        "_trace_begin(kinds, max_events)\n--\n\n"
        "Opens a trace and returns its number; see cpp/dispatcher/profile.h.");
  m.def("_trace_end", &profiling::_trace_end, py::arg("number"),
        "_trace_end(number)\n--\n\n"
        "Ends a trace and returns it as JSON; see cpp/dispatcher/profile.h.");
}

}  // namespace pkg::pybind

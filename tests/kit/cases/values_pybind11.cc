// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/values_pybind11.cc: values.h by pybind11.
#include "values.h"

#include <pybind11/chrono.h>
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

namespace py = pybind11;

/// pybind11 has no type of C++ that becomes bytes.
static py::bytes reversed(std::string_view data) {
  return std::string(data.rbegin(), data.rend());
}

PYBIND11_MODULE(values, m) {
  const py::arg value("value");
  m.def("same_int8", &values::same_int8, value);
  m.def("same_int16", &values::same_int16, value);
  m.def("same_int32", &values::same_int32, value);
  m.def("same_int64", &values::same_int64, value);
  m.def("same_uint8", &values::same_uint8, value);
  m.def("same_uint16", &values::same_uint16, value);
  m.def("same_uint32", &values::same_uint32, value);
  m.def("same_uint64", &values::same_uint64, value);
  m.def("same_long_long", &values::same_long_long, value);
  m.def("same_size", &values::same_size, value);
  m.def("same_float", &values::same_float, value);
  m.def("same_double", &values::same_double, value);
  m.def("same_bool", &values::same_bool, value);
  m.def("same_char", &values::same_char, value);
  m.def("same_complex", &values::same_complex, value);
  m.def("same_complex_float", &values::same_complex_float, value);
  m.def("sum_of", &values::sum_of, py::arg("a"), py::arg("b"));
  m.def("nothing", &values::nothing);
  m.def("same_string", &values::same_string, py::arg("text"));
  m.def("by_value", &values::by_value, py::arg("text"));
  m.def("of_view", &values::of_view, py::arg("text"));
  m.def("of_pointer", &values::of_pointer, py::arg("text"));
  m.def("literal", &values::literal);
  m.def("bytes_of", &values::bytes_of, py::arg("text"));
  m.def("broken_string", &values::broken_string);
  m.def("reversed", &reversed, py::arg("data"));
  m.def("parent", &values::parent, py::arg("path"));
  m.def("path_or_text", py::overload_cast<const std::string&>(&values::path_or_text));
  m.def("path_or_text",
        py::overload_cast<const std::filesystem::path&>(&values::path_or_text));
  m.def("twice", &values::twice, py::arg("time"));
  m.def("ns", &values::ns);
  m.def("whole", &values::whole);
  m.def("longest", &values::longest);
  m.def("in_ms", &values::in_ms, py::arg("time"));
  m.def("seconds", &values::seconds, py::arg("count"));
  m.def("later", &values::later, py::arg("time"), py::arg("by"));
  m.def("same_variant", &values::same_variant, value);
  m.def("held", &values::held, value);
  m.def("same_maybe", &values::same_maybe, value);
  m.def("half_of", &values::half_of, value);
  m.def("first_of", &values::first_of, py::arg("all"));
}

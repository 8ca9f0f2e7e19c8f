// SPDX-License-Identifier: Apache-2.0
// tests/border/border_pybind11.cc: border.h by pybind11.
#include <pybind11/functional.h>
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>

#include "border.h"

namespace py = pybind11;

namespace pybind11::detail {

/// Bytes, or any buffer without gaps; on its way out bytes.
template <>
struct type_caster<std::vector<std::byte>> {
  PYBIND11_TYPE_CASTER(std::vector<std::byte>, const_name("bytes"));
  bool load(handle source, bool) {
    if (!isinstance<buffer>(source)) return false;
    const buffer_info info = reinterpret_borrow<buffer>(source).request();
    if (!PyBuffer_IsContiguous(info.view(), 'C')) {
      throw buffer_error("the buffer is not contiguous");
    }
    value.resize(size_t(info.size * info.itemsize));
    if (info.size) std::memcpy(value.data(), info.ptr, value.size());
    return true;
  }
  static handle cast(const std::vector<std::byte>& data, return_value_policy, handle) {
    return bytes(reinterpret_cast<const char*>(data.data()), data.size()).release();
  }
};

}  // namespace pybind11::detail

namespace {

void bind_values(py::module_& m) {
  m.def("same_int32", &border::same_int32, py::arg("value"));
  m.def("same_int64", &border::same_int64, py::arg("value"));
  m.def("same_uint8", &border::same_uint8, py::arg("value"));
  m.def("same_uint64", &border::same_uint64, py::arg("value"));
  m.def("same_float", &border::same_float, py::arg("value"));
  m.def("same_double", &border::same_double, py::arg("value"));
  m.def("same_bool", &border::same_bool, py::arg("value"));
  m.def("same_string", &border::same_string, py::arg("text"));
  m.def("bytes_of", &border::bytes_of, py::arg("text"));
  m.def("broken_string", &border::broken_string);
  m.def("reversed_bytes", &border::reversed_bytes, py::arg("data"));
}

void bind_containers(py::module_& m) {
  m.def("doubled", &border::doubled, py::arg("values"));
  m.def("transposed", &border::transposed, py::arg("rows"));
  m.def("raised", &border::raised, py::arg("prices"), py::arg("by"));
  m.def("by_length", &border::by_length, py::arg("words"));
  m.def("count_words", &border::count_words, py::arg("groups"));
  m.def("swapped", &border::swapped, py::arg("pair"));
  m.def("rotated", &border::rotated, py::arg("three"));
  m.def("half_of", &border::half_of, py::arg("value"));
}

void bind_enums(py::module_& m) {
  py::native_enum<border::Color>(m, "Color", "enum.IntEnum")
      .value("Red", border::Color::Red)
      .value("Green", border::Color::Green)
      .value("Blue", border::Color::Blue)
      .finalize();
  m.def("next_color", &border::next_color, py::arg("color"));
  m.def("no_color", &border::no_color);
  m.def("all_colors", &border::all_colors);
}

void bind_callables(py::module_& m) {
  using Released = py::call_guard<py::gil_scoped_release>;
  m.def("call", &border::call, py::arg("f"), py::arg("x"));
  m.def("sum_on_threads", &border::sum_on_threads, py::arg("f"), py::arg("n"), Released());
  m.def("listen", &border::listen, py::arg("listener"));
  m.def("tell", &border::tell, py::arg("text"));
  m.def("forget", &border::forget, Released());
}

void bind_handles(py::module_& m) {
  using border::Account;
  using border::Node;
  py::class_<Account>(m, "Account")
      .def(py::init<const std::string&, double>(), py::arg("owner"), py::arg("balance") = 0)
      .def("owner", &Account::owner)
      .def("balance", &Account::balance)
      .def("deposit", &Account::deposit, py::arg("amount"))
      .def("close", &Account::close);
  m.def("accounts_alive", &border::accounts_alive);
  m.def("transfer", &border::transfer, py::arg("from"), py::arg("to"), py::arg("amount"));
  m.def("owner_of", &border::owner_of, py::arg("account").none(false));
  m.def("owner_or_nobody", &border::owner_or_nobody, py::arg("maybe").none(true));

  py::class_<Node, std::shared_ptr<Node>>(m, "Node")
      .def(py::init<int64_t>(), py::arg("value"))
      .def("value", &Node::value)
      .def("set_next", &Node::set_next, py::arg("next"))
      .def("next", &Node::next);
  m.def("nodes_alive", &border::nodes_alive);
  m.def("linked", &border::linked, py::arg("first"), py::arg("rest"));
}

/// Of the object whose properties are the global variables.
struct Globals {};

template <auto variable>
void bind_variable(py::class_<Globals>& cls, const char* name) {
  using T = std::decay_t<decltype(*variable)>;
  cls.def_property(
      name, [](const Globals&) { return *variable; },
      [](const Globals&, const T& value) { *variable = value; });
}

void bind_globals(py::module_& m) {
  py::class_<Globals> cls(m, "Globals");
  bind_variable<&border::hits>(cls, "hits");
  bind_variable<&border::rate>(cls, "rate");
  bind_variable<&border::title>(cls, "title");
  cls.def_property_readonly("limit", [](const Globals&) { return border::limit; });
  m.attr("cvar") = Globals();
  m.def("read_hits", &border::read_hits);
  m.def("hit", &border::hit);
}

}  // namespace

PYBIND11_MODULE(border, m, py::mod_gil_not_used()) {
  bind_values(m);
  bind_containers(m);
  bind_enums(m);
  bind_callables(m);
  bind_handles(m);
  bind_globals(m);
}

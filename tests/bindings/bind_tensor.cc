// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_tensor.cc: the Tensor class, and of which Python class results are.
//
// pybind11 keeps a map from C++ objects to the Python objects that show them, so the
// same tensor is the same Python object while that lives.
#include "bind.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

// The Python class of results, in the form that pybind11's casters ask for: the class of
// a C++ type can be exchanged for a subclass in no other way.  Set by bind_tensor().
py::detail::type_info* g_result_type = nullptr;
py::detail::type_info* g_symbol_type = nullptr;  // of symbols of a graph

py::object as_object(const Tensor& tensor, const py::detail::type_info* type) {
  const Held<TensorImpl> holder(tensor.ref());
  const py::detail::cast_sources source(tensor.impl(), type);
  return py::reinterpret_steal<py::object>(py::detail::type_caster_generic::cast(
      source, py::return_value_policy::take_ownership, {}, nullptr, nullptr, &holder));
}

py::detail::type_info type_for(py::handle cls) {
  py::detail::type_info type = *g_result_type;
  type.type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  return type;
}

bool is_tensor_class(py::handle cls) {
  return py::isinstance<py::type>(cls) &&
         py::module_::import("builtins")
             .attr("issubclass")(cls, py::type::of<TensorImpl>())
             .cast<bool>();
}

void register_tensor_class(const py::object& cls) {
  PKG_CHECK(is_tensor_class(cls), TypeError,
            "register_tensor_class() expected a subclass of _pywrap_core.Tensor");
  *g_result_type = type_for(cls);
  cls.inc_ref();  // results of this class are made until the process ends
}

void register_symbol_class(const py::object& cls) {
  PKG_CHECK(is_tensor_class(cls), TypeError,
            "register_symbol_class() expected a subclass of _pywrap_core.Tensor");
  g_symbol_type = new py::detail::type_info(type_for(cls));
  cls.inc_ref();
}

py::object from_symbol(const Tensor& symbol) {
  py::object object = as_object(symbol, g_symbol_type);
  if (!py::hasattr(object, "_graph")) object.attr("_begin")();
  return object;
}

/// A new object of the given class over the same values: how Parameter is made.
py::object make_subclass(const py::object& cls, const py::object& data,
                         const py::object& requires_grad) {
  const std::optional<Tensor> source = as_tensor(data);
  expect(is_tensor_class(cls), "_make_subclass", "cls", "a subclass of Tensor", cls);
  expect(source.has_value(), "_make_subclass", "data", "a Tensor", data);
  const Tensor tensor = share(*source);
  if (py::bool_(requires_grad)) set_requires_grad(tensor, true);
  const py::detail::type_info type = type_for(cls);
  return as_object(tensor, &type);
}

}  // namespace

py::object from_tensor(const Tensor& tensor) {
  if (!tensor.defined()) return py::none();
  const bool symbol = tensor.storage().dynamic_keys().has(DispatchKey::Graph);
  if (g_symbol_type && symbol) return from_symbol(tensor);
  return as_object(tensor, g_result_type);
}

py::handle tensor_class() {
  return py::handle(reinterpret_cast<PyObject*>(g_result_type->type));
}

void bind_tensor(py::module_& m) {
  TensorClass cls(m, "Tensor", "Tensor of the C++ core; use pkg.Tensor.");
  g_result_type = new py::detail::type_info(*py::detail::get_type_info(typeid(TensorImpl)));
  cls.def(py::init([](const py::args&, const py::kwargs&) -> Held<TensorImpl> {
    throw TypeError("Tensor(): make tensors with pkg.tensor(...).");
  }));
  cls.attr("_binding") = m.attr("__name__");
  cls.def_static(
      "_make_subclass", &make_subclass, py::arg("cls"), py::arg("data"),
      py::arg("requires_grad") = false,
      "_make_subclass(cls, data, requires_grad=False, /)\n--\n\nFor subclasses.");
  bind_property(cls);
  bind_method(cls);
  bind_number(cls);
  bind_index(cls);
  bind_dlpack(m, cls);
  m.def("register_tensor_class", &register_tensor_class, py::arg("cls"), py::pos_only(),
        "register_tensor_class(cls, /)\n--\n\nMakes every result an instance of cls.");
  m.def("register_symbol_class", &register_symbol_class, py::arg("cls"), py::pos_only(),
        "register_symbol_class(cls, /)\n--\n\nMakes every symbol of a graph an instance of "
        "cls, whose _begin() is then called.");
}

}  // namespace pkg::pybind

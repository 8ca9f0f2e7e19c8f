// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_dtype.cc: pkg.dtype and its nine objects, pkg.float32 ...
#include <array>
#include <memory>

#include "bind.h"

namespace pkg::pybind {
namespace {

using SharedDType = std::shared_ptr<DTypeObject>;

// pybind11 keeps one Python object per address, so `x.dtype is pkg.float32` holds.
std::array<SharedDType, kNumDTypes> g_dtypes;

std::optional<DType> from_name(const py::str& name) {
  return dtype_from_name(std::string(name));
}

/// A scalar type such as np.float32, or an instance of np.dtype.
std::optional<DType> from_numpy_type(py::handle object) {
  const bool is_type = py::isinstance<py::type>(object);
  const py::object owner = is_type ? py::reinterpret_borrow<py::object>(object)
                                   : py::object(py::type::of(object));
  const py::object module = py::getattr(owner, "__module__", py::none());
  if (!py::isinstance<py::str>(module) ||
      !module.attr("startswith")("numpy").cast<bool>()) {
    return std::nullopt;
  }
  const py::object name = py::getattr(object, is_type ? "__name__" : "name", py::none());
  if (!py::isinstance<py::str>(name)) return std::nullopt;
  if (name.equal(py::str("bool_"))) return DType::Bool;
  return from_name(name);
}

SharedDType find_dtype(py::handle, py::handle given) {
  const auto dtype = as_dtype(given);
  if (!dtype && !py::isinstance<py::str>(given)) {
    throw TypeError(
        str("[dtype] expected a dtype or its name for 'name', got ", type_name(given)));
  }
  if (!dtype) {
    throw TypeError("dtype(): " + std::string(py::repr(given)) + " names no element type");
  }
  return g_dtypes[size_t(*dtype)];
}

}  // namespace

std::optional<DType> as_dtype(py::handle object) {
  if (py::isinstance<DTypeObject>(object)) return object.cast<DTypeObject&>().value;
  if (py::isinstance<py::str>(object)) {
    return from_name(py::reinterpret_borrow<py::str>(object));
  }
  if (object.is(py::type::of(py::float_()))) return DType::Float64;
  if (object.is(py::type::of(py::int_()))) return DType::Int64;
  if (object.is(py::type::of(py::bool_()))) return DType::Bool;
  return from_numpy_type(object);
}

py::object from_dtype(DType dtype) { return py::cast(g_dtypes[size_t(dtype)]); }

void bind_dtype(py::module_& m) {
  py::class_<DTypeObject, SharedDType> cls(public_scope(), "dtype", py::is_final(),
                                           "dtype(name)\n--\n\nElement type of a tensor.");
  m.attr("dtype") = cls;
  cls.def_static("__new__", &find_dtype, py::arg("cls"), py::arg("name"))
      // The object that __new__ found is complete, so pybind11 does not run this.
      .def(py::init(
          [](const py::args&, const py::kwargs&) -> SharedDType { return nullptr; }))
      .def("__repr__",
           [](const DTypeObject& self) { return str("pkg.", name_of(self.value)); })
      .def("__reduce_ex__",
           [](const py::object& self, int) {
             return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("name")));
           })
      .def_property_readonly(
          "name", [](const DTypeObject& self) { return name_of(self.value); },
          "Name, such as 'float32'.")
      .def_property_readonly(
          "itemsize", [](const DTypeObject& self) { return itemsize(self.value); },
          "Bytes of one element.")
      .def_property_readonly(
          "is_floating_point",
          [](const DTypeObject& self) { return is_floating(self.value); },
          "Is it a float type?");
  for (int i = 0; i < kNumDTypes; ++i) {
    g_dtypes[size_t(i)] = std::make_shared<DTypeObject>(DTypeObject{DType(i)});
    m.attr(name_of(DType(i))) = from_dtype(DType(i));
  }
}

}  // namespace pkg::pybind

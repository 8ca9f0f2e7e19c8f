// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_device.cc: pkg.device; its objects equal their names.
#include <array>
#include <memory>

#include "bind.h"

namespace pkg::pybind {
namespace {

using SharedDevice = std::shared_ptr<DeviceObject>;

const std::array<SharedDevice, 2> g_devices{
    std::make_shared<DeviceObject>(DeviceObject{{DeviceType::CPU}}),
    std::make_shared<DeviceObject>(DeviceObject{{DeviceType::Meta}})};

SharedDevice find_device(py::handle, py::handle given) {
  const auto device = as_device(given);
  expect(device.has_value(), "device", "type", "a device or its name", given);
  return g_devices[size_t(device->type)];
}

}  // namespace

std::optional<Device> as_device(py::handle object) {
  if (py::isinstance<DeviceObject>(object)) return object.cast<DeviceObject&>().value;
  if (!py::isinstance<py::str>(object)) return std::nullopt;
  return Device::parse(object.cast<std::string>());
}

py::object from_device(Device device) { return py::cast(g_devices[size_t(device.type)]); }

void bind_device(py::module_& m) {
  py::class_<DeviceObject, SharedDevice> cls(
      public_scope(), "device", py::is_final(),
      "device(type)\n--\n\nWhere a tensor lives; equals its name.");
  m.attr("device") = cls;
  const auto name = [](const DeviceObject& self) { return self.value.str(); };
  const auto is_named = [](const DeviceObject& self, const std::string& text) {
    return self.value.str() == text;
  };
  const auto is_same = [](const DeviceObject& self, const DeviceObject& other) {
    return self.value == other.value;
  };
  cls.def_static("__new__", &find_device, py::arg("cls"), py::arg("type"))
      // The object that __new__ found is complete, so pybind11 does not run this.
      .def(py::init(
          [](const py::args&, const py::kwargs&) -> SharedDevice { return nullptr; }))
      .def("__repr__",
           [](const DeviceObject& self) {
             return "device(type='" + self.value.str() + "')";
           })
      .def("__str__", name)
      .def("__hash__",
           [=](const DeviceObject& self) { return py::hash(py::str(name(self))); })
      .def("__eq__", is_same, py::is_operator())
      .def("__eq__", is_named, py::is_operator())
      .def("__reduce_ex__",
           [=](const py::object& self, int) {
             return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("type")));
           })
      .def_property_readonly("type", name, "'cpu' or 'meta'.")
      .def_property_readonly(
          "index", [](const DeviceObject&) { return py::none(); },
          "None: there is one of each.");
}

}  // namespace pkg::pybind

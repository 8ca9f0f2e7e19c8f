// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pointers_pybind11.cc: pointers.h by pybind11.
#include "pointers.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <variant>

namespace py = pybind11;
using namespace pointers;
PYBIND11_DECLARE_HOLDER_TYPE(T, Counting<T>, true)

namespace {

/// pybind11 hands nothing on by itself.
template <class T>
void hand_on(T& cls) {
  cls.def("__getattr__", [](py::object self, const std::string& name) -> py::object {
    return self.attr("pointee")().attr(name.c_str());
  });
}
template <class T>
py::class_<T> pointing(py::module_& m, const char* name) {
  py::class_<T> cls(m, name);
  cls.def(
      "pointee", [](T& self) { return self.operator->(); },
      py::return_value_policy::reference_internal);
  hand_on(cls);
  return cls;
}

struct PyPlant : Plant, py::trampoline_self_life_support {
  using Plant::Plant;
  std::string name() const override { PYBIND11_OVERRIDE(std::string, Plant, name, ); }
  Plant* offshoot() const override {
    // Of a plain pointer pybind11 takes nothing over; by hand it does.
    py::gil_scoped_acquire gil;
    const py::function own = py::get_override(static_cast<const Plant*>(this), "offshoot");
    if (!own) return Plant::offshoot();
    py::object made = own();
    return made.is_none() ? nullptr
                          : py::cast<std::unique_ptr<Plant>>(std::move(made)).release();
  }
};

}  // namespace

PYBIND11_MODULE(pointers, m) {
  py::class_<Counted, Counting<Counted>>(m, "Counted")
      .def(py::init<int>(), py::arg("value"))
      .def("shares", &Counted::shares)
      .def_readwrite("value", &Counted::value)
      .def_readonly_static("alive", &Counted::alive);
  py::class_<CountedMore, Counted, Counting<CountedMore>>(m, "CountedMore")
      .def(py::init<int>(), py::arg("value"))
      .def_readwrite("more", &CountedMore::more);
  m.def("put_on_shelf", &put_on_shelf, py::arg("object").none(true));
  m.def("on_shelf", &on_shelf);

  py::class_<Lamp>(m, "Lamp")
      .def(py::init<>())
      .def("brighter", &Lamp::brighter, py::arg("by") = 1)
      .def_static("kind", &Lamp::kind)
      .def_readwrite("light", &Lamp::light);
  pointing<Handle<Lamp>>(m, "LampHandle")
      .def(py::init<Lamp*>(), py::arg("object") = nullptr, py::keep_alive<1, 2>())
      .def("is_set", &Handle<Lamp>::is_set);
  pointing<Room>(m, "Room").def(py::init<>()).def_readwrite("size", &Room::size);
  pointing<Dark>(m, "Dark").def(py::init<>());
  m.def("same", &same, py::arg("lamp"));
  m.def("light_of", &light_of, py::arg("lamp"));
  using One = Counting<Counted>;
  m.def(
      "values_of",
      [](const std::optional<std::variant<One, std::vector<std::optional<One>>>>& given) {
        std::vector<int> values;
        if (!given) return values;
        if (auto* one = std::get_if<One>(&*given)) return std::vector{(*one)->value};
        for (const auto& each : std::get<1>(*given)) {
          if (each && *each) values.push_back((*each)->value);
        }
        return values;
      },
      py::arg("given"));
  m.def("doubled", [](int number) { return doubled(number); }, py::arg("number"));
  m.def("switch_on", &switch_on, py::arg("lamps"));

  py::class_<Plant, PyPlant, py::smart_holder>(m, "Plant")
      .def(py::init<>())
      .def("name", &Plant::name)
      .def("offshoot", &Plant::offshoot, py::return_value_policy::take_ownership)
      .def_readonly_static("alive", &Plant::alive);
  m.def("name_of_offshoot", &name_of_offshoot, py::arg("plant"));
}

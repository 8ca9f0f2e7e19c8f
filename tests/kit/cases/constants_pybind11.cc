// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/constants_pybind11.cc: constants.h by pybind11.
#include "constants.h"

#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace constants;

namespace {

void bind_enums(py::module_& m) {
  py::native_enum<Color>(m, "Color", "enum.IntEnum", "Colours of light.")
      .value("Red", Color::Red)
      .value("Green", Color::Green)
      .value("Blue", Color::Blue)
      .finalize();
  py::native_enum<Weekday>(m, "Weekday", "enum.IntEnum")
      .value("Monday", Monday)
      .value("Tuesday", Tuesday)
      .value("Sunday", Sunday)
      .finalize();
  py::native_enum<Level>(m, "Level", "enum.IntEnum")
      .value("Low", Level::Low)
      .value("Middle", Level::Middle)
      .value("High", Level::High)
      .finalize();
  py::native_enum<Big>(m, "Big", "enum.IntEnum")
      .value("Zero", Big::Zero)
      .value("Top", Big::Top)
      .finalize();
  py::native_enum<Small>(m, "Small", "enum.IntEnum")
      .value("Bottom", Small::Bottom)
      .finalize();
  py::native_enum<Side>(m, "Side", "enum.IntEnum")
      .value("Left", Side::Left)
      .value("Right", Side::Right)
      .value("Default", Side::Default)
      .finalize();
  py::native_enum<Mode>(m, "Mode", "enum.IntFlag")
      .value("None", Mode::None)
      .value("Read", Mode::Read)
      .value("Write", Mode::Write)
      .value("Append", Mode::Append)
      .finalize();
}

void bind_lamp(py::module_& m) {
  py::class_<Lamp> lamp(m, "Lamp");
  py::native_enum<Lamp::State>(lamp, "State", "enum.IntEnum")
      .value("Off", Lamp::State::Off)
      .value("On", Lamp::State::On)
      .finalize();
  py::native_enum<Lamp::Shape>(lamp, "Shape", "enum.IntEnum")
      .value("Round", Lamp::Round)
      .value("Square", Lamp::Square)
      .finalize();
  lamp.def(py::init<Lamp::State>(), py::arg("state") = Lamp::State::Off)
      .def("state", &Lamp::state)
      .def("turn", &Lamp::turn, py::arg("state"))
      .def("shape", &Lamp::shape)
      .def_readwrite("color", &Lamp::color);
  lamp.attr("kMaxWatts") = Lamp::kMaxWatts;
  lamp.attr("kMinWatts") = +Lamp::kMinWatts;
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
  bind_variable<&hits>(cls, "hits");
  bind_variable<&rate>(cls, "rate");
  bind_variable<&title>(cls, "title");
  bind_variable<&favourite>(cls, "favourite");
  bind_variable<&history>(cls, "history");
  m.attr("cvar") = Globals();
  m.attr("kLimit") = kLimit;
  m.attr("kHalf") = kHalf;
  m.attr("kMask") = kMask;
  m.attr("kReady") = kReady;
  m.attr("kVersion") = kVersion;
  m.attr("CONSTANTS_ANSWER") = CONSTANTS_ANSWER;
  m.attr("CONSTANTS_NAME") = CONSTANTS_NAME;
}

}  // namespace

PYBIND11_MODULE(constants, m) {
  bind_enums(m);
  bind_lamp(m);
  bind_globals(m);
  m.def("next", &next, py::arg("color"));
  m.def("number_of", &number_of, py::arg("color"));
  m.def("no_color", &no_color);
  m.def("day_after", &day_after, py::arg("day"));
  m.def("raised", &raised, py::arg("level"));
  m.def("same_big", &same_big, py::arg("value"));
  m.def("same_small", &same_small, py::arg("value"));
  m.def("other_side", &other_side, py::arg("side") = Side::Default);
  m.def("all_colors", &all_colors);
  m.def("names", &names, py::arg("colors"));
  m.def("color_of", &color_of, py::arg("name"));
  m.def("kind", py::overload_cast<Color>(&kind));
  m.def("kind", py::overload_cast<Level>(&kind));
  m.def("kind", py::overload_cast<int>(&kind));
  m.def("may_read", &may_read, py::arg("mode"));
  m.def("with_write", &with_write, py::arg("mode"));
  m.def("hit", &hit);
  m.def("louder", &louder, py::arg("text"));
}

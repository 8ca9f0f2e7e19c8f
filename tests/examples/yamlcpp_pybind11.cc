// SPDX-License-Identifier: Apache-2.0
// docs/examples/yamlcpp, as one writes it with pybind11.
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

namespace py = pybind11;
using namespace py::literals;
using YAML::Node, YAML::Mark, YAML::anchor_t;
using Released = py::call_guard<py::gil_scoped_release>;

struct PyHandler : YAML::EventHandler {
  using EventHandler::EventHandler;
  void OnDocumentStart(const Mark& mark) override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnDocumentStart, mark);
  }
  void OnDocumentEnd() override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnDocumentEnd);
  }
  void OnNull(const Mark& mark, anchor_t anchor) override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnNull, mark, anchor);
  }
  void OnAlias(const Mark& mark, anchor_t anchor) override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnAlias, mark, anchor);
  }
  void OnScalar(const Mark& mark, const std::string& tag, anchor_t anchor,
                const std::string& value) override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnScalar, mark, tag, anchor, value);
  }
  void OnSequenceStart(const Mark& mark, const std::string& tag, anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnSequenceStart, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnSequenceEnd);
  }
  void OnMapStart(const Mark& mark, const std::string& tag, anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    PYBIND11_OVERRIDE_PURE(void, EventHandler, OnMapStart, mark, tag, anchor, style);
  }
  void OnMapEnd() override { PYBIND11_OVERRIDE_PURE(void, EventHandler, OnMapEnd); }
  void OnAnchor(const Mark& mark, const std::string& name) override {
    PYBIND11_OVERRIDE(void, EventHandler, OnAnchor, mark, name);
  }
};

PYBIND11_MODULE(yamlcpp, m) {
  auto error = py::register_exception<YAML::Exception>(m, "YamlError", PyExc_ValueError);
  py::register_exception<YAML::ParserException>(m, "ParserError", error);
  py::register_exception<YAML::BadFile>(m, "BadFile", error);
  py::register_exception<YAML::InvalidNode>(m, "InvalidNode", error);
  py::register_exception<YAML::BadConversion>(m, "BadConversion", error);

  py::class_<std::istream>(m, "istream");
  py::class_<std::istringstream, std::istream>(m, "istringstream")
      .def(py::init<const std::string&>(), "text"_a);
  py::class_<Mark>(m, "Mark")
      .def(py::init<>())
      .def_static("null_mark", &Mark::null_mark)
      .def("is_null", &Mark::is_null)
      .def_readwrite("pos", &Mark::pos)
      .def_readwrite("line", &Mark::line)
      .def_readwrite("column", &Mark::column);
  py::class_<YAML::EmitterStyle> style(m, "EmitterStyle");
  style.def(py::init<>());
  py::native_enum<YAML::EmitterStyle::value>(style, "value", "enum.IntEnum")
      .value("Default", YAML::EmitterStyle::Default)
      .value("Block", YAML::EmitterStyle::Block)
      .value("Flow", YAML::EmitterStyle::Flow)
      .export_values()
      .finalize();
  py::class_<YAML::NodeType> type(m, "NodeType");
  type.def(py::init<>());
  py::native_enum<YAML::NodeType::value>(type, "value", "enum.IntEnum")
      .value("Undefined", YAML::NodeType::Undefined)
      .value("Null", YAML::NodeType::Null)
      .value("Scalar", YAML::NodeType::Scalar)
      .value("Sequence", YAML::NodeType::Sequence)
      .value("Map", YAML::NodeType::Map)
      .export_values()
      .finalize();

  py::class_<Node>(m, "Node")
      .def(py::init<>())
      .def(py::init<YAML::NodeType::value>(), "type"_a)
      .def(py::init<const Node&>(), "rhs"_a)
      .def(py::init<const std::string&>(), "rhs"_a)
      .def(py::init<const double&>(), "rhs"_a)
      .def(py::init<const std::vector<int>&>(), "rhs"_a)
      .def("mark", &Node::Mark)
      .def("Type", &Node::Type)
      .def("IsDefined", &Node::IsDefined)
      .def("IsNull", &Node::IsNull)
      .def("IsScalar", &Node::IsScalar)
      .def("IsSequence", &Node::IsSequence)
      .def("IsMap", &Node::IsMap)
      .def("__bool__", &Node::operator bool)
      .def("Scalar", &Node::Scalar)
      .def("Tag", &Node::Tag)
      .def("SetTag", &Node::SetTag, "tag"_a)
      .def("Style", &Node::Style)
      .def("SetStyle", &Node::SetStyle, "style"_a)
      .def("__len__", &Node::size)
      .def(
          "push_back", [](Node& self, const Node& rhs) { self.push_back(rhs); }, "rhs"_a)
      .def(
          "remove", [](Node& self, const Node& key) { return self.remove(key); }, "key"_a)
      .def(
          "remove", [](Node& self, const std::string& key) { return self.remove(key); },
          "key"_a)
      .def("__getitem__",
           [](const Node& self, const std::string& key) { return self[key]; })
      .def("__getitem__",
           [](Node& self, size_t index) {
             if (index >= self.size()) throw py::index_error("no item");
             return self[index];
           })
      .def("__setitem__",
           [](Node& self, const std::string& key, const Node& value) { self[key] = value; })
      .def(
          "__eq__", [](const Node& self, const Node& other) { return self == other; },
          py::is_operator())
      .def("as_bool", [](const Node& self) { return self.as<bool>(); })
      .def("as_int", [](const Node& self) { return self.as<int>(); })
      .def("as_float", [](const Node& self) { return self.as<double>(); })
      .def("as_str", [](const Node& self) { return self.as<std::string>(); })
      .def("as_list", [](const Node& self) { return self.as<std::vector<Node>>(); })
      .def("as_ints", [](const Node& self) { return self.as<std::vector<int>>(); })
      .def("as_dict",
           [](const Node& self) { return self.as<std::map<std::string, Node>>(); });

  m.def("Load", py::overload_cast<const std::string&>(&YAML::Load), "input"_a, Released());
  m.def("Load", py::overload_cast<std::istream&>(&YAML::Load), "input"_a, Released());
  m.def("LoadFile", &YAML::LoadFile, "filename"_a);
  m.def("LoadAll", py::overload_cast<const std::string&>(&YAML::LoadAll), "input"_a);
  m.def("LoadAll", py::overload_cast<std::istream&>(&YAML::LoadAll), "input"_a);
  m.def("LoadAllFromFile", &YAML::LoadAllFromFile, "filename"_a);
  m.def("Dump", &YAML::Dump, "node"_a);
  m.def("Clone", &YAML::Clone, "node"_a);

  using YAML::EventHandler, YAML::Parser;
  m.attr("NullAnchor") = YAML::NullAnchor;
  py::class_<EventHandler, PyHandler>(m, "EventHandler")
      .def(py::init<>())
      .def("OnDocumentStart", &EventHandler::OnDocumentStart, "mark"_a)
      .def("OnDocumentEnd", &EventHandler::OnDocumentEnd)
      .def("OnNull", &EventHandler::OnNull, "mark"_a, "anchor"_a)
      .def("OnAlias", &EventHandler::OnAlias, "mark"_a, "anchor"_a)
      .def("OnScalar", &EventHandler::OnScalar, "mark"_a, "tag"_a, "anchor"_a, "value"_a)
      .def("OnSequenceStart", &EventHandler::OnSequenceStart, "mark"_a, "tag"_a, "anchor"_a,
           "style"_a)
      .def("OnSequenceEnd", &EventHandler::OnSequenceEnd)
      .def("OnMapStart", &EventHandler::OnMapStart, "mark"_a, "tag"_a, "anchor"_a,
           "style"_a)
      .def("OnMapEnd", &EventHandler::OnMapEnd)
      .def("OnAnchor", &EventHandler::OnAnchor, "mark"_a, "anchor_name"_a);
  py::class_<Parser>(m, "Parser")
      .def(py::init<>())
      .def(py::init<std::istream&>(), "in_"_a, py::keep_alive<1, 2>())
      .def("__bool__", &Parser::operator bool)
      .def("Load", &Parser::Load, "in_"_a, py::keep_alive<1, 2>())
      .def("HandleNextDocument", &Parser::HandleNextDocument, "eventHandler"_a, Released());
}

// SPDX-License-Identifier: Apache-2.0
// docs/examples/yamlcpp, as one writes it with nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

namespace nb = nanobind;
using namespace nb::literals;
using YAML::Node, YAML::Mark, YAML::anchor_t;
using Released = nb::call_guard<nb::gil_scoped_release>;

struct PyHandler : YAML::EventHandler {
  NB_TRAMPOLINE(EventHandler, 10);
  void OnDocumentStart(const Mark& mark) override {
    NB_OVERRIDE_PURE(OnDocumentStart, mark);
  }
  void OnDocumentEnd() override { NB_OVERRIDE_PURE(OnDocumentEnd); }
  void OnNull(const Mark& mark, anchor_t anchor) override {
    NB_OVERRIDE_PURE(OnNull, mark, anchor);
  }
  void OnAlias(const Mark& mark, anchor_t anchor) override {
    NB_OVERRIDE_PURE(OnAlias, mark, anchor);
  }
  void OnScalar(const Mark& mark, const std::string& tag, anchor_t anchor,
                const std::string& value) override {
    NB_OVERRIDE_PURE(OnScalar, mark, tag, anchor, value);
  }
  void OnSequenceStart(const Mark& mark, const std::string& tag, anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    NB_OVERRIDE_PURE(OnSequenceStart, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { NB_OVERRIDE_PURE(OnSequenceEnd); }
  void OnMapStart(const Mark& mark, const std::string& tag, anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    NB_OVERRIDE_PURE(OnMapStart, mark, tag, anchor, style);
  }
  void OnMapEnd() override { NB_OVERRIDE_PURE(OnMapEnd); }
  void OnAnchor(const Mark& mark, const std::string& name) override {
    NB_OVERRIDE(OnAnchor, mark, name);
  }
};

NB_MODULE(yamlcpp, m) {
  auto error = nb::exception<YAML::Exception>(m, "YamlError", PyExc_ValueError);
  nb::exception<YAML::ParserException>(m, "ParserError", error);
  nb::exception<YAML::BadFile>(m, "BadFile", error);
  nb::exception<YAML::InvalidNode>(m, "InvalidNode", error);
  nb::exception<YAML::BadConversion>(m, "BadConversion", error);

  nb::class_<std::istream>(m, "istream");
  nb::class_<std::istringstream, std::istream>(m, "istringstream")
      .def(nb::init<const std::string&>(), "text"_a);
  nb::class_<Mark>(m, "Mark")
      .def(nb::init<>())
      .def_static("null_mark", &Mark::null_mark)
      .def("is_null", &Mark::is_null)
      .def_rw("pos", &Mark::pos)
      .def_rw("line", &Mark::line)
      .def_rw("column", &Mark::column);
  nb::class_<YAML::EmitterStyle> style(m, "EmitterStyle");
  style.def(nb::init<>());
  nb::enum_<YAML::EmitterStyle::value>(style, "value", nb::is_arithmetic())
      .value("Default", YAML::EmitterStyle::Default)
      .value("Block", YAML::EmitterStyle::Block)
      .value("Flow", YAML::EmitterStyle::Flow)
      .export_values();
  nb::class_<YAML::NodeType> type(m, "NodeType");
  type.def(nb::init<>());
  nb::enum_<YAML::NodeType::value>(type, "value", nb::is_arithmetic())
      .value("Undefined", YAML::NodeType::Undefined)
      .value("Null", YAML::NodeType::Null)
      .value("Scalar", YAML::NodeType::Scalar)
      .value("Sequence", YAML::NodeType::Sequence)
      .value("Map", YAML::NodeType::Map)
      .export_values();

  nb::class_<Node> node(m, "Node");
  node.attr("__hash__") = nb::none();
  node.def(nb::init<>())
      .def(nb::init<YAML::NodeType::value>(), "type"_a)
      .def(nb::init<const Node&>(), "rhs"_a)
      .def(nb::init<const std::string&>(), "rhs"_a)
      .def(nb::init<const double&>(), "rhs"_a)
      .def(nb::init<const std::vector<int>&>(), "rhs"_a)
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
             if (index >= self.size()) throw nb::index_error("no item");
             return self[index];
           })
      .def("__setitem__",
           [](Node& self, const std::string& key, const Node& value) { self[key] = value; })
      .def(
          "__eq__", [](const Node& self, const Node& other) { return self == other; },
          nb::is_operator())
      .def("as_bool", [](const Node& self) { return self.as<bool>(); })
      .def("as_int", [](const Node& self) { return self.as<int>(); })
      .def("as_float", [](const Node& self) { return self.as<double>(); })
      .def("as_str", [](const Node& self) { return self.as<std::string>(); })
      .def("as_list", [](const Node& self) { return self.as<std::vector<Node>>(); })
      .def("as_ints", [](const Node& self) { return self.as<std::vector<int>>(); })
      .def("as_dict",
           [](const Node& self) { return self.as<std::map<std::string, Node>>(); });

  m.def("Load", nb::overload_cast<const std::string&>(&YAML::Load), "input"_a, Released());
  m.def("Load", nb::overload_cast<std::istream&>(&YAML::Load), "input"_a, Released());
  m.def("LoadFile", &YAML::LoadFile, "filename"_a);
  m.def("LoadAll", nb::overload_cast<const std::string&>(&YAML::LoadAll), "input"_a);
  m.def("LoadAll", nb::overload_cast<std::istream&>(&YAML::LoadAll), "input"_a);
  m.def("LoadAllFromFile", &YAML::LoadAllFromFile, "filename"_a);
  m.def("Dump", &YAML::Dump, "node"_a);
  m.def("Clone", &YAML::Clone, "node"_a);

  using YAML::EventHandler, YAML::Parser;
  m.attr("NullAnchor") = YAML::NullAnchor;
  nb::class_<EventHandler, PyHandler>(m, "EventHandler")
      .def(nb::init<>())
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
  nb::class_<Parser>(m, "Parser")
      .def(nb::init<>())
      .def(nb::init<std::istream&>(), "in_"_a, nb::keep_alive<1, 2>())
      .def("__bool__", &Parser::operator bool)
      .def("Load", &Parser::Load, "in_"_a, nb::keep_alive<1, 2>())
      .def("HandleNextDocument", &Parser::HandleNextDocument, "eventHandler"_a, Released());
}

// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_operator.cc: the callable that stands for an op and all its
// overloads; as a class attribute it is a method.
#include "bind.h"

#include <structseq.h>

#include <unordered_map>

#include "dispatcher/dispatcher.h"
#include "dispatcher/explain.h"
#include "dispatcher/signature.h"
#include "framework/definitions.h"
#include "parse.h"

namespace pkg::pybind {
namespace {

/// The class of results with names.  A pickle of them holds a plain tuple.
py::object make_results_class(const Operator& op) {
  std::vector<PyStructSequence_Field> fields;
  for (const Argument& result : op.schema.returns) {
    fields.push_back({result.name.c_str(), nullptr});
  }
  fields.push_back({nullptr, nullptr});
  const std::string name = "pkg.return_types." + op.schema.name;
  PyStructSequence_Desc description{name.c_str(), "Results of an op, by name.",
                                    fields.data(), int(op.schema.returns.size())};
  auto cls = py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description)));
  if (!cls) throw py::error_already_set();
  cls.attr("__reduce__") = py::cpp_function(
      [](const py::object& self) {
        const py::handle tuple(reinterpret_cast<PyObject*>(&PyTuple_Type));
        return py::make_tuple(tuple, py::make_tuple(py::list(self)));
      },
      py::is_method(cls));
  return cls;
}

/// None is None, the only result itself; several as a tuple, with names where the schema has them.
py::object results_of(const Operator& op, const Stack& stack) {
  if (stack.results.size() == 0) return py::none();
  if (stack.results.size() == 1) return py::cast(stack.results[0]);
  py::tuple results(stack.results.size());
  for (size_t i = 0; i < results.size(); ++i) results[i] = stack.results[i];
  const auto& returns = op.schema.returns;
  if (returns.empty() || returns[0].name.empty()) return results;
  static auto& classes = *new std::unordered_map<const Operator*, py::object>();
  py::object& cls = classes[&op];
  if (!cls) cls = make_results_class(op);
  return cls(results);
}

class OpObject {
 public:
  OpObject(const std::string& name, const std::string& ns)
      : name_(name), overloads_(find_overloads(name, ns)) {}

  explicit OpObject(const Operator& op) : name_(op.schema.name), overloads_{&op} {}

  py::object call(const py::args& args, const py::kwargs& kwargs) const {
    Call call(args, kwargs);
    return with_match(overloads_, call, [](const Operator& op, std::span<Value> values) {
      Stack stack{values};
      Dispatcher::get().call_boxed(op, stack);
      return results_of(op, stack);
    });
  }

  py::object explain(const py::args& args, const py::kwargs& kwargs) const {
    Call call(args, kwargs);
    return with_match(overloads_, call, [](const Operator& op, std::span<Value> values) {
      return py::object(py::cast(pkg::explain(op, values)));
    });
  }

  const std::string& name() const { return name_; }
  std::string repr() const { return "<op " + name_ + ">"; }

  std::string doc() const { return help_text(overloads_); }

  std::vector<std::string> schemas() const { return schemas_of(overloads_); }
  std::string schema() const { return schema_of(overloads_); }
  /// The overload of a name, or null.
  const Operator* overload(const std::string& name) const {
    return overload_of(overloads_, name);
  }

  // inspect.signature() reads it.
  std::string text_signature() const { return signature_text(overloads_); }

  /// What the registry knows of each overload.
  auto records() const { return records_of(overloads_); }

  bool is_method() const { return overloads_[0]->is_method(); }

 private:
  std::string name_;
  std::vector<const Operator*> overloads_;
};

/// x.add is add with x in front.
py::object bind_to(const py::object& self, const py::object& instance, const py::object&) {
  if (instance.is_none()) return self;
  return py::reinterpret_steal<py::object>(PyMethod_New(self.ptr(), instance.ptr()));
}

/// What a class cannot have as a property, since the type's own attribute has the name; and
/// the overloads, as op.default and op.Tensor.
py::object special_attribute(const OpObject& self, py::handle named) {
  const char* text = PyUnicode_AsUTF8(named.ptr());
  if (!text) PyErr_Clear();  // a lone surrogate: no name in UTF-8
  const std::string name = text ? text : "?";
  if (name == "__name__") return py::cast(self.name());
  if (name == "__text_signature__") return py::cast(self.text_signature());
  if (const Operator* op = self.overload(name)) return py::cast(OpObject(*op));
  throw py::attribute_error("'_pybind_core.Operator' object has no attribute '" + name +
                            "'");
}

}  // namespace

void bind_operator(py::module_& m) {
  py::class_<OpObject> cls(m, "Operator", py::is_final(),
                           "Operator(name, ns='pkg', /)\n--\n\nThe callable of an op and "
                           "all its overloads.");
  cls.def(py::init<std::string, std::string>(), py::arg("name"), py::arg("ns") = "pkg",
          py::pos_only());
  cls.def("__call__", &OpObject::call);
  cls.def("_explain", &OpObject::explain,
          "_explain(self, /, *args, **kwargs)\n--\n\nRows of words on where such a call "
          "would go; see pkg.explain.");
  cls.def("__get__", &bind_to, py::arg("instance"), py::arg("owner") = py::none());
  cls.def("__repr__", &OpObject::repr);
  cls.def("__getattr__", &special_attribute);
  cls.def_property_readonly("__doc__", &OpObject::doc);
  cls.def_property_readonly("schemas", &OpObject::schemas, "Schema of each overload.");
  cls.def_property_readonly(
      "records", &OpObject::records,
      "What the registry knows of each overload: a dict with schema, doc, where, kind\n"
      "(structured, composite, view, function), gradient (formula, composed, none,\n"
      "missing) and dispatch_keys, the keys it has a kernel of its own for.");
  cls.def_property_readonly(
      "_schema", &OpObject::schema,
      "Schema with the namespace; of one overload, such as op.default.");
  cls.def_property_readonly("is_method", &OpObject::is_method,
                            "Whether it is a method of Tensor.");
  m.def("operator_names", &operator_names, py::arg("ns"), py::pos_only(),
        "operator_names(ns, /)\n--\n\nNames of the registered ops, sorted.");
  m.def("operator_namespaces", &operator_namespaces,
        "operator_namespaces()\n--\n\nNamespaces that have ops, sorted.");
  m.def("op_definition", &framework::op_definition, py::arg("name"),
        "op_definition(name)\n--\n\nWhat REGISTER_OP said of an op, \"tf::ZeroOut\", as "
        "JSON; \"\" for an op without that.");
  bind_registration(m);
}

}  // namespace pkg::pybind

// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_wrapper.cc: what a generated function becomes; Note [Wrappers] in
// swig/python/op/py_wrapper.cc.
#include <map>

#include "bind.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/signature.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

struct Parameter {
  std::string name;
  py::str argument;
  size_t at;  // in the schema
  bool tensor;
  bool has_default;
};

// Python's collector does not see what it holds: it lives as long as its module.
class OpWrapper {
 public:
  OpWrapper(py::object function, const std::string& qualified, const py::dict& names,
            py::object result)
      : function_(std::move(function)), result_(std::move(result)) {
    const Operator& op = Dispatcher::get().find(qualified);
    const auto& arguments = op.schema.arguments;
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [name, argument] : names) {
      size_t part = 0;
      for (py::handle text : {name, argument}) {
        const std::string place = str("parameters[", pairs.size(), "][", part++, "]");
        expect(py::isinstance<py::str>(text), "OpWrapper", place, "a str", text);
      }
      pairs.emplace_back(name.cast<std::string>(), argument.cast<std::string>());
    }
    for (size_t at : places_of(op, pairs)) {
      const auto& [name, argument] = pairs[parameters_.size()];
      const Argument& found = arguments[at];
      const bool tensor = found.type == ArgType::Tensor && !found.list;
      parameters_.push_back({name, argument, at, tensor, found.has_default});
    }
    op_ = py::module_::import("_pybind_core").attr("Operator")(op.schema.name, op.ns);
  }

  py::object call(const py::args& args, const py::kwargs& kwargs) const {
    py::dict given;
    if (!is_plain(args, kwargs, given)) return function_(*args, **kwargs);
    std::map<size_t, py::object> inputs;  // by place: one may be called `self`
    py::dict attributes;
    for (const Parameter& parameter : parameters_) {
      const py::str name(parameter.name);
      if (!given.contains(name)) continue;
      if (parameter.tensor) inputs.emplace(parameter.at, given[name]);
      else attributes[parameter.argument] = given[name];
    }
    py::list in_order;
    for (const auto& [at, input] : inputs) in_order.append(input);
    py::object made;
    try {
      made = op_(*in_order, **attributes);
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;
      // Of values that the op does not read the function may know more.
      if (!error.matches(PyExc_TypeError)) given["name"] = error.value();
    }
    if (!made) return function_(**given);
    return result_.is_none() ? made : result_(*made);
  }

  py::object function() const { return function_; }

 private:
  // Whether these are tensors and attributes that the op takes, by parameters in `given`.
  bool is_plain(const py::args& args, const py::kwargs& kwargs, py::dict& given) const {
    if (args.size() > parameters_.size() + 1) return false;
    for (size_t i = 0; i < args.size(); ++i) {
      given[i < parameters_.size() ? parameters_[i].name.c_str() : "name"] = args[i];
    }
    for (const auto& [name, value] : kwargs) {
      if (given.contains(name)) return false;
      given[name] = value;
    }
    if (given.contains("name")) {
      if (!given["name"].is_none()) return false;
      PyDict_DelItemString(given.ptr(), "name");
    }
    size_t found = 0;
    for (const Parameter& parameter : parameters_) {
      const py::str name(parameter.name);
      if (given.contains(name)) ++found;
      else if (!parameter.has_default) return false;
      if (parameter.tensor && !py::type::of(given[name]).is(tensor_class())) return false;
    }
    return found == given.size();
  }

  py::object function_, result_, op_;
  std::vector<Parameter> parameters_;
};

}  // namespace

void bind_wrapper(py::module_& m) {
  py::class_<OpWrapper> cls(m, "OpWrapper", py::is_final(), py::dynamic_attr(),
                            "OpWrapper(function, op, parameters, result=None, /)\n--\n\n"
                            "The function, but for calls of plain tensors, which go to the "
                            "op.");
  cls.def(py::init<py::object, std::string, py::dict, py::object>(), py::arg("function"),
          py::arg("op"), py::arg("parameters"), py::arg("result") = py::none(),
          py::pos_only());
  cls.def("__call__", &OpWrapper::call);
  cls.def(
      "__get__",
      [](const py::object& self, const py::object& instance, const py::object&) {
        if (instance.is_none()) return self;
        return py::reinterpret_steal<py::object>(PyMethod_New(self.ptr(), instance.ptr()));
      },
      py::arg("instance"), py::arg("owner") = py::none());
  cls.def("__repr__", [](const OpWrapper& self) {
    return "<op wrapper of " + py::repr(self.function()).cast<std::string>() + ">";
  });
  cls.def(
      "__reduce__",
      [](const OpWrapper& self) { return self.function().attr("__qualname__"); },
      "__reduce__(self, /)\n--\n\nIts name.");
}

}  // namespace pkg::pybind

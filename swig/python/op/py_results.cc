// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_results.cc: results of ops; several of them are a tuple, perhaps with
// names.
#include "py_operator.h"

#include <unordered_map>

namespace pkg::python {
namespace {

PyTypeObject* make_class(const Operator& op) {
  std::vector<const char*> names;
  for (const pkg::Argument& result : op.schema.returns)
    names.push_back(result.name.c_str());
  const std::string name = "pkg.return_types." + op.schema.name;
  return make_named_tuple(name.c_str(), "Results of an op, by name.", names);
}

// Made at the op's first call and kept, as its record is; the GIL guards the map.
PyTypeObject* class_of(const Operator& op) {
  static auto& classes = *new std::unordered_map<const Operator*, PyTypeObject*>();
  PyTypeObject*& cls = classes[&op];
  if (!cls) cls = make_class(op);
  return cls;
}

}  // namespace

PyObject* wrap_results(const Operator& op, Stack& stack) {
  const auto n = Py_ssize_t(stack.results.size());
  if (n == 0) Py_RETURN_NONE;
  if (n == 1) return wrap_value(std::move(stack.results[0]));
  const auto& returns = op.schema.returns;
  const bool named = !returns[0].name.empty();
  PyRef tuple(checked(named ? PyStructSequence_New(class_of(op)) : PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(tuple.get(), i, wrap_value(std::move(stack.results[size_t(i)])));
  }
  return tuple.release();
}

}  // namespace pkg::python

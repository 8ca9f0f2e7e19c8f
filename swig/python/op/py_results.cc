// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_results.cc: results of ops; several of them are a tuple, perhaps with
// names.
#include "py_results.h"

#include <structseq.h>

#include <unordered_map>

#include "py_operator.h"

namespace pkg::python {
namespace {

// A pickle of named results holds a plain tuple: no module has their classes.
PyObject* reduce(PyObject* self, PyObject*) {
  PyRef items(PySequence_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
  if (!items) return nullptr;
  return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(&PyTuple_Type), items.get());
}
PyMethodDef g_reduce = {"__reduce__", reduce, METH_NOARGS, nullptr};

PyTypeObject* make_class(const Operator& op) {
  std::vector<PyStructSequence_Field> fields;
  for (const Argument& result : op.schema.returns) {
    fields.push_back({result.name.c_str(), nullptr});
  }
  fields.push_back({nullptr, nullptr});
  const std::string name = "pkg.return_types." + op.schema.name;
  PyStructSequence_Desc description{name.c_str(), "Results of an op, by name.",
                                    fields.data(), int(op.schema.returns.size())};
  PyRef type(checked(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description))));
  auto* cls = reinterpret_cast<PyTypeObject*>(type.get());
  PyRef method(checked(PyDescr_NewMethod(cls, &g_reduce)));
  if (PyObject_SetAttrString(type.get(), "__reduce__", method.get()) < 0) {
    throw_python_error();
  }
  return reinterpret_cast<PyTypeObject*>(type.release());
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

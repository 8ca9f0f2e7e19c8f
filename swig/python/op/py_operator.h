// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_operator.h: the callable that stands for an op and all its overloads.
#pragma once

#include <string>

#include "dispatcher/dispatcher.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

/// Python's values, for dispatcher/read.h.
struct Reader {
  using Item = PyObject*;
  using Result = PyObject*;
  static constexpr auto give = wrap;

  static std::string type_of(PyObject* object) { return Py_TYPE(object)->tp_name; }
  static bool is_none(PyObject* object) { return object == Py_None; }
  static bool is_list(PyObject* object) {
    return PyList_Check(object) || PyTuple_Check(object);
  }
  // An item's __index__ may change the list, and drop the item itself.
  template <class F>
  static bool each(PyObject* list, F f) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
      const PyRef item = PyRef::borrow(PySequence_Fast_GET_ITEM(list, i));
      if (!f(item.get())) return false;
    }
    return true;
  }
  static const Tensor* tensor(PyObject* object) {
    return is_tensor(object) ? &unwrap(object) : nullptr;
  }
  static bool plain_integer(PyObject* object, int64_t* out) {
    if (!PyLong_CheckExact(object)) return false;
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
  }
  static bool plain_list(PyObject* object, std::span<PyObject* const>& items) {
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) return false;
    items = {PySequence_Fast_ITEMS(object), size_t(PySequence_Fast_GET_SIZE(object))};
    return true;
  }
  static bool integer(PyObject* object, int64_t* out);
  static bool real(PyObject* object, double* out);
  static bool text(PyObject* object, std::string* out);
  static constexpr auto tensor_like = parse_tensor;
  static constexpr auto scalar = parse_scalar;
  static constexpr auto dtype = load_dtype;
  static constexpr auto device = load_device;
};

/// New reference to the Python form of a value, which it takes.
PyObject* wrap_value(Value&& value);
/// The same of the results of an op: none is None, the only one itself; several are a tuple,
/// whose items have names where the schema names them: `x.max(0).values`.
PyObject* wrap_results(const Operator& op, Stack& stack);

/// Adds the Operator type to the module.
void add_operator_type(PyObject* module);
/// And OpWrapper: py_wrapper.cc.
void add_wrapper_type(PyObject* module);

}  // namespace pkg::python

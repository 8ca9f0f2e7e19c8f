// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_operator.h: the callable that stands for an op and all its overloads.
#pragma once

#include <string_view>

#include "dispatcher/dispatcher.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

/// Reads `object` as the argument; false when its type does not fit.
bool parse_value(const Argument& argument, PyObject* object, Value* out);
/// New reference to the Python form of a result, which it takes.
PyObject* wrap_value(Value&& value);

/// Adds the Operator type and `operator_names()`.
int add_operator_type(PyObject* module);

}  // namespace pkg::python

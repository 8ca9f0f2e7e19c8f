// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_results.h: the results of an op as one Python object.
#pragma once

#include "dispatcher/dispatcher.h"
#include "swigkit/ref.h"

namespace pkg::python {

/// New reference to the results, which it takes: none is None, the only one itself;
/// several are a tuple,
/// whose items have names where the schema names them: `x.max(0).values`.
PyObject* wrap_results(const Operator& op, Stack& stack);

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_kernel.h: kernels that are Python functions.  pkg/library/ is the only
// caller; swig/dispatcher.i wraps it.
#pragma once

#include <string>

#include "python/tensor/py_tensor.h"

namespace pkg::python {

/// Gives an op a kernel at a key that calls function(*args, **keyword_only).
void _set_kernel(const std::string& name, const std::string& key, PyObject* function,
                 const std::string& where);

}  // namespace pkg::python

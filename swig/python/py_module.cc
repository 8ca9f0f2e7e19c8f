// SPDX-License-Identifier: Apache-2.0
// swig/python/py_module.cc: the order in which the hand-written parts are added.
#include "py_module.h"

#include "dispatcher/dispatcher.h"
#include "python/op/py_operator.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

int init_module(PyObject* module) noexcept {
  const auto fill = [module] {
    init_hooks();
    init_errors(module);
    init_dtype(module);
    add_tensor_type(module);
    add_operator_type(module);
    Dispatcher::get();  // an error in a registration block is an ImportError's cause
    return 0;
  };
  return guarded(fill, -1);
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/py_module.cc: the order in which the hand-written parts are added.
#include "py_module.h"

#include "dispatcher/dispatcher.h"
#include "py_hooks.h"
#include "python/op/py_operator.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

int add_export_type(PyObject* module);  // py_new.cc
int add_fork(PyObject* module);         // py_fork.cc
int add_symbols(PyObject* module);      // py_symbols.cc

int init_module(PyObject* module) noexcept {
  try {
    init_hooks();
    init_errors(module);
    init_dtype(module);
    if (add_tensor_type(module) < 0 || add_export_type(module) < 0 ||
        add_operator_type(module) < 0 || add_fork(module) < 0 || add_symbols(module) < 0) {
      return -1;
    }
    Dispatcher::get();  // an error in a registration block is an ImportError's cause
    return 0;
  } catch (...) {
    translate();
    return -1;
  }
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swigkit/outputs.h: results of functions that write into their parameters.
#pragma once

#include "error.h"

namespace [[gnu::visibility("hidden")]] swigkit {

/// Where C++ writes an output, a value of nothing before.
template <class T>
struct Output {
  T value{};
};

/// Of one call.
class Outputs {
 public:
  /// The result with one more output, a new reference for both: a lone one is itself,
  /// several are a tuple.
  PyObject* add(PyObject* result, PyObject* output, bool is_void) {
    PyRef before(result), last(output);
    if (!result || !output) return nullptr;
    if (!std::exchange(begun_, true) && is_void) return last.release();
    // A result that C++ gives as a tuple is one item.
    const bool more = std::exchange(grown_, true);
    const Py_ssize_t size = more ? PyTuple_GET_SIZE(result) : 1;
    PyObject* tuple = PyTuple_New(size + 1);
    if (!tuple) return nullptr;
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyTuple_SET_ITEM(tuple, i, new_ref(more ? PyTuple_GET_ITEM(result, i) : result));
    }
    PyTuple_SET_ITEM(tuple, size, last.release());
    return tuple;
  }

 private:
  bool begun_ = false;
  bool grown_ = false;
};

}  // namespace swigkit

// SPDX-License-Identifier: Apache-2.0
// swigkit/callable.h: a Python callable that C++ keeps and calls from any thread.
#pragma once

#include "error.h"

namespace [[gnu::visibility("hidden")]] swigkit {

/// Copies share one reference, which is given back under the GIL whoever drops it.
class PyCallable {
 public:
  PyCallable() = default;
  explicit PyCallable(PyObject* object) : held_(new_ref(object), release) {}
  PyObject* get() const { return held_.get(); }

  /// Calls it with the arguments (null: an error is set, which is thrown).  Needs the GIL.
  template <class... Args>
  PyRef operator()(Args... args) const {
    if ((!args || ...)) throw_python_error();
    PyObject* all[] = {nullptr, args...};  // the first place is the callee's
    return check(call_python([&] {
      return PyObject_Vectorcall(held_.get(), all + 1,
                                 sizeof...(args) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    }));
  }

 private:
  static void release(PyObject* object) {
    if (!interpreter_alive()) return;
    GilAcquire gil;
    drop(object);
  }
  std::shared_ptr<PyObject> held_;
};

}  // namespace swigkit

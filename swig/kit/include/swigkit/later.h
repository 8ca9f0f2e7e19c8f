// SPDX-License-Identifier: Apache-2.0
// swigkit/later.h: errors where nobody can raise one: in functions of
// os.register_at_fork(), of weak references, in destructors, of which Python prints the
// error and goes on.
#pragma once

#include "error.h"

#include <frameobject.h>
#include <unistd.h>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Raises the error in the Python function that runs now, once it goes on, and in this
/// process alone.
///
/// Note [Errors that come later]
/// The error is one of the interpreter's pending calls until that function goes on.  What
/// runs for it in between must not be hit: other functions at a fork, say, such as
/// logging's, which would leave a lock behind.
class LateError {
 public:
  /// False when CPython has no room for it.
  static bool raise(HeldError error) {
    auto held = std::make_unique<LateError>(std::move(error));
    if (Py_AddPendingCall(come, held.get()) < 0) return false;
    held.release();
    return true;
  }
  explicit LateError(HeldError error) : error_(std::move(error)) {}

 private:
  static PyRef current_frame() {
    return PyRef::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  }
  // Whether the frame called what runs now.
  bool is_below() const {
    for (PyRef f = current_frame(); f;) {
      auto* back = PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(f.get()));
      f = PyRef(reinterpret_cast<PyObject*>(back));
      if (f.get() == frame_.get()) return true;
    }
    return false;
  }
  static int come(void* data) {
    std::unique_ptr<LateError> held(static_cast<LateError*>(data));
    if (held->process_ != getpid()) return 0;
    if (held->frame_ && held->is_below() && Py_AddPendingCall(come, held.get()) == 0) {
      held.release();
      return 0;
    }
    held->error_.restore();
    return -1;
  }

  const HeldError error_;
  const PyRef frame_ = current_frame();  // null: none
  const pid_t process_ = getpid();
};

}  // namespace swigkit

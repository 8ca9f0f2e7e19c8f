// SPDX-License-Identifier: Apache-2.0
// swig/python/py_error.h: errors between C++ and Python, both ways.  Every entry from
// Python is wrapped in try/catch (...) { translate(); }.
#pragma once

#include "swigkit/by_hand.h"

#include <exception>

#include "base/error.h"
#include "base/foreign_error.h"

namespace pkg::python {

using namespace swigkit;
using swigkit::Argument;  // not that of a schema

/// A Python exception on its way through C++; it may cross threads, and the very
/// exception object comes out at the other end.
class PyError final : public ForeignError {
 public:
  /// Takes the current Python error.  Needs the GIL.  One that is no Exception, such as
  /// KeyboardInterrupt, stops the work, and so does what the handler of a signal raises.
  static PyError fetch(bool of_signal = false);
  /// Makes it the current Python error again.  Needs the GIL.
  void restore() const { held_.restore(); }
  const HeldError& held() const { return held_; }
  /// Also as a note of the exception object.
  void append(const std::string& text) override;

  /// What `error` keeps, as long as it is there, if it is a PyError; else null.
  static const HeldError* held_in(const std::exception_ptr& error);

 private:
  PyError(std::string message, HeldError held, bool stops)
      : ForeignError(std::move(message), stops), held_(std::move(held)) {}
  HeldError held_;
};

/// Adds the exception classes to the module.
void init_errors(PyObject* module);

}  // namespace pkg::python

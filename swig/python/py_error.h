// SPDX-License-Identifier: Apache-2.0
// swig/python/py_error.h: errors between C++ and Python, both ways.  Every entry from
// Python is wrapped in try/catch (...) { translate(); }.
#pragma once

#include "py_ref.h"

#include <exception>
#include <memory>

#include "base/error.h"

namespace pkg::python {

/// A Python exception on its way through C++; it may cross threads, and the very
/// exception object comes out at the other end.
class PyError final : public Error {
 public:
  /// Takes the current Python error.  Needs the GIL.
  static PyError fetch();
  /// Makes it the current Python error again.  Needs the GIL.
  void restore() const;
  /// Also as a note of the exception object, where Python has those (3.11).
  void append(const std::string& text) override;

  /// For tp_traverse and tp_clear of the one who holds `error`: what it keeps, if it is a
  /// PyError that nobody else shares.
  static int traverse(const std::exception_ptr& error, visitproc visit, void* arg);
  static void clear(const std::exception_ptr& error);

 private:
  struct Held;
  PyError(std::string message, std::shared_ptr<Held> held)
      : Error(std::move(message)), held_(std::move(held)) {}
  std::shared_ptr<Held> held_;
};

/// Makes the C++ exception being handled the current Python error.
void translate() noexcept;

/// Throws the current Python error as PyError.
[[noreturn, gnu::cold]] void throw_python_error();

/// Owns the result of a C-API call; throws when it failed.
inline PyRef check(PyObject* object) {
  if (!object) throw_python_error();
  return PyRef(object);
}
inline void check(int status) {
  if (status < 0) throw_python_error();
}

/// Runs `f` and returns its result; on any exception sets the Python error and returns
/// `failed`.
template <class F, class R = decltype(std::declval<F>()())>
R guarded(F&& f, R failed = R()) noexcept {
  try {
    return f();
  } catch (...) {
    translate();
    return failed;
  }
}

/// Adds the exception classes to the module.
void init_errors(PyObject* module);

}  // namespace pkg::python

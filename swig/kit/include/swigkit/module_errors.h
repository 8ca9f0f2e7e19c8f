// SPDX-License-Identifier: Apache-2.0
// swigkit/module_errors.h: translate() of a module that SWIG makes by swigkit.i, with the
// classes of its own that %exceptions names.  Included once, by the wrapper.
#pragma once

#include "error.h"

#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A Python exception on its way through C++.
class PythonError final : public std::exception {
 public:
  PythonError() : held_(HeldError::fetch()), text_(held_.text()) {}
  const char* what() const noexcept override { return text_.c_str(); }
  void restore() const { held_.restore(); }

 private:
  HeldError held_;
  std::string text_;
};

inline void throw_python_error() {
  if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_SystemError, "a Python call failed without an error");
  }
  throw PythonError();
}

/// A C++ exception class and its Python one.
struct ExceptionRow {
  bool (*raise)(PyObject* type);  // false: the one being handled is another
  PyObject* type;
};
inline std::vector<ExceptionRow>& exception_rows() {
  static auto* rows = new std::vector<ExceptionRow>;
  return *rows;
}

/// Adds the class NAME to the module for C++'s E; null `base` is Exception.
template <class E>
bool add_exception(PyObject* module, const char* name, PyObject* base) {
  PyRef home(PyModule_GetNameObject(module));
  const char* text = home ? PyUnicode_AsUTF8(home.get()) : nullptr;
  if (!text) return false;
  const std::string full = std::string(text) + "." + name;
  PyObject* type = PyErr_NewException(full.c_str(), base, nullptr);
  if (!type || PyObject_SetAttrString(module, name, type) < 0) return false;
  exception_rows().push_back({[](PyObject* python) {
                                try {
                                  throw;
                                } catch (const E& error) {
                                  if constexpr (requires { error.what(); }) {
                                    set_error(python, error.what());
                                  } else {
                                    PyErr_SetNone(python);
                                  }
                                  return true;
                                } catch (...) {
                                  return false;
                                }
                              },
                              type});
  return true;
}

/// The same with the base by name: a class that an earlier line made, or a builtin.
template <class E>
bool add_exception(PyObject* module, const char* name, const char* base) {
  PyRef found(PyObject_GetAttrString(module, base));
  if (!found) {
    PyErr_Clear();
    PyObject* builtins = PyEval_GetBuiltins();
    found = PyRef::borrow(builtins ? PyDict_GetItemString(builtins, base) : nullptr);
  }
  if (found) return add_exception<E>(module, name, found.get());
  PyErr_Format(PyExc_ImportError, "%%exceptions: expected a class as base of %s, got '%s'",
               name, base);
  return false;
}
#define SWIGKIT_CLASS(name) name

inline void translate() noexcept {
  try {
    throw;
  } catch (const PythonError& error) {
    return error.restore();
  } catch (...) {}
  // A derived class stands after its base.
  auto& rows = exception_rows();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->raise(row->type)) return;
  }
  try {
    throw;
  } catch (const std::system_error& error) {
    set_system_error(error);
  } catch (const std::bad_alloc&) {  // the text without a std::string: no memory for it
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  } catch (const std::exception& error) {
    if (PyErr_Occurred()) return;  // of what the exception stands for
    PyObject* type = standard_counterpart(error);
    set_error(type ? type : PyExc_RuntimeError, error.what());
  } catch (...) {
    if (!PyErr_Occurred()) set_error(PyExc_RuntimeError, "unknown C++ exception");
  }
}

}  // namespace swigkit

// SPDX-License-Identifier: Apache-2.0
// swigkit/module_errors.h: translate() of a module that SWIG makes by swigkit.i, with the
// classes of its own that %exceptions names.  Included once, by the wrapper.
#pragma once

#include "classes.h"
#include "error.h"
#include "translation.h"

namespace [[gnu::visibility("hidden")]] swigkit {

/// A Python exception on its way through C++.
class PythonError final : public std::exception {
 public:
  PythonError()
      : held_(HeldError::fetch()), text_(held_.class_name() + ": " + held_.text()) {}
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

/// A class by its name: one that an earlier line has made, a builtin, or "module.Name";
/// null with an error set when there is none.
inline PyObject* find_exception(PyObject* module, const char* name) {
  if (const char* dot = std::strrchr(name, '.')) {
    PyRef home(PyImport_ImportModule(std::string(name, size_t(dot - name)).c_str()));
    return home ? PyObject_GetAttrString(home.get(), dot + 1) : nullptr;
  }
  PyRef found(PyObject_GetAttrString(module, name));
  if (!found) {
    PyErr_Clear();
    PyObject* builtins = PyEval_GetBuiltins();
    found = PyRef::borrow(builtins ? PyDict_GetItemString(builtins, name) : nullptr);
  }
  if (!found) {
    PyErr_Format(PyExc_ImportError, "%%exceptions: expected an exception class, got '%s'",
                 name);
  }
  return found.release();
}
inline PyObject* find_exception(PyObject*, PyObject* type) { return new_ref(type); }

/// Adds the class NAME to the module for C++'s E; null `base` is Exception.
template <class E>
bool add_exception(PyObject* module, const char* name, PyObject* base) {
  static PyObject* made = nullptr;  // a second import has the same class
  if (made) return PyObject_SetAttrString(module, name, made) == 0;
  PyRef home(PyModule_GetNameObject(module));
  const char* text = home ? PyUnicode_AsUTF8(home.get()) : nullptr;
  if (!text) return false;
  const std::string full = std::string(text) + "." + name;
  made = new_exception<E>(module, full.c_str(), base);
  return made && add_public(module, name);
}
template <class E>
bool add_exception(PyObject* module, const char* name, const char* base) {
  PyRef found(find_exception(module, base));
  return found && add_exception<E>(module, name, found.get());
}
template <class E>
bool add_exception(PyObject* module, const char* name, std::nullptr_t) {
  return add_exception<E>(module, name, static_cast<PyObject*>(nullptr));
}
/// C++'s E is raised as a class that Python has already.
template <class E, class Type>
bool use_exception(PyObject* module, Type type) {
  PyRef found(find_exception(module, type));
  if (found) add_translation<E>(found.get());
  return bool(found);
}
/// C++'s E is raised as the class that another module has made for it (%import).
template <class E>
bool import_exception(PyObject* module, const char* home, const char* name) {
  PyRef found(import_object(module, home, name));
  if (found) add_translation<E>(found.get());
  return bool(found);
}
#define SWIGKIT_CLASS(name) name

/// What std::throw_with_nested() was called with is the cause of the current error.
inline void set_cause(const std::nested_exception& error) {
  if (!error.nested_ptr()) return;
  PyObject *type, *value, *traceback, *cause_type, *cause, *cause_traceback;
  PyErr_Fetch(&type, &value, &traceback);
  call_python(PyErr_NormalizeException, &type, &value, &traceback);
  try {
    error.rethrow_nested();
  } catch (...) { translate(); }
  PyErr_Fetch(&cause_type, &cause, &cause_traceback);
  call_python(PyErr_NormalizeException, &cause_type, &cause, &cause_traceback);
  Py_XDECREF(cause_type);
  Py_XDECREF(cause_traceback);
  if (value && cause) PyException_SetCause(value, cause);  // takes the reference
  else Py_XDECREF(cause);
  PyErr_Restore(type, value, traceback);
}

/// What is no std::exception.
inline std::string text_of_thrown() {
  try {
    throw;
  } catch (const std::string& text) { return text; } catch (const char* text) {
    return text ? text : "a null pointer";  // of nullptr, too
  } catch (int number) { return std::to_string(number); } catch (...) {
    return "unknown C++ exception";
  }
}

inline void translate() noexcept {
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
  } catch (const std::exception& error) {
    set_counterpart(error);
    if (auto* nested = dynamic_cast<const std::nested_exception*>(&error)) {
      set_cause(*nested);
    }
  } catch (...) {
    if (translate_others() || PyErr_Occurred()) return;
    set_error(PyExc_RuntimeError, text_of_thrown());
  }
}

}  // namespace swigkit

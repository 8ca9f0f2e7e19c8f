// SPDX-License-Identifier: Apache-2.0
// swigkit/translation.h: which C++ exception becomes which Python one.
#pragma once

#include "error.h"

#include <ios>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A C++ exception class and its Python one.
struct ExceptionRow {
  // One of a class that is derived from std::exception; null of others.
  bool (*is)(const std::exception& error);
  // Sets the error if the one being handled is of this class.
  bool (*raise)(PyObject* type);
  PyObject* type;
};
inline std::vector<ExceptionRow>& exception_rows() {
  static auto* rows = new std::vector<ExceptionRow>;
  return *rows;
}

/// what(), which may be null.
template <class E>
std::string text_of_error(const E& error) {
  decltype(auto) text = error.what();
  if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(text)>>) {
    if (!text) return "";
  }
  return std::string(text);
}

/// From now on C++'s E is raised as this class.
template <class E>
void add_translation(PyObject* type) {
  ExceptionRow row{nullptr, nullptr, new_ref(type)};
  if constexpr (std::is_base_of_v<std::exception, E>) {
    row.is = [](const std::exception& error) {
      return dynamic_cast<const E*>(&error) != nullptr;
    };
  } else {
    row.raise = [](PyObject* python) {
      try {
        throw;
      } catch (const E& error) {
        if constexpr (requires { error.what(); }) set_error(python, text_of_error(error));
        else PyErr_SetNone(python);
        return true;
      } catch (...) { return false; }
    };
  }
  exception_rows().push_back(row);
}

/// A new class for C++'s E with its module before its name, which the module gets; null
/// `base` is Exception.  A new reference, or null with an error set.
template <class E>
PyObject* new_exception(PyObject* module, const char* name, PyObject* base,
                        const char* doc = nullptr) {
  PyRef made(PyErr_NewExceptionWithDoc(name, doc, base, nullptr));
  const char* own = std::strrchr(name, '.') + 1;
  if (!made || PyObject_SetAttrString(module, own, made.get()) < 0) return nullptr;
  add_translation<E>(made.get());
  return made.release();
}

/// The class of an exception, or null.  A derived one was added after its base.
inline PyObject* translated_class(const std::exception& error) {
  auto& rows = exception_rows();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->is && row->is(error)) return row->type;
  }
  return nullptr;
}

/// The same of those that are no std::exception.
inline bool translate_others() {
  auto& rows = exception_rows();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->raise && row->raise(row->type)) return true;
  }
  return false;
}

/// The Python error of a C++ exception; suffix() comes behind its text.
template <class F>
void set_counterpart(const std::exception& error, F suffix) {
  PyObject* type = translated_class(error);
  const bool known = type;
  if (!known && PyErr_Occurred()) return;  // of what the exception stands for
  if (auto* system = dynamic_cast<const std::system_error*>(&error); system && !known) {
    // Other categories have numbers of their own.
    const std::error_category& category = system->code().category();
    if (category == std::generic_category() || category == std::system_category()) {
      return set_system_error(*system);
    }
    if (dynamic_cast<const std::ios_base::failure*>(&error)) type = PyExc_OSError;
  }
  if (!type) type = standard_counterpart(error);
  if (!type) type = PyExc_RuntimeError;
  // Of a container that is too long memory was asked for as well.  There is none for a text.
  // What is derived from these says more.
  const std::type_info& which = typeid(error);
  const bool memory = which == typeid(std::bad_alloc) ||
                      which == typeid(std::length_error) ||
                      which == typeid(std::bad_array_new_length);
  if (memory && PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) {
    return PyErr_SetString(type, "out of memory");
  }
  set_error(type, text_of_error(error) + suffix());
}
inline void set_counterpart(const std::exception& error) {
  set_counterpart(error, [] { return std::string(); });
}

}  // namespace swigkit

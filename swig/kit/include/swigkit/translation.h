// SPDX-License-Identifier: Apache-2.0
// swigkit/translation.h: which C++ exception becomes which Python one.
#pragma once

#include "error.h"

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
        if constexpr (requires { error.what(); }) set_error(python, error.what());
        else PyErr_SetNone(python);
        return true;
      } catch (...) { return false; }
    };
  }
  exception_rows().push_back(row);
}

/// The class of an exception, or null.  A derived one was added after its base.
inline PyObject* translated_class(const std::exception& error) {
  auto& rows = exception_rows();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->is && row->is(error)) return row->type;
  }
  return nullptr;
}

}  // namespace swigkit

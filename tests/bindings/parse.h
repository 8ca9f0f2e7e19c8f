// SPDX-License-Identifier: Apache-2.0
// tests/bindings/parse.h: Python calls, for the matching of arguments to schemas.
#pragma once

#include <string>

#include "casters.h"
#include "dispatcher/match.h"

namespace pkg::pybind {

/// What a kernel in Python returned, as the results of its op.
void read_results(const Operator& op, py::handle result, Stack& stack);

/// A call as pybind11 hands it over, for dispatcher/match.h.
class Call {
 public:
  using Item = py::handle;
  static constexpr bool kSpreads = true;

  bool strict = false;  // a tensor is no number

  Call(const py::args& args, const py::kwargs& kwargs);

  size_t positional() const { return args_.size(); }
  size_t named() const { return named_.size(); }
  py::handle positional(size_t i) const { return args_[i]; }
  py::handle named(size_t k) const { return named_[k].second; }
  std::string_view name(size_t k) const { return named_[k].first; }
  static std::string_view alias(std::string_view name) { return numpys_alias(name); }
  bool ignores(size_t k) const {
    return named(k).is_none() && is_numpys_default(*this, name(k));
  }
  /// An int too big for any dtype gets the name of the parameter.
  bool parse(const Operator& op, const Argument& param, py::handle object,
             Value* out) const;
  static std::string type_of(py::handle object) { return type_name(object); }
  static bool is_tensor(py::handle object);
  static bool is_list(py::handle object);
  static void warn_deprecated(const std::string& text) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning, text.c_str(), 1) < 0) {
      throw py::error_already_set();
    }
  }
  template <class F>
  static bool each(py::handle list, F f) {
    for (py::handle entry : list) {
      if (!f(entry)) return false;
    }
    return true;
  }
  py::object rest(size_t i) const {
    return args_[py::slice(py::ssize_t(i), std::nullopt, 1)];
  }

 private:
  const py::args& args_;
  std::vector<std::pair<std::string, py::handle>> named_;
};

}  // namespace pkg::pybind

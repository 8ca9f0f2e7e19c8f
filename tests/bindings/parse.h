// SPDX-License-Identifier: Apache-2.0
// tests/bindings/parse.h: Python arguments against the schema of an op; parse.cc.
#pragma once

#include <span>
#include <string>

#include "casters.h"
#include "dispatcher/operator.h"

namespace pkg::pybind {

/// The arguments of `op`, defaults filled in; nullopt when they do not fit, with the
/// reason in `why`.  Strict: a tensor is no number.
std::optional<std::vector<Value>> parse_arguments(const Operator& op,
                                                  const py::args& args,
                                                  const py::kwargs& kwargs, bool strict,
                                                  std::string* why);

/// TypeError: `why` when there is one overload, else the list of all of them.
[[noreturn]] void no_match(std::span<const Operator* const> overloads,
                           const py::args& args, const py::kwargs& kwargs,
                           const std::string& why);

}  // namespace pkg::pybind

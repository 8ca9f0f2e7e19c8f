// SPDX-License-Identifier: Apache-2.0
// swigkit/listed.h: what the module has, for tools that show or trace its calls.
#pragma once

#include <span>

namespace [[gnu::visibility("hidden")]] swigkit {

struct Listed {
  const char* name;  // in Python
  const char*
      declaration;     // in C++: "double geo::area(const geo::Shape&)", "class geo::Shape"
  const char* remark;  // what %remark says of it, or ""
};

/// Each wrapped function and class.  step.py defines it in one that
/// includes this file.
std::span<const Listed> listed();

}  // namespace swigkit

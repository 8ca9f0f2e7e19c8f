// SPDX-License-Identifier: Apache-2.0
// tensor/convert.h: from one element type to another, in dense memory.
//
// float16 and bfloat16 convert to and from float32 alone; other types go through that, so
// that a conversion is a path of at most three steps.
#pragma once

#include <array>

#include "base/dtype.h"

namespace pkg {

/// A block function: data[0][i] = f(data[1][i], ...) for all i < n.  Everything is dense.
/// An operand is apart from the result or lies in the same place.
using BlockFunction = void (*)(const void* formula, char* const* data, int64_t n);

/// The steps from one type to another; none where the bits are the same.
struct Conversion {
  struct Step {
    BlockFunction run;
    DType to;
  };
  std::array<Step, 3> steps;
  int count = 0;

  Conversion() = default;
  /// Rounded to `via` on the way; `via == to` says that there is no way.
  Conversion(DType from, DType to, DType via);
  /// Converts n elements; `scratch` are two places for as many of 8 bytes, and `from` may
  /// be the first of them.
  void run(char* to, const char* from, int64_t n, char* const* scratch) const;

 private:
  void add(DType from, DType to);
};

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/staging.h: runs a function over blocks of tensors of any layout and element type.
//
// A pointwise kernel is a block function: out[i] = f(a[i], b[i], ...), everything dense and
// of one type, at most some hundred elements.  Staging is the rest, written once for all:
// what is dense and of the right type is read and written in place, all else goes through
// buffers of a block's size, which stay in the first-level cache.
#pragma once

#include <array>

#include "tensor/convert.h"
#include "tensor/walk.h"

namespace pkg {

/// A block function for `rows` rows of n elements, one after the other, and operands behind
/// the first of which each has one element for each row.
using NumbersFunction = void (*)(const void* formula, char* const* data, int64_t n,
                                 int64_t rows);

/// What takes part in a pointwise kernel.
struct Part {
  const Tensor* tensor = nullptr;
  DType type{};  ///< of the block function's elements
  DType via{};   ///< to which an operand is rounded first; `type` if it is not
};

struct Pointwise {
  BlockFunction block;  ///< null: the elements themselves, which have the same bits
  const void* formula = nullptr;
  /// If there is one: the same where each operand behind the first is one element.
  NumbersFunction of_numbers = nullptr;
  size_t count = 0;
  std::array<Part, kMaxOperands> parts{};  ///< the result first, to which all broadcast

  void add(const Tensor& tensor, DType type) { add(tensor, type, type); }
  void add(const Tensor& tensor, DType type, DType via) {
    parts[count++] = {&tensor, type, via};
  }
};

/// Runs it on the calling thread and those of the pool.  An operand that shares memory
/// with the result in another order is read before anything is written.
void run_pointwise(const Pointwise& kernel);

}  // namespace pkg

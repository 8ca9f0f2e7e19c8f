// SPDX-License-Identifier: Apache-2.0
// tensor/walk.h: how several tensors are walked in step, whatever their strides.
#pragma once

#include <array>
#include <span>

#include "tensor/tensor.h"

namespace pkg {

/// Operands of one walk, with what is written.
inline constexpr size_t kMaxOperands = 4;

/// RuntimeError unless `operand` broadcasts to `sizes`: the last guard before memory, where
/// whatever a shape rule forgot ends.
void check_broadcasts(const Shape& operand, const Shape& sizes);

/// The dimensions that tensors of one shape have in common, innermost first and in the
/// order in which the first of them lies in memory.  Dimensions that lie behind each other
/// in every tensor are one; those of size 1 are none.  There is at least one.
struct Walk {
  size_t count = 0;
  std::array<char*, kMaxOperands> data{};
  Shape sizes;
  std::array<Shape, kMaxOperands> strides;  // in bytes; 0 where a tensor repeats itself

  /// The others broadcast to the first; RuntimeError where one does not.
  explicit Walk(std::span<const Tensor* const> tensors);

 private:
  void add_dim(int64_t size, const std::array<int64_t, kMaxOperands>& step);
};

/// A walk cut into cells of step[d] elements along dimension d, less at the ends.
class Cells {
 public:
  Cells(const Walk& walk, Shape step);
  int64_t count() const { return count_; }
  /// Elements of a whole cell.
  int64_t elements() const { return step_.numel(); }

  /// Calls f(data, cell) for the cells [begin, end): their first elements, and cell.size(d).
  template <class F>
  void visit(int64_t begin, int64_t end, F f) const {
    for (Cursor at(*this, begin); begin < end; ++begin, at.advance()) f(at.data(), at);
  }

  class Cursor {
   public:
    Cursor(const Cells& cells, int64_t number);
    char* const* data() const { return data_.data(); }
    int64_t size(size_t d) const {
      return std::min(cells_.step_[d], cells_.walk_.sizes[d] - index_[d]);
    }
    void advance();

   private:
    const Cells& cells_;
    Shape index_;  // of the first element
    std::array<char*, kMaxOperands> data_;
  };

 private:
  const Walk& walk_;
  Shape step_;
  int64_t count_ = 1;
};

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/line_part.h: a tensor seen as lines along one dimension, and rectangles
// of it that go through buffers.
#pragma once

#include <utility>

#include "kernels/cpu/reduce/stage.h"
#include "tensor/tensor.h"

namespace pkg {

inline constexpr int64_t kLineRoom = 2048;  // elements of a rectangle, at most

/// Lines along a dimension of n places; the lines are numbered outer * inner.
struct LineExtent {
  int64_t outer = 1, n = 1, inner = 1;

  LineExtent() = default;
  LineExtent(const Tensor& tensor, int64_t dim);
  int64_t lines() const { return outer * inner; }
  void turn() { std::swap(outer, inner); }
};

/// One of the tensors, or a copy of it: the elements from one place and one line to the
/// next.  In a buffer it has another type, `from` being what is read there.
struct LinePart {
  Tensor tensor;
  Stage stage;
  int64_t size, width;  // bytes of an element in memory and in a buffer
  int64_t outer = 0, place = 0, line = 0;

  /// An operand is brought from its type to another, a result sent from another to its own.
  LinePart(const Tensor& tensor, int64_t dim, DType from, DType to);
  /// Neither lines nor places need to be the inner ones: lines without a dimension behind
  /// them are seen as if they were.
  void turn() { std::swap(outer, line); }

  char* at(int64_t o, int64_t i, int64_t j) const {
    return static_cast<char*>(tensor.data()) + (o * outer + i * place + j * line) * size;
  }
  /// A rectangle to and from a buffer, in which lines or places lie side by side.
  char* bring(const char* x, int64_t places, int64_t lines, bool side_by_side,
              char* to) const;
  void send(const char* from, int64_t places, int64_t lines, bool side_by_side,
            char* to) const;
};

}  // namespace pkg

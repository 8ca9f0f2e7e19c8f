// SPDX-License-Identifier: Apache-2.0
// tensor/nested_numbers.h: the numbers of nested sequences on their way into a tensor.  The
// bindings walk the sequences once, as their items may change them.
#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace pkg {

/// What tensor([[1, 2], [3, 4]]) means: entries come in order, outer sequences first.
class NestedNumbers {
 public:
  /// A sequence of `n` entries, inside of `depth` others.  ValueError when it does not have
  /// the length of its siblings, and where the nesting does not end.
  void begin(size_t depth, int64_t n);
  /// A number inside of `depth` sequences.  ValueError where a sequence is expected.
  void add(size_t depth, Scalar number) { add(depth, number, number.dtype()); }
  /// One that had a dtype.
  void add(size_t depth, Scalar number, DType dtype);
  /// An array inside of `depth` sequences.
  void add(size_t depth, const Tensor& array);
  /// All of them; without `dtype` in the one that all promote to.
  Tensor tensor(std::optional<DType> dtype) const;

 private:
  template <class T>
  Tensor filled() const;
  void meet(DType dtype);
  void add_dims(size_t depth, const Tensor& array, int64_t dim, const Scalar*& next,
                DType dtype);

  Shape shape_;
  std::vector<Scalar> numbers_;
  std::optional<DType> dtype_;  // that all so far promote to
  bool first_ = true;  // no number and no empty sequence yet: the shape is still growing
};

}  // namespace pkg

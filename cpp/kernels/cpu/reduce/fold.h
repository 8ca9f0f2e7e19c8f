// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/fold.h: the one walk of every reduction, over any dimensions of any
// layout.  It hands rectangles of memory to two functions of the reduction (Fold) and knows
// nothing of what they compute; their loops are in fold_loops.h.
//
// Each result has a state, which takes in elements, is merged with that of a later part and
// is turned into the result at the end.  What is added to what depends on sizes and strides
// alone, never on the number of threads.
#pragma once

#include <initializer_list>
#include <optional>

#include "base/function_ref.h"
#include "tensor/tensor.h"

namespace pkg {

using Dims = std::optional<Shape>;

/// `rows` rows of `n` elements that lie side by side; the rows are `stride` elements apart.
struct Block {
  const void* x;
  int64_t stride, rows, n;
  int64_t first;     // place of the first element along the reduced dimension
  double parameter;  // of the reduction, such as the order of a norm
};

/// A reduction.  States are plain bytes.
struct Fold {
  DType type;     // of the elements in a Block: others are converted on the way
  int64_t state;  // bytes of a state
  void (*start)(void* states, int64_t n);
  void (*rows)(const Block& block, void* states);             // state i takes in row i
  void (*columns)(const Block& block, void* states);          // state j takes in column j
  void (*merge)(void* states, const void* later, int64_t n);  // `later` may be `states`
  double parameter = 0;
  bool repeats_once = false;  // an element that is seen again changes nothing
};

/// Writes n results; out[k] is where those of the k-th tensor go, dense.
using Finish = FunctionRef<void(const void* states, void* const* out, int64_t n)>;

/// Reduces `self` over `dim` (all by default) into row-major `outs`, at most two.
/// Only along one dimension, or over a row-major tensor, is `Block::first` a place.
void run_fold(const Tensor& self, const Dims& dim, const Fold& fold,
              std::initializer_list<const Tensor*> outs, Finish finish);

}  // namespace pkg

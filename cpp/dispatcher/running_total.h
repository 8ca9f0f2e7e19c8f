// SPDX-License-Identifier: Apache-2.0
// dispatcher/running_total.h: gradients that are zeros but for a part, added in place.
//
// Note [Running totals]
// The gradient of x[i] is zeros of x's shape with a part that is none.  A loop that reads one
// element in each turn would make, fill and add as many elements as x has in each turn, n * n
// for n turns.  So a formula of such a gradient first asks for what the pass has added up for
// x so far.  Where there is something that nobody else sees, it gets that, adds its part to it
// in place, and gives it back as its gradient: work for the part alone.
// The bits are those of adding whole tensors, as a plan does, in which all memory has a place
// (but for the sign of a zero that only zeros were added to): so no element may be added to
// twice by one formula.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// A pass, of those who may lend what they have added up.
class RunningTotals {
 public:
  /// What was added up for the one input of the call whose formula runs, if it is of these
  /// sizes and dtype and may be written to; undefined otherwise.  Who takes it gives it back
  /// as the gradient.
  virtual Tensor take(const Shape& sizes, DType dtype) = 0;

 protected:
  ~RunningTotals() = default;
};

/// Makes a pass the one that formulas on this thread ask, until the end of the scope.
class UseRunningTotals {
 public:
  explicit UseRunningTotals(RunningTotals* totals);
  ~UseRunningTotals();
  UseRunningTotals(const UseRunningTotals&) = delete;
  UseRunningTotals& operator=(const UseRunningTotals&) = delete;

 private:
  RunningTotals* before_;
};

/// For formulas: what a gradient of these sizes, which `grad` is a part of, may be added to.
Tensor running_total(const Shape& sizes, const Tensor& grad);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// ops/nn/loss_reduction.h: what 'none', 'mean' and 'sum' do to a loss.
#pragma once

#include <string>

#include "ops/reduce/mean.h"

namespace pkg::ops {

inline void check_reduction(const std::string& reduction) {
  PKG_CHECK(reduction == "none" || reduction == "mean" || reduction == "sum", ValueError,
            "[loss] ", reduction,
            " is not a valid value for reduction: expected 'none', 'mean' or 'sum'");
}

/// The mean divides by the number of elements.
inline Tensor reduce_loss(const Tensor& loss, const std::string& reduction) {
  check_reduction(reduction);
  if (reduction == "none") return loss;
  return reduction == "sum" ? sum(loss) : sum_over(double(loss.numel()), loss);
}

}  // namespace pkg::ops

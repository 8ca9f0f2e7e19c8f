// SPDX-License-Identifier: Apache-2.0
// dispatcher/running_total.cc: see running_total.h.
#include "dispatcher/running_total.h"

#include <utility>

namespace pkg {
namespace {

thread_local RunningTotals* t_totals = nullptr;

}  // namespace

UseRunningTotals::UseRunningTotals(RunningTotals* totals)
    : before_(std::exchange(t_totals, totals)) {}
UseRunningTotals::~UseRunningTotals() { t_totals = before_; }

Tensor running_total(const Shape& sizes, const Tensor& grad) {
  return t_totals ? t_totals->take(sizes, grad.dtype()) : Tensor();
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/spread.cc: variance and deviation over dimensions.
#include "kernels/cpu/reduce/spread.h"

#include <cmath>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/numbers.h"
#include "kernels/cpu/reduce/spread_sixteens.h"

namespace pkg {

Fold spread_fold(DType dtype) {
  if (isa() >= Isa::V3) {
    if (dtype == DType::Float16) return SpreadSixteens<Half>::fold();
    if (dtype == DType::BFloat16) return SpreadSixteens<BFloat16>::fold();
  }
  return dtype == DType::Float64 ? SpreadLoops<double>::fold() : SpreadLoops<float>::fold();
}

namespace {

template <bool Root>
void spread_kernel(Tensor& out, const Tensor& self, const Dims& dim, double freedom, bool) {
  const Fold fold = spread_fold(self.dtype());
  run_fold(self, dim, fold, {&out}, [&](const void* states, void* const* to, int64_t n) {
    auto* from = static_cast<const Moments*>(states);
    const int64_t size = itemsize(out.dtype());
    for (int64_t i = 0; i < n; ++i) {
      const double variance = from[i].squares / freedom;
      const double number = Root ? std::sqrt(variance) : variance;
      write_numbers(&number, static_cast<char*>(to[0]) + i * size, out.dtype(), 1);
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_var", spread_kernel<false>);
  m.impl("_std", spread_kernel<true>);
}

}  // namespace
}  // namespace pkg

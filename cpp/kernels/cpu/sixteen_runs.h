// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/sixteen_runs.h: runs of float16 and bfloat16 that are computed in float32 in
// registers: to convert them into buffers and back takes longer than to compute them.
#pragma once

#include <algorithm>

#include "tensor/sixteen.h"
#include "tensor/tensor.h"

namespace pkg {

/// y[i] = f(i, x[i]) for n dense elements.
template <Isa level, class H, class F>
inline void map_sixteens(const H* x, H* y, int64_t n, F f) {
  float in[kSixteen], out[kSixteen];
  int64_t i = 0;
  for (; i + kSixteen <= n; i += kSixteen) {
    Sixteen<level>::widen(in, x + i);
#pragma omp simd
    for (int64_t k = 0; k < kSixteen; ++k) out[k] = f(i + k, in[k]);
    Sixteen<level>::narrow(y + i, out);
  }
  if (i == n) return;
  H rest[kSixteen] = {};
  std::copy(x + i, x + n, rest);
  Sixteen<level>::widen(in, rest);
  for (int64_t k = 0; k < kSixteen; ++k) out[k] = k < n - i ? f(i + k, in[k]) : 0;
  Sixteen<level>::narrow(rest, out);
  std::copy(rest, rest + (n - i), y + i);
}

/// Whether both are dense 16-bit floats of one type, on a processor that converts them.
inline bool are_sixteens(const Tensor& in, const Tensor& out) {
  return is_reduced(in.dtype()) && in.dtype() == out.dtype() && in.is_contiguous() &&
         out.is_contiguous() && isa() >= Isa::V3;
}
/// f(TypeTag<H>()) of that type.
template <class F>
void visit_sixteen(DType dtype, F f) {
  if (dtype == DType::Float16) f(TypeTag<Half>());
  else f(TypeTag<BFloat16>());
}

}  // namespace pkg

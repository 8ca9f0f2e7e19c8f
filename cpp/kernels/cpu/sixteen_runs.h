// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/sixteen_runs.h: runs of float16 and bfloat16 that are computed in float32 in
// registers: to convert them into buffers and back takes longer than to compute them.
#pragma once

#include <algorithm>
#include <utility>

#include "tensor/sixteen.h"
#include "tensor/tensor.h"

namespace pkg {

namespace detail {

template <Isa level, class H, class F, size_t... k, class... In>
inline void map_sixteens(H* y, int64_t n, F f, std::index_sequence<k...>, In... x) {
  float in[sizeof...(k)][kSixteen], out[kSixteen];
  int64_t i = 0;
  for (; i + kSixteen <= n; i += kSixteen) {
    (Sixteen<level>::widen(in[k], x + i), ...);
#pragma omp simd
    for (int64_t j = 0; j < kSixteen; ++j) out[j] = f(i + j, in[k][j]...);
    Sixteen<level>::narrow(y + i, out);
  }
  if (i == n) return;
  H rest[sizeof...(k)][kSixteen] = {};
  (std::copy(x + i, x + n, rest[k]), ...);
  (Sixteen<level>::widen(in[k], rest[k]), ...);
  for (int64_t j = 0; j < kSixteen; ++j) out[j] = j < n - i ? f(i + j, in[k][j]...) : 0;
  Sixteen<level>::narrow(rest[0], out);
  std::copy(rest[0], rest[0] + (n - i), y + i);
}

}  // namespace detail

/// Whether both are dense 16-bit floats of one type, on a processor that converts them.
inline bool are_sixteens(const Tensor& in, const Tensor& out) {
  return is_reduced(in.dtype()) && in.dtype() == out.dtype() && in.is_contiguous() &&
         out.is_contiguous() && isa() >= Isa::V3;
}
/// out[at + i] = f(i, x[at + i]...) for i below n, of dense tensors of one 16-bit type.
template <class F, class... In>
void map_sixteens(const Tensor& out, int64_t at, int64_t n, F f, const In&... x) {
  const auto run = [&]<class H>(TypeTag<H>) {
    with_sixteen([=, y = out.data<H>() + at,
                  ... from = static_cast<const H*>(x.template data<H>()) +
                             at]<Isa level>(AtIsa<level>) {
      detail::map_sixteens<level>(y, n, f, std::index_sequence_for<In...>(), from...);
    });
  };
  if (out.dtype() == DType::Float16) run(TypeTag<Half>());
  else run(TypeTag<BFloat16>());
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/numbers.h: what sums take and give.
#pragma once

#include "base/isa.h"
#include "tensor/copy.h"

namespace pkg {

/// What is summed for a result of this dtype: of bools, whether elements are zero.
inline Tensor summands(const Tensor& self, DType result) {
  return result == DType::Bool ? as_dtype(self, DType::Bool) : self;
}

/// n numbers as elements of `dtype`.
template <class S>
void write_numbers(const S* from, void* to, DType dtype, int64_t n) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<S, double> && std::is_same_v<T, float>) {
      auto* out = static_cast<float*>(to);
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = float(from[i]);
      });
    }
    for (int64_t i = 0; i < n; ++i) {
      T& out = static_cast<T*>(to)[i];
      if constexpr (std::is_same_v<T, bool>) out = from[i] != S(0);
      else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        out = T(float(from[i]));
      } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
        out = T(int64_t(from[i]));
      } else {
        out = T(from[i]);
      }
    }
  });
}

}  // namespace pkg

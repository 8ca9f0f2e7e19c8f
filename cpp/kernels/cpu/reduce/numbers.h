// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/numbers.h: what sums take and give.
#pragma once

#include <algorithm>

#include "base/isa.h"
#include "tensor/convert.h"
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
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      constexpr int64_t kSome = 256;
      const Conversion narrow(DType::Float32, dtype, dtype);
      float some[kSome];
      for (int64_t at = 0; at < n; at += kSome) {
        const int64_t count = std::min(kSome, n - at);
        for (int64_t i = 0; i < count; ++i) some[i] = float(from[at + i]);
        narrow.run(static_cast<char*>(to) + at * sizeof(T), reinterpret_cast<char*>(some),
                   count, nullptr);
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      T& out = static_cast<T*>(to)[i];
      if constexpr (std::is_same_v<T, bool>) out = from[i] != S(0);
      else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
        out = T(int64_t(from[i]));
      } else {
        out = T(from[i]);
      }
    }
  });
}

}  // namespace pkg

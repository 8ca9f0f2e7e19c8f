// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sums.h: what is added to a slot that an index names.
#pragma once

#include "base/dtype.h"

namespace pkg {

/// Integers wrap (visit_sums gives them without a sign), bools are or'ed, and of halves each
/// sum is rounded.
template <class T>
[[gnu::always_inline]] inline T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else return T(a + b);
}

/// Calls f(TypeTag<T>) with a type whose sums are those of the dtype.
template <class F>
void visit_sums(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool: return f(TypeTag<bool>{});
    case DType::UInt8:
    case DType::Int8: return f(TypeTag<uint8_t>{});
    case DType::Int32: return f(TypeTag<uint32_t>{});
    case DType::Int64: return f(TypeTag<uint64_t>{});
    case DType::Float16: return f(TypeTag<Half>{});
    case DType::BFloat16: return f(TypeTag<BFloat16>{});
    case DType::Float32: return f(TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{});
  }
}

}  // namespace pkg

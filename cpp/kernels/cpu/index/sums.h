// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sums.h: what is added to a slot that an index names.
#pragma once

#include "base/dtype.h"
#include "base/isa.h"

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

/// to[i] = put(to[i], from[i]) of runs that do not overlap.  What is captured is copied
/// first: what is written, if of bytes, may be anything else.
template <class T, class Put>
void put_run(T* to, const T* from, int64_t n, Put put) {
  with_isa([to, from, n, put] {
    T* __restrict y = to;
    const T* __restrict x = from;
    const int64_t count = n;
    for (int64_t i = 0; i < count; ++i) y[i] = put(y[i], x[i]);
  });
}

}  // namespace pkg

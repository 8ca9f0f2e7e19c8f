// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sums.h: what is added to a slot that an index names.
//
// Note [Sums of halves]
// What is added to slots of 16-bit floats is added up in float32, in the order of the index,
// and each slot is rounded once.  So a slot that is named a thousand times is as good as a
// sum of a thousand, and equal for any number of threads.
#pragma once

#include "base/dtype.h"
#include "base/isa.h"

namespace pkg {

/// Integers wrap (visit_sums gives them without a sign) and bools are or'ed.
template <class T>
[[gnu::always_inline]] inline T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else return T(a + b);
}

/// Calls f(TypeTag<T>) with a type whose sums are those of the dtype, which is not a half.
template <class F>
void visit_sums(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool: return f(TypeTag<bool>{});
    case DType::UInt8:
    case DType::Int8: return f(TypeTag<uint8_t>{});
    case DType::Int32: return f(TypeTag<uint32_t>{});
    case DType::Int64: return f(TypeTag<uint64_t>{});
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32: return f(TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{});
  }
}

/// to[i] = put(to[i], from[i]) of runs that do not overlap; every element of `from` is the
/// same one where Repeats.  What is captured is copied first: what is written, if of bytes,
/// may be anything else.
template <bool Repeats = false, class T, class S, class Put>
void put_run(T* to, const S* from, int64_t n, Put put) {
  with_isa([to, from, n, put] {
    T* __restrict y = to;
    const S* __restrict x = from;
    const int64_t count = n;
    if constexpr (Repeats) {
      const S value = *x;
      for (int64_t i = 0; i < count; ++i) y[i] = put(y[i], value);
    } else {
      for (int64_t i = 0; i < count; ++i) y[i] = put(y[i], x[i]);
    }
  });
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/transpose_four.h: columns to rows, four at a time, in vectors of four.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pkg::gemm {

/// Four columns of memory, each dense, become four elements in each row.
template <class T>
inline void transpose_four(const T* from, int64_t from_step, int64_t rows, T* to,
                           int64_t step) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
  const auto four = [=](int64_t column, int64_t r) {
    return reinterpret_cast<const Four*>(from + column * from_step + r);
  };
  for (int64_t r = 0; rows >= 4; r = std::min(r + 4, rows - 4)) {  // the last may overlap
    const Four a = *four(0, r), b = *four(1, r), c = *four(2, r), d = *four(3, r);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
               cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
               ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    T* out = to + r * step;
    *reinterpret_cast<Four*>(out) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *reinterpret_cast<Four*>(out + step) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *reinterpret_cast<Four*>(out + 2 * step) = __builtin_shufflevector(ab2, cd2, 0, 1, 4,
                                                                       5);
    *reinterpret_cast<Four*>(out + 3 * step) = __builtin_shufflevector(ab2, cd2, 2, 3, 6,
                                                                       7);
    if (r + 4 >= rows) return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < 4; ++i) to[r * step + i] = from[i * from_step + r];
  }
}

}  // namespace pkg::gemm

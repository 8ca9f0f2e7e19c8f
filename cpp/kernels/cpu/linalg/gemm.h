// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/gemm.h: our own matrix product: of any layout and dtype, cut over the pool.
//
// The loops are those of Goto and van de Geijn (2008): a tile of sums stays in registers
// while it runs over up to kDepth terms (tiles.h); a strip of columns of b lies packed in
// the second-level cache, a few rows of a in the first.  Elements are converted as they are
// packed.  The terms of an element are added in an order that depends on their number
// alone, so a product has the same bits however it is cut.
#pragma once

#include <cstdint>

namespace pkg::gemm {

/// A matrix anywhere in memory.
template <class S>
struct Strided {
  const S* data;
  int64_t row_step, column_step;
  Strided at(int64_t row, int64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
  Strided transposed() const { return {data, column_step, row_step}; }
};

/// What the sums begin with: nothing, or a matrix (row_step 0: the same row for all).
template <class T>
struct Start {
  const T* data = nullptr;
  int64_t row_step = 0;
  Start at(int64_t row, int64_t column) const {
    return {data ? data + row * row_step + column : nullptr, row_step};
  }
};

/// Whether this processor's registers make it faster than OpenBLAS.
bool best_here();

/// c = start + a @ b, c being m x n with rows row_step apart.  Elements of type S are
/// computed as T: 16-bit floats as float, integers as unsigned ones of 32 or 64 bits.
template <class T, class S>
void multiply(Strided<S> a, Strided<S> b, int64_t m, int64_t n, int64_t k, Start<T> start,
              T* c, int64_t row_step);

/// The same for a vector (its elements `step` apart): y = start + matrix @ x, where
/// elements of y are y_step apart and those of start start_step.
template <class T, class S>
void multiply_vector(Strided<S> matrix, int64_t rows, int64_t columns, const S* x,
                     int64_t x_step, const T* start, int64_t start_step, T* y,
                     int64_t y_step);

/// Terms of a vector's product of elements of S that are added up by one thread; sums of more
/// are those of parts.
template <class S>
inline constexpr int64_t kPart = (1 << 18) / int64_t(sizeof(S));

/// The sum of the products of n elements of two vectors, `step` apart.
template <class T, class S>
T dot(const S* a, int64_t a_step, const S* b, int64_t b_step, int64_t n);

/// F(type computed in, type of the elements)
// clang-format off: it would move the backslashes at every run.
#define PKG_FORALL_PRODUCT_TYPES(F)                                                   \
  F(float, float) F(double, double) F(float, Half) F(float, BFloat16) F(uint64_t, int64_t) \
  F(uint32_t, int32_t) F(uint32_t, uint8_t)
// clang-format on

}  // namespace pkg::gemm

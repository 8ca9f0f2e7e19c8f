// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/tiles.h: the innermost part of products: packed rows times strips.
#pragma once

#include "kernels/cpu/linalg/gemm.h"

namespace pkg::gemm {

inline constexpr int64_t kDepth = 256;  // most terms summed in registers
/// From one packed row to the next: no power of two, so that they do not collide in cache.
inline constexpr int64_t kRowStep = kDepth + 16;
inline constexpr int64_t kMostRows = 14;      // of a panel
inline constexpr int64_t kBlockBytes = 2048;  // of a row of b: what is packed at a time
inline constexpr int64_t kMostStrips = kBlockBytes / 32;

/// Some columns of b: term p of them is at data + places[p].
template <class T>
struct Strip {
  const T* data;
  const int64_t* places;
};

/// Rows of the panels that `rows` are best cut into, and columns of a strip, on this processor.
int64_t panel_rows(int64_t rows);
template <class T>
int64_t strip_columns();

/// c = start + rows @ strips for the `rows` of a panel and n columns.
template <class T>
void multiply_panel(const T* packed, int64_t rows, int64_t n, int64_t depth,
                    const Strip<T>* strips, Start<T> start, T* c, int64_t row_step);

/// sums[i] += packed row i times x, for the rows of a panel.
template <class T>
void add_dots(const T* packed, int64_t rows, int64_t depth, const T* x, T* sums);

/// to[r * step + c] = from(r, c) as T; columns up to `width` are zero.
template <class T, class S>
void pack(Strided<S> from, int64_t rows, int64_t columns, int64_t width, T* to,
          int64_t step);

}  // namespace pkg::gemm

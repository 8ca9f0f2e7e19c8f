// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/tiles.h: the innermost part of products: packed rows times strips.
#pragma once

#include <type_traits>

#include "base/half.h"
#include "kernels/cpu/linalg/gemm.h"

namespace pkg::gemm {

/// Two terms of bfloat16 in the order of memory, the second one's bits above the first's.
enum Pair : uint32_t {};
/// Terms in an element of packed rows and strips.
template <class P>
inline constexpr int64_t kTermsOf = std::is_same_v<P, Pair> ? 2 : 1;

inline constexpr int64_t kDepth = 256;  // most packed elements of a row summed in registers
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

/// Whether this processor multiplies pairs (Note [Pairs] in pairs.h).
bool has_pairs();

/// c = start + rows @ strips for the `rows` of a panel and n columns.
template <class T, class P>
void multiply_panel(const P* packed, int64_t rows, int64_t n, int64_t depth,
                    const Strip<P>* strips, Start<T> start, T* c, int64_t row_step);

/// sums[i] += packed row i times x, for the rows of a panel.
template <class T>
void add_dots(const T* packed, int64_t rows, int64_t depth, const T* x, T* sums);

/// to[r * step + c] = from(r, c) as T; columns up to `width` are zero.
template <class T, class S>
void pack(Strided<S> from, int64_t rows, int64_t columns, int64_t width, T* to,
          int64_t step);

/// Rows of a, kRowStep apart, and a strip of b, whose rows are `width` apart, as pairs of
/// `terms`; where their number is odd the last one is beside a zero.
void pack_rows(Strided<BFloat16> a, int64_t rows, int64_t terms, Pair* to);
void pack_strip(Strided<BFloat16> b, int64_t terms, int64_t columns, int64_t width,
                Pair* to);

}  // namespace pkg::gemm

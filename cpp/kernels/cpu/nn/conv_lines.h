// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv_lines.h: rows of pixels in vectors, for the inside of with_isa().
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/isa.h"

namespace pkg::conv {

// The even elements of 2 * n, or the odd ones.  Said as a permutation: of a loop that reads
// one half of what it could, the compiler makes single loads.
template <int64_t first, class T, size_t... i>
inline void permute(const T* from, T* to, std::index_sequence<i...>) {
  using Bits = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t,
                         std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  typedef Bits Vector
      __attribute__((vector_size(sizeof...(i) * sizeof(T)), aligned(sizeof(T)), may_alias));
  const auto *a = reinterpret_cast<const Vector*>(from), *b = a + 1;
  *reinterpret_cast<Vector*>(to) = __builtin_shufflevector(*a, *b, int(2 * i + first)...);
}
// The same in vectors that the instruction set has: of wider ones the compiler makes single
// loads, too.
template <int64_t first, int64_t n, class T>
inline void every_other(const T* from, T* to) {
  constexpr int64_t kBytes = n * int64_t(sizeof(T));
  if constexpr (kBytes > 16) {
    if (isa() != Isa::V4 && (kBytes > 32 || isa() == Isa::Baseline)) {
      every_other<first, n / 2>(from, to);
      return every_other<first, n / 2>(from + n, to + n / 2);
    }
  }
  permute<first>(from, to, std::make_index_sequence<size_t(n)>());
}
template <int64_t n, class T>
inline void even_some(const T* from, T* to) {
  every_other<0, n>(from, to);
}
template <int64_t n, class T>
inline void odd_some(const T* from, T* to) {
  every_other<1, n>(from, to);
}

/// to[i] = from[2 * i]; nothing at or beyond `end` is read.
template <class T>
inline void every_second(const T* from, int64_t count, const T* end, T* to) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  const auto blocks = [&]<int64_t n>(std::integral_constant<int64_t, n>) {
    for (int64_t i = 0;; i = std::min(i + n, count - n)) {  // the last one overlaps
      even_some<n>(from + 2 * i, to + i);
      if (i + n >= count) break;
    }
  };
  // The last pair may end beyond the memory.
  const bool within = from + 2 * count <= end;
  if (within && count >= kLanes) blocks(std::integral_constant<int64_t, kLanes>());
  else if (within && count >= 8) blocks(std::integral_constant<int64_t, 8>());
  else if (within && count >= 4) blocks(std::integral_constant<int64_t, 4>());
  else
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
}

/// to[i] = from[i], which do not overlap.
template <class T>
inline void copy_line(const T* from, int64_t count, T* to) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  const auto blocks = [&]<int64_t n>(std::integral_constant<int64_t, n>) {
    for (int64_t i = 0;; i = std::min(i + n, count - n)) {
      std::memcpy(to + i, from + i, n * sizeof(T));
      if (i + n >= count) break;
    }
  };
  if (count >= kLanes) blocks(std::integral_constant<int64_t, kLanes>());
  else if (count >= 8) blocks(std::integral_constant<int64_t, 8>());
  else if (count >= 4) blocks(std::integral_constant<int64_t, 4>());
  else
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
}

template <int64_t n, class T>
inline void join_some(const T* __restrict a, const T* __restrict b, T* __restrict to) {
  for (int64_t i = 0; i < n; ++i) {
    to[2 * i] = a[i];
    to[2 * i + 1] = b[i];
  }
}

/// to[i] = from[i] + b; nothing beyond `count` is written.
template <class T>
inline void add_line(const T* from, int64_t count, T b, T* to) {
  constexpr int64_t kLanes = 32 / sizeof(T);
  const auto some = [=]<int64_t n>(int64_t i, std::integral_constant<int64_t, n>) {
    T sums[n];
#pragma omp simd
    for (int64_t l = 0; l < n; ++l) sums[l] = from[i + l] + b;
    std::memcpy(to + i, sums, n * sizeof(T));
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    some(i, std::integral_constant<int64_t, kLanes>());
  if (i == count) return;
  if (count >= kLanes)
    return some(count - kLanes, std::integral_constant<int64_t, kLanes>());
  for (; i < count; ++i) to[i] = from[i] + b;
}

/// `count` elements of a and b in turn.
template <class T>
inline void in_turn(const T* a, const T* b, int64_t count, T* to) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  const int64_t pairs = count / 2;
  int64_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) join_some<kLanes>(a + i, b + i, to + 2 * i);
  for (; i + 4 <= pairs; i += 4) join_some<4>(a + i, b + i, to + 2 * i);
  for (; i < pairs; ++i) join_some<1>(a + i, b + i, to + 2 * i);
  if (count % 2) to[2 * i] = a[i];
}

}  // namespace pkg::conv

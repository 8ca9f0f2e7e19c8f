// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/random/philox.h: random words in groups that a compiler vectorises.
//
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011): words are a function of (seed, counter), so numbers do not depend on
// how work is split over threads, nor on how it is split into draws.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pkg {

/// Blocks of Philox that make a group: one for each lane.
inline constexpr int kLanes = 16;

/// The four words of each block of a group, lane by lane.
struct Words {
  uint32_t word[4][kLanes];
};

/// What numbers are for.  It is part of the counter: a position of the stream has
/// independent words for each purpose, and draws of different kinds share none.
enum class Draw : uint32_t { Uniform = 1, Wide, Normal, Normal64, Keep, Bucket, Swap };

/// Group `number` of a stream.  64-bit lanes: products of 32 bits stay where they are.
inline void philox(uint64_t seed, Draw draw, uint64_t number, Words& out) {
  constexpr uint64_t kLow = 0xffffffffu;
  const uint64_t first = number * kLanes;
#pragma omp simd
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t counter = first + uint64_t(i);
    uint64_t c0 = counter & kLow, c1 = counter >> 32, c2 = uint64_t(draw), c3 = 0;
    uint64_t k0 = seed & kLow, k1 = seed >> 32;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = 0xD2511F53u * c0, p1 = 0xCD9E8D57u * c2;
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c1 = p1 & kLow;
      c3 = p0 & kLow;
      k0 = (k0 + 0x9E3779B9u) & kLow;
      k1 = (k1 + 0xBB67AE85u) & kLow;
    }
    out.word[0][i] = uint32_t(c0);
    out.word[1][i] = uint32_t(c1);
    out.word[2][i] = uint32_t(c2);
    out.word[3][i] = uint32_t(c3);
  }
}

/// Numbers of 64 bits, from the words of a group.
inline void wide_words(const Words& words, uint64_t* out) {
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < kLanes; ++i) {
      out[k * kLanes + i] = uint64_t(words.word[2 * k][i]) << 32 | words.word[2 * k + 1][i];
    }
  }
}

/// A number below `range`: the upper half of 64 random bits times the range.  What is more
/// likely than it should be is so by less than range / 2^64.
template <bool narrow>
inline uint64_t below(uint64_t bits, uint64_t range) {
  if constexpr (narrow) {  // the range has 32 bits
    return ((bits >> 32) * range + ((bits & 0xffffffffu) * range >> 32)) >> 32;
  } else {
    return uint64_t((unsigned __int128)(bits)*range >> 64);
  }
}

/// Calls make(words, numbers) for each group that holds elements [first + begin,
/// first + end) of the stream, `numbers` being where its N numbers go: their place behind
/// `out` (which is for element `first`), or memory of which only the wanted part is copied.
template <int N, class T, class Make>
inline void fill_groups(uint64_t seed, Draw draw, uint64_t first, int64_t begin,
                        int64_t end, T* out, const Make& make) {
  Words words;
  T numbers[N];
  int64_t i = begin;
  while (i < end) {
    const uint64_t position = first + uint64_t(i);
    const int from = int(position % N), count = int(std::min<int64_t>(N - from, end - i));
    philox(seed, draw, position / N, words);
    make(words, count == N ? out + i : numbers);  // one call, as it is compiled in place
    for (int k = 0; count < N && k < count; ++k) out[i + k] = numbers[from + k];
    i += count;
  }
}

}  // namespace pkg

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

/// Group `number` of a stream.
void philox(uint64_t seed, Draw draw, uint64_t number, Words& out);

/// n numbers of 64 random bits, for elements `first`, ... of a stream.
void random_bits(uint64_t seed, Draw draw, uint64_t first, int64_t n, uint64_t* bits);

/// bits[i] becomes a number below range + i * step: the upper half of 64 random bits times
/// that.  What is more likely than it should be is so by less than range / 2^64.
void draw_below(uint64_t* bits, int64_t n, uint64_t range, uint64_t step = 0);

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

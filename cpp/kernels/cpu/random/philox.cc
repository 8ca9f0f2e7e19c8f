// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/random/philox.cc: Philox 4x32-10, and numbers below a bound.
//
// Note [Lower halves]
// Philox multiplies numbers of 32 bits to 64.  Processors from x86-64-v3 on do that with the
// lower halves of 4 lanes at once, whatever their upper halves are.  Of a loop GCC makes
// products of whole lanes, which take three such instructions, two shifts and two additions
// each: here are the functions with the instruction itself, and plain loops for the baseline.
#include "kernels/cpu/random/philox.h"

#include "base/isa.h"

#ifdef PKG_TARGET_V3
#include <immintrin.h>
#endif

namespace pkg {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kFactor0 = 0xD2511F53u, kFactor1 = 0xCD9E8D57u;
constexpr uint64_t kLow = 0xffffffffu;

// What is added in each round.
struct Keys {
  uint64_t first[kRounds], second[kRounds];
  explicit Keys(uint64_t seed) {
    uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
    for (int i = 0; i < kRounds; ++i, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      first[i] = k0;
      second[i] = k1;
    }
  }
};

void plain_philox(const Keys& keys, Draw draw, uint64_t first, Words& out) {
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t counter = first + uint64_t(i);
    uint64_t c0 = counter & kLow, c1 = counter >> 32, c2 = uint64_t(draw), c3 = 0;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t p0 = kFactor0 * c0, p1 = kFactor1 * c2;
      c0 = (p1 >> 32) ^ c1 ^ keys.first[round];
      c2 = (p0 >> 32) ^ c3 ^ keys.second[round];
      c1 = p1 & kLow;
      c3 = p0 & kLow;
    }
    out.word[0][i] = uint32_t(c0);
    out.word[1][i] = uint32_t(c1);
    out.word[2][i] = uint32_t(c2);
    out.word[3][i] = uint32_t(c3);
  }
}

// The upper half of the product, and of what the lower one is times 2^32.
uint64_t plain_below(uint64_t bits, uint64_t range) {
  return uint64_t((unsigned __int128)(bits)*range >> 64);
}

#ifdef PKG_TARGET_V3

// The lower halves of a's and b's lanes, in their order.
[[PKG_TARGET_V3]] inline void store_lower(uint32_t* to, __m256i a, __m256i b) {
  const __m256i mixed = _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_permute4x64_epi64(mixed, 0xd8));
}

// Two vectors of each word: the rounds of one run beside those of the other.
[[PKG_TARGET_V3]] void fast_philox(const Keys& keys, Draw draw, uint64_t first,
                                   Words& out) {
  const __m256i factor0 = _mm256_set1_epi64x(int64_t{kFactor0});
  const __m256i factor1 = _mm256_set1_epi64x(int64_t{kFactor1});
  for (int i = 0; i < kLanes; i += 8) {
    __m256i c0[2], c1[2], c2[2], c3[2];
    for (int v = 0; v < 2; ++v) {
      const auto at = int64_t(first + uint64_t(i + 4 * v));
      c0[v] = _mm256_add_epi64(_mm256_set1_epi64x(at), _mm256_set_epi64x(3, 2, 1, 0));
      c1[v] = _mm256_srli_epi64(c0[v], 32);
      c2[v] = _mm256_set1_epi64x(int64_t(draw));
      c3[v] = _mm256_setzero_si256();
    }
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
      const __m256i k0 = _mm256_set1_epi64x(int64_t(keys.first[round]));
      const __m256i k1 = _mm256_set1_epi64x(int64_t(keys.second[round]));
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const __m256i p0 = _mm256_mul_epu32(factor0, c0[v]);
        const __m256i p1 = _mm256_mul_epu32(factor1, c2[v]);
        c0[v] = _mm256_srli_epi64(p1, 32) ^ (c1[v] ^ k0);
        c2[v] = _mm256_srli_epi64(p0, 32) ^ (c3[v] ^ k1);
        c1[v] = p1;
        c3[v] = p0;
      }
    }
    store_lower(out.word[0] + i, c0[0], c0[1]);
    store_lower(out.word[1] + i, c1[0], c1[1]);
    store_lower(out.word[2] + i, c2[0], c2[1]);
    store_lower(out.word[3] + i, c3[0], c3[1]);
  }
}

// Ranges have 32 bits; returns how many numbers it made.
[[PKG_TARGET_V3]] int64_t fast_below(uint64_t* bits, int64_t n, uint64_t range,
                                     uint64_t step) {
  const auto r = int64_t(range), s = int64_t(step);
  __m256i ranges = _mm256_add_epi64(_mm256_set1_epi64x(r),
                                    _mm256_set_epi64x(3 * s, 2 * s, s, 0));
  const __m256i steps = _mm256_set1_epi64x(4 * s);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    auto* at = reinterpret_cast<__m256i*>(bits + i);
    const __m256i drawn = _mm256_loadu_si256(at);
    const __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(drawn, 32), ranges);
    const __m256i lower = _mm256_srli_epi64(_mm256_mul_epu32(drawn, ranges), 32);
    _mm256_storeu_si256(at, _mm256_srli_epi64(_mm256_add_epi64(upper, lower), 32));
    ranges = _mm256_add_epi64(ranges, steps);
  }
  return i;
}

#endif

}  // namespace

void philox(uint64_t seed, Draw draw, uint64_t number, Words& out) {
  const Keys keys(seed);
#ifdef PKG_TARGET_V3
  if (isa() != Isa::Baseline) return fast_philox(keys, draw, number * kLanes, out);
#endif
  plain_philox(keys, draw, number * kLanes, out);
}

void random_bits(uint64_t seed, Draw draw, uint64_t first, int64_t n, uint64_t* bits) {
  with_isa([=] {
    fill_groups<2 * kLanes>(
        seed, draw, first, 0, n, bits, [](const Words& words, uint64_t* out) {
          for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < kLanes; ++i) {
              out[k * kLanes + i] = uint64_t(words.word[2 * k][i]) << 32 |
                                    words.word[2 * k + 1][i];
            }
          }
        });
  });
}

void draw_below(uint64_t* bits, int64_t n, uint64_t range, uint64_t step) {
  int64_t done = 0;
#ifdef PKG_TARGET_V3
  const bool narrow = (range >> 32) == 0 && ((range + uint64_t(n) * step) >> 32) == 0;
  if (narrow && isa() != Isa::Baseline) done = fast_below(bits, n, range, step);
#endif
  for (; done < n; ++done) {
    bits[done] = plain_below(bits[done], range + uint64_t(done) * step);
  }
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/pairs.h: pairs of bfloat16 terms, which some processors multiply and add
// to float32 sums in one instruction.
//
// Note [Pairs]
// AVX512-BF16's instruction does two terms of 16 sums, so that products of bfloat16 take
// half the time of float32's.  Each of its two additions rounds to nearest even, whatever
// the thread's rounding mode is; terms and sums below 2^-126 count as zero.  The compiler
// makes it of no loop: multiply_tile is the one place with the intrinsic.
#pragma once

#include "kernels/cpu/linalg/tiles.h"

#ifdef PKG_TARGET_V3
#include <immintrin.h>
#endif

namespace pkg::gemm {

#ifdef PKG_TARGET_V3
#define PKG_TARGET_PAIRS                                                                  \
  gnu::target("avx,avx2,fma,bmi,bmi2,f16c,lzcnt,popcnt,sse4.2,avx512f,avx512bw,avx512cd," \
              "avx512dq,avx512vl,avx512bf16,prefer-vector-width=512")

template <class F>
[[PKG_TARGET_PAIRS, gnu::flatten, gnu::noinline]] void run_pairs(F& f) {
  f();
}

// c = start + a @ b for R x W elements.
template <int R, int W>
[[PKG_TARGET_PAIRS]] inline void multiply_tile(int64_t depth, const Pair* a, Strip<Pair> b,
                                               Start<float> start, float* c,
                                               int64_t row_step) {
  constexpr int kVectors = W / 16;
  __m512 sum[R][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm512_setzero_ps();
  }
  for (int64_t p = 0; p < depth; ++p) {
    const Pair* row = b.data + b.places[p];
    __m512i terms[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) terms[v] = _mm512_loadu_si512(row + 16 * v);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const __m512i both = _mm512_set1_epi32(a[i * kRowStep + p]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sum[i][v] = _mm512_dpbf16_ps(sum[i][v], (__m512bh)both, (__m512bh)terms[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      if (start.data) {
        const float* before = start.data + i * start.row_step + 16 * v;
        sum[i][v] = _mm512_add_ps(_mm512_loadu_ps(before), sum[i][v]);
      }
      _mm512_storeu_ps(c + i * row_step + 16 * v, sum[i][v]);
    }
  }
}
#endif

}  // namespace pkg::gemm

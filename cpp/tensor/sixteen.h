// SPDX-License-Identifier: Apache-2.0
// tensor/sixteen.h: float16 and bfloat16 from and to float32, sixteen numbers at once, inside
// of loops.
//
// Note [float16]
// Processors from x86-64-v3 on convert 8 or 16 float16 at once.  GCC uses the instruction for
// single numbers only, so this is the one place with intrinsics; loops over the formulas of
// base/half.h, which serve the baseline, take four times as long.  So do those of bfloat16
// beside some formulas, which the compiler then unrolls instead.  Numbers that go from one of
// these functions to a loop over sixteen, and from there to another, stay in registers.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/half.h"
#include "base/isa.h"

#ifdef PKG_TARGET_V3
#include <immintrin.h>
#endif

namespace pkg {

inline constexpr int64_t kSixteen = 16;

/// widen(float*, const H*) and narrow(H*, const float*) for each level but the baseline.
template <Isa level>
struct Sixteen;

#ifdef PKG_TARGET_V3

template <>
struct Sixteen<Isa::V3> {
  [[PKG_TARGET_V3]] static void widen(float* to, const Half* from) {
    for (int i = 0; i < kSixteen; i += 8) {
      const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
    }
  }
  [[PKG_TARGET_V3]] static void narrow(Half* to, const float* from) {
    for (int i = 0; i < kSixteen; i += 8) {
      const __m256 floats = _mm256_loadu_ps(from + i);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
    }
  }
  [[PKG_TARGET_V3]] static void widen(float* to, const BFloat16* from) {
    for (int i = 0; i < kSixteen; i += 8) {
      const __m128i upper = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(upper), 16);
      _mm256_storeu_ps(to + i, _mm256_castsi256_ps(bits));
    }
  }
  [[PKG_TARGET_V3]] static void narrow(BFloat16* to, const float* from) {
    for (int i = 0; i < kSixteen; i += 8) {
      const __m256 value = _mm256_loadu_ps(from + i);
      const __m256i bits = _mm256_castps_si256(value);
      const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16),
                                           _mm256_set1_epi32(1));
      const __m256i half = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), odd);
      const __m256i rounded = _mm256_add_epi32(bits, half);
      const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
      const __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
      const __m256i upper = _mm256_srli_epi32(
          _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan)), 16);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_packus_epi32(_mm256_castsi256_si128(upper),
                                        _mm256_extracti128_si256(upper, 1)));
    }
  }
};
template <>
struct Sixteen<Isa::V4> {
  [[PKG_TARGET_V4]] static void widen(float* to, const Half* from) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
  [[PKG_TARGET_V4]] static void narrow(Half* to, const float* from) {
    const __m512 floats = _mm512_loadu_ps(from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_maskz_cvtps_ph(0xffff, floats, _MM_FROUND_TO_NEAREST_INT));
  }
  [[PKG_TARGET_V4]] static void widen(float* to, const BFloat16* from) {
    const __m256i upper = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m512i bits = _mm512_maskz_slli_epi32(
        0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, upper), 16);
    _mm512_storeu_ps(to, _mm512_castsi512_ps(bits));
  }
  [[PKG_TARGET_V4]] static void narrow(BFloat16* to, const float* from) {
    const __m512 value = _mm512_loadu_ps(from);
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd = _mm512_and_si512(_mm512_maskz_srli_epi32(0xffff, bits, 16),
                                         _mm512_set1_epi32(1));
    const __m512i half = _mm512_add_epi32(_mm512_set1_epi32(0x7fff), odd);
    const __m512i rounded = _mm512_add_epi32(bits, half);
    const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    const __m512i quiet = _mm512_set1_epi32(0x400000);
    const __m512i upper = _mm512_maskz_srli_epi32(
        0xffff, _mm512_mask_or_epi32(rounded, nan, bits, quiet), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_maskz_cvtepi32_epi16(0xffff, upper));
  }
};

#endif

/// n numbers, to where there is room for a multiple of sixteen.
template <Isa level, class H>
inline void widen_run(float* to, const H* from, int64_t n) {
  int64_t i = 0;
  for (; i + kSixteen <= n; i += kSixteen) Sixteen<level>::widen(to + i, from + i);
  if (i == n) return;
  H rest[kSixteen] = {};
  std::copy(from + i, from + n, rest);
  Sixteen<level>::widen(to + i, rest);
}

template <Isa level>
using AtIsa = std::integral_constant<Isa, level>;

/// f(AtIsa<level>()) compiled for the level in use; false below `least`.
template <Isa least = Isa::V3, class F>
inline bool with_sixteen(F f) {
#ifdef PKG_TARGET_V3
  const auto v4 = [&] { f(AtIsa<Isa::V4>()); };
  [[maybe_unused]] const auto v3 = [&] { f(AtIsa<Isa::V3>()); };
  if (isa() == Isa::V4) detail::run_v4(v4);
  if constexpr (least == Isa::V3) {
    if (isa() == Isa::V3) detail::run_v3(v3);
  }
  return isa() >= least;
#else
  return false;
#endif
}

}  // namespace pkg

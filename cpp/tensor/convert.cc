// SPDX-License-Identifier: Apache-2.0
// tensor/convert.cc: one loop for each pair of types.
//
// Note [float16]
// Processors from x86-64-v3 on convert 8 or 16 float16 at once.  GCC uses the instruction for
// single numbers only, so this is the one place with intrinsics; loops over the formulas of
// base/half.h, which serve the baseline, take four times as long.
#include "tensor/convert.h"

#include <algorithm>

#include "base/isa.h"

#ifdef PKG_TARGET_V3
#include <immintrin.h>
#endif

namespace pkg {
namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is undefined in C++; through int64 it is at least the same value
    // on every instruction set.
    return To(int64_t(value));
  } else {
    return To(value);
  }
}

template <class To, class From>
void convert(const void*, char* const* data, int64_t n) {
  with_isa([=] {
    auto* to = reinterpret_cast<To*>(data[0]);
    auto* from = reinterpret_cast<const From*>(data[1]);
    // Bytes may lie anywhere, for all that the compiler knows, even where n does.
    const int64_t past = n;
#pragma GCC ivdep
    for (int64_t i = 0; i < past; ++i) to[i] = converted<To>(from[i]);
  });
}

#ifdef PKG_TARGET_V3

// As many as a vector holds.
struct Eight {
  static constexpr int64_t count = 8;
  [[PKG_TARGET_V3]] static void convert(float* to, const Half* from) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_ps(to, _mm256_cvtph_ps(halves));
  }
  [[PKG_TARGET_V3]] static void convert(Half* to, const float* from) {
    const __m256 floats = _mm256_loadu_ps(from);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
  }
};
struct Sixteen {
  static constexpr int64_t count = 16;
  [[PKG_TARGET_V4]] static void convert(float* to, const Half* from) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
  [[PKG_TARGET_V4]] static void convert(Half* to, const float* from) {
    const __m512 floats = _mm512_loadu_ps(from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_maskz_cvtps_ph(0xffff, floats, _MM_FROUND_TO_NEAREST_INT));
  }
};

// What is left at the end is converted beside it.
template <class Vector, class To, class From>
inline void convert_vectors(To* to, const From* from, int64_t n) {
  int64_t i = 0;
  for (; i + Vector::count <= n; i += Vector::count) Vector::convert(to + i, from + i);
  if (i == n) return;
  From last[Vector::count] = {};
  To converted[Vector::count];
  std::copy(from + i, from + n, last);
  Vector::convert(converted, last);
  std::copy(converted, converted + (n - i), to + i);
}

#endif

// See Note [float16].
template <class To, class From>
void convert_half(const void*, char* const* data, int64_t n) {
#ifdef PKG_TARGET_V3
  auto* to = reinterpret_cast<To*>(data[0]);
  auto* from = reinterpret_cast<const From*>(data[1]);
  const auto sixteens = [=] { convert_vectors<Sixteen>(to, from, n); };
  if (isa() == Isa::V4) return detail::run_v4(sixteens);
  const auto eights = [=] { convert_vectors<Eight>(to, from, n); };
  if (isa() == Isa::V3) return detail::run_v3(eights);
#endif
  convert<To, From>(nullptr, data, n);
}

// A bool is the byte 0 or 1, and int8 has the bits of uint8.
bool same_bits(DType from, DType to) {
  const auto byte = [](DType d) { return d == DType::UInt8 || d == DType::Int8; };
  return from == to || (byte(to) && (byte(from) || from == DType::Bool));
}

template <class To>
BlockFunction from_type(DType from) {
  switch (from) {
    case DType::Bool:
    case DType::UInt8: return convert<To, uint8_t>;
    case DType::Int8: return convert<To, int8_t>;
    case DType::Int32: return convert<To, int32_t>;
    case DType::Int64: return convert<To, int64_t>;
    case DType::Float64: return convert<To, double>;
    default: return convert<To, float>;
  }
}

BlockFunction step(DType from, DType to) {
  switch (to) {
    case DType::Bool: return from_type<bool>(from);
    case DType::UInt8:
    case DType::Int8: return from_type<uint8_t>(from);  // the low bits
    case DType::Int32: return from_type<int32_t>(from);
    case DType::Int64: return from_type<int64_t>(from);
    case DType::Float16: return convert_half<Half, float>;
    case DType::BFloat16: return convert<BFloat16, float>;
    case DType::Float64: return from_type<double>(from);
    case DType::Float32: break;
  }
  if (from == DType::Float16) return convert_half<float, Half>;
  if (from == DType::BFloat16) return convert<float, BFloat16>;
  return from_type<float>(from);
}

}  // namespace

Conversion::Conversion(DType from, DType to, DType via) {
  if (from != via) add(from, via);
  if (via != to) add(via, to);
}

void Conversion::add(DType from, DType to) {
  if (same_bits(from, to)) return;
  const auto put = [&](DType a, DType b) { steps[size_t(count++)] = {step(a, b), b}; };
  if ((is_reduced(from) && to != DType::Float32) ||
      (is_reduced(to) && from != DType::Float32)) {
    put(from, DType::Float32);
    if (to == DType::Float32) return;
    from = DType::Float32;
  }
  put(from, to);
}

void Conversion::run(char* to, const char* from, int64_t n, char* const* scratch) const {
  char* data[2] = {nullptr, const_cast<char*>(from)};
  for (int k = 0; k < count; ++k) {
    data[0] = k + 1 == count ? to : scratch[data[1] == scratch[0] ? 1 : 0];
    steps[size_t(k)].run(nullptr, data, n);
    data[1] = data[0];
  }
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// base/half.h: float16 and bfloat16 as storage types that convert to and from float.
// Arithmetic happens in float; these types only hold bits.
#pragma once

#include <bit>
#include <cstdint>

namespace pkg {

/// IEEE 754 binary16.  Conversion rounds to nearest even and keeps NaN.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(from_float(value)) {}
  operator float() const { return to_float(bits); }

  // No branches, so that loops of conversions vectorise.
  static uint16_t from_float(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (f >> 16) & 0x8000u;
    const uint32_t magnitude = f & 0x7fffffffu;
    // Subnormal: adding 0.5 lines the mantissa up so that hardware does the rounding.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
    // What is too large becomes 2^16, whose exponent is that of infinity.
    const uint32_t limited = magnitude < 0x47800000u ? magnitude : 0x47800000u;
    const uint32_t odd = (limited >> 13) & 1u;
    const uint32_t normal = (limited + odd - (0x38000000u - 0xfffu)) >> 13;
    const uint32_t number = magnitude < 0x38800000u ? subnormal : normal;
    return uint16_t(sign | (magnitude > 0x7f800000u ? 0x7e00u : number));  // NaN
  }
  static float to_float(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t magnitude = h & 0x7fffu;
    const float subnormal = float(int32_t(magnitude)) * 0x1p-24f;
    const uint32_t bias = magnitude < 0x7c00u ? 112u << 23 : 224u << 23;  // inf, NaN
    const uint32_t normal = (magnitude << 13) + bias;
    return std::bit_cast<float>(
        sign | (magnitude < 0x400u ? std::bit_cast<uint32_t>(subnormal) : normal));
  }
};

/// The upper half of a binary32.  Conversion rounds to nearest even and keeps NaN.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint32_t nan = (f >> 16) | 0x40u;
    const uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    bits = uint16_t((f & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

}  // namespace pkg

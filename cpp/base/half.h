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

  static uint16_t from_float(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (f >> 16) & 0x8000u;
    const uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u);   // NaN
    if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // overflow, inf
    if (magnitude < 0x38800000u) {
      // Subnormal: adding 0.5 lines the mantissa up so that hardware does the rounding.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    return uint16_t(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
  static float to_float(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0) {
      const float value = float(mantissa) * 0x1p-24f;
      return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
    }
    const uint32_t e = exponent == 31 ? 255u : exponent + 112u;
    return std::bit_cast<float>(sign | (e << 23) | (mantissa << 13));
  }
};

/// The upper half of a binary32.  Conversion rounds to nearest even and keeps NaN.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) {
      bits = uint16_t((f >> 16) | 0x40u);
    } else {
      bits = uint16_t((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
    }
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

}  // namespace pkg

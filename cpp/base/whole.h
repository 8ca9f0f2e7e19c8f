// SPDX-License-Identifier: Apache-2.0
// base/whole.h: 64-bit integers from and to double, as formulas that vectorise.  AVX2 converts
// none otherwise.
//
// A whole double of that many bits has its number, and this one's bits, in its lowest ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace pkg {

inline constexpr double kWholeBits = 0x1.8p52;
inline constexpr int64_t kMostWhole = int64_t{1} << 51;  // and -x has the same bits

/// Whether what follows is right for it; so that it has no branch, in bits.
inline bool fits_whole(int64_t x) { return (x < kMostWhole) & (x > -kMostWhole); }
inline bool fits_whole(double x) { return std::abs(x) < double(kMostWhole); }

inline double to_double(int64_t x) {
  return std::bit_cast<double>(x + std::bit_cast<int64_t>(kWholeBits)) - kWholeBits;
}
inline int64_t to_int64(double whole) {
  return std::bit_cast<int64_t>(whole + kWholeBits) - std::bit_cast<int64_t>(kWholeBits);
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// base/whole.h: 64-bit integers from and to double, as formulas that vectorise.  AVX2 converts
// none otherwise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace pkg {

/// A whole number of fewer than 51 bits plus this is a double whose bits, as an integer, are
/// this one's plus the number.
inline constexpr double kWholeBits = 0x1.8p52;
inline constexpr int64_t kMostWhole = int64_t{1} << 51;

/// Whether to_double() and to_int64() are right for x; "&" makes no branch.
inline bool fits_whole(int64_t x) { return (x < kMostWhole) & (x > -kMostWhole); }
inline bool fits_whole(double x) { return std::abs(x) < double(kMostWhole); }

inline double to_double(int64_t x) {
  // Of any number a sum is made, before it is known whether one fits: so it may wrap.
  return std::bit_cast<double>(uint64_t(x) + std::bit_cast<uint64_t>(kWholeBits)) -
         kWholeBits;
}
inline int64_t to_int64(double whole) {
  return int64_t(std::bit_cast<uint64_t>(whole + kWholeBits) -
                 std::bit_cast<uint64_t>(kWholeBits));
}

}  // namespace pkg

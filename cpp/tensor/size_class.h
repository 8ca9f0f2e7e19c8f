// SPDX-License-Identifier: Apache-2.0
// tensor/size_class.h: the sizes of the allocator's blocks.  Internal.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pkg::detail {

// Classes: multiples of 64 up to 1 KiB, then four steps per power of two.
inline constexpr size_t kSmallLimit = 1024;
inline constexpr int kSmallClasses = kSmallLimit / 64;
inline constexpr int kClasses = kSmallClasses + 4 * 38;

struct SizeClass {
  int index;
  size_t bytes;
};

inline SizeClass class_of(size_t nbytes) {
  if (nbytes <= kSmallLimit) {
    const size_t units = nbytes == 0 ? 1 : (nbytes + 63) / 64;
    return {int(units) - 1, units * 64};
  }
  const int top = std::bit_width(nbytes - 1) - 1;  // 2^top < nbytes <= 2^(top+1)
  const size_t step = size_t{1} << (top - 2);
  const size_t part = (nbytes - (size_t{1} << top) + step - 1) / step;  // 1..4
  return {kSmallClasses + 4 * (top - 10) + int(part) - 1, (size_t{1} << top) + part * step};
}

constexpr int64_t class_bytes(int index) {
  if (index < kSmallClasses) return (index + 1) * 64;
  const int rest = index - kSmallClasses;
  return (int64_t{1} << (rest / 4 + 10)) + (rest % 4 + 1) * (int64_t{1} << (rest / 4 + 8));
}

}  // namespace pkg::detail

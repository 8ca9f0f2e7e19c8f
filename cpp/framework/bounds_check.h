// SPDX-License-Identifier: Apache-2.0
// framework/bounds_check.h: indices that come from tensors.
#pragma once

#include <cstdint>
#include <type_traits>

namespace pkg::framework {

/// Whether 0 <= index < limit, of any integers.
template <class I, class L>
constexpr bool FastBoundsCheck(I index, L limit) {
  static_assert(std::is_integral_v<I> && std::is_integral_v<L>);
  return uint64_t(index) < uint64_t(limit);
}

namespace internal {
/// A number that is read once, though others may write to the memory meanwhile: what was
/// checked is what is used.
template <class T>
T SubtleMustCopy(const T& x) {
  static_assert(std::is_integral_v<T>);
  return *reinterpret_cast<const volatile T*>(&x);
}
}  // namespace internal

}  // namespace pkg::framework

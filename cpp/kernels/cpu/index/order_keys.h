// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/order_keys.h: numbers as unsigned integers in the same order, so that
// sorting knows sizes of elements and no dtypes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/isa.h"

namespace pkg {

/// How the bits of a dtype order its numbers, and whether the largest come first.  NaN is
/// larger than every number, all NaNs are equal, and -0 equals 0.
class KeyMap {
 public:
  KeyMap(DType dtype, bool descending) : descending_(descending) {
    if (is_floating(dtype)) kind_ = Kind::Float;
    else if (dtype == DType::Bool || dtype == DType::UInt8) kind_ = Kind::Unsigned;
    else kind_ = Kind::Signed;
    switch (dtype) {
      case DType::Float16: infinity_ = 0x7c00; break;
      case DType::BFloat16: infinity_ = 0x7f80; break;
      case DType::Float32: infinity_ = 0x7f800000; break;
      default: infinity_ = 0x7ff0000000000000; break;
    }
  }

  /// Keys of n elements.  Whether from_key() gives every element back.
  template <class Key>
  bool to_keys(const Key* x, int64_t n, Key* keys) const {
    Key merged = 0;
    with_isa([&] { merged = map(x, n, keys); });
    return merged == 0;
  }
  template <class Key>
  Key from_key(Key key) const {
    if (descending_) key = Key(~key);
    if (kind_ == Kind::Unsigned) return key;
    if (kind_ == Kind::Signed) return Key(key ^ kSign<Key>);
    return key & kSign<Key> ? Key(key ^ kSign<Key>) : Key(~key);
  }

 private:
  enum class Kind { Unsigned, Signed, Float };
  template <class Key>
  static constexpr Key kSign = Key(Key(1) << (8 * sizeof(Key) - 1));

  // Not 0 where a key stands for several patterns of bits: zeros, NaNs.
  template <class Key>
  [[gnu::always_inline]] Key map(const Key* x, int64_t n, Key* keys) const {
    const Key flip = descending_ ? Key(~Key(0)) : Key(0);
    if (kind_ != Kind::Float) {
      const auto mask = Key(flip ^ (kind_ == Kind::Signed ? kSign<Key> : Key(0)));
      for (int64_t i = 0; i < n; ++i) keys[i] = Key(x[i] ^ mask);
      return 0;
    }
    const auto infinity = Key(infinity_);
    Key merged = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Key bits = x[i];
      const auto size = Key(bits & Key(~kSign<Key>));
      Key key = bits & kSign<Key> ? Key(~bits) : Key(bits | kSign<Key>);
      key = size > infinity ? Key(~Key(0)) : key;
      key = size == 0 ? kSign<Key> : key;
      merged = Key(merged | Key(size > infinity) | Key(bits == kSign<Key>));
      keys[i] = Key(key ^ flip);
    }
    return merged;
  }

  Kind kind_;
  uint64_t infinity_ = 0;
  bool descending_;
};

}  // namespace pkg

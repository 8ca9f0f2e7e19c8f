// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/short_lines.h: lines of a few keys (order_keys.h), each of
// which is compared with all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/isa.h"
#include "kernels/cpu/index/order_keys.h"

namespace pkg {

/// n <= most keys as vectors of constant length, and their numbers.
template <int64_t most, class Key>
struct FewKeys {
  Key key[most], place[most];

  [[gnu::always_inline]] FewKeys(const Key* keys, int64_t n) {
    for (int64_t i = 0; i < most; ++i) {
      key[i] = i < n ? keys[i] : Key(0);
      place[i] = Key(i);
    }
  }
};

/// before[i]: how many of the n keys come before key i; what is equal keeps its
/// order.
template <int64_t most, class Key>
[[gnu::always_inline]] inline void count_before(const FewKeys<most, Key>& few,
                                                const Key* keys, int64_t n, Key* before) {
  for (int64_t i = 0; i < most; ++i) before[i] = 0;
  for (int64_t j = 0; j < n; ++j) {
    const Key key = keys[j];
    const auto at = Key(j);
    for (int64_t i = 0; i < most; ++i) {
      const auto less = Key(key < few.key[i]), equal = Key(key == few.key[i]);
      before[i] = Key(before[i] + less + (equal & Key(at < few.place[i])));
    }
  }
}

/// The places of the first k of n <= most keys in order, where k is small: the least of those
/// that are left, k times.  `most` keys are readable.
template <int64_t most, class Key>
[[gnu::always_inline]] inline void first_of_few(const Key* keys, int64_t n, int64_t k,
                                                Key* places) {
  constexpr Key kGone = Key(~Key(0));
  Key left[most];
  for (int64_t i = 0; i < most; ++i) {
    const Key key = keys[i];
    left[i] = Key(i) < Key(n) ? key : kGone;
  }
  for (int64_t r = 0; r < k; ++r) {
    Key least = kGone, place = Key(most);
#pragma omp simd reduction(min : least)
    for (int64_t i = 0; i < most; ++i) least = std::min(least, left[i]);
    if (least == kGone) {  // only such are left, at least k - r of them
      for (int64_t i = 0; i < n && r < k; ++i) {
        if (keys[i] == kGone) places[r++] = Key(i);
      }
      return;
    }
#pragma omp simd reduction(min : place)
    for (int64_t i = 0; i < most; ++i) {
      place = std::min(place, left[i] == least ? Key(i) : Key(most));
    }
    for (int64_t i = 0; i < most; ++i) left[i] = Key(i) == place ? kGone : left[i];
    places[r] = place;
  }
}

/// f(line, its keys) for lines of n elements that lie behind each other,
/// compiled for the instruction set in use.
template <class Key, class F>
void each_short_line(const Key* lines, int64_t n, int64_t begin, int64_t end,
                     const KeyMap& map, F f) {
  constexpr int64_t kRoom = 1024;
  Key keys[kRoom];
  for (int64_t line = begin; line < end; line += kRoom / n) {
    const int64_t last = std::min(end, line + kRoom / n);
    map.to_keys(lines + line * n, (last - line) * n, keys);
    with_isa([&keys, &f, n, line, last] {
      for (int64_t l = line; l < last; ++l) f(l, keys + (l - line) * n);
    });
  }
}

}  // namespace pkg

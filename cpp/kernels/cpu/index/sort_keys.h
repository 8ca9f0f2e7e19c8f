// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sort_keys.h: keys (order_keys.h) in order, and where they
// stood.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/isa.h"
#include "kernels/cpu/index/short_lines.h"
#include "scheduler/stop_point.h"

namespace pkg {

/// A key and where it stood; what is equal keeps its order.
template <class Key>
struct Item {
  Key key;
  std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t> at;

  friend bool operator<(const Item& a, const Item& b) {
    return a.key < b.key || (a.key == b.key && a.at < b.at);
  }
};

inline constexpr int64_t kShortLine = 64;

/// ranks[i]: how many of n keys, at most `most`, come before key i.
template <int64_t most, class Key>
[[gnu::always_inline]] inline void rank_keys(const Key* keys, int64_t n, Key* ranks) {
  const FewKeys<most, Key> few(keys, n);
  Key rank[most];
  count_before(few, keys, n, rank);
  for (int64_t i = 0; i < n; ++i) ranks[i] = rank[i];
}
/// Of several lines that lie behind each other.
template <class Key>
void short_ranks(const Key* keys, int64_t n, int64_t lines, Key* ranks) {
  with_isa([=] {
    for (int64_t at = 0; at < n * lines; at += n) {
      if (n <= 8) rank_keys<8>(keys + at, n, ranks + at);
      else if (n <= 16) rank_keys<16>(keys + at, n, ranks + at);
      else if (n <= 32) rank_keys<32>(keys + at, n, ranks + at);
      else rank_keys<kShortLine>(keys + at, n, ranks + at);
    }
  });
}

/// Calls f(begin, end) for pieces of n elements, with stop points between.
template <class F>
void with_stops(int64_t n, F f) {
  constexpr int64_t kPiece = 1 << 17;
  for (int64_t i = 0; i < n; i += kPiece) {
    if (i) stop_point();
    f(i, std::min(n, i + kPiece));
  }
}

/// Items of the keys in order, in one of the two rooms.
template <class Key>
Item<Key>* radix_sort(const Key* keys, int64_t n, Item<Key>* items, Item<Key>* other) {
  constexpr int kPasses = sizeof(Key);
  uint64_t counts[kPasses][256] = {};
  with_stops(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int p = 0; p < kPasses; ++p) ++counts[p][keys[i] >> (8 * p) & 255];
    }
  });
  bool made = false;  // items of the keys
  for (int p = 0; p < kPasses; ++p) {
    uint64_t* count = counts[p];
    if (count[keys[0] >> (8 * p) & 255] == uint64_t(n)) continue;
    uint64_t sum = 0;
    for (int d = 0; d < 256; ++d) sum += std::exchange(count[d], sum);
    with_stops(n, [&](int64_t begin, int64_t end) {
      Item<Key>* to = made ? other : items;
      for (int64_t i = begin; i < end; ++i) {
        const Item<Key> item = made ? items[i]
                                    : Item<Key>{keys[i], decltype(Item<Key>::at)(i)};
        to[count[item.key >> (8 * p) & 255]++] = item;
      }
    });
    if (made) std::swap(items, other);
    made = true;
  }
  if (!made) {
    for (int64_t i = 0; i < n; ++i) items[i] = {keys[i], decltype(Item<Key>::at)(i)};
  }
  return items;
}

}  // namespace pkg

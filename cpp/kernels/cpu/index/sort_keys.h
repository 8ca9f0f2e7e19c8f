// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sort_keys.h: keys (order_keys.h) in order, and where they
// stood.
#pragma once

#include <algorithm>
#include <bit>
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

/// How long a line may be for window_sort(): passes over four bytes are soon as fast.
template <class Key>
inline constexpr int64_t kWindowLine = sizeof(Key) == 8 ? 2048 : 512;

/// The same of a line that is not long: by the 16 bits from the first on in which keys
/// differ, after which few are out of place.  Where many would be, as radix_sort does: small
/// numbers of both signs, and such as one that is far from the others.
template <class Key>
Item<Key>* window_sort(const Key* keys, int64_t n, Item<Key>* items, Item<Key>* other) {
  using At = decltype(Item<Key>::at);
  Key differ = 0;
  with_isa([=, &differ] {
    const Key first = keys[0];
    Key all = 0;
    for (int64_t i = 0; i < n; ++i) all |= keys[i] ^ first;
    differ = all;
  });
  const int bits = int(std::bit_width(differ)), shift = std::max(0, bits - 16);
  if (bits <= 8) return radix_sort(keys, n, items, other);  // one pass at most
  uint32_t counts[2][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    const Key part = keys[i] >> shift;
    ++counts[0][part & 255];
    ++counts[1][part >> 8 & 255];
  }
  int64_t kinds = 1;  // of these bits, at most
  for (const auto& count : counts) kinds *= 256 - std::count(count, count + 256, 0u);
  if (shift > 0 && kinds < (sizeof(Key) == 8 ? 2 : 4) * n) {
    return radix_sort(keys, n, items, other);
  }
  for (auto& count : counts) {
    uint32_t sum = 0;
    for (uint32_t& one : count) sum += std::exchange(one, sum);
  }
  for (int64_t i = 0; i < n; ++i) {
    items[counts[0][keys[i] >> shift & 255]++] = {keys[i], At(i)};
  }
  for (int64_t i = 0; i < n; ++i) {
    other[counts[1][items[i].key >> shift >> 8 & 255]++] = items[i];
  }
  if (shift == 0) return other;
  int64_t moves = 4 * n;
  for (int64_t i = 1; i < n; ++i) {
    const Item<Key> item = other[i];
    int64_t k = i;
    for (; k > 0 && other[k - 1].key > item.key; --k) other[k] = other[k - 1];
    other[k] = item;
    moves -= i - k;
    if (moves < 0) return radix_sort(keys, n, items, other);
  }
  return other;
}

}  // namespace pkg

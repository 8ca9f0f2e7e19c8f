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

/// Passes over eight bits each after which few of n keys are out of place.
inline constexpr int64_t kTwoPasses = 2048, kThreePasses = 1 << 15;
inline int few_passes(int64_t n) { return n <= kTwoPasses ? 2 : n <= kThreePasses ? 3 : 4; }

/// By what n keys are sorted: the uppermost bits, of `passes` bytes, of their distance from
/// the least one.
template <class Key>
struct Parts {
  Key least = 0;
  int cut = 0;  // bits of a distance beyond the uppermost 32
  int low = 0;  // and of these the ones that are not sorted by
  int passes = 0;

  Parts(const Key* keys, int64_t n) {
    Key most = 0;
    with_isa([=, this, &most] {
      Key l = keys[0], m = keys[0];
      for (int64_t i = 1; i < n; ++i) l = std::min(l, keys[i]), m = std::max(m, keys[i]);
      least = l;
      most = m;
    });
    const int bits = int(std::bit_width(Key(most - least)));
    cut = std::max(0, bits - 32);
    // Beyond 32 bits they are most often exponents, of which few values are many elements:
    // two bytes of a few keys do not tell these apart.
    const int most_passes = std::max(few_passes(n), cut > 0 ? 3 : 2);
    passes = std::clamp((bits - cut + 7) / 8, 2, most_passes);
    low = std::max(0, bits - cut - 8 * passes);
  }
};

// The number that a thing is sorted by: of an item its key, a key itself.
template <class Key>
Key number_of(const Item<Key>& item) {
  return item.key;
}
template <class Key>
Key number_of(Key key) {
  return key;
}

// What make(0) to make(n - 1) give by the bytes of their numbers from `shift` on, in one of
// the two rooms; null where these bytes have fewer values than `kinds`.
template <int kPasses, class One, class Make>
One* part_passes(int64_t n, int shift, int64_t kinds, Make make, One* items, One* other) {
  uint32_t counts[kPasses][256] = {};
  with_stops(n, [=, &counts](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto part = uint32_t(number_of(make(i)) >> shift);
      for (int p = 0; p < kPasses; ++p) ++counts[p][part >> (8 * p) & 255];
    }
  });
  int64_t most = 1;  // values
  for (const auto& count : counts) most *= 256 - std::count(count, count + 256, 0u);
  if (most < kinds) return nullptr;
  for (int p = 0; p < kPasses; ++p) {
    uint32_t sum = 0;
    for (uint32_t& one : counts[p]) sum += std::exchange(one, sum);
    uint32_t* const next = counts[p];
    with_stops(n, [=](int64_t begin, int64_t end) {
      with_isa<Isa::V3>([=] {  // which has such shifts
        const int by = shift + 8 * p;
        const auto put = [=](One one) { other[next[number_of(one) >> by & 255]++] = one; };
        if (p == 0) {
          for (int64_t i = begin; i < end; ++i) put(make(i));
        } else {
          for (int64_t i = begin; i < end; ++i) put(items[i]);
        }
      });
    });
    std::swap(items, other);
  }
  return items;
}

// All of them in order: after these passes few are out of place, and move there.  Null where
// many are, such as where one number is far from the others.
template <class One, class Key, class Make, class After>
One* part_sort(int64_t n, const Parts<Key>& parts, int shift, Make make, After after,
               One* items, One* other) {
  const bool exact = parts.low + parts.cut == 0;
  const int64_t kinds = exact ? 0 : (sizeof(Key) == 8 ? 2 : 4) * n;
  const auto run = parts.passes == 2   ? part_passes<2, One, Make>
                   : parts.passes == 3 ? part_passes<3, One, Make>
                                       : part_passes<4, One, Make>;
  One* const sorted = run(n, shift, kinds, make, items, other);
  if (!sorted || exact) return sorted;
  int64_t moves = 4 * n;
  for (int64_t i = 1; i < n; ++i) {
    const One one = sorted[i];
    int64_t k = i;
    for (; k > 0 && after(sorted[k - 1], one); --k) sorted[k] = sorted[k - 1];
    sorted[k] = one;
    moves -= i - k;
    if (moves < 0) return nullptr;
  }
  return sorted;
}

/// The keys' order by their places, in one of the two rooms, or null: see Note [Ways to
/// sort].
template <class Key>
Item<uint32_t>* places_in_order(const Key* keys, int64_t n, Item<uint32_t>* items,
                                Item<uint32_t>* other) {
  using One = Item<uint32_t>;
  const Parts<Key> parts(keys, n);
  const Key least = parts.least;
  const int cut = parts.cut;
  return part_sort<One>(
      n, parts, parts.low,
      [=](int64_t i) { return One{uint32_t(Key(keys[i] - least) >> cut), uint32_t(i)}; },
      [=](const One& a, const One& b) {
        return a.key > b.key || (cut > 0 && a.key == b.key && keys[a.at] > keys[b.at]);
      },
      items, other);
}

/// The same of the keys alone.
template <class Key>
Key* keys_in_order(const Key* keys, int64_t n, Key* some, Key* other) {
  const Parts<Key> parts(keys, n);
  const Key least = parts.least;
  Key* const sorted = part_sort<Key>(
      n, parts, parts.low + parts.cut, [=](int64_t i) { return Key(keys[i] - least); },
      [](Key a, Key b) { return a > b; }, some, other);
  if (!sorted) return nullptr;
  for (int64_t i = 0; i < n; ++i) sorted[i] = Key(sorted[i] + least);
  return sorted;
}

}  // namespace pkg

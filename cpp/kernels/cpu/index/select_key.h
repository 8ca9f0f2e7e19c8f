// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/select_key.h: the key of a rank among many, found without
// sorting.
//
// Note [Selecting]
// A line becomes keys (order_keys.h).  The range of keys that has the wanted
// rank is halved by counting those up to its middle, which a vector does with
// many at once; when few are left in the range, or the line is long and an
// eighth, they are collected and the search goes on among them.  Of a few dozen
// keys each is compared with all.  What is selected stands where a stable sort
// would have taken it from.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/isa.h"
#include "kernels/cpu/index/short_lines.h"
#include "scheduler/stop_point.h"

namespace pkg {

inline constexpr int64_t kCompared = 32;   // as many keys are compared with each other
inline constexpr int64_t kCounted = 2000;  // fewer are counted until few are left

/// The key of a rank, and how many equal ones come before it.
template <class Key>
struct Picked {
  Key key;
  int64_t equals;
};

// Where the key of a rank stands among n <= most; with `or_nan` the first NaN,
// if any.
template <int64_t most, class Key>
[[gnu::always_inline]] inline int64_t compare_all(const Key* keys, int64_t n, int64_t rank,
                                                  bool or_nan) {
  constexpr Key kNan = Key(~Key(0));
  const FewKeys<most, Key> few(keys, n);
  Key before[most];
  count_before(few, keys, n, before);
  Key found = 0, nan = Key(most);
  for (int64_t i = 0; i < most; ++i) {
    const bool is_it = Key(i) < Key(n) && before[i] == Key(rank);
    found = Key(found | (is_it ? few.place[i] : Key(0)));
    nan = std::min(nan, few.key[i] == kNan ? few.place[i] : Key(most));
  }
  return int64_t(or_nan && nan < Key(most) ? nan : found);
}
template <class Key>
[[gnu::always_inline]] inline int64_t compare_few(const Key* keys, int64_t n, int64_t rank,
                                                  bool or_nan) {
  if constexpr (sizeof(Key) > 1) {  // fewer bytes are no vectors
    if (n <= 8) return compare_all<8>(keys, n, rank, or_nan);
    if (n <= 16) return compare_all<16>(keys, n, rank, or_nan);
  }
  return compare_all<kCompared>(keys, n, rank, or_nan);
}

// Calls f(begin, end) for pieces of which a Key can count the elements.
template <class Key, class F>
[[gnu::always_inline]] inline void in_pieces(int64_t n, F f) {
  constexpr int64_t kPiece = sizeof(Key) == 1 ? 128 : 1 << 14;
  for (int64_t i = 0; i < n; i += kPiece) f(i, std::min(n, i + kPiece));
}
template <class Key>
[[gnu::always_inline]] inline int64_t count_upto(const Key* keys, int64_t n, Key limit) {
  int64_t count = 0;
  in_pieces<Key>(n, [&](int64_t begin, int64_t end) {
    Key here = 0;
    for (int64_t i = begin; i < end; ++i) here = Key(here + Key(keys[i] <= limit));
    count += int64_t(here);
  });
  return count;
}

// A range of keys that has the wanted one: `below` are less than its first,
// `upto` at most its last.
template <class Key>
struct Range {
  Key first, last;
  int64_t below, upto;
};

template <class Key>
[[gnu::always_inline]] inline Range<Key> range_of(const Key* keys, int64_t n) {
  Key least = keys[0], most = keys[0];
  for (int64_t i = 1; i < n; ++i) {
    least = std::min(least, keys[i]);
    most = std::max(most, keys[i]);
  }
  return {least, most, 0, n};
}
template <class Key>
[[gnu::always_inline]] inline void halve(Range<Key>& range, const Key* keys, int64_t n,
                                         int64_t rank) {
  const auto middle = Key(range.first + Key(range.last - range.first) / 2);
  const int64_t count = count_upto(keys, n, middle);
  if (rank < count) {
    range.last = middle;
    range.upto = count;
  } else {
    range.first = Key(middle + 1);
    range.below = count;
  }
}
// Those of the range, in their order; the room has one more.
template <class Key>
[[gnu::always_inline]] inline int64_t collect(const Range<Key>& range, const Key* keys,
                                              int64_t n, Key* room) {
  const Key first = range.first, span = Key(range.last - first);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Key key = keys[i];
    room[count] = key;
    count += Key(key - first) <= span;
  }
  return count;
}

// `room` is for n + 1 keys.
template <class Key>
Picked<Key> select_rank(const Key* keys, int64_t n, int64_t rank, Key* room) {
  StopCounter stop;
  for (;;) {
    if (n <= kCompared) {
      Picked<Key> picked{};
      with_isa([&picked, keys, n, rank] {
        picked.key = keys[compare_few(keys, n, rank, false)];
        int64_t less = 0;
        for (int64_t i = 0; i < n; ++i) less += keys[i] < picked.key;
        picked.equals = rank - less;
      });
      return picked;
    }
    Range<Key> range;
    with_isa([&range, keys, n] { range = range_of(keys, n); });
    const auto many = [&] {
      const int64_t left = range.upto - range.below;
      return left > kCompared && (n <= kCounted || left > n / 8);
    };
    while (range.first < range.last && many()) {
      with_isa([&range, keys, n, rank] { halve(range, keys, n, rank); });
      stop(n / 4);
    }
    if (range.first == range.last) return {range.first, rank - range.below};
    int64_t left = 0;
    with_isa([&left, &range, keys, n, room] { left = collect(range, keys, n, room); });
    stop(n);
    rank -= range.below;
    keys = room;
    n = left;
  }
}

// They are compiled in selecting.cc.
extern template Picked<uint8_t> select_rank(const uint8_t*, int64_t, int64_t, uint8_t*);
extern template Picked<uint16_t> select_rank(const uint16_t*, int64_t, int64_t, uint16_t*);
extern template Picked<uint32_t> select_rank(const uint32_t*, int64_t, int64_t, uint32_t*);
extern template Picked<uint64_t> select_rank(const uint64_t*, int64_t, int64_t, uint64_t*);

// Where the key stands that so many equal ones come before.
template <class Key>
int64_t find_key(const Key* keys, int64_t n, Picked<Key> picked) {
  int64_t at = 0;
  with_isa([&at, keys, n, picked] {
    int64_t before = picked.equals;
    constexpr int64_t kBlock = 128;
    for (; at < n; at += kBlock) {
      Key equals = 0;
      const int64_t end = std::min(n, at + kBlock);
      for (int64_t i = at; i < end; ++i) equals = Key(equals + Key(keys[i] == picked.key));
      if (before < int64_t(equals)) break;
      before -= int64_t(equals);
    }
    while (keys[at] != picked.key || before-- > 0) ++at;
  });
  return at;
}

}  // namespace pkg

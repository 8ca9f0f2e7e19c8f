// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sorting.cc: sort and topk.  Each line along dim becomes keys, unsigned
// integers in the order that is wanted; equal values keep their order, so results never
// depend on threads.
//
// Note [Ways to sort]
// Short lines: each element's rank is the number of those before it, counted without a
// branch, all elements at once.  Longer ones: radix sort from the last byte on, which passes
// over bytes that all keys share.  A few of many: those below a limit are collected, and the
// limit is lowered to the last of the best whenever there are twice as many.
#include <algorithm>

#include "dispatcher/library.h"
#include "kernels/cpu/index/lines.h"
#include "kernels/cpu/index/order_keys.h"
#include "kernels/cpu/index/runs.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

template <class Key>
struct Item {
  Key key;
  std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t> at;

  friend bool operator<(const Item& a, const Item& b) {
    return a.key < b.key || (a.key == b.key && a.at < b.at);
  }
};

constexpr int64_t kShortLine = 64;
constexpr int64_t kPiece = 1 << 17;  // elements between stop points

// ranks[i]: how many of n keys, at most `most`, come before key i.
template <int64_t most, class Key>
[[gnu::always_inline]] inline void rank_keys(const Key* keys, int64_t n, Key* ranks) {
  Key padded[most], rank[most] = {}, place[most];
  for (int64_t i = 0; i < most; ++i) {
    padded[i] = i < n ? keys[i] : Key(0);
    place[i] = Key(i);
  }
  for (int64_t j = 0; j < n; ++j) {
    const Key key = keys[j];
    const auto at = Key(j);
    for (int64_t i = 0; i < most; ++i) {
      const auto before = Key(key < padded[i]), equal = Key(key == padded[i]);
      rank[i] = Key(rank[i] + before + (equal & Key(at < place[i])));
    }
  }
  for (int64_t i = 0; i < n; ++i) ranks[i] = rank[i];
}
// Of several lines that lie behind each other.
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

template <class F>
void in_pieces(int64_t n, F f) {
  for (int64_t i = 0; i < n; i += kPiece) {
    if (i) stop_point();
    f(i, std::min(n, i + kPiece));
  }
}

// Items of the keys in order, in one of the two rooms.
template <class Key>
Item<Key>* radix_sort(const Key* keys, int64_t n, Item<Key>* items, Item<Key>* other) {
  constexpr int kPasses = sizeof(Key);
  uint64_t counts[kPasses][256] = {};
  in_pieces(n, [&](int64_t begin, int64_t end) {
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
    in_pieces(n, [&](int64_t begin, int64_t end) {
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

// The first k of many in order, in `best`, which has room for best_room(k).  Keys are looked
// at a few together, most of which are no better than the limit.
constexpr int64_t kBlock = 512, kFew = 16;
int64_t best_room(int64_t k) { return 2 * k + 3 * kFew; }
template <class Key>
void select_first(const Key* x, int64_t n, int64_t k, const KeyMap& map, Item<Key>* best) {
  const int64_t most = 2 * k + kFew;
  int64_t count = 0;
  bool limited = false;
  Key limit = 0, keys[kBlock], least[kBlock / kFew];
  const auto keep_best = [&] {
    std::nth_element(best, best + k - 1, best + count);
    count = k;
    limit = best[k - 1].key;
    limited = true;
  };
  StopCounter stop;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t block = std::min(kBlock, n - first);
    map.to_keys(x + first, block, keys);
    for (int64_t i = block; i < kBlock; ++i) keys[i] = Key(~Key(0));
    with_isa([&keys, &least] {
      for (int64_t f = 0; f < kBlock / kFew; ++f) {
        Key l = keys[f * kFew];
        for (int64_t i = 1; i < kFew; ++i) l = std::min(l, keys[f * kFew + i]);
        least[f] = l;
      }
    });
    for (int64_t from = 0; from < block; from += kFew) {
      if (limited && least[from / kFew] >= limit) continue;
      for (int64_t i = from; i < std::min(from + kFew, block); ++i) {
        best[count] = {keys[i], decltype(Item<Key>::at)(first + i)};
        count += !limited || keys[i] < limit;
      }
      if (count >= most) keep_best();
    }
    stop(block);
  }
  if (count > k) keep_best();
  std::sort(best, best + k);
}

// The same of lines of few elements, a block of lines at a time.
template <class Key>
void order_short(int64_t n, const Lines& into, const Key* x, Key* y, int64_t* where,
                 int64_t k, const KeyMap& map, int64_t begin, int64_t end) {
  constexpr int64_t kRoom = 16 * kShortLine;
  Key keys[kRoom], ranks[kRoom];
  const int64_t most = kRoom / n;
  for (int64_t line = begin; line < end; line += most) {
    const int64_t lines = std::min(most, end - line);
    map.to_keys(x + line * n, n * lines, keys);
    short_ranks(keys, n, lines, ranks);
    for (int64_t l = 0; l < lines; ++l) {
      const Key* in = x + (line + l) * n;
      const int64_t start = into.start(line + l);
      for (int64_t i = 0; i < n; ++i) {
        const auto rank = int64_t(ranks[l * n + i]);
        if (rank >= k) continue;
        y[start + rank * into.step] = in[i];
        where[start + rank * into.step] = i;
      }
    }
  }
}

// The first k of each line in order; the lines lie one behind the other.
template <class Key>
void order_lines(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                 int64_t k, const KeyMap& map) {
  const Lines into(values, dim);
  const int64_t n = self.ndim() ? self.sizes().back() : 1;
  if (k == 0 || into.count == 0) return;
  const Key* x = static_cast<const Key*>(self.data());
  Key* y = static_cast<Key*>(values.data());
  int64_t* where = indices.data<int64_t>();
  const bool is_short = n <= kShortLine, few = !is_short && k < n / 8;
  const int64_t grain = std::max<int64_t>(1, kGrain / 16 / std::max<int64_t>(1, n));
  parallel_for(0, into.count, grain, [&](int64_t begin, int64_t end) {
    if (is_short) return order_short(n, into, x, y, where, k, map, begin, end);
    const Room<Key> keys(few ? 0 : n);
    const Room<Item<Key>> items(few ? best_room(k) : n);
    const Room<Item<Key>> other(few ? 0 : n);
    for (int64_t line = begin; line < end; ++line) {
      const Key* in = x + line * n;
      const int64_t start = into.start(line);
      const auto put = [&](int64_t i, Key value, uint64_t at) {
        y[start + i * into.step] = value;
        where[start + i * into.step] = int64_t(at);
      };
      const Item<Key>* sorted = items.data();
      bool exact = false;
      if (few) {
        select_first(in, n, k, map, items.data());
      } else {
        exact = map.to_keys(in, n, keys.data());
        sorted = radix_sort(keys.data(), n, items.data(), other.data());
      }
      for (int64_t i = 0; i < k; ++i) {
        const auto at = sorted[i].at;
        put(i, exact ? map.from_key(sorted[i].key) : in[at], at);
      }
    }
  });
}

// The first k of lines whose elements are all one, repeated.
void order_repeated(Tensor& values, Tensor& indices, const Tensor& self, size_t d,
                    int64_t k) {
  Shape strides = self.strides();
  copy_into(values, alias(self, values.sizes(), strides, self.offset()));
  const Tensor places = empty(Shape{k}, DType::Int64);
  for (int64_t i = 0; i < k; ++i) places.data<int64_t>()[i] = i;
  for (size_t i = 0; i < strides.size(); ++i) strides[i] = i == d ? 1 : 0;
  copy_into(indices, alias(places, values.sizes(), strides, 0));
}

void order(Tensor& values, Tensor& indices, const Tensor& self, int64_t d, int64_t k,
           bool descending) {
  if (self.ndim() > 0 && self.strides()[size_t(d)] == 0 && values.numel() > 0) {
    return order_repeated(values, indices, self, size_t(d), k);
  }
  Shape once = sizes_once(self.sizes(), self.strides());
  if (once != self.sizes() && values.numel() > 0) {  // lines that are one, repeated
    const Tensor few = alias(self, once, self.strides(), self.offset());
    once[size_t(d)] = k;
    Tensor few_values = empty(once, values.dtype()), few_places = empty(once, DType::Int64);
    order(few_values, few_places, few, d, k, descending);
    repeat_into(values, few_values);
    return repeat_into(indices, few_places);
  }
  const Tensor in = as_contiguous(with_dim_last(self, d));
  const KeyMap map(self.dtype(), descending);
  visit_size(itemsize(self.dtype()), [&]<class Key>(TypeTag<Key>) {
    PKG_CHECK(
        sizeof(Key) == 8 || Lines(self, d).n <= int64_t{UINT32_MAX}, RuntimeError,
        "[sort] expected lines of fewer than 2**32 elements of this dtype, got shape ",
        self.sizes(), ".");
    order_lines<Key>(values, indices, in, d, k, map);
  });
}

void sort_kernel(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                 bool descending, bool) {
  const int64_t n = self.ndim() ? self.size(dim) : 1;
  order(values, indices, self, wrap_dim("sort", dim, self.ndim()), n, descending);
}
void topk_kernel(Tensor& values, Tensor& indices, const Tensor& self, int64_t k,
                 int64_t dim, bool largest, bool) {
  const int64_t d = wrap_dim("sort", dim, self.ndim());
  order(values, indices, self, d, self.ndim() ? k : 1, largest);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("sort", sort_kernel);
  m.impl("topk", topk_kernel);
}

}  // namespace
}  // namespace pkg

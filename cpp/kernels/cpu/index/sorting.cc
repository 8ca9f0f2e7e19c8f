// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sorting.cc: sort and topk.  Each line along dim becomes keys, unsigned
// integers in the order that is wanted; equal values keep their order, so results never
// depend on threads.
//
// Note [Ways to sort]
// Short lines: each element's rank is the number of those before it, counted without a
// branch, all elements at once; of a few of them the least is looked for, again and again.
// Longer ones: two to four passes over the bits that decide most, after which neighbours
// that are out of order change places; single bytes are counted.  Where these bits decide
// little, radix sort from the last byte on, which passes over bytes that all keys share.  A
// few of many: those up to a limit are collected and sorted, a limit that the least of small
// groups give.
#include <algorithm>

#include "dispatcher/library.h"
#include "kernels/cpu/index/lines.h"
#include "kernels/cpu/index/order_keys.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/index/select_key.h"
#include "kernels/cpu/index/short_lines.h"
#include "kernels/cpu/index/sort_keys.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

// The first k of n keys in order, k <= n / kGroup: the k-th of the least keys of groups is
// a limit that k keys do not exceed, and fewer than k groups have keys below it.
constexpr int64_t kGroup = 16, kBlock = 32 * kGroup;
constexpr int64_t kHeapLine = 2048;
int64_t first_room(int64_t k) { return k * (kGroup + 1) + kGroup; }

template <class Key>
void select_first(const Key* x, int64_t n, int64_t k, const KeyMap& map, Key* least,
                  Key* room, Item<Key>* best) {
  const int64_t groups = (n + kGroup - 1) / kGroup;
  Key keys[kBlock];
  StopCounter stop;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t block = std::min(kBlock, n - first);
    map.to_keys(x + first, block, keys);
    for (int64_t i = block; i < kBlock; ++i) keys[i] = Key(~Key(0));
    Key* to = least + first / kGroup;  // room for a whole block
    with_isa([&keys, to] {
      for (int64_t g = 0; g < kBlock / kGroup; ++g) {
        Key l = keys[g * kGroup];
        for (int64_t i = 1; i < kGroup; ++i) l = std::min(l, keys[g * kGroup + i]);
        to[g] = l;
      }
    });
    stop(block);
  }
  const Key limit = select_rank(least, groups, k - 1, room).key;
  int64_t count = 0, equals = 0;
  for (int64_t g = 0; g < groups; ++g) {
    if (least[g] > limit || (least[g] == limit && equals == k)) continue;
    const int64_t first = g * kGroup, length = std::min(kGroup, n - first);
    map.to_keys(x + first, length, keys);
    for (int64_t i = 0; i < length; ++i) {
      const bool equal = keys[i] == limit && equals < k;
      best[count] = {keys[i], decltype(Item<Key>::at)(first + i)};
      equals += equal;
      count += equal || keys[i] < limit;
    }
  }
  std::partial_sort(best, best + k, best + count);
}

// The first k of lines of two elements, whose keys are given.
template <class Key, class Wide>
void order_pairs(const Key* x, const Wide* keys, int64_t lines, int64_t k, Key* y,
                 int64_t* where) {
  for (int64_t l = 0; l < lines; ++l) {
    const int64_t first = keys[2 * l + 1] < keys[2 * l];
    y[l * k] = x[2 * l + first];
    where[l * k] = first;
    if (k == 1) continue;
    y[2 * l + 1] = x[2 * l + 1 - first];
    where[2 * l + 1] = 1 - first;
  }
}

// The first k of lines of at most kFirstLine elements, whose keys are given.
constexpr int64_t kFirstLine = 2 * kShortLine;
bool is_first_of_few(int64_t n, int64_t k) { return n <= kFirstLine && 6 * k <= n; }
template <class Key, class Wide>
void order_first(const Key* x, const Wide* keys, int64_t n, int64_t lines, int64_t k,
                 const Lines& into, int64_t line, Key* y, int64_t* where) {
  with_isa([=, &into] {
    Wide places[kFirstLine];
    for (int64_t l = 0; l < lines; ++l) {
      const Wide* mine = keys + l * n;
      if (n <= 16) first_of_few<16>(mine, n, k, places);
      else if (n <= 32) first_of_few<32>(mine, n, k, places);
      else if (n <= 64) first_of_few<64>(mine, n, k, places);
      else first_of_few<kFirstLine>(mine, n, k, places);
      const int64_t start = into.start(line + l);
      for (int64_t r = 0; r < k; ++r) {
        y[start + r * into.step] = x[l * n + int64_t(places[r])];
        where[start + r * into.step] = int64_t(places[r]);
      }
    }
  });
}

// The same of lines of few elements, a block of lines at a time.
template <class Key>
void order_short(int64_t n, const Lines& into, const Key* x, Key* y, int64_t* where,
                 int64_t k, const KeyMap& map, int64_t begin, int64_t end) {
  constexpr int64_t kRoom = 16 * kShortLine;
  using Wide = std::conditional_t<sizeof(Key) == 1, uint16_t, Key>;  // bytes are slower
  Key narrow[kRoom];
  Wide wide[kRoom + kFirstLine], ranks[kRoom];
  const int64_t most = kRoom / n;
  for (int64_t line = begin; line < end; line += most) {
    const int64_t lines = std::min(most, end - line);
    if constexpr (sizeof(Key) == 1) {
      map.to_keys(x + line * n, n * lines, narrow);
      std::copy_n(narrow, n * lines, wide);
    } else {
      map.to_keys(x + line * n, n * lines, wide);
    }
    if (n == 2 && into.step == 1) {
      order_pairs(x + line * n, wide, lines, k, y + line * k, where + line * k);
      continue;
    }
    if (is_first_of_few(n, k)) {
      order_first(x + line * n, wide, n, lines, k, into, line, y, where);
      continue;
    }
    short_ranks(wide, n, lines, ranks);
    for (int64_t l = 0; l < lines; ++l) {
      const Key* in = x + (line + l) * n;
      const int64_t start = into.start(line + l);
      if (k == n && into.step == 1) {
        for (int64_t i = 0; i < n; ++i) {
          const auto rank = int64_t(ranks[l * n + i]);
          y[start + rank] = in[i];
          where[start + rank] = i;
        }
        continue;
      }
      for (int64_t i = 0; i < n; ++i) {
        const auto rank = int64_t(ranks[l * n + i]);
        if (rank >= k) continue;
        y[start + rank * into.step] = in[i];
        where[start + rank * into.step] = i;
      }
    }
  }
}

// All of n bytes in order: how many there are of each value says where each goes.
inline void sort_bytes(const uint8_t* x, int64_t n, int64_t step, const KeyMap& map,
                       uint8_t* keys, uint8_t* y, int64_t* where) {
  int64_t next[256] = {}, sum = 0;
  map.to_keys(x, n, keys);
  with_stops(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++next[keys[i]];
  });
  for (int v = 0; v < 256; ++v) {
    const int64_t count = std::exchange(next[v], sum);
    const uint8_t value = map.from_key(uint8_t(v));
    for (int64_t i = sum; i < sum + count; ++i) y[i * step] = value;
    sum += count;
  }
  with_stops(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) where[next[keys[i]]++ * step] = i;
  });
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
  const bool is_short = n <= kShortLine || is_first_of_few(n, k);
  const bool few = !is_short && k <= n / (2 * kGroup);
  // Of lines that are not long a heap of k is made faster than all are sorted.
  const bool heap = !is_short && !few && k <= n / 8 && n <= kHeapLine;
  const int64_t grain = std::max<int64_t>(1, kGrain / 16 / std::max<int64_t>(1, n));
  parallel_for(0, into.count, grain, [&](int64_t begin, int64_t end) {
    if (is_short) return order_short(n, into, x, y, where, k, map, begin, end);
    const int64_t groups = (n + kBlock - 1) / kBlock * (kBlock / kGroup);
    const Room<Key> keys(few ? 2 * groups + 1 : n);
    const Room<Item<Key>> items(few ? first_room(k) : n);
    // Four passes over parts are no fewer than over keys of four bytes.
    const bool by_parts = !few && !heap && sizeof(Key) > 2 &&
                          n <= (sizeof(Key) == 4 ? kThreePasses : int64_t{UINT32_MAX});
    const Room<Item<uint32_t>> parts(by_parts ? 2 * n : 0);
    Room<Item<Key>> other(0);  // made when it is needed
    for (int64_t line = begin; line < end; ++line) {
      const Key* in = x + line * n;
      const int64_t start = into.start(line);
      const auto put = [&](int64_t i, Key value, uint64_t at) {
        y[start + i * into.step] = value;
        where[start + i * into.step] = int64_t(at);
      };
      if constexpr (sizeof(Key) == 1) {
        if (k == n) {
          sort_bytes(in, n, into.step, map, keys.data(), y + start, where + start);
          continue;
        }
      }
      const Item<Key>* sorted = items.data();
      bool exact = false;
      if (few) {
        Key* least = keys.data();
        select_first(in, n, k, map, least, least + groups, items.data());
      } else if (heap) {
        exact = map.to_keys(in, n, keys.data());
        Item<Key>* all = items.data();
        for (int64_t i = 0; i < n; ++i) {
          all[i] = {keys.data()[i], decltype(Item<Key>::at)(i)};
        }
        std::partial_sort(all, all + k, all + n);
      } else {
        exact = map.to_keys(in, n, keys.data());
        const Item<uint32_t>* by = nullptr;
        if (by_parts) by = places_in_order(keys.data(), n, parts.data(), parts.data() + n);
        if (by) {
          for (int64_t i = 0; i < k; ++i) put(i, in[by[i].at], by[i].at);
          continue;
        }
        if (other.tensor.numel() == 0) other = Room<Item<Key>>(n);
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
  if (values.numel() == 0) return;
  if (self.ndim() == 0 || self.size(d) == 1) {
    copy_into(values, self);
    return fill(indices, 0);
  }
  if (self.strides()[size_t(d)] == 0) {
    return order_repeated(values, indices, self, size_t(d), k);
  }
  Shape once = sizes_once(self.sizes(), self.strides());
  if (once != self.sizes()) {  // lines that are one, repeated
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

// All elements in order, without their places.
void sorted_kernel(Tensor& values, const Tensor& self) {
  const int64_t n = self.numel();
  if (n == 0) return;
  const Tensor in = as_contiguous(self);
  const KeyMap map(self.dtype(), false);
  bool done = false;
  visit_size(itemsize(self.dtype()), [&]<class Key>(TypeTag<Key>) {
    if constexpr (sizeof(Key) > 2) {
      if (n <= kShortLine || n > int64_t{UINT32_MAX}) return;
      const Room<Key> keys(3 * n);
      const Key* x = static_cast<const Key*>(in.data());
      if (!map.to_keys(x, n, keys.data())) return;  // zeros of both signs, NaNs
      const Key* sorted = keys_in_order(keys.data(), n, keys.data() + n,
                                        keys.data() + 2 * n);
      if (!sorted) return;
      Key* y = static_cast<Key*>(values.data());
      with_isa([=] {
        for (int64_t i = 0; i < n; ++i) y[i] = map.from_key(sorted[i]);
      });
      done = true;
    }
  });
  if (done) return;
  Tensor places = empty(Shape{n}, DType::Int64);
  order(values, places, alias(in, Shape{n}, Shape{1}, in.offset()), 0, n, false);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("sort", sort_kernel);
  m.impl("_sorted", sorted_kernel);
  m.impl("topk", topk_kernel);
}

}  // namespace
}  // namespace pkg

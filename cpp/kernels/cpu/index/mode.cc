// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/mode.cc: the most frequent value of each line.  The
// smallest of those that are equally frequent, at its last place; a NaN is like
// no other.
#include "dispatcher/library.h"
#include "kernels/cpu/index/lines.h"
#include "kernels/cpu/index/order_keys.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/index/short_lines.h"
#include "kernels/cpu/index/sort_keys.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

// The most frequent of some keys: how often it occurs, the key, and its last and first place.
template <class Key>
struct Most {
  Key times, key, last, first;
};

// Of `count` <= most of n keys, each compared with all n; `nans`: the largest key is that of
// NaNs.
template <int64_t most, class Key>
[[gnu::always_inline]] inline Most<Key> most_of_few(const Key* some, int64_t count,
                                                    const Key* keys, int64_t n, bool nans) {
  constexpr Key kLast = Key(~Key(0));
  const FewKeys<most, Key> few(some, count);
  const Key *padded = few.key, *place = few.place;
  Key equals[most] = {};
  for (int64_t j = 0; j < n; ++j) {
    const Key key = keys[j];
    for (int64_t i = 0; i < most; ++i) equals[i] = Key(equals[i] + Key(key == padded[i]));
  }
  const auto length = Key(count);
  const Key limit = nans ? Key(1) : kLast;  // equals of a NaN
  Key frequent = 0, least = kLast, last = 0, first = Key(most);
  for (int64_t i = 0; i < most; ++i) {
    const Key found = padded[i] == kLast ? std::min(equals[i], limit) : equals[i];
    equals[i] = place[i] < length ? found : Key(0);
    frequent = std::max(frequent, equals[i]);
  }
  for (int64_t i = 0; i < most; ++i) {
    least = std::min(least, equals[i] == frequent ? padded[i] : kLast);
  }
  for (int64_t i = 0; i < most; ++i) {
    const bool is_it = equals[i] == frequent && padded[i] == least;
    last = std::max(last, is_it ? place[i] : Key(0));
    first = std::min(first, is_it ? place[i] : Key(most));
  }
  return {frequent, least, last, first};
}
template <int64_t most, class Key>
[[gnu::always_inline]] inline int64_t mode_of_few(const Key* keys, int64_t n, bool nans) {
  int64_t at = 0;
  Most<Key> best{};
  for (int64_t begin = 0; begin < n; begin += most) {
    const int64_t count = std::min(most, n - begin);
    const Most<Key> some = most_of_few<most>(keys + begin, count, keys, n, nans);
    const bool same = begin > 0 && some.times == best.times && some.key == best.key;
    const bool is_nan = nans && some.key == Key(~Key(0));
    if (same && is_nan) continue;  // the first of them
    const bool more = some.times > best.times;
    if (begin == 0 || more || same || (some.times == best.times && some.key < best.key)) {
      best = some;
      at = begin + int64_t(is_nan ? some.first : some.last);
    }
  }
  return at;
}

// The same of sorted ones.
template <class Key>
int64_t longest_run(const Item<Key>* items, int64_t n, bool nans) {
  int64_t at = 0, longest = 1, run = 1;
  for (int64_t i = 1; i < n; ++i) {
    const Key key = items[i].key;
    const bool again = key == items[i - 1].key && !(nans && key == Key(~Key(0)));
    run = again ? run + 1 : 1;
    at = run > longest ? i : at;
    longest = std::max(longest, run);
  }
  return int64_t(items[at].at);
}

template <class Key>
struct Modes {
  const Key* lines;
  int64_t count, n;
  Key* values;
  int64_t* places;
  bool nans;
  KeyMap map;

  // Up to where it takes less time to compare each with all than to sort; a count of so
  // many fits in 8 bits.
  static constexpr int64_t kFew = sizeof(Key) == 8 ? 128 : 192;
  void run() const {
    const int64_t grain = std::max<int64_t>(1, kGrain / 16 / n);
    parallel_for(0, count, grain, [this](int64_t begin, int64_t end) {
      if (n <= kFew) compare(begin, end);
      else sort(begin, end);
    });
  }

 private:
  [[gnu::always_inline]] void put(int64_t line, int64_t at) const {
    values[line] = lines[line * n + at];
    places[line] = at;
  }
  void compare(int64_t begin, int64_t end) const {
    each_short_line(lines, n, begin, end, map, [this](int64_t line, const Key* keys) {
      if (n <= 8) put(line, mode_of_few<8>(keys, n, nans));
      else if (n <= 16) put(line, mode_of_few<16>(keys, n, nans));
      else if (n <= 32) put(line, mode_of_few<32>(keys, n, nans));
      else put(line, mode_of_few<64>(keys, n, nans));
    });
  }
  void sort(int64_t begin, int64_t end) const {
    const Room<Key> keys(n);
    const Room<Item<Key>> items(n), other(n);
    for (int64_t line = begin; line < end; ++line) {
      map.to_keys(lines + line * n, n, keys.data());
      put(line,
          longest_run(radix_sort(keys.data(), n, items.data(), other.data()), n, nans));
    }
  }
};

void mode_kernel(Tensor& values, Tensor& places, const Tensor& self, int64_t dim, bool) {
  const KeyMap map(self.dtype(), false);
  PKG_CHECK(itemsize(self.dtype()) == 8 || self.ndim() == 0 ||
                self.size(dim) <= int64_t{UINT32_MAX},
            RuntimeError,
            "[mode] expected lines of fewer than 2**32 elements of this dtype, "
            "got shape ",
            self.sizes(), ".");
  const int64_t last = (self.ndim() ? self.size(dim) : 1) - 1;
  one_of_each_line(values, places, self, wrap_dim("mode", dim, self.ndim()), {last, true},
                   [&](const Tensor& to, Tensor at, const Tensor& lines, int64_t n) {
                     visit_size(itemsize(self.dtype()), [&]<class Key>(TypeTag<Key>) {
                       Modes<Key>{static_cast<const Key*>(lines.data()),
                                  to.numel(),
                                  n,
                                  static_cast<Key*>(to.data()),
                                  at.data<int64_t>(),
                                  is_floating(self.dtype()),
                                  map}
                           .run();
                     });
                   });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("mode", mode_kernel); }

}  // namespace
}  // namespace pkg

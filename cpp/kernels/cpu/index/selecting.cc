// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/selecting.cc: median and kthvalue: the element of a rank in
// each line.
#include <limits>

#include "dispatcher/library.h"
#include "kernels/cpu/index/lines.h"
#include "kernels/cpu/index/order_keys.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/index/select_key.h"
#include "kernels/cpu/index/short_lines.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"

namespace pkg {

template Picked<uint8_t> select_rank(const uint8_t*, int64_t, int64_t, uint8_t*);
template Picked<uint16_t> select_rank(const uint16_t*, int64_t, int64_t, uint16_t*);
template Picked<uint32_t> select_rank(const uint32_t*, int64_t, int64_t, uint32_t*);
template Picked<uint64_t> select_rank(const uint64_t*, int64_t, int64_t, uint64_t*);

namespace {

// Of a line the element of a rank; or its first NaN, if it has one and that
// counts.
struct Wanted {
  int64_t rank;
  bool or_nan;
};

template <class Key>
struct Selection {
  const Key* lines;
  int64_t count, n;
  Key* values;
  int64_t* places;  // may be null
  Wanted wanted;
  KeyMap map;

  void run() const {
    const int64_t grain = std::max<int64_t>(1, kGrain / 16 / n);
    parallel_for(0, count, grain, [this](int64_t begin, int64_t end) {
      if (n <= kCompared) return select_short(begin, end);
      const Tensor memory = empty(Shape{(2 * n + 1) * int64_t(sizeof(Key))}, DType::UInt8);
      Key* keys = static_cast<Key*>(memory.data());
      for (int64_t line = begin; line < end; ++line) {
        map.to_keys(lines + line * n, n, keys);
        put(line, select_long(keys, keys + n));
      }
    });
  }

 private:
  [[gnu::always_inline]] void put(int64_t line, int64_t at) const {
    values[line] = lines[line * n + at];
    if (places) places[line] = at;
  }
  void select_short(int64_t begin, int64_t end) const {
    each_short_line(lines, n, begin, end, map, [this](int64_t line, const Key* keys) {
      put(line, compare_few(keys, n, wanted.rank, wanted.or_nan));
    });
  }
  int64_t select_long(const Key* keys, Key* room) const {
    constexpr Key kNan = Key(~Key(0));
    Key most = 0;
    if (wanted.or_nan) {
      with_isa([&most, keys, n = n] {
        Key here = 0;
        for (int64_t i = 0; i < n; ++i) here = std::max(here, keys[i]);
        most = here;
      });
    }
    if (most == kNan) return find_key(keys, n, Picked<Key>{kNan, 0});
    return find_key(keys, n, select_rank(keys, n, wanted.rank, room));
  }
};

// From lines without gaps, one behind the other.
void select_lines(const Tensor& values, Tensor* places, const Tensor& lines, int64_t n,
                  Wanted wanted) {
  const KeyMap map(lines.dtype(), false);
  visit_size(itemsize(lines.dtype()), [&]<class Key>(TypeTag<Key>) {
    Selection<Key>{static_cast<const Key*>(lines.data()),
                   values.numel(),
                   n,
                   static_cast<Key*>(values.data()),
                   places ? places->data<int64_t>() : nullptr,
                   wanted,
                   map}
        .run();
  });
}

void select_along(const Tensor& values, const Tensor& places, const Tensor& self,
                  int64_t dim, Wanted wanted) {
  one_of_each_line(values, places, self, wrap_dim("kthvalue", dim, self.ndim()),
                   {wanted.rank, wanted.or_nan},
                   [&](const Tensor& to, Tensor at, const Tensor& lines, int64_t n) {
                     select_lines(to, &at, lines, n, wanted);
                   });
}

void kthvalue_kernel(Tensor& values, Tensor& places, const Tensor& self, int64_t k,
                     int64_t dim, bool) {
  select_along(values, places, self, dim, {k - 1, false});
}
void median_along_kernel(Tensor& values, Tensor& places, const Tensor& self, int64_t dim,
                         bool) {
  const int64_t n = self.ndim() ? self.size(dim) : 1;
  select_along(values, places, self, dim, {(n - 1) / 2, is_floating(self.dtype())});
}
void median_kernel(Tensor& value, const Tensor& self) {
  const int64_t n = self.numel();
  if (n == 0) {
    copy_into(value, Tensor(std::numeric_limits<double>::quiet_NaN()));
    return;
  }
  // Where each element is there several times, it has as many ranks.
  const Shape once = sizes_once(self.sizes(), self.strides());
  const int64_t repeats = n / once.numel();
  const Tensor line = as_contiguous(alias(self, once, self.strides(), self.offset()));
  const Wanted wanted{(n - 1) / 2 / repeats, is_floating(self.dtype())};
  select_lines(value, nullptr, line, line.numel(), wanted);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("kthvalue", kthvalue_kernel);
  m.impl("median", median_kernel);
  m.impl("median.dim", median_along_kernel);
}

}  // namespace
}  // namespace pkg

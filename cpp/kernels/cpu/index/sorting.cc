// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/sorting.cc: sort and topk.  Each line along dim is copied out, ordered
// and copied back; equal values keep their order, so results never depend on threads.
#include <algorithm>
#include <bit>
#include <numeric>

#include "dispatcher/library.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

// Lines along one dimension of a dense tensor: where each starts, and its step.
struct Lines {
  int64_t n = 1, step = 1, count = 1;

  Lines(const Tensor& t, int64_t dim) {
    const Shape strides = contiguous_strides(t.sizes());
    if (t.ndim() > 0) {
      n = t.sizes()[size_t(dim)];
      step = strides[size_t(dim)];
    }
    count = n ? t.numel() / n : 0;
  }
  int64_t start(int64_t line) const { return line / step * step * n + line % step; }
};

// Strict order, NaN being the largest.
template <class T>
bool before(T a, T b, bool descending) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return descending ? a != a && b == b : a == a && b != b;
  }
  return descending ? b < a : a < b;
}

constexpr int64_t kBlock = 1 << 16;  // what is sorted without a stop point

// std::sort with stop points; `sooner` is a strict order of items that all differ.
template <class Item, class F>
void sort_items(Item* first, Item* last, F sooner) {
  int depth = 2 * int(std::bit_width(size_t(last - first)));
  StopCounter stop;
  while (last - first > kBlock && depth-- > 0) {
    // The middle one of three is neither the first nor the last in order: both parts have
    // something in them.
    Item a = *first, b = first[(last - first) / 2], c = last[-1];
    if (sooner(b, a)) std::swap(a, b);
    if (sooner(c, b)) b = sooner(c, a) ? a : c;
    Item* const middle = std::partition(first, last, [&](const Item& item) {
      stop(1);
      return sooner(item, b);
    });
    stop_point();
    if (middle - first < last - middle) {
      sort_items(first, middle, sooner);
      first = middle;
    } else {
      sort_items(middle, last, sooner);
      last = middle;
    }
  }
  std::sort(first, last, sooner);
}

// The first k of n items in order, in items[0, k); item(i) makes one.
template <class Item, class Make, class F>
void first_items(std::vector<Item>& items, int64_t n, int64_t k, Make item, F sooner) {
  if (k * 4 >= n) {
    items.resize(size_t(n));
    for (int64_t i = 0; i < n; ++i) items[size_t(i)] = item(i);
    return sort_items(items.data(), items.data() + n, sooner);
  }
  // In blocks behind the best so far.
  const int64_t block = std::min(n - k, std::max(kBlock, 4 * k));
  items.resize(size_t(k + block));
  for (int64_t i = 0; i < k; ++i) items[size_t(i)] = item(i);
  for (int64_t at = k; at < n; at += block) {
    if (at > k) stop_point();
    const int64_t count = std::min(block, n - at);
    for (int64_t i = 0; i < count; ++i) items[size_t(k + i)] = item(at + i);
    std::partial_sort(items.begin(), items.begin() + k, items.begin() + k + count, sooner);
  }
}

// The first k of each line in order.
void order_lines(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                 int64_t k, bool descending) {
  const DType type = is_reduced(self.dtype()) ? DType::Float32 : self.dtype();
  const Tensor in = as_contiguous(as_dtype(self, type));
  Tensor to = values.dtype() == type ? values : empty(values.sizes(), type);
  const int64_t d = wrap_dim("sort", dim, self.ndim());
  const Lines from(self, d), into(values, d);
  int64_t* where = indices.data<int64_t>();
  visit_compute("sort", type, [&]<class T>(TypeTag<T>) {
    struct Item {
      T value;
      int64_t at;
    };
    const T* x = in.data<T>();
    T* y = to.data<T>();
    const auto sooner = [descending](const Item& a, const Item& b) {
      return before(a.value, b.value, descending) ||
             (!before(b.value, a.value, descending) && a.at < b.at);
    };
    const int64_t grain = std::max<int64_t>(1, kGrain / 16 / std::max<int64_t>(1, from.n));
    parallel_for(0, into.count, grain, [&](int64_t begin, int64_t end) {
      std::vector<Item> items;
      for (int64_t line = begin; line < end; ++line) {
        const int64_t start = from.start(line), out = into.start(line);
        first_items(items, from.n, k,
                    [&](int64_t i) { return Item{x[start + i * from.step], i}; }, sooner);
        for (int64_t i = 0; i < k; ++i) {
          y[out + i * into.step] = items[size_t(i)].value;
          where[out + i * into.step] = items[size_t(i)].at;
        }
      }
    });
  });
  if (!to.is_same(values)) copy_into(values, to);
}

void sort_kernel(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                 bool descending, bool) {
  const int64_t n = self.ndim() ? self.size(dim) : 1;
  order_lines(values, indices, self, dim, n, descending);
}
void topk_kernel(Tensor& values, Tensor& indices, const Tensor& self, int64_t k,
                 int64_t dim, bool largest, bool) {
  order_lines(values, indices, self, dim, self.ndim() ? k : 1, largest);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("sort", sort_kernel);
  m.impl("topk", topk_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/gather_scatter.cc: gather, scatter, and slices of a dimension that an
// index names.
#include <algorithm>
#include <cstring>
#include <utility>

#include "dispatcher/library.h"
#include "kernels/cpu/index/slot_loops.h"
#include "kernels/cpu/rows.h"
#include "tensor/overlap.h"

namespace pkg {
namespace {

template <class T>
int64_t gather_row(T* to, const T* from, const int64_t* index, const SlotSteps s,
                   int64_t n) {
  const auto run = [=](int64_t by, int64_t apart, int64_t dim, int64_t table) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = index[j * by];
      if (uint64_t(at) >= s.size) [[unlikely]]
        return j;
      to[j * apart] = from[at * dim + j * table];
    }
    return n;
  };
  if (s.index == 1 && s.other == 1) {
    return s.dim == 1 && s.table == 0 ? run(1, 1, 1, 0) : run(1, 1, s.dim, s.table);
  }
  if (s.index != 0) return run(s.index, s.other, s.dim, s.table);
  if (uint64_t(*index) >= s.size) return 0;
  from += *index * s.dim;
  if (s.table == 1 && s.other == 1) std::memcpy(to, from, size_t(n) * sizeof(T));
  else
    for (int64_t j = 0; j < n; ++j) to[j * s.other] = from[j * s.table];
  return n;
}

// Short runs that lie in order, or in even steps in the table, one for each value of the index,
// of a table that stays in cache: many are moved in one loop.  False of others.
bool gather_runs(const Tensor& out, const Tensor& self, const IndexWalk& walk,
                 const Tensor& index) {
  const IndexWalk::Axis &inner = walk.inner, &along = walk.along;
  const int64_t size = itemsize(self.dtype()), bytes = inner.size * size;
  const bool in_order = inner.index == 0 && inner.other == 1;
  if (!in_order || along.size < 2 || bytes > kLongRun || self.numel() * size > kFarBytes) {
    return false;
  }
  const int64_t part = std::clamp<int64_t>(kGrain / 8 / inner.size, 1, along.size);
  const int64_t parts = (along.size - 1) / part + 1;
  const int64_t* values = index.data<int64_t>();
  const auto* from = static_cast<const char*>(self.data());
  auto* to = static_cast<char*>(out.data());
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / (part * inner.size));
  parallel_for(0, walk.count * parts, grain, [&](int64_t task, int64_t end) {
    StopCounter stop;
    for (; task < end; ++task) {
      const int64_t first = task % parts * part, n = std::min(part, along.size - first);
      const SlotOffsets at(walk, task / parts);
      const int64_t* value = values + at.index + first * along.index;
      const int64_t table = at.table, other = at.other + first * along.other;
      int64_t done = 0;
      with_isa([=, &done, by = along.index, slots = uint64_t(walk.size),
                step = walk.step * size, next = along.other * size, apart = inner.table,
                length = inner.size] {
        const char* const slot = from + table * size;
        char* place = to + other * size;
        const auto each = [&](auto move) {
          int64_t i = 0;
          for (; i < n && uint64_t(value[i * by]) < slots; ++i, place += next) {
            move(place, slot + value[i * by] * step);
          }
          done = i;
        };
        if (apart == 1) {
          return each([=](char* a, const char* b) { copy_run(a, b, bytes); });
        }
        visit_size(size, [&]<class T>(TypeTag<T>) {
          each([=](char* a, const char* b) {
#pragma GCC ivdep
            for (int64_t k = 0; k < length; ++k) {
              reinterpret_cast<T*>(a)[k] = reinterpret_cast<const T*>(b)[k * apart];
            }
          });
        });
      });
      PKG_CHECK(done == n, IndexError, "index ", value[done * along.index],
                " is out of bounds for dimension ", walk.dim, " with size ", walk.size);
      stop(n * inner.size);
    }
  });
  return true;
}

void gather_along(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return;
  const IndexWalk walk = walk_of(self, index, out, dim, true);
  if (gather_runs(out, self, walk, index)) return;
  const SlotSteps steps(walk);
  const SlotsAhead ahead(walk, self, index);
  const int64_t* values = index.data<int64_t>();
  visit_size(itemsize(self.dtype()), [&]<class T>(TypeTag<T>) {
    const auto* from = static_cast<const T*>(self.data());
    auto* to = static_cast<T*>(out.data());
    for_rows(walk, index, [&](int64_t i, int64_t table, int64_t other, int64_t n) {
      ahead.fetch(from + table, i, n);
      return gather_row(to + other, from + table, values + i, steps, n);
    });
  });
}

// A copy of what shares memory with `out`: it is read before anything is written.
Tensor apart_from(const Tensor& t, const Tensor& out) {
  if (!share_memory(t, out)) return t;
  const Tensor copy = empty(t.spec());
  copy_into(copy, t);
  return copy;
}

// Writes or adds src, which may be larger than index, or one number for all.
void scatter_along(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src, bool add) {
  Tensor source = apart_from(as_dtype(src, out.dtype()), out);
  const Tensor places = apart_from(index, out);
  if (!out.is_same(self)) copy_into(out, self);
  if (places.numel() == 0) return;
  if (add && is_reduced(out.dtype()) && source.ndim() > 0) source = as_contiguous(source);
  const bool rows = dim + 1 < places.ndim() && places.strides().back() == 0;
  if (rows && source.ndim() > 0 && source.strides().back() != 1) {
    source = as_contiguous(source);
  }
  write_dense(out, add, rows ? places.numel() : 0, [&](const Tensor& table) {
    write_slots(table, walk_of(table, places, source, dim, false), places, source, add);
  });
}

}  // namespace

void write_slots(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                 const Tensor& source, bool add) {
  void* to = out.data();
  if (!add) {
    return visit_size(itemsize(out.dtype()), [&]<class T>(TypeTag<T>) {
      scatter_rows<T, T>(walk, out, to, source.data(), index,
                         [](T, T value) { return value; });
    });
  }
  if (is_reduced(out.dtype())) return add_to_halves(out, walk, index, source);
  visit_sums(out.dtype(), [&]<class T>(TypeTag<T>) {
    scatter_rows<T, T>(walk, out, to, source.data(), index,
                       [](T a, T b) { return sum_of(a, b); });
  });
}

namespace {

void gather_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  gather_along(out, self, wrap_dim("gather", dim, self.ndim()), as_index(index));
}
template <bool add>
void scatter_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src) {
  scatter_along(out, self, wrap_dim("scatter", dim, self.ndim()), as_index(index), src,
                add);
}

// The first n of the places without those that were there before; how many are left.
int64_t drop_repeated(int64_t* places, int64_t n, int64_t size) {
  const RunBuffer<bool> seen(size, false);
  int64_t left = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::exchange(seen.data()[places[i]], true)) places[left++] = places[i];
  }
  return left;
}

// The vector `index`, checked and counted from the start, as an index of whole slices; if
// `once`, of many that name few no slice is named again.
Tensor slices_index(const Tensor& self, int64_t dim, const Tensor& index,
                    bool once = false) {
  const Tensor given = as_contiguous(as_dtype(index, DType::Int64));
  const int64_t n = given.numel(), size = self.size(dim);
  Tensor counted = empty(given.sizes(), DType::Int64);
  const int64_t* from = given.data<int64_t>();
  int64_t* to = counted.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    PKG_CHECK(from[i] >= -size && from[i] < size, IndexError, "index ", from[i],
              " is out of bounds for dimension ", dim, " with size ", size);
    to[i] = from[i] < 0 ? from[i] + size : from[i];
  }
  Shape sizes = self.sizes(), strides(self.sizes().size(), 0);
  sizes[size_t(dim)] = once && n > size ? drop_repeated(to, n, size) : n;
  strides[size_t(dim)] = 1;
  return alias(counted, sizes, strides, 0);
}
void slices_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("_slices", dim, self.ndim());
  // What is read several times is brought first.
  const bool apart = self.ndim() > 0 && self.strides().back() != 1;
  const Tensor source = apart && out.numel() > self.numel() ? as_contiguous(self) : self;
  gather_along(out, source, d, slices_index(self, d, index));
}
void slices_put_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& source, bool accumulate) {
  const int64_t d = wrap_dim("_slices_put", dim, self.ndim());
  const bool same = !accumulate && source.ndim() == 0;
  scatter_along(out, self, d, slices_index(self, d, index, same), source, accumulate);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("gather", gather_kernel);
  m.impl("scatter_add", scatter_kernel<true>);
  m.impl("_scatter", scatter_kernel<false>);
  m.impl("_slices", slices_kernel);
  m.impl("_slices_put", slices_put_kernel);
}

}  // namespace
}  // namespace pkg

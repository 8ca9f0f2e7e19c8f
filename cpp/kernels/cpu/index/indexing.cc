// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/indexing.cc: rows that indices of the leading dimensions name.  Every
// index is checked before it is used; writing is serial, so that repeats add in order.
#include <bit>

#include "dispatcher/library.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/index/sums.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/layout.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

// Where in memory the rows begin that index positions name: rows of the dimensions that are
// not indexed, in bytes from the first element.
class Places {
 public:
  // `shape` is that of the indices together.
  Places(const Tensor& self, const TensorList& indices, const Shape& shape)
      : count_(shape.numel()) {
    for (size_t d = 0; d < indices.size(); ++d) {
      Tensor index = indices[d];
      if (index.dtype() != DType::Int64 || index.sizes() != shape || !index.is_contiguous()) {
        index = empty(shape, DType::Int64);
        copy_into(index, indices[d]);
      }
      axes_.push_back({index, index.data<int64_t>(), self.sizes()[d],
                       self.strides()[d] * itemsize(self.dtype())});
    }
  }
  int64_t count() const { return count_; }

  // IndexError unless positions [begin, end) name rows of self.
  void check(int64_t begin, int64_t end) const {
    for (size_t d = 0; d < axes_.size(); ++d) {
      const Axis& axis = axes_[d];
      int64_t least = 0, most = -1;
      with_isa([&, begin, end] {
        int64_t low = 0, high = -1;
        for (int64_t i = begin; i < end; ++i) {
          low = std::min(low, axis.values[i]);
          high = std::max(high, axis.values[i]);
        }
        least = low;
        most = high;
      });
      if (least >= -axis.size && most < axis.size) continue;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t v = axis.values[i];
        PKG_CHECK(v >= -axis.size && v < axis.size, IndexError, "index ", v,
                  " is out of bounds for dimension ", d, " with size ", axis.size);
      }
    }
  }
  // Those of [begin, end), which was checked.
  void read(int64_t begin, int64_t end, int64_t* places) const {
    const int64_t n = end - begin;
    std::fill_n(places, n, 0);
    for (size_t d = 0; d < axes_.size(); ++d) {
      const int64_t* values = axes_[d].values + begin;
      with_isa([&axis = axes_[d], values, places, n] {
        const int64_t size = axis.size, step = axis.step, count = n;
        const int64_t* x = values;
        int64_t* __restrict to = places;
        for (int64_t i = 0; i < count; ++i) {
          to[i] += (x[i] + (x[i] < 0 ? size : 0)) * step;
        }
      });
    }
  }
  // Calls f(begin, places, n) for blocks of [begin, end).
  template <class F>
  void for_blocks(int64_t begin, int64_t end, bool checks, F f) const {
    int64_t places[kBlock];
    for (; begin < end; begin += kBlock) {
      const int64_t past = std::min(end, begin + kBlock);
      if (checks) check(begin, past);
      read(begin, past, places);
      f(begin, places, past - begin);
    }
  }

 private:
  static constexpr int64_t kBlock = 512;
  struct Axis {
    Tensor index;
    const int64_t* values;
    int64_t size, step;
  };
  SmallVector<Axis, 2> axes_;
  int64_t count_;
};

Shape leading(const Shape& sizes, size_t drop) {
  return Shape(sizes.data(), sizes.size() - drop);
}

// Runs of fewer bytes are copied an element at a time: that beats a call for each.
constexpr int64_t kLeastRun = 64;

// A row of self in memory: runs of elements that lie side by side.
struct Row {
  int64_t numel;
  int64_t run;  // elements in each run
  std::vector<int64_t, PoolAllocator<int64_t>> starts;  // bytes to each; empty: it is one
};
Row row_of(const Tensor& self, size_t n_indices) {
  const Shape &sizes = self.sizes(), &strides = self.strides();
  Row row{1, 1, {}};
  for (size_t d = n_indices; d < sizes.size(); ++d) row.numel *= sizes[d];
  if (self.is_contiguous()) {
    row.run = row.numel;
    return row;
  }
  const int64_t size = itemsize(self.dtype());
  size_t outer = sizes.size();
  while (outer > n_indices && (sizes[outer - 1] == 1 || strides[outer - 1] == row.run)) {
    row.run *= sizes[--outer];
  }
  if (outer == n_indices) return row;
  if (row.run * size < kLeastRun) {
    row.run = 1;
    outer = sizes.size();
  }
  row.starts.assign(1, 0);
  for (size_t d = n_indices; d < outer; ++d) {
    decltype(row.starts) longer;
    longer.reserve(row.starts.size() * size_t(sizes[d]));
    for (const int64_t start : row.starts) {
      for (int64_t i = 0; i < sizes[d]; ++i) longer.push_back(start + i * strides[d] * size);
    }
    row.starts = std::move(longer);
  }
  return row;
}

// Rows of one run, side by side in `to`.
void copy_rows(char* to, const char* from, const int64_t* places, int64_t n, int64_t bytes) {
  if (bytes > kLongRun) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * bytes, from + places[i], size_t(bytes));
    }
  } else if (std::has_single_bit(uint64_t(bytes)) && bytes <= 8) {
    visit_size(bytes, [=]<class T>(TypeTag<T>) {
      auto* out = reinterpret_cast<T*>(to);
      for (int64_t i = 0; i < n; ++i) {
        out[i] = *reinterpret_cast<const T*>(from + places[i]);
      }
    });
  } else {
    with_isa([=] {
      for (int64_t i = 0; i < n; ++i) copy_run(to + i * bytes, from + places[i], bytes);
    });
  }
}

void index_kernel(Tensor& out, const Tensor& self, const TensorList& indices) {
  // Where rows are read several times, it pays to have each in one piece.
  const Tensor source = out.numel() > self.numel() ? as_contiguous(self) : self;
  const size_t rest = self.sizes().size() - indices.size();
  const Places places(source, indices, leading(out.sizes(), rest));
  const int64_t n = places.count();
  if (out.numel() == 0) return places.check(0, n);
  const Row row = row_of(source, indices.size());
  const int64_t size = itemsize(out.dtype()), row_bytes = row.numel * size;
  const auto* from = static_cast<const char*>(source.data());
  auto* to = static_cast<char*>(out.data());
  const int64_t* starts = row.starts.data();
  const auto n_runs = int64_t(row.starts.size());
  const auto copy_block = [&](int64_t begin, const int64_t* at, int64_t count) {
    char* rows = to + begin * row_bytes;
    if (n_runs == 0) return copy_rows(rows, from, at, count, row_bytes);
    const int64_t run_bytes = row.run * size;
    for (int64_t i = 0; i < count; ++i, rows += row_bytes) {
      if (row.run > 1) {
        for (int64_t j = 0; j < n_runs; ++j) {
          std::memcpy(rows + j * run_bytes, from + at[i] + starts[j], size_t(run_bytes));
        }
      } else {
        copy_rows(rows, from + at[i], starts, n_runs, size);
      }
    }
  };
  parallel_for(0, n, std::max<int64_t>(1, kGrain / row_bytes), [&](int64_t begin, int64_t end) {
    places.for_blocks(begin, end, true, copy_block);
  });
}

// Of what shares memory with `out` a copy: all is read before anything is written.
TensorList apart(TensorList indices, const Tensor& out) {
  for (Tensor& index : indices) {
    if (index.impl()->storage != out.impl()->storage) continue;
    const Tensor copy = empty(index.spec());
    copy_into(copy, index);
    index = copy;
  }
  return indices;
}

// Calls put(slot, n) for every run of the rows at the places, in order.
template <class Put>
void for_runs(const Places& places, const Row& row, char* to, Put put) {
  StopCounter stop;
  places.for_blocks(0, places.count(), false,
                    [&](int64_t, const int64_t* at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (row.starts.empty()) put(to + at[i], row.run);
      else for (const int64_t start : row.starts) put(to + at[i] + start, row.run);
    }
    stop(count * row.numel);
  });
}

void put_rows(const Places& places, const Row& row, char* to, const char* from,
              int64_t itemsize) {
  const int64_t bytes = row.run * itemsize;
  if (bytes <= 8 && bytes == itemsize) {
    return visit_size(bytes, [&]<class T>(TypeTag<T>) {
      for_runs(places, row, to, [&](char* slot, int64_t) {
        std::memcpy(slot, from, sizeof(T));
        from += sizeof(T);
      });
    });
  }
  for_runs(places, row, to, [&](char* slot, int64_t) {
    std::memcpy(slot, from, size_t(bytes));
    from += bytes;
  });
}

void index_put_kernel(Tensor& out, const Tensor& self, const TensorList& indices,
                      const Tensor& values, bool accumulate) {
  Shape shape;
  for (const Tensor& index : indices) {
    shape = broadcast_shapes("index_put", shape, index.sizes());
  }
  const Places places(out, apart(indices, out), shape);
  places.check(0, places.count());
  for (size_t d = indices.size(); d < self.sizes().size(); ++d) {
    shape.push_back(self.sizes()[d]);
  }
  Tensor source = values;
  if (values.dtype() != self.dtype() || values.sizes() != shape || !values.is_contiguous() ||
      values.impl()->storage == out.impl()->storage) {
    source = empty(shape, self.dtype());
    copy_into(source, values);
  }
  if (!out.is_same(self)) copy_into(out, self);
  if (source.numel() == 0) return;
  const Row row = row_of(out, indices.size());
  auto* to = static_cast<char*>(out.data());
  const auto* from = static_cast<const char*>(source.data());
  if (!accumulate) return put_rows(places, row, to, from, itemsize(out.dtype()));
  visit_sums(out.dtype(), [&]<class T>(TypeTag<T>) {
    const auto* next = reinterpret_cast<const T*>(from);
    for_runs(places, row, to, [&](char* slots, int64_t n) {
      auto* slot = reinterpret_cast<T*>(slots);
      if (n < 16) {
        for (int64_t j = 0; j < n; ++j) slot[j] = sum_of(slot[j], next[j]);
      } else {
        put_run(slot, next, n, [](T a, T b) { return sum_of(a, b); });
      }
      next += n;
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_index", index_kernel);
  m.impl("_index_put", index_put_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/indexing.cc: rows that indices of the leading dimensions name.  Every
// index is checked before it is used.
#include <bit>

#include "dispatcher/library.h"
#include "kernels/cpu/index/index_walk.h"
#include "kernels/cpu/index/runs.h"
#include "scheduler/parallel.h"
#include "tensor/copy_run.h"
#include "tensor/gather.h"
#include "tensor/overlap.h"
#include "tensor/repeats.h"

namespace pkg {
namespace {

// Where in memory the rows begin that index positions name: rows of the dimensions that are
// not indexed, from the first element.
class Places {
 public:
  // `shape` is that of the indices together; places are in elements or, with their size as
  // `unit`, in bytes.
  Places(const Tensor& self, const TensorList& indices, const Shape& shape, int64_t unit)
      : count_(shape.numel()) {
    for (size_t d = 0; d < indices.size(); ++d) {
      Tensor index = indices[d];
      int64_t by = step_of(index);
      if (index.dtype() != DType::Int64 || index.sizes() != shape || by == 0) {
        index = empty(shape, DType::Int64);
        copy_into(index, indices[d]);
        by = 1;
      }
      axes_.push_back(
          {index, index.data<int64_t>(), by, self.sizes()[d], self.strides()[d] * unit});
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
        const auto look = [&](int64_t by) {
          for (int64_t i = begin; i < end; ++i) {
            low = std::min(low, axis.values[i * by]);
            high = std::max(high, axis.values[i * by]);
          }
        };
        if (axis.by == 1) look(1);
        else look(axis.by);
        least = low;
        most = high;
      });
      if (least >= -axis.size && most < axis.size) continue;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t v = axis.values[i * axis.by];
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
      const int64_t* values = axes_[d].values + begin * axes_[d].by;
      with_isa([&axis = axes_[d], values, places, n] {
        const int64_t size = axis.size, step = axis.step, count = n;
        const int64_t* x = values;
        int64_t* __restrict to = places;
        const auto add = [=](int64_t by) {
          for (int64_t i = 0; i < count; ++i) {
            const int64_t v = x[i * by];
            to[i] += (v + (v < 0 ? size : 0)) * step;
          }
        };
        if (axis.by == 1) add(1);
        else add(axis.by);
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

  // Whether there is one index and its rows are single elements, in memory too.
  bool are_elements(int64_t row_bytes) const {
    return axes_.size() == 1 && std::has_single_bit(uint64_t(row_bytes)) && row_bytes <= 8;
  }
  // Rows of `bytes` each at positions [begin, end) of are_elements(), checked as they are
  // copied: a branch that is never taken costs less than a look at the indices before.
  void copy_elements(int64_t begin, int64_t end, int64_t bytes, const char* from,
                     char* to) const {
    const Axis& axis = axes_[0];
    int64_t done = begin;
    visit_size(bytes, [&]<class T>(TypeTag<T>) {
      const auto copy = [&](int64_t by, int64_t step) {
        const uint64_t size = uint64_t(axis.size);
        const int64_t* values = axis.values;
        int64_t i = begin;
        for (; i < end; ++i) {
          uint64_t v = uint64_t(values[i * by]);
          if (__builtin_expect(v >= size, 0)) {
            v += size;  // a negative one wraps to where it counts from the end
            if (v >= size) break;
          }
          std::memcpy(to + i * int64_t(sizeof(T)), from + int64_t(v) * step, sizeof(T));
        }
        done = i;
      };
      const bool dense = axis.by == 1 && axis.step == int64_t(sizeof(T));
      if (dense) copy(1, sizeof(T));
      else copy(axis.by, axis.step);
    });
    if (done < end) check(done, done + 1);
  }

 private:
  static constexpr int64_t kBlock = 512;
  struct Axis {
    Tensor index;
    const int64_t* values;
    int64_t by;  // from one of them to the next
    int64_t size, step;
  };
  // From each element to the next one in row-major order; 0 where that differs.
  static int64_t step_of(const Tensor& index) {
    int64_t by = 1, next = 0;
    for (size_t d = index.sizes().size(); d-- > 0;) {
      if (index.sizes()[d] == 1) continue;
      if (next == 0) by = index.strides()[d];
      else if (index.strides()[d] != next) return 0;
      next = index.strides()[d] * index.sizes()[d];
      if (next == 0) return 0;
    }
    return by;
  }
  SmallVector<Axis, 2> axes_;
  int64_t count_;
};

Shape leading(const Shape& sizes, size_t drop) {
  return Shape(sizes.data(), sizes.size() - drop);
}

// Runs of fewer bytes are copied an element at a time: that beats a call for each.
constexpr int64_t kLeastRun = 64;
constexpr int64_t kLine = 64;  // bytes that come from memory together

// A row of self in memory: runs of elements that lie side by side.
struct Row {
  int64_t numel;
  int64_t run;                                          // elements in each run
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
      for (int64_t i = 0; i < sizes[d]; ++i)
        longer.push_back(start + i * strides[d] * size);
    }
    row.starts = std::move(longer);
  }
  return row;
}

// Rows of one run, side by side in `to`.  far: they do not lie in the caches.
void copy_rows(char* to, const char* from, const int64_t* places, int64_t n, int64_t bytes,
               bool far) {
  if (bytes > kLongRun) {
    for (int64_t i = 0; i < n; ++i) { move_bytes(to + i * bytes, from + places[i], bytes); }
  } else if (std::has_single_bit(uint64_t(bytes)) && bytes <= 8) {
    // Not as numbers of that size: two floats need not stand where a double may.
    visit_size(bytes, [=]<class T>(TypeTag<T>) {
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(to + i * int64_t(sizeof(T)), from + places[i], sizeof(T));
      }
    });
  } else {
    with_isa([=] {
      for (int64_t i = 0; i < n; ++i) {
        if (far) fetch_run(from + places[std::min(i + 2, n - 1)], bytes);
        copy_run(to + i * bytes, from + places[i], bytes);
      }
    });
  }
}

// Rows whose elements lie apart, some elements of all rows at a time: where the rows lie side
// by side, as in a transposed tensor, every line of cache is read for several of them.
void copy_apart(char* to, int64_t row_bytes, const char* from, const int64_t* places,
                int64_t n, const int64_t* starts, int64_t numel, int64_t size) {
  visit_size(size, [=]<class T>(TypeTag<T>) {
    constexpr int64_t kSome = 8;
    const auto copy = [=](int64_t i, int64_t j) {
      std::memcpy(to + i * row_bytes + j * int64_t(sizeof(T)), from + places[i] + starts[j],
                  sizeof(T));
    };
    int64_t j = 0;
    for (; j + kSome <= numel; j += kSome) {
      for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 8
        for (int64_t k = 0; k < kSome; ++k) copy(i, j + k);
      }
    }
    for (; j < numel; ++j) {
      for (int64_t i = 0; i < n; ++i) copy(i, j);
    }
  });
}

// Whether one index names rows in their order, as a mask does.
bool ascends(const TensorList& indices) {
  if (indices.size() != 1) return false;
  const Tensor& index = indices[0];
  if (index.ndim() != 1 || index.dtype() != DType::Int64) return false;
  const auto* values = index.data<int64_t>();
  const int64_t by = index.strides()[0];
  for (int64_t i = 1; i < index.numel(); ++i) {
    if (values[i * by] < values[(i - 1) * by]) return false;
  }
  return true;
}

// Bytes from each element of a row to the next, where these are even and share lines of
// cache, so that a row is gathered as fast as it would be copied first; else 0.
int64_t even_step(const Tensor& self, size_t n_indices) {
  constexpr int64_t kLeastRow = 32;  // elements
  if (self.sizes().size() != n_indices + 1 || self.sizes()[n_indices] < kLeastRow) return 0;
  const int64_t step = self.strides()[n_indices] * itemsize(self.dtype());
  return std::abs(step) < kLine && std::abs(self.strides()[n_indices]) > 1 ? step : 0;
}

// Whether rows are read where they lie.  Where none is in one piece, and they are read
// several times or most of them are, it pays to have each so, unless copy_apart() reads them
// in their order.
bool reads_in_place(const Tensor& self, const TensorList& indices, int64_t read) {
  if (self.is_contiguous()) return true;
  const size_t n_indices = indices.size();
  const int64_t size = itemsize(self.dtype());
  int64_t run = 1;
  size_t d = self.sizes().size();
  while (d > n_indices && (self.sizes()[d - 1] == 1 || self.strides()[d - 1] == run)) {
    run *= self.sizes()[--d];
  }
  if (d == n_indices) return true;
  if (read > self.numel()) return false;
  if (even_step(self, n_indices)) return true;
  if (read < self.numel() / 2 || run * size >= kLeastRun) return true;
  const bool apart = run == 1 && std::abs(self.strides()[d - 1]) * size >= kLine;
  return apart && size >= 4 && ascends(indices);  // smaller ones are turned in no time
}

void index_kernel(Tensor& out, const Tensor& self, const TensorList& indices) {
  const Tensor source = reads_in_place(self, indices, out.numel()) ? self
                                                                   : as_contiguous(self);
  const size_t rest = self.sizes().size() - indices.size();
  const Places places(source, indices, leading(out.sizes(), rest),
                      itemsize(source.dtype()));
  const int64_t n = places.count();
  if (out.numel() == 0) return places.check(0, n);
  const Row row = row_of(source, indices.size());
  const int64_t size = itemsize(out.dtype()), row_bytes = row.numel * size;
  const auto* from = static_cast<const char*>(source.data());
  auto* to = static_cast<char*>(out.data());
  const int64_t* starts = row.starts.data();
  const bool far = sizes_once(source.sizes(), source.strides()).numel() * size > kFarBytes;
  const auto n_runs = int64_t(row.starts.size());
  const int64_t step = even_step(source, indices.size());
  const auto copy_block = [&](int64_t begin, const int64_t* at, int64_t count) {
    char* rows = to + begin * row_bytes;
    if (n_runs == 0) return copy_rows(rows, from, at, count, row_bytes, far);
    if (row.run == 1 && n_runs > 1 && std::abs(starts[1] - starts[0]) >= kLine) {
      return copy_apart(rows, row_bytes, from, at, count, starts, n_runs, size);
    }
    const int64_t run_bytes = row.run * size;
    for (int64_t i = 0; i < count; ++i, rows += row_bytes) {
      if (step) {
        moves_of(size).gather(rows, from + at[i] + starts[0], step, n_runs);
      } else if (row.run > 1) {
        for (int64_t j = 0; j < n_runs; ++j) {
          move_bytes(rows + j * run_bytes, from + at[i] + starts[j], run_bytes);
        }
      } else {
        copy_rows(rows, from + at[i], starts, n_runs, size, false);
      }
    }
  };
  const bool elements = n_runs == 0 && places.are_elements(row_bytes);
  parallel_for(0, n, std::max<int64_t>(1, kGrain / row_bytes),
               [&](int64_t begin, int64_t end) {
                 if (elements) places.copy_elements(begin, end, row_bytes, from, to);
                 else places.for_blocks(begin, end, true, copy_block);
               });
}

// Of what shares memory with `out` a copy: all is read before anything is written.
TensorList apart(TensorList indices, const Tensor& out) {
  for (Tensor& index : indices) {
    if (!share_memory(index, out)) continue;
    const Tensor copy = empty(index.spec());
    copy_into(copy, index);
    index = copy;
  }
  return indices;
}

// Whether values, which broadcast to rows of this shape, are one of them, repeated.
bool repeats_row(const Tensor& values, const Shape& row) {
  const size_t ndim = values.sizes().size(), last = std::min(row.size(), ndim);
  for (size_t d = 0; d + last < ndim; ++d) {
    if (values.sizes()[d] > 1 && values.strides()[d] != 0) return false;
  }
  return row.numel() > 1;
}
Tensor first_row(const Tensor& values, const Shape& row) {
  const size_t last = std::min(row.size(), values.sizes().size());
  const size_t first = values.sizes().size() - last;
  return alias(values, Shape(values.sizes().begin() + int64_t(first), last),
               Shape(values.strides().begin() + int64_t(first), last), values.offset());
}

// Rows of `source`, or one, written or added to those of `out` that indices name: slots of a table
// whose steps are elements, or with one index its rows.
void put_rows(const Tensor& out, const TensorList& indices, const Shape& shape,
              const Tensor& source, bool repeats, bool accumulate) {
  const size_t n_indices = indices.size();
  Tensor counted = out;
  if (n_indices == 1) {
    Shape strides = out.strides();
    strides[0] = 1;
    counted = alias(out, out.sizes(), strides, out.offset());
  }
  const Places places(counted, indices, shape, 1);
  const int64_t n = places.count();
  const Tensor at = empty(Shape{n}, DType::Int64);
  places.read(0, n, at.data<int64_t>());
  Shape table{1}, steps{1}, sizes{n}, same{1};
  for (size_t d = 0; d < out.sizes().size(); ++d) {
    if (d < n_indices) continue;
    table.push_back(out.sizes()[d]);
    steps.push_back(out.strides()[d]);
    sizes.push_back(out.sizes()[d]);
    same.push_back(0);
  }
  const Tensor index = alias(at, sizes, same, 0);
  Shape row_steps = contiguous_strides(sizes);
  if (repeats) row_steps[0] = 0;
  const Tensor rows = alias(source, sizes, row_steps, source.offset());
  if (n_indices == 1) {
    table[0] = out.sizes()[0];
    steps[0] = out.strides()[0];
  }
  IndexWalk walk = walk_of(alias(out, table, steps, out.offset()), index, rows, 0, false);
  if (n_indices != 1) walk.size = span_of(out);
  write_slots(out, walk, index, rows, accumulate);
}

void index_put_kernel(Tensor& out, const Tensor& self, const TensorList& indices,
                      const Tensor& values, bool accumulate) {
  Shape shape;
  for (const Tensor& index : indices) {
    shape = broadcast_shapes("index_put", shape, index.sizes());
  }
  Shape sizes = shape;
  for (size_t d = indices.size(); d < self.sizes().size(); ++d) {
    sizes.push_back(self.sizes()[d]);
  }
  const TensorList kept = apart(indices, out);
  Places(out, kept, shape, 1).check(0, shape.numel());
  // A row that is written to several places is there once.
  const Shape row(sizes.begin() + int64_t(shape.size()), sizes.size() - shape.size());
  const bool repeats = !accumulate && shape.numel() > 1 && repeats_row(values, row);
  Tensor source = values;
  if (values.dtype() != self.dtype() || values.sizes() != sizes ||
      !values.is_contiguous() || share_memory(values, out)) {
    source = empty(repeats ? row : sizes, self.dtype());
    copy_into(source, repeats ? first_row(values, row) : values);
  }
  if (!out.is_same(self)) copy_into(out, self);
  if (source.numel() == 0) return;
  const int64_t rows = kept.size() < out.sizes().size() ? source.numel() : 0;
  write_dense(out, accumulate, rows, [&](const Tensor& table) {
    put_rows(table, kept, shape, source, repeats, accumulate);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_index", index_kernel);
  m.impl("_index_put", index_put_kernel);
}

}  // namespace
}  // namespace pkg

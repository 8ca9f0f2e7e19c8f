// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/indexing.cc: gathering and scattering rows.  Every index is checked
// before it is used; scattering is serial, so that repeats add in order.
#include <cstring>

#include "base/checked.h"
#include "dispatcher/library.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/layout.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

// Where in self's memory the row (of the dimensions that are not indexed) begins that
// each index position names; in elements.
using Places = std::vector<int64_t, PoolAllocator<int64_t>>;
Places row_places(const Tensor& self, const TensorList& indices, const Shape& shape) {
  Places places(size_t(shape.numel()), 0);
  for (size_t d = 0; d < indices.size(); ++d) {
    Tensor index = empty(shape, DType::Int64);
    copy_into(index, indices[d]);
    const int64_t* values = index.data<int64_t>();
    const int64_t size = self.sizes()[d], stride = self.strides()[d];
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t v = values[i];
      PKG_CHECK(v >= -size && v < size, IndexError, "index ", v,
                " is out of bounds for dimension ", d, " with size ", size);
      places[i] += (v < 0 ? v + size : v) * stride;
    }
  }
  return places;
}

Shape leading(const Shape& sizes, size_t drop) {
  return Shape(sizes.data(), sizes.size() - drop);
}

// Runs of fewer bytes are copied an element at a time: that beats a call for each.
constexpr int64_t kLeastRun = 64;

// A row of self in memory: runs of elements that lie side by side.
struct Row {
  int64_t numel;
  int64_t run;    // elements in each run
  Places starts;  // from the row's first element to each run; empty: it is one run
};
Row row_of(const Tensor& self, size_t n_indices) {
  const Shape &sizes = self.sizes(), &strides = self.strides();
  Row row{1, 1, {}};
  for (size_t d = n_indices; d < sizes.size(); ++d) row.numel *= sizes[d];
  if (self.is_contiguous()) {
    row.run = row.numel;
    return row;
  }
  size_t outer = sizes.size();
  while (outer > n_indices && (sizes[outer - 1] == 1 || strides[outer - 1] == row.run)) {
    row.run *= sizes[--outer];
  }
  if (outer == n_indices) return row;
  if (row.run * itemsize(self.dtype()) < kLeastRun) {
    row.run = 1;
    outer = sizes.size();
  }
  row.starts.assign(1, 0);
  for (size_t d = n_indices; d < outer; ++d) {
    Places longer;
    longer.reserve(row.starts.size() * size_t(sizes[d]));
    for (const int64_t start : row.starts) {
      for (int64_t i = 0; i < sizes[d]; ++i) longer.push_back(start + i * strides[d]);
    }
    row.starts = std::move(longer);
  }
  return row;
}

void index_kernel(Tensor& out, const Tensor& self, const TensorList& indices) {
  // Where rows are read several times, it pays to have each in one piece.
  const Tensor source = out.numel() > self.numel() ? as_contiguous(self) : self;
  const size_t rest = self.sizes().size() - indices.size();
  const Places places = row_places(source, indices, leading(out.sizes(), rest));
  if (places.empty() || out.numel() == 0) return;
  const Row row = row_of(source, indices.size());
  const int64_t size = itemsize(out.dtype()), row_bytes = row.numel * size;
  const auto over_rows = [&](auto copy_row) {
    parallel_for(0, int64_t(places.size()), std::max<int64_t>(1, kGrain / row_bytes),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) copy_row(i, places[size_t(i)]);
                 });
  };
  const auto* bytes = static_cast<const char*>(source.data());
  auto* out_bytes = static_cast<char*>(out.data());
  const int64_t* starts = row.starts.data();
  const auto n_runs = int64_t(row.starts.size());
  if (n_runs == 0) {
    return over_rows([=](int64_t i, int64_t place) {
      std::memcpy(out_bytes + i * row_bytes, bytes + place * size, size_t(row_bytes));
    });
  }
  if (row.run > 1) {
    return over_rows([=, run_bytes = row.run * size](int64_t i, int64_t place) {
      char* to = out_bytes + i * row_bytes;
      for (int64_t j = 0; j < n_runs; ++j, to += run_bytes) {
        std::memcpy(to, bytes + (place + starts[j]) * size, size_t(run_bytes));
      }
    });
  }
  visit_dtype(self.dtype(), [&]<class T>(TypeTag<T>) {
    const T* from = source.data<T>();
    T* to = out.data<T>();
    over_rows([=](int64_t i, int64_t place) {
      for (int64_t j = 0; j < n_runs; ++j) to[i * n_runs + j] = from[place + starts[j]];
    });
  });
}

void index_put_kernel(Tensor& out, const Tensor& self, const TensorList& indices,
                      const Tensor& values, bool accumulate) {
  Shape shape;
  for (const Tensor& index : indices) {
    shape = broadcast_shapes("index_put", shape, index.sizes());
  }
  // All is read before anything is written.
  const Places places = row_places(out, indices, shape);
  for (size_t d = indices.size(); d < self.sizes().size(); ++d) {
    shape.push_back(self.sizes()[d]);
  }
  Tensor source = empty(shape, self.dtype());
  copy_into(source, values);
  if (!out.is_same(self)) copy_into(out, self);
  if (source.numel() == 0) return;
  const Row row = row_of(out, indices.size());
  visit_dtype(self.dtype(), [&]<class T>(TypeTag<T>) {
    T* to = out.data<T>();
    const T* from = source.data<T>();
    const auto put = [&](T& slot, T value) {
      if constexpr (std::is_same_v<T, bool>) {
        slot = accumulate ? (slot || value) : value;
      } else {
        slot = accumulate ? T(wraps(slot) + wraps(value)) : value;
      }
    };
    const bool copied = !accumulate && row.run * int64_t(sizeof(T)) >= kLeastRun;
    const auto put_run = [&](T* slots) {
      if (copied) std::memcpy(slots, from, size_t(row.run) * sizeof(T));
      else for (int64_t j = 0; j < row.run; ++j) put(slots[j], from[j]);
      from += row.run;
    };
    for (const int64_t place : places) {
      if (row.starts.empty()) put_run(to + place);
      else if (row.run > 1) for (const int64_t at : row.starts) put_run(to + place + at);
      else for (const int64_t at : row.starts) put(to[place + at], *from++);
    }
  });
}

Tensor nonzero_kernel(const Tensor& self) {
  const Tensor mask = as_contiguous(as_dtype(self, DType::Bool));
  const bool* set = mask.data<bool>();
  int64_t count = 0;
  for (int64_t i = 0; i < mask.numel(); ++i) count += set[i];
  Tensor out = empty(Shape{count, self.ndim()}, DType::Int64);
  int64_t* at = out.data<int64_t>();
  StopCounter stop;
  for (int64_t i = 0; i < mask.numel(); ++i) {
    if (!set[i]) continue;
    stop(1);
    int64_t rest = i;
    for (int64_t d = self.ndim() - 1; d >= 0; --d) {
      at[d] = rest % self.sizes()[size_t(d)];
      rest /= self.sizes()[size_t(d)];
    }
    at += self.ndim();
  }
  return out;
}

// Calls f(place) for every element of index, `place` being the element's coordinates
// with the one along dim replaced by the index.  Tensors of no dimension go with vectors:
// `own` is then the element's place in the index.
template <class F>
void for_each_place(const Tensor& self, int64_t dim, const Tensor& index, F f) {
  const Tensor dense = as_contiguous(as_dtype(index, DType::Int64));
  const int64_t* values = dense.data<int64_t>();
  const int64_t at_dim = wrap_dim("gather", dim, self.ndim());
  const int64_t size = self.ndim() ? self.sizes()[size_t(at_dim)] : 1;
  Shape place(self.sizes().size(), 0);
  StopCounter stop;
  for (int64_t i = 0; i < dense.numel(); ++i) {
    stop(1);
    PKG_CHECK(values[i] >= 0 && values[i] < size, IndexError, "index ", values[i],
              " is out of bounds for dimension ", at_dim, " with size ", size);
    int64_t rest = i;
    for (int64_t d = std::min(dense.ndim(), self.ndim()) - 1; d >= 0; --d) {
      place[size_t(d)] = rest % dense.sizes()[size_t(d)];
      rest /= dense.sizes()[size_t(d)];
    }
    const int64_t own = place.empty() ? i : place[size_t(at_dim)];
    if (!place.empty()) place[size_t(at_dim)] = values[i];
    f(i, place, own);
  }
}
int64_t offset_of(const Tensor& t, const Shape& place) {
  int64_t offset = 0;
  for (size_t d = 0; d < place.size(); ++d) offset += place[d] * t.strides()[d];
  return offset;
}

void gather_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  visit_dtype(self.dtype(), [&]<class T>(TypeTag<T>) {
    const T* from = self.data<T>();
    T* to = out.data<T>();
    for_each_place(self, dim, index, [&](int64_t i, const Shape& place, int64_t) {
      to[i] = from[offset_of(self, place)];
    });
  });
}

// A copy of what shares memory with `out`: it is read before anything is written.
Tensor apart(const Tensor& t, const Tensor& out) {
  if (t.impl()->storage != out.impl()->storage) return t;
  const Tensor copy = empty(t.spec());
  copy_into(copy, t);
  return copy;
}

// Writes or adds src, which may be larger than index, or one number for all.
template <bool Add>
void scatter_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src) {
  const Tensor source = apart(as_dtype(src, out.dtype()), out);
  const Tensor places = apart(index, out);
  if (!out.is_same(self)) copy_into(out, self);
  const auto at_dim = size_t(wrap_dim("scatter", dim, self.ndim()));
  const bool number = source.ndim() == 0;
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    const T* from = source.data<T>();
    T* to = out.data<T>();
    for_each_place(self, dim, places, [&](int64_t, Shape place, int64_t own) {
      T& slot = to[offset_of(out, place)];
      if (!place.empty()) place[at_dim] = own;
      const T value = number        ? *from
                      : place.empty() ? from[own * source.strides()[0]]
                                      : from[offset_of(source, place)];
      if constexpr (!Add) slot = value;
      else if constexpr (std::is_same_v<T, bool>) slot = slot || value;
      else slot = T(wraps(slot) + wraps(value));
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_index", index_kernel);
  m.impl("_index_put", index_put_kernel);
  m.impl("nonzero", nonzero_kernel);
  m.impl("gather", gather_kernel);
  m.impl("scatter_add", scatter_kernel<true>);
  m.impl("_scatter", scatter_kernel<false>);
}

}  // namespace
}  // namespace pkg

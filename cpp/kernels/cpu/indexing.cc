// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/indexing.cc: gathering and scattering rows.  Every index is checked
// before it is used; scattering is serial, so that repeats add in order.
#include <cstring>

#include "dispatcher/library.h"
#include "scheduler/parallel.h"
#include "tensor/strided_loop.h"

namespace pkg {
namespace {

// Row numbers of self (its leading dimensions flattened) for every index position.
std::vector<int64_t> row_numbers(const Tensor& self, const TensorList& indices,
                                 const Shape& shape) {
  std::vector<int64_t> rows(size_t(shape.numel()), 0);
  for (size_t d = 0; d < indices.size(); ++d) {
    Tensor index = empty(shape, DType::Int64);
    copy_into(index, indices[d]);
    const int64_t* values = index.data<int64_t>();
    const int64_t size = self.sizes()[d];
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t v = values[i];
      PKG_CHECK(v >= -size && v < size, IndexError, "index ", v,
                " is out of bounds for dimension ", d, " with size ", size);
      rows[i] = rows[i] * size + (v < 0 ? v + size : v);
    }
  }
  return rows;
}

Shape leading(const Shape& sizes, size_t drop) {
  return Shape(sizes.data(), sizes.size() - drop);
}

void index_kernel(Tensor& out, const Tensor& self, const TensorList& indices) {
  const Tensor source = as_contiguous(self);
  const size_t rest = self.sizes().size() - indices.size();
  const auto rows = row_numbers(self, indices, leading(out.sizes(), rest));
  if (rows.empty() || out.numel() == 0) return;
  const int64_t row_bytes = out.numel() / int64_t(rows.size()) * itemsize(out.dtype());
  const auto* from = static_cast<const char*>(source.data());
  auto* to = static_cast<char*>(out.data());
  parallel_for(0, int64_t(rows.size()), std::max<int64_t>(1, kGrain / row_bytes),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::memcpy(to + i * row_bytes, from + rows[size_t(i)] * row_bytes,
                               size_t(row_bytes));
                 }
               });
}

void index_put_kernel(Tensor& out, const Tensor& self, const TensorList& indices,
                      const Tensor& values, bool accumulate) {
  const bool in_place = out.is_same(self);
  Tensor target = in_place && out.is_contiguous() ? out : empty(self.spec());
  if (!target.is_same(self)) copy_into(target, self);
  Shape shape;
  for (const Tensor& index : indices) {
    shape = broadcast_shapes("index_put", shape, index.sizes());
  }
  const auto rows = row_numbers(self, indices, shape);
  for (size_t d = indices.size(); d < self.sizes().size(); ++d) {
    shape.push_back(self.sizes()[d]);
  }
  Tensor source = empty(shape, self.dtype());
  copy_into(source, values);
  if (!rows.empty() && source.numel() > 0) {
    const int64_t row = source.numel() / int64_t(rows.size());
    visit_dtype(self.dtype(), [&]<class T>(TypeTag<T>) {
      T* to = target.data<T>();
      const T* from = source.data<T>();
      for (size_t i = 0; i < rows.size(); ++i) {
        for (int64_t j = 0; j < row; ++j) {
          T& slot = to[rows[i] * row + j];
          const T value = from[int64_t(i) * row + j];
          if constexpr (std::is_same_v<T, bool>) {
            slot = accumulate ? (slot || value) : value;
          } else {
            slot = accumulate ? T(slot + value) : value;
          }
        }
      }
    });
  }
  if (!target.is_same(out)) copy_into(out, target);
}

Tensor nonzero_kernel(const Tensor& self) {
  const Tensor mask = as_contiguous(as_dtype(self, DType::Bool));
  const bool* set = mask.data<bool>();
  int64_t count = 0;
  for (int64_t i = 0; i < mask.numel(); ++i) count += set[i];
  Tensor out = empty(Shape{count, self.ndim()}, DType::Int64);
  int64_t* at = out.data<int64_t>();
  for (int64_t i = 0; i < mask.numel(); ++i) {
    if (!set[i]) continue;
    int64_t rest = i;
    for (int64_t d = self.ndim() - 1; d >= 0; --d) {
      at[d] = rest % self.sizes()[size_t(d)];
      rest /= self.sizes()[size_t(d)];
    }
    at += self.ndim();
  }
  return out;
}

// Calls f(position in index, position in self) for every element of index.
template <class F>
void for_each_pair(const Tensor& self_like, int64_t dim, const Tensor& index, F f) {
  const Tensor dense = as_contiguous(as_dtype(index, DType::Int64));
  const int64_t* values = dense.data<int64_t>();
  const Shape strides = contiguous_strides(self_like.sizes());
  const int64_t size = self_like.ndim() ? self_like.sizes()[size_t(dim)] : 1;
  for (int64_t i = 0; i < dense.numel(); ++i) {
    PKG_CHECK(values[i] >= 0 && values[i] < size, IndexError, "index ", values[i],
              " is out of bounds for dimension ", dim, " with size ", size);
    int64_t rest = i, at = 0;
    for (int64_t d = dense.ndim() - 1; d >= 0; --d) {
      const int64_t k = rest % dense.sizes()[size_t(d)];
      rest /= dense.sizes()[size_t(d)];
      at += (d == dim ? values[i] : k) * strides[size_t(d)];
    }
    f(i, at);
  }
}

void gather_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  const Tensor source = as_contiguous(self);
  visit_dtype(self.dtype(), [&]<class T>(TypeTag<T>) {
    const T* from = source.data<T>();
    T* to = out.data<T>();
    for_each_pair(self, wrap_dim("gather", dim, self.ndim()), index,
                  [&](int64_t i, int64_t at) { to[i] = from[at]; });
  });
}

void scatter_add_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& src) {
  copy_into(out, self);
  const Tensor source = as_contiguous(src);
  visit_compute("scatter_add", self.dtype(), [&]<class T>(TypeTag<T>) {
    const T* from = source.data<T>();
    T* to = out.data<T>();
    for_each_pair(self, wrap_dim("scatter_add", dim, self.ndim()), index,
                  [&](int64_t i, int64_t at) { to[at] = T(to[at] + from[i]); });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_index", index_kernel);
  m.impl("_index_put", index_put_kernel);
  m.impl("nonzero", nonzero_kernel);
  m.impl("gather", gather_kernel);
  m.impl("scatter_add", scatter_add_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/lines.h: tensors as lines along one dimension, which are sorted or
// searched one by one.
#pragma once

#include "tensor/copy.h"
#include "tensor/fill.h"
#include "tensor/repeats.h"

namespace pkg {

/// Lines along one dimension of a tensor without gaps: where each starts, and its step.
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
  int64_t start(int64_t line) const {
    return step == 1 ? line * n : line / step * step * n + line % step;
  }
};

/// Memory for n of T.
template <class T>
struct Room {
  explicit Room(int64_t n) : tensor(empty(Shape{n * int64_t(sizeof(T))}, DType::UInt8)) {}
  T* data() const { return static_cast<T*>(tensor.data()); }
  Tensor tensor;
};

/// The same memory with dim behind all others.
inline Tensor with_dim_last(const Tensor& self, int64_t dim) {
  if (dim + 1 >= self.ndim()) return self;
  Shape sizes = self.sizes(), strides = self.strides();
  for (Shape* shape : {&sizes, &strides}) {
    shape->push_back((*shape)[size_t(dim)]);
    shape->erase(size_t(dim));
  }
  return alias(self, sizes, strides, self.offset());
}

/// Fills `to` with `from`, repeating dimensions of size 1.
inline void repeat_into(const Tensor& to, const Tensor& from) {
  Shape strides = from.strides();
  for (size_t i = 0; i < strides.size(); ++i) {
    if (from.sizes()[i] != to.sizes()[i]) strides[i] = 0;
  }
  copy_into(to, alias(from, to.sizes(), strides, from.offset()));
}

/// Which of equal elements is picked where all of a line are; the first of NaNs.
struct Alike {
  int64_t place;
  bool first_nan;
};
inline void pick_alike(const Tensor& values, const Tensor& places, const Tensor& all,
                       Alike alike) {
  Shape sizes = all.sizes(), strides = all.strides();
  sizes.erase(sizes.size() - 1);
  strides.erase(strides.size() - 1);
  copy_into(alias(values, sizes, contiguous_strides(sizes), values.offset()),
            alias(all, sizes, strides, all.offset()));
  fill(places, Scalar(alike.place));
  if (!alike.first_nan || !is_floating(values.dtype())) return;
  const Tensor numbers = as_dtype(values, DType::Float64);
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double number = numbers.data<double>()[i];
    if (number != number) places.data<int64_t>()[i] = 0;
  }
}

/// For what picks one element of each line along dim: calls f(values, places, lines, n) with
/// lines of n elements one behind the other and results as they are wanted.  Lines that are
/// one, repeated, are looked at once, and lines of one element, repeated, not at all.
template <class F>
void one_of_each_line(const Tensor& values, const Tensor& places, const Tensor& self,
                      int64_t dim, Alike alike, F f) {
  if (values.numel() == 0) return;
  const Tensor all = with_dim_last(self, dim);
  if (all.ndim() == 0 || all.sizes().back() == 1) {
    copy_into(
        alias(values, self.sizes(), contiguous_strides(self.sizes()), values.offset()),
        self);
    return fill(places, 0);
  }
  if (all.strides().back() == 0) return pick_alike(values, places, all, alike);
  Shape sizes = all.sizes(), once = sizes_once(sizes, all.strides());
  const int64_t n = sizes.back();
  once.back() = n;
  const Tensor lines = as_contiguous(alias(all, once, all.strides(), all.offset()));
  if (once == sizes) return f(values, places, lines, n);
  once.erase(once.size() - 1);
  sizes.erase(sizes.size() - 1);
  const Tensor few_values = empty(once, values.dtype());
  const Tensor few_places = empty(once, DType::Int64);
  f(few_values, few_places, lines, n);
  const Shape strides = contiguous_strides(sizes);
  repeat_into(alias(values, sizes, strides, values.offset()), few_values);
  repeat_into(alias(places, sizes, strides, places.offset()), few_places);
}

}  // namespace pkg

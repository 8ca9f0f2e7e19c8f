// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/counting.cc: bincount and one_hot: what becomes of whole numbers that
// say a place.
#include <cstring>

#include "base/checked.h"
#include "base/isa.h"
#include "dispatcher/library.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

template <class F>
void visit_integers(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return f(TypeTag<uint8_t>{});
    case DType::Int8: return f(TypeTag<int8_t>{});
    case DType::Int32: return f(TypeTag<int32_t>{});
    default: return f(TypeTag<int64_t>{});
  }
}
// Bools of others may be any byte.
Tensor as_numbers(const Tensor& t) {
  return as_contiguous(t.dtype() == DType::Bool ? as_dtype(t, DType::UInt8) : t);
}

// The least and the largest of n > 0 numbers.
template <class T>
std::pair<int64_t, int64_t> range_of(const T* x, int64_t n) {
  T least = x[0], most = x[0];
  with_isa([&least, &most, x, n] {
    T low = x[0], high = x[0];
    for (int64_t i = 1; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
    }
    least = low;
    most = high;
  });
  return {int64_t(least), int64_t(most)};
}

// Equal numbers follow each other, and the next is counted only when the one before is
// stored: so neighbours are counted in different tables.
constexpr int64_t kTables = 4, kShort = 1 << 12;
template <class T>
void count_numbers(const T* x, int64_t n, int64_t* count, int64_t length) {
  if (length > kShort || n < 4 * length) {
    for (int64_t i = 0; i < n; ++i) ++count[x[i]];
    return;
  }
  const Tensor room = empty(Shape{kTables * length}, DType::Int64);
  int64_t* table = room.data<int64_t>();
  std::fill_n(table, kTables * length, 0);
  int64_t i = 0;
  for (; i + kTables <= n; i += kTables) {
    for (int64_t k = 0; k < kTables; ++k) ++table[k * length + int64_t(x[i + k])];
  }
  for (; i < n; ++i) ++table[x[i]];
  for (int64_t v = 0; v < length; ++v) {
    for (int64_t k = 0; k < kTables; ++k) count[v] += table[k * length + v];
  }
}

template <class T, class W>
void add_weights(const T* x, const W* weight, int64_t n, W* sum) {
  for (int64_t i = 0; i < n; ++i) sum[x[i]] += weight[i];
}

Tensor bincount_kernel(const Tensor& self, const Tensor& weights, int64_t minlength) {
  PKG_CHECK(self.ndim() == 1, RuntimeError,
            "[bincount] only supports 1-d non-negative "
            "integral inputs, got shape ",
            self.sizes(), " of ", self.dtype());
  PKG_CHECK(minlength >= 0, RuntimeError, "[bincount] minlength should be >= 0, got ",
            minlength);
  PKG_CHECK(!weights.defined() || weights.sizes() == self.sizes(), RuntimeError,
            "[bincount] weights should be 1-d and have the same length as input, got ",
            weights.defined() ? weights.sizes() : Shape());
  const Tensor numbers = as_numbers(self);
  const int64_t n = numbers.numel();
  Tensor out;
  visit_integers(numbers.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = numbers.data<T>();
    int64_t length = minlength;
    if (n > 0) {
      const auto [least, most] = range_of(x, n);
      PKG_CHECK(least >= 0, RuntimeError,
                "[bincount] only supports non-negative inputs, got ", least);
      length = std::max<int64_t>(length, Checked(most) + 1);
    }
    const DType dtype = !weights.defined()                  ? DType::Int64
                        : weights.dtype() == DType::Float32 ? DType::Float32
                                                            : DType::Float64;
    out = empty(Shape{length}, dtype);
    if (length > 0) std::memset(out.data(), 0, size_t(length * itemsize(dtype)));
    StopCounter stop;
    const Tensor added = weights.defined() ? as_contiguous(as_dtype(weights, dtype))
                                           : Tensor();
    for (int64_t i = 0; i < n; i += kGrain * 8) {
      const int64_t part = std::min(kGrain * 8, n - i);
      if (dtype == DType::Int64) {
        count_numbers(x + i, part, out.data<int64_t>(), length);
      } else if (dtype == DType::Float32) {
        add_weights(x + i, added.data<float>() + i, part, out.data<float>());
      } else {
        add_weights(x + i, added.data<double>() + i, part, out.data<double>());
      }
      stop(part);
    }
  });
  return out;
}

void one_hot_kernel(Tensor& out, const Tensor& self, int64_t classes) {
  const Tensor numbers = as_numbers(self);
  const int64_t n = numbers.numel();
  if (n == 0) return;
  visit_integers(numbers.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = numbers.data<T>();
    const auto [least, most] = range_of(x, n);
    PKG_CHECK(least >= 0, RuntimeError, "[one_hot] Class values must be non-negative.");
    PKG_CHECK(most < classes, RuntimeError,
              "[one_hot] Class values must be smaller than "
              "num_classes (",
              classes, "), got ", most);
    int64_t* to = out.data<int64_t>();
    parallel_for(0, n, std::max<int64_t>(1, kGrain / classes),
                 [=](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     std::fill_n(to + i * classes, classes, 0);
                     to[i * classes + int64_t(x[i])] = 1;
                   }
                 });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("bincount", bincount_kernel);
  m.impl("_one_hot", one_hot_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/reduce.cc: sums, products and logic over dimensions.
#include "base/checked.h"
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/reduce_layout.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

// Blocks keep the error of float small.
template <class Acc, class T>
Acc sum_row(const T* x, int64_t n) {
  using Wide = decltype(wraps(Acc()));
  constexpr int64_t block = 1024;
  Wide total = 0;
  for (int64_t at = 0; at < n; at += block) {
    total += row_sum<Wide>(std::min(block, n - at),
                           [x = x + at](int64_t i) { return Wide(Acc(x[i])); });
  }
  return Acc(total);
}

template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;

template <class T>
void sum_all(const Layout& in, Sum<T>* out) {
  const T* x = in.data.data<T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.reduced));
  if (!in.columns) {
    // One long row is cut into fixed blocks, so that all threads help.
    constexpr int64_t block = 1 << 16;
    if (in.outer == 1 && in.reduced > block) {
      std::vector<Sum<T>> parts(size_t((in.reduced + block - 1) / block));
      parallel_for(0, int64_t(parts.size()), 1, [&](int64_t begin, int64_t end) {
        with_isa([&] {
          for (int64_t i = begin; i < end; ++i) {
            parts[size_t(i)] = sum_row<Sum<T>>(
                x + i * block, std::min(block, in.reduced - i * block));
          }
        });
      });
      *out = sum_row<Sum<T>>(parts.data(), int64_t(parts.size()));
      return;
    }
    parallel_for(0, in.outer, grain, [&](int64_t begin, int64_t end) {
      with_isa([&] {
        for (int64_t i = begin; i < end; ++i) {
          out[i] = sum_row<Sum<T>>(x + i * in.reduced, in.reduced);
        }
      });
    });
    return;
  }
  parallel_for(0, in.outer, std::max<int64_t>(grain, 64), [&](int64_t begin, int64_t end) {
    with_isa([&] {
      std::fill(out + begin, out + end, Sum<T>(0));
      for (int64_t r = 0; r < in.reduced; ++r) {
        const T* row = x + r * in.outer;
        for (int64_t i = begin; i < end; ++i) {
          out[i] = Sum<T>(wraps(out[i]) + wraps(Sum<T>(row[i])));
        }
      }
    });
  });
}

void sum_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool,
                std::optional<DType> dtype) {
  DType type = dtype.value_or(self.dtype());
  if (is_reduced(type)) type = DType::Float32;
  const Layout in = lay_out(as_dtype(self, type), dim);
  visit_compute("sum", type, [&]<class T>(TypeTag<T>) {
    const bool direct = out.dtype() == dtype_of<Sum<T>>;
    Tensor to = direct ? out : empty(out.sizes(), dtype_of<Sum<T>>);
    sum_all<T>(in, to.data<Sum<T>>());
    if (!direct) copy_into(out, to);
  });
}

void prod_kernel(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool,
                 std::optional<DType>) {
  const DType type = is_reduced(out.dtype()) ? DType::Float32 : out.dtype();
  const Layout in = lay_out(as_dtype(self, type), dim ? Dims(Shape{*dim}) : Dims());
  Tensor to = out.dtype() == type ? out : empty(out.sizes(), type);
  visit_compute("prod", type, [&]<class T>(TypeTag<T>) {
    using Acc = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    T* result = to.data<T>();
    fold<T>(in, [] { return Acc(1); }, [](Acc& acc, int64_t, T x) { acc *= Acc(x); },
            [&](int64_t i, Acc acc) { result[i] = T(acc); });
  });
  if (!to.is_same(out)) copy_into(out, to);
}

template <bool All>
void logic_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool) {
  const Layout in = lay_out(as_dtype(self, DType::Bool), dim);
  bool* result = out.data<bool>();
  fold<bool>(in, [] { return All; },
             [](bool& acc, int64_t, bool x) { acc = All ? acc && x : acc || x; },
             [&](int64_t i, bool acc) { result[i] = acc; });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("sum", sum_kernel);
  m.impl("prod", prod_kernel);
  m.impl("all", logic_kernel<true>);
  m.impl("any", logic_kernel<false>);
}

}  // namespace
}  // namespace pkg

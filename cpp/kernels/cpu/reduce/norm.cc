// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/norm.cc: vector norms, accumulated in double.
#include <cmath>
#include <limits>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/reduce_layout.h"

namespace pkg {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Sum of f(|x|): eight independent lanes keep the adder busy.
template <class T, class F>
double lane_sum(const T* x, int64_t n, int64_t step, F f) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  if (step == 1) {
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) lanes[k] += f(std::abs(double(x[i + k])));
    }
  }
  for (; i < n; ++i) lanes[i % kLanes] += f(std::abs(double(x[i * step])));
  double total = 0;
  for (double lane : lanes) total += lane;
  return total;
}

// NaN, once met, stays.
template <bool Max, class T>
double extreme(const T* x, int64_t n, int64_t step) {
  double best = Max ? 0 : kInf;
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(double(x[i * step]));
    if ((Max ? size > best : size < best) || size != size) best = size;
    if (best != best) break;
  }
  return best;
}

template <class T>
double norm_of(const T* x, int64_t n, int64_t step, double ord) {
  // Of one element |x|, whose power may overflow, whatever the order.
  if (n == 1 && ord != 0) return std::abs(double(*x));
  if (ord == kInf) return extreme<true>(x, n, step);
  if (ord == -kInf) return extreme<false>(x, n, step);
  double total = 0;
  with_isa([&] {
    if (ord == 2) total = lane_sum(x, n, step, [](double v) { return v * v; });
    else if (ord == 1) total = lane_sum(x, n, step, [](double v) { return v; });
    else if (ord == 0) total = lane_sum(x, n, step, [](double v) { return double(v != 0); });
  });
  if (ord == 0 || ord == 1) return total;
  if (ord == 2) return std::sqrt(total);
  return std::pow(lane_sum(x, n, step, [=](double v) { return std::pow(v, ord); }),
                  1 / ord);
}

void vector_norm_kernel(Tensor& out, const Tensor& self, const Scalar& ord,
                        const Dims& dim, bool, std::optional<DType>) {
  const DType type = is_reduced(out.dtype()) ? DType::Float32 : out.dtype();
  const Layout in = lay_out(as_dtype(self, type), dim);
  Tensor to = out.dtype() == type ? out : empty(out.sizes(), type);
  const double p = ord.to<double>();
  visit_floating("linalg_vector_norm", type, [&]<class T>(TypeTag<T>) {
    const T* x = in.data.data<T>();
    T* result = to.data<T>();
    const int64_t step = in.columns ? in.outer : 1, next = in.columns ? 1 : in.reduced;
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.reduced));
    parallel_for(0, in.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        result[i] = T(norm_of(x + i * next, in.reduced, step, p));
      }
    });
  });
  if (!to.is_same(out)) copy_into(out, to);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("linalg_vector_norm", vector_norm_kernel); }

}  // namespace
}  // namespace pkg

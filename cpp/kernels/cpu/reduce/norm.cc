// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/norm.cc: vector norms, accumulated in double; runs of squares that
// float32 holds are added in float32 first.
#include <cmath>
#include <limits>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/extreme.h"
#include "kernels/cpu/reduce/norm.h"
#include "kernels/cpu/reduce/numbers.h"

namespace pkg {
namespace {

enum class Power { Zero, One, Two, Three, Any };

// Of float32: a few in each lane are added in float, whose sum is about as good as rounding
// it, and those in double.
inline double sum_of_squares(const float* x, int64_t n) {
  constexpr int64_t lanes = 8, deep = 8, some = 2 * lanes * deep;
  double sums[lanes] = {};
  int64_t at = 0;
  for (; at + some <= n; at += some) {
#pragma omp simd
    for (int64_t i = 0; i < lanes; ++i) {
      const float* y = x + at + i;
      float a = 0, b = 0;
#pragma GCC unroll 8
      for (int64_t k = 0; k < deep; ++k, y += 2 * lanes) {
        a += y[0] * y[0];
        b += y[lanes] * y[lanes];
      }
      sums[i] += double(a + b);
    }
  }
  double sum = sum_of<float>(n - at, [=](int64_t i) { return x[at + i] * x[at + i]; });
  for (double one : sums) sum += one;
  return sum;
}

// Sums of powers of sizes.
template <Power power, class T>
struct PowerSum {
  using In = T;
  using Local = double;
  using State = double;
  static constexpr State start = 0;
  static Local identity() { return 0; }
  static Local load(In x, double p) {
    const double v = x;
    if constexpr (power == Power::Zero) return v != 0;
    else if constexpr (power == Power::One) return std::abs(v);
    else if constexpr (power == Power::Two) return v * v;
    else if constexpr (power == Power::Three) return std::abs(v) * v * v;
    else return std::pow(std::abs(v), p);
  }
  static Local combine(Local a, Local b) { return a + b; }
  static constexpr bool kFloatSquares = std::is_same_v<T, float> && power == Power::Two;
  static constexpr int64_t kRun = kFloatSquares              ? 4096
                                  : std::is_same_v<T, float> ? 256
                                                             : 1024;
  static Local run(const In* x, int64_t n, double p) {
    if constexpr (kFloatSquares) {
      // The root halves the error.  What squares may have lost below the smallest numbers
      // of float32, and what is beyond its largest, is for double.
      const double sum = sum_of_squares(x, n);
      if (sum < std::numeric_limits<double>::infinity() && sum > 1e-25) return sum;
    }
    return sum_of<Local>(n, [=](int64_t i) { return load(x[i], p); });
  }
  static void absorb(State& state, Local x) { state += x; }
  static void merge(State& state, State later) { state += later; }
};

// Calls reduce(formula, root) for norms of order p of `each` elements, computed in T.
template <class T, class R>
void with_order(double p, int64_t each, R reduce) {
  const auto same = [](double total) { return total; };
  // Of one element |x|, whose power may overflow, whatever the order.
  if ((each == 1 && p != 0) || (std::isinf(p) && p > 0)) {
    return reduce(TypeTag<Extreme<true, T, AsSize>>(), same);
  }
  if (std::isinf(p)) return reduce(TypeTag<Extreme<false, T, AsSize>>(), same);
  if (p == 0) return reduce(TypeTag<PowerSum<Power::Zero, T>>(), same);
  if (p == 1) return reduce(TypeTag<PowerSum<Power::One, T>>(), same);
  if (p == 2) {
    return reduce(TypeTag<PowerSum<Power::Two, T>>(),
                  [](double s) { return std::sqrt(s); });
  }
  if (p == 3) {
    return reduce(TypeTag<PowerSum<Power::Three, T>>(),
                  [](double s) { return std::cbrt(s); });
  }
  reduce(TypeTag<PowerSum<Power::Any, T>>(), [=](double s) { return std::pow(s, 1 / p); });
}

// put(to, at, norms, n) for some norms, from the at-th on of those that go to `to`, computed
// as results of `type` are.
template <class Put>
void norms(const Tensor& self, DType type, double p, const Dims& dim, int64_t each,
           std::initializer_list<const Tensor*> outs, Put put) {
  constexpr int64_t kSome = 256;
  visit_floating("linalg_vector_norm", type == DType::Float64 ? type : DType::Float32,
                 [&]<class T>(TypeTag<T>) {
                   with_order<T>(p, each, [&]<class F>(TypeTag<F>, auto root) {
                     run_fold(self, dim, FoldLoops<F>::fold(dtype_of<T>, p), outs,
                              [&](const void* from, void* const* to, int64_t n) {
                                auto* states = static_cast<const typename F::State*>(from);
                                double roots[kSome];
                                for (int64_t at = 0; at < n; at += kSome) {
                                  const int64_t some = std::min(kSome, n - at);
                                  for (int64_t i = 0; i < some; ++i)
                                    roots[i] = root(double(states[at + i]));
                                  put(to[0], at, roots, some);
                                }
                              });
                   });
                 });
}

void vector_norm_kernel(Tensor& out, const Tensor& self, const Scalar& ord, const Dims& dim,
                        bool, std::optional<DType>) {
  const int64_t each = out.numel() ? self.numel() / out.numel() : 0;
  norms(self, out.dtype(), ord.to<double>(), dim, each, {&out},
        [type = out.dtype()](void* to, int64_t at, const double* norms, int64_t n) {
          write_numbers(norms, static_cast<char*>(to) + at * itemsize(type), type, n);
        });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("linalg_vector_norm", vector_norm_kernel); }

}  // namespace

double norm_of(const Tensor& self, double p) {
  double norm = 0;
  norms(self, self.dtype(), p, Dims(), self.numel(), {},
        [&norm](void*, int64_t, const double* all, int64_t) { norm = *all; });
  return norm;
}

}  // namespace pkg

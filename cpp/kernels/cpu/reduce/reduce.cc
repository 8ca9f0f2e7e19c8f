// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/reduce.cc: sums, products and counts over dimensions.
#include <cstring>

#include "dispatcher/library.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "kernels/cpu/reduce/fold_sixteens.h"
#include "kernels/cpu/reduce/numbers.h"

namespace pkg {
namespace {

template <class T>
struct Sum {
  using In = T;
  using Local = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  using State = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  static constexpr State start = 0;
  static Local identity() { return 0; }
  static Local load(In x, double) { return Local(x); }
  static Local combine(Local a, Local b) { return a + b; }
  static constexpr int64_t kRun = 2048;
  static Local run(const In* x, int64_t n, double) {
    return sum_of<Local>(n, [=](int64_t i) { return Local(x[i]); });
  }
  static void absorb(State& state, Local x) { state += State(x); }
  static void merge(State& state, State later) { state += later; }
};

template <class T>
struct Product {
  using In = T;
  using Local = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  using State = Local;
  static constexpr State start = 1;
  static Local identity() { return 1; }
  static Local load(In x, double) { return Local(x); }
  static Local combine(Local a, Local b) { return a * b; }
  static constexpr int64_t kRun = 4096;
  static Local run(const In* x, int64_t n, double) {
    return product_of<Local>(n, [=](int64_t i) { return Local(x[i]); });
  }
  static void absorb(State& state, Local x) { state *= x; }
  static void merge(State& state, State later) { state *= later; }
};

// How many elements have any of the bits `mask`: are not zero.
template <class T, T mask>
struct NonZero {
  using In = T;
  using Local = T;  // enough for the elements of a block
  using State = int64_t;
  static constexpr State start = 0;
  static Local identity() { return 0; }
  // No comparison: of eight 16-bit ones that are added GCC 12 makes what counts down.
  static Local load(In x, double) { return std::min<T>(x & mask, 1); }
  static Local combine(Local a, Local b) { return Local(a + b); }
  static constexpr int64_t kRun = 8192;
  // Side by side in lanes, each of which can count so many rows of them.
  static int64_t run(const In* x, int64_t n, double) {
    constexpr int64_t lanes = 128 / sizeof(T), most = 255;
    int64_t total = 0, at = 0;
    while (n - at >= lanes) {
      const int64_t rows = std::min((n - at) / lanes, most);
      T counts[lanes] = {};
      for (int64_t row = 0; row < rows; ++row, at += lanes) {
#pragma omp simd
        for (int64_t i = 0; i < lanes; ++i) counts[i] += (x[at + i] & mask) != 0;
      }
      for (int64_t i = 0; i < lanes; ++i) total += int64_t(counts[i]);
    }
    Local rest = 0;
#pragma omp simd reduction(+ : rest)
    for (int64_t i = at; i < n; ++i) rest += (x[i] & mask) != 0;
    return total + int64_t(rest);
  }
  static void absorb(State& state, int64_t x) { state += x; }
  static void merge(State& state, State later) { state += later; }
};

// What sums and products are computed in.
Fold float_or_int(DType type, const Fold& of_float, const Fold& of_double,
                  const Fold& of_int) {
  if (type == DType::Float64) return of_double;
  return is_floating(type) ? of_float : of_int;
}

void sum_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool,
                std::optional<DType>) {
  const Tensor in = summands(self, out.dtype());
  const bool floating = is_floating(out.dtype());
  const Fold fold = float_or_int(floating ? out.dtype() : DType::Int64,
                                 fold_of_float<Sum<float>>(in.dtype()),
                                 FoldLoops<Sum<double>>::fold(DType::Float64),
                                 FoldLoops<Sum<int64_t>>::fold(DType::Int64));
  run_fold(in, dim, fold, {&out}, [&](const void* states, void* const* to, int64_t n) {
    if (floating) write_numbers(static_cast<const double*>(states), to[0], out.dtype(), n);
    else write_numbers(static_cast<const int64_t*>(states), to[0], out.dtype(), n);
  });
}

void prod_kernel(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool,
                 std::optional<DType>) {
  const Tensor in = summands(self, out.dtype());
  const bool floating = is_floating(out.dtype());
  const Fold fold = float_or_int(floating ? out.dtype() : DType::Int64,
                                 fold_of_float<Product<float>>(in.dtype()),
                                 FoldLoops<Product<double>>::fold(DType::Float64),
                                 FoldLoops<Product<int64_t>>::fold(DType::Int64));
  run_fold(in, dim ? Dims(Shape{*dim}) : Dims(), fold, {&out},
           [&](const void* states, void* const* to, int64_t n) {
             if (floating)
               write_numbers(static_cast<const double*>(states), to[0], out.dtype(), n);
             else write_numbers(static_cast<const int64_t*>(states), to[0], out.dtype(), n);
           });
}

// Whether an element is not zero or, with kZero, is zero; the parameter says which.
enum { kZero = 1, kFloat = 2 };
template <class T>
struct Truth {
  using In = T;
  using Local = T;
  using State = T;
  using RepeatsOnce = void;
  static constexpr State start = 0;
  static Local identity() { return 0; }
  static Local load(In x, double what) {
    return T(std::min<T>(x & bits_of(what), 1) ^ T(int(what) & kZero));
  }
  static T bits_of(double what) {
    constexpr T all = T(-1);
    return int(what) & kFloat ? T(all >> 1) : all;  // the sign is no number
  }
  static Local combine(Local a, Local b) { return T(a | b); }
  static constexpr int64_t kRun = 8192;
  static T run(const In* x, int64_t n, double what) {
    T found = 0;
    const auto find = [&](auto of) {
#pragma omp simd reduction(| : found)
      for (int64_t i = 0; i < n; ++i) found |= of(x[i]);
    };
    if (int(what) & kZero) find([what](T one) { return load(one, what); });
    else find([bits = bits_of(what)](T one) { return T(one & bits); });
    return found;
  }
  static void absorb(State& state, T x) { state = T(state | x); }
  static void merge(State& state, State later) { absorb(state, later); }
};

// Of the bits as they are; those of a float but the sign.
template <class T>
Fold count_bits(DType type) {
  constexpr T all = T(-1);
  if (is_floating(type)) return FoldLoops<NonZero<T, T(all >> 1)>>::fold(type);
  return FoldLoops<NonZero<T, all>>::fold(type);
}
Fold count_fold(DType type) {
  switch (itemsize(type)) {
    case 1: return FoldLoops<NonZero<uint8_t, 0xff>>::fold(type);
    case 2: return FoldLoops<NonZero<uint16_t, 0x7fff>>::fold(type);
    case 4: return count_bits<uint32_t>(type);
    default: return count_bits<uint64_t>(type);
  }
}

void count_nonzero_kernel(Tensor& out, const Tensor& self, const Dims& dim) {
  run_fold(self, dim, count_fold(self.dtype()), {&out},
           [](const void* states, void* const* to, int64_t n) {
             std::memcpy(to[0], states, size_t(n) * sizeof(int64_t));
           });
}

Fold truth_fold(DType type, bool zero) {
  const int what = (zero ? kZero : 0) + (is_floating(type) ? kFloat : 0);
  switch (itemsize(type)) {
    case 1: return FoldLoops<Truth<uint8_t>>::fold(type, what);
    case 2: return FoldLoops<Truth<uint16_t>>::fold(type, what);
    case 4: return FoldLoops<Truth<uint32_t>>::fold(type, what);
    default: return FoldLoops<Truth<uint64_t>>::fold(type, what);
  }
}

// any; or all: whether none is zero.
template <bool All>
void logic_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool) {
  run_fold(self, dim, truth_fold(self.dtype(), All), {&out},
           [size = itemsize(self.dtype())](const void* states, void* const* to, int64_t n) {
             visit_size(size, [=]<class T>(TypeTag<T>) {
               auto* found = static_cast<const T*>(states);
               auto* out = static_cast<bool*>(to[0]);
               for (int64_t i = 0; i < n; ++i) out[i] = (found[i] != 0) != All;
             });
           });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("sum", sum_kernel);
  m.impl("prod", prod_kernel);
  m.impl("count_nonzero", count_nonzero_kernel);
  m.impl("all", logic_kernel<true>);
  m.impl("any", logic_kernel<false>);
}

}  // namespace
}  // namespace pkg

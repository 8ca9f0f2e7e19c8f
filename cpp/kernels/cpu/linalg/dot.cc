// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/dot.cc: sums of the products of two vectors, and their outer product.
#include <algorithm>

#include "base/half.h"
#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/linalg/gemm.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"

namespace pkg {
namespace gemm {
namespace {

constexpr int64_t kPiece = 512;  // elements of each vector in the first-level cache

// float16 numbers are finite mostly: then their bits, moved to a float's places, are the
// number but for a power of two, with subnormal ones too.
[[gnu::always_inline]] inline bool are_finite(const Half* x, int64_t n) {
  uint16_t most = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max(most, uint16_t(x[i].bits & 0x7fff));
  return most < 0x7c00;
}
[[gnu::always_inline]] inline float finite(Half x) {
  const int32_t bits = int16_t(x.bits);
  return std::bit_cast<float>((uint32_t(bits) << 13) & 0x8fffe000u) * 0x1p112f;
}

// n <= kPiece elements as dense T, in `to`.
template <class T, class S>
[[gnu::always_inline]] inline void widen(const S* x, int64_t step, int64_t n, T* to) {
  if (step == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = T(x[i]);
  } else if (step == 2) {
    for (int64_t i = 0; i < n; ++i) to[i] = T(x[2 * i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = T(x[i * step]);
  }
}

// Sums in the order of gemv.cc, so that a row of a product has the same bits alone.
template <class T>
struct Lanes {
  static constexpr int64_t kVector = 64 / sizeof(T), kCount = 4 * kVector;
  T sums[kCount] = {}, total = 0;

  template <class S, class F>
  [[gnu::always_inline]] void add(const S* __restrict x, const S* __restrict y, int64_t n,
                                  bool last, F number) {
    T here[kCount];
    for (int64_t l = 0; l < kCount; ++l) here[l] = sums[l];
    int64_t i = 0;
    for (; i + kCount <= n; i += kCount) {
#pragma omp simd
      for (int64_t l = 0; l < kCount; ++l) here[l] += number(x[i + l]) * number(y[i + l]);
    }
    for (int64_t l = 0; l < kCount; ++l) sums[l] = here[l];
    if (!last) return;
    T s[kVector], rest = 0;
    for (int64_t l = 0; l < kVector; ++l) {
      s[l] = (here[l] + here[kVector + l]) +
             (here[2 * kVector + l] + here[3 * kVector + l]);
    }
    for (; i + kVector <= n; i += kVector) {
#pragma omp simd
      for (int64_t l = 0; l < kVector; ++l) s[l] += number(x[i + l]) * number(y[i + l]);
    }
    for (; i < n; ++i) rest += number(x[i]) * number(y[i]);
    for (int64_t half = kVector / 2; half > 2; half /= 2) {
      for (int64_t l = 0; l < half; ++l) s[l] += s[l + half];
    }
    total = rest + ((s[0] + s[2]) + (s[1] + s[3]));
  }
};

template <class T, class S>
[[gnu::always_inline]] inline T dot_part(const S* a, int64_t a_step, const S* b,
                                         int64_t b_step, int64_t n) {
  const bool dense = a_step == 1 && b_step == 1;
  // What is there as dense T is read where it lies.
  const bool whole = dense && std::is_same_v<T, S>;
  const int64_t piece = whole ? n : kPiece;
  Lanes<T> lanes;
  T left[kPiece], right[kPiece];
  for (int64_t at = 0; at < n; at += piece) {
    const int64_t count = std::min(piece, n - at);
    const S *x = a + at * a_step, *y = b + at * b_step;
    const bool last = at + count == n;
    if constexpr (std::is_same_v<S, Half>) {
      if (dense && are_finite(x, count) && are_finite(y, count)) {
        lanes.add(x, y, count, last, [](Half h) { return finite(h); });
        continue;
      }
    }
    const T *wide_x = left, *wide_y = right;
    if constexpr (std::is_same_v<T, S>) {
      if (whole) wide_x = x, wide_y = y;
    }
    if (!whole) {
      widen(x, a_step, count, left);
      widen(y, b_step, count, right);
    }
    // One place for all steps: two copies of the loops need not round alike where the
    // compiler fuses products and sums in one of them (products of 16 bits are exact).
    lanes.add(wide_x, wide_y, count, last, [](T number) { return number; });
  }
  return lanes.total;
}

}  // namespace

template <class T, class S>
T dot(const S* a, int64_t a_step, const S* b, int64_t b_step, int64_t n) {
  const auto part = [=](int64_t at, int64_t count) {
    T sum = 0;
    with_isa([=, &sum] {
      sum = dot_part<T>(a + at * a_step, a_step, b + at * b_step, b_step, count);
    });
    return sum;
  };
  if (n <= kPart) return part(0, n);
  const int64_t parts = (n + kPart - 1) / kPart;
  const Tensor memory = empty(Shape{parts * int64_t(sizeof(T))}, DType::UInt8);
  T* sums = static_cast<T*>(memory.data());
  parallel_for(0, parts, 1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = part(i * kPart, std::min(kPart, n - i * kPart));
    }
  });
  T sum = 0;
  for (int64_t i = 0; i < parts; ++i) sum += sums[i];
  return sum;
}

#define PKG_DOT(T, S) template T dot(const S*, int64_t, const S*, int64_t, int64_t);
PKG_FORALL_PRODUCT_TYPES(PKG_DOT)
#undef PKG_DOT

}  // namespace gemm

namespace {

// Runs f(type computed in, type of the elements); integers modulo a power of two.
template <class F>
void visit_products(DType dtype, F f) {
  switch (dtype) {
    case DType::Float16: return f(TypeTag<float>{}, TypeTag<Half>{});
    case DType::BFloat16: return f(TypeTag<float>{}, TypeTag<BFloat16>{});
    case DType::Float32: return f(TypeTag<float>{}, TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{}, TypeTag<double>{});
    case DType::Int32: return f(TypeTag<uint32_t>{}, TypeTag<uint32_t>{});
    case DType::Int64: return f(TypeTag<uint64_t>{}, TypeTag<uint64_t>{});
    default: return f(TypeTag<uint8_t>{}, TypeTag<uint8_t>{});
  }
}

void outer_kernel(Tensor& out, const Tensor& self, const Tensor& vec2) {
  const DType dtype = out.dtype();
  const int64_t m = self.numel(), n = vec2.numel();
  if (m * n == 0) return;
  const auto numbers = [&](const Tensor& t) {
    const DType wide = is_reduced(dtype) ? DType::Float32 : dtype;
    return as_contiguous(as_dtype(as_dtype(t, dtype), wide));
  };
  const Tensor left = numbers(self), right = numbers(vec2);
  visit_products(dtype, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const T* a = static_cast<const T*>(left.data());
    const T* b = static_cast<const T*>(right.data());
    S* to = static_cast<S*>(out.data());
    parallel_for(0, m, std::max<int64_t>(1, kGrain / n), [=](int64_t begin, int64_t end) {
      with_isa([=] {
        for (int64_t i = begin; i < end; ++i) {
          const T factor = a[i];
          S* __restrict row = to + i * n;
          for (int64_t j = 0; j < n; ++j) row[j] = S(T(factor * b[j]));
        }
      });
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("outer", outer_kernel);
  m.impl("ger", outer_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/dot.cc: sums of the products of two vectors, and their outer product.
#include <algorithm>

#include "base/half.h"
#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/linalg/gemm.h"
#include "scheduler/parallel.h"
#include "tensor/convert.h"
#include "tensor/copy.h"
#include "tensor/sixteen.h"

namespace pkg {
namespace gemm {
namespace {

constexpr int64_t kPiece = 512;  // elements of each vector in the first-level cache

template <class S>
inline constexpr bool kIsSixteen = std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>;

// n <= kPiece elements without gaps, in `to`.
template <class S>
[[gnu::always_inline]] inline void gather(const S* x, int64_t step, int64_t n, S* to) {
  if (step == 2) {
    for (int64_t i = 0; i < n; ++i) to[i] = x[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = x[i * step];
  }
}

// Sums in the order of gemv.cc, so that a row of a product has the same bits alone.
template <class T>
struct Lanes {
  static constexpr int64_t kVector = 64 / sizeof(T), kCount = 4 * kVector;
  T sums[kCount] = {}, total = 0;

  // vector(i, sums) adds the products of a vector from element i on, one(i) is one of them.
  template <class F, class G>
  [[gnu::always_inline]] void add(int64_t n, bool last, F vector, G one) {
    T here[kCount];
    for (int64_t l = 0; l < kCount; ++l) here[l] = sums[l];
    int64_t i = 0;
    for (; i + kCount <= n; i += kCount) {
#pragma GCC unroll 4
      for (int64_t v = 0; v < kCount; v += kVector) vector(i + v, here + v);
    }
    for (int64_t l = 0; l < kCount; ++l) sums[l] = here[l];
    if (!last) return;
    T s[kVector], rest = 0;
    for (int64_t l = 0; l < kVector; ++l) {
      s[l] = (here[l] + here[kVector + l]) +
             (here[2 * kVector + l] + here[3 * kVector + l]);
    }
    for (; i + kVector <= n; i += kVector) vector(i, s);
    T few[4] = {};
    for (; i + 4 <= n; i += 4) {
#pragma omp simd
      for (int64_t l = 0; l < 4; ++l) few[l] += one(i + l);
    }
    for (; i < n; ++i) rest += one(i);
    rest += (few[0] + few[2]) + (few[1] + few[3]);
#pragma GCC unroll 4
    for (int64_t half = kVector / 2; half > 2; half /= 2) {
      for (int64_t l = 0; l < half; ++l) s[l] += s[l + half];
    }
    total = rest + ((s[0] + s[2]) + (s[1] + s[3]));
  }
};

// Products of n elements, of 16 bits by the functions of a level in sixteen.h; 0: by none.
template <class T, class S, class Level>
[[gnu::always_inline]] inline void add_products(Lanes<T>& lanes, const S* x, const S* y,
                                                int64_t n, bool last, Level) {
  constexpr int64_t kVector = Lanes<T>::kVector;
  lanes.add(
      n, last,
      [=](int64_t i, T* sums) {
        if constexpr (kIsSixteen<S> && !std::is_same_v<Level, int>) {
          float a[kSixteen], b[kSixteen];
          Sixteen<Level::value>::widen(a, x + i);
          Sixteen<Level::value>::widen(b, y + i);
#pragma omp simd
          for (int64_t l = 0; l < kSixteen; ++l) sums[l] += a[l] * b[l];
        } else {
#pragma omp simd
          for (int64_t l = 0; l < kVector; ++l) sums[l] += T(x[i + l]) * T(y[i + l]);
        }
      },
      [=](int64_t i) { return T(x[i]) * T(y[i]); });
}

template <class T, class S, class Level>
[[gnu::always_inline]] inline T dot_part(const S* a, int64_t a_step, const S* b,
                                         int64_t b_step, int64_t n, Level level) {
  // What has gaps is gathered, a piece at a time; what has none is read where it lies.
  const int64_t piece = a_step == 1 && b_step == 1 ? n : kPiece;
  Lanes<T> lanes;
  S left[kPiece], right[kPiece];
  for (int64_t at = 0; at < n; at += piece) {
    const int64_t count = std::min(piece, n - at);
    const S *x = a + at * a_step, *y = b + at * b_step;
    if (a_step != 1) gather(x, a_step, count, left), x = left;
    if (b_step != 1) gather(y, b_step, count, right), y = right;
    // One place for all steps: two copies of the loops need not round alike where the
    // compiler fuses products and sums in one of them (products of 16 bits are exact).
    add_products(lanes, x, y, count, at + count == n, level);
  }
  return lanes.total;
}

}  // namespace

template <class T, class S>
T dot(const S* a, int64_t a_step, const S* b, int64_t b_step, int64_t n) {
  const auto part = [=](int64_t at, int64_t count) {
    T sum = 0;
    const S *x = a + at * a_step, *y = b + at * b_step;
    const auto run = [=, &sum](auto level) {
      sum = dot_part<T>(x, a_step, y, b_step, count, level);
    };
    if constexpr (kIsSixteen<S>) {
      if (!with_sixteen(run)) run(0);
    } else {
      with_isa([=] { run(0); });
    }
    return sum;
  };
  constexpr int64_t most = kPart<S>;
  if (n <= most) return part(0, n);
  const int64_t parts = (n + most - 1) / most;
  const Tensor memory = empty(Shape{parts * int64_t(sizeof(T))}, DType::UInt8);
  T* sums = static_cast<T*>(memory.data());
  parallel_for(0, parts, 1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = part(i * most, std::min(most, n - i * most));
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

// to[i, j] = x[i] y[j], dense.
template <class T>
void multiply(const T* x, int64_t m, const T* y, int64_t n, T* to) {
  constexpr int64_t kFew = 8;  // columns, whose loops would not pay
  with_isa([=] {
    // Copies: bytes that are written may be what a closure holds, for the compiler.
    const int64_t rows = m, columns = n;
    const T *left = x, *right = y;
    T* const products = to;
    if (columns < kFew) {
      for (int64_t j = 0; j < columns; ++j) {
        const T one = right[j];
        T* __restrict column = products + j;
        for (int64_t i = 0; i < rows; ++i) column[i * columns] = T(left[i] * one);
      }
      return;
    }
    for (int64_t i = 0; i < rows; ++i) {
      const T one = left[i];
      T* __restrict row = products + i * columns;
      for (int64_t j = 0; j < columns; ++j) row[j] = T(one * right[j]);
    }
  });
}

void outer_kernel(Tensor& out, const Tensor& self, const Tensor& vec2) {
  const DType dtype = out.dtype();
  const int64_t m = self.numel(), n = vec2.numel();
  if (m * n == 0) return;
  const DType wide = is_reduced(dtype) ? DType::Float32 : dtype;
  const auto numbers = [&](const Tensor& t) {
    return as_contiguous(as_dtype(as_dtype(t, dtype), wide));
  };
  const Tensor left = numbers(self), right = numbers(vec2);
  visit_products(dtype, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const T* a = static_cast<const T*>(left.data());
    const T* b = static_cast<const T*>(right.data());
    S* to = static_cast<S*>(out.data());
    const Conversion narrow(wide, dtype, dtype);
    parallel_for(0, m, std::max<int64_t>(1, kGrain / n), [=](int64_t begin, int64_t end) {
      constexpr int64_t kSome = 2048;  // products at a time, 16-bit ones in a buffer
      constexpr bool direct = sizeof(T) == sizeof(S);
      alignas(64) T buffer[direct ? 1 : kSome];
      const int64_t rows = std::max<int64_t>(1, kSome / n);
      for (int64_t i = begin; i < end; i += rows) {
        const int64_t count = std::min(rows, end - i);
        for (int64_t j = 0; j < n; j += kSome) {
          const int64_t some = std::min(kSome, n - j);
          S* const place = to + i * n + j;
          T* const products = direct ? reinterpret_cast<T*>(place) : buffer;
          multiply(a + i, count, b + j, some, products);
          if constexpr (!direct) {
            narrow.run(reinterpret_cast<char*>(place), reinterpret_cast<char*>(products),
                       count * some, nullptr);
          }
        }
      }
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("outer", outer_kernel);
  m.impl("ger", outer_kernel);
}

}  // namespace
}  // namespace pkg

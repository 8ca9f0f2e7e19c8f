// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/moments.h: sums over runs of memory for normalisation and its gradient.
#pragma once

#include <cstdint>

#include "kernels/cpu/reduce/spread.h"

namespace pkg {

/// Sums of f(i) and g(i) for i below n in one walk, each in as many lanes as there are,
/// twice: an addition does not wait for the one before.
template <class T, class F, class G>
inline void sums_of(int64_t n, F f, G g, T& of_f, T& of_g) {
  T a = 0, b = 0, c = 0, d = 0;
  const int64_t half = n / 2;
#pragma omp simd reduction(+ : a, b, c, d)
  for (int64_t i = 0; i < half; ++i) {
    a += f(i);
    b += f(i + half);
    c += g(i);
    d += g(i + half);
  }
  of_f = a + b + (n % 2 ? f(n - 1) : T(0));
  of_g = c + d + (n % 2 ? g(n - 1) : T(0));
}

/// Of n elements in the first cache; about zero where they are not `centred`.  What is apart
/// from the mean adds up to what its rounding left out.
template <class T>
inline Moments moments(const T* x, int64_t n, bool centred) {
  const T mean = centred ? sum_of<T>(n, [=](int64_t i) { return x[i]; }) / T(n) : T(0);
  const T squares = sum_of<T>(n, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); });
  if (!centred) return {double(n), 0, double(squares)};
  const double rest = sum_of<T>(n, [=](int64_t i) { return x[i] - mean; });
  const double middle = double(mean) + rest / double(n);
  return {double(n), middle, double(squares) - rest * rest / double(n)};
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// collectives/reduce.cc: blocks of numbers are widened, reduced and narrowed.
#include "collectives/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace pkg::collectives {
namespace {

constexpr int64_t kBlock = 512;

// What elements are reduced in.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <class T>
Wide<T> widen(T value) {
  if constexpr (std::is_same_v<T, bool>) return value ? 1 : 0;
  else if constexpr (std::is_integral_v<T>) return uint64_t(int64_t(value));
  else return double(float(value));
}
template <>
double widen(double value) {
  return value;
}

template <class T>
T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) return T(value);
  else return T(float(value));
}

// The smaller one, NaN if there is one.
struct Smaller {
  double operator()(double a, double b) const { return b < a || std::isnan(b) ? b : a; }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return uint64_t(std::min(int64_t(a), int64_t(b)));
  }
};
struct Larger {
  double operator()(double a, double b) const { return b > a || std::isnan(b) ? b : a; }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return uint64_t(std::max(int64_t(a), int64_t(b)));
  }
};
struct Sum {
  template <class W>
  W operator()(W a, W b) const {
    return a + b;
  }
};
struct Product {
  template <class W>
  W operator()(W a, W b) const {
    return a * b;
  }
};

template <class T, class Combine>
void run(const Scaled& how, std::span<const char* const> inputs, char* out, int64_t count,
         Combine combine) {
  using W = Wide<T>;
  std::array<W, kBlock> sums;
  const auto scaled = [&](W value, double factor) {
    if constexpr (std::is_same_v<W, double>) return value * factor;
    else return value;
  };
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t n = std::min(kBlock, count - at);
    for (size_t r = 0; r < inputs.size(); ++r) {
      const T* in = reinterpret_cast<const T*>(inputs[r]) + at;
      for (int64_t i = 0; i < n; ++i) {
        const W value = scaled(widen(in[i]), how.prescale);
        sums[size_t(i)] = r == 0 ? value : combine(sums[size_t(i)], value);
      }
    }
    T* to = reinterpret_cast<T*>(out) + at;
    for (int64_t i = 0; i < n; ++i) {
      W value = scaled(sums[size_t(i)], how.postscale);
      if (how.reduction == Reduction::Average) value /= W(how.ranks);
      to[i] = narrow<T>(value);
    }
  }
}

}  // namespace

void reduce(DType dtype, const Scaled& how, std::span<const char* const> inputs, char* out,
            int64_t count) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    switch (how.reduction) {
      case Reduction::Min: return run<T>(how, inputs, out, count, Smaller());
      case Reduction::Max: return run<T>(how, inputs, out, count, Larger());
      case Reduction::Product: return run<T>(how, inputs, out, count, Product());
      default: return run<T>(how, inputs, out, count, Sum());
    }
  });
}

}  // namespace pkg::collectives

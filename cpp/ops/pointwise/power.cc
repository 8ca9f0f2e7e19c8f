// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/power.cc: powers, with broadcasting and type promotion.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/number_fits.h"
#include "base/vecmath.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

struct Power {  // of floats
  template <class T>
  T operator()(T x, T y) const {
    return vec::pow(x, y);
  }
};

// Of integers, which wrap: a chunk at once, by as many squares as its largest exponent
// takes, without a branch for each element.
template <class T>
struct IntegerPower {
  // Vectors have no products of bytes.
  using Wide = std::conditional_t<sizeof(T) == 1, uint16_t, std::make_unsigned_t<T>>;
  // C++ multiplies 16 bits as int, which may overflow.
  static Wide product(Wide a, Wide b) {
    using Factor = std::conditional_t<sizeof(T) == 1, uint32_t, Wide>;
    return Wide(Factor(a) * Factor(b));
  }
  static constexpr int64_t kChunk = 256;
  T x[kChunk], y[kChunk];
  Wide power[kChunk], left[kChunk], result[kChunk];

  [[gnu::always_inline]] void raise(const T* from, const T* exponents, T* out, int64_t n) {
    std::make_unsigned_t<T> any = 0;
    for (int64_t i = 0; i < n; ++i) {
      x[i] = from[i];
      y[i] = exponents[i];
      any |= wraps(y[i]);
      power[i] = Wide(x[i]);
      // The lowest bit chooses between x and 1 without a product.
      const Wide chosen = Wide(0 - Wide(Wide(y[i]) & 1));
      result[i] = Wide(Wide(Wide(power[i] ^ 1) & chosen) ^ 1);
      left[i] = Wide(Wide(y[i]) >> 1);
    }
    const auto most = any & wraps(std::numeric_limits<T>::max());
    const int steps = int(std::bit_width(uint64_t(most)));
    for (int bit = 1; bit < steps; ++bit) {
      for (int64_t i = 0; i < n; ++i) {
        power[i] = product(power[i], power[i]);
        const Wide chosen = Wide(0 - Wide(left[i] & 1));
        result[i] = product(result[i], Wide(Wide(Wide(power[i] ^ 1) & chosen) ^ 1));
        left[i] = Wide(left[i] >> 1);
      }
    }
    for (int64_t i = 0; i < n; ++i) out[i] = T(result[i]);
    if constexpr (std::is_signed_v<T>) {
      for (int64_t i = 0; any != most && i < n; ++i) {
        if (y[i] < 0) out[i] = inverse(x[i], y[i]);
      }
    }
  }
  // 1 / x^-y, rounded towards zero.
  static T inverse(T x, T y) {
    if (x == -1) return y % 2 ? T(-1) : T(1);
    return x == 1 ? T(1) : T(0);
  }

  static void block(const void*, char* const* data, int64_t n) {
    with_isa([=] {
      IntegerPower chunk;
      auto* out = reinterpret_cast<T*>(data[0]);
      auto* x = reinterpret_cast<const T*>(data[1]);
      auto* y = reinterpret_cast<const T*>(data[2]);
      for (int64_t at = 0; at < n; at += kChunk) {
        chunk.raise(x + at, y + at, out + at, std::min(kChunk, n - at));
      }
    });
  }
};

Spec power_rule(const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(a, b);
  // A negative number would make every result 0; of a tensor some may be none.
  PKG_CHECK(is_floating(dtype) || !b.impl()->wrapped_number || item(b).to<int64_t>() >= 0,
            RuntimeError, "[pow] Integers to negative integer powers are not allowed.");
  // As PyTorch: float32 is raised to a double's power.
  if (b.impl()->wrapped_number && (is_integral(dtype) || is_reduced(dtype))) {
    check_fits("pow", item(b), dtype, "exponent");
  }
  return broadcast_spec("pow", a, b, dtype);
}

double number_of(const Tensor& tensor) {  // item() would wait: for itself, in place
  return visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (is_reduced(dtype_of<T>)) return double(float(*tensor.data<T>()));
    else return double(*tensor.data<T>());
  });
}
void power_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(a, b);
  const double number = b.ndim() == 0 ? number_of(b) : vec::kNan<double>;
  const auto run = [&](auto f) { run_unary(out, a, dtype, kNumberType, f); };
  const auto run_floating = [&](auto f) { run_unary(out, a, dtype, kFloatType, f); };
  if (number == 0) return run([](auto x) { return decltype(x)(1); });
  if (number == 1) return run([](auto x) { return x; });
  if (number == 2) {
    return run([](auto x) -> decltype(x) { return decltype(x)(wraps(x) * wraps(x)); });
  }
  if (number == 3) {
    return run(
        [](auto x) -> decltype(x) { return decltype(x)(wraps(x) * wraps(x) * wraps(x)); });
  }
  if (is_floating(dtype)) {
    // The roots of -inf and -0 are others than these powers of theirs.
    const bool root = b.impl()->wrapped_number;
    if (root && number == 0.5) return run_floating([](auto x) { return std::sqrt(x); });
    if (root && number == -0.5) {
      return run_floating([](auto x) { return decltype(x)(1) / std::sqrt(x); });
    }
    if (number == -1) return run_floating([](auto x) { return decltype(x)(1) / x; });
    if (number == -2) return run_floating([](auto x) { return decltype(x)(1) / (x * x); });
  }
  if (is_floating(dtype)) return run_binary(out, a, b, dtype, kFloatType, Long<Power>{});
  kNumberType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      Pointwise kernel{IntegerPower<T>::block, nullptr};
      kernel.add(out, dtype);
      add_operand(kernel, a, dtype, dtype, Numbers::Rounded);
      add_operand(kernel, b, dtype, dtype, Numbers::Rounded);
      run_pointwise(kernel);
    }
  });
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("pow(Tensor self, Tensor exponent) -> Tensor")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(power_rule)
      .cpu(power_kernel)
      .doc("self ** exponent, within 2 ulp; by the number 0.5 as sqrt.")
      .derivative(
          "self", "self exponent",
          [](auto& g, auto& self, auto& exponent) {
            const Tensor x = as_gradient(self, g), e = as_gradient(exponent, g);
            // x^0 has slope 0, also at x = 0, where 0 * x^-1 would be NaN.
            if (grad_enabled() && e.requires_grad()) {  // it changes with e, by x^-1 there
              const Tensor odd = eq(e, 0) * ~isfinite(1 / x);
              return g * (e * pow(where(odd, 1, x), e - 1));
            }
            const Tensor flat = eq(e, 0);
            const Tensor less = where(flat, 0, e - 1);
            less.impl()->wrapped_number =
                exponent.impl()->wrapped_number;  // a root's is a root
            return where(flat, 0, g * (e * pow(x, less)));
          })
      .derivative("exponent", "self exponent result",
                  [](auto& g, auto& self, auto& exponent, auto& result) {
                    const Tensor x = as_gradient(self, g), e = as_gradient(exponent, g);
                    // 0^e is flat for e >= 0; log(0) would make it NaN.
                    const Tensor flat = eq(x, 0) * (e >= 0);
                    return g * (result * log(where(flat, 1, x)));
                  })
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

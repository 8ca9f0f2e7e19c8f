// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/arithmetic.cc: sums, products, powers and extremes of two tensors, with
// broadcasting and type promotion.  Quotients are in division.cc.
#include "base/number_fits.h"
#include "base/vecmath.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

[[gnu::cold]] void check_alpha(const Scalar& alpha, DType dtype) {
  PKG_CHECK(!alpha.is_float() || is_floating(dtype), RuntimeError,
            "[add] For integral input tensors, argument alpha must not be a floating "
            "point number (alpha=",
            alpha, ").");
  PKG_CHECK(alpha.kind() != Scalar::Kind::Bool || dtype == DType::Bool, RuntimeError,
            "[add] Boolean alpha only supported for Boolean results, got alpha=", alpha, ".");
  check_factor("add", alpha, dtype, "alpha");
}
Spec add_rule(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const DType dtype = result_type(a, b);
  if (!(alpha == Scalar(1))) check_alpha(alpha, dtype);
  return broadcast_spec("add", a, b, dtype);
}

// A bool less a bool has no meaning that everyone shares.
Spec sub_rule(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  PKG_CHECK(a.dtype() != DType::Bool && b.dtype() != DType::Bool, RuntimeError,
            "[sub] Subtraction, the `-` operator, with a bool tensor is not supported. To "
            "invert a mask, use the `~` or logical_not; for a difference of masks, `^`.");
  return add_rule(a, b, alpha);
}

template <int Sign>
void add_kernel(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const DType dtype = result_type(a, b);
  if (alpha == Scalar(1)) {
    return run_binary(out, a, b, dtype, kAnyType, [](auto x, auto y) -> decltype(x) {
      return decltype(x)(Sign > 0 ? wraps(x) + wraps(y) : wraps(x) - wraps(y));
    });
  }
  const double factor = Sign * alpha.to<double>();
  const uint64_t whole = alpha.is_float() ? 0 : Sign * wraps(alpha.to<int64_t>());
  run_binary(out, a, b, dtype, kAnyType, [=](auto x, auto y) -> decltype(x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) return x + T(factor) * y;
    else return T(wraps(x) + wraps(T(whole)) * wraps(y));
  });
}

template <int Sign>
constexpr auto scaled = [](const Tensor& grad, const Scalar& alpha) {
  const Tensor g = Sign > 0 ? grad : -grad;
  return alpha == Scalar(1) ? g : g * alpha;
};

struct Power {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return y == T(2) ? x * x : std::pow(x, y);
    } else {
      if (y < 0) {  // 1 / x^-y, rounded towards zero
        if constexpr (std::is_signed_v<T>) {
          if (x == -1) return y % 2 ? T(-1) : T(1);
        }
        return x == 1 ? T(1) : T(0);
      }
      T result = 1;
      for (auto n = uint64_t(y); n; n >>= 1) {
        if (n & 1) result = T(wraps(result) * wraps(x));
        x = T(wraps(x) * wraps(x));
      }
      return result;
    }
  }
};

Spec power_rule(const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(a, b);
  // A negative number would make every result 0; of a tensor some may be none.
  PKG_CHECK(is_floating(dtype) || !b.impl()->wrapped_number ||
                item(b).to<int64_t>() >= 0,
            RuntimeError, "[pow] Integers to negative integer powers are not allowed.");
  // As PyTorch: float32 is raised to a double's power.
  if (b.impl()->wrapped_number && (is_integral(dtype) || is_reduced(dtype))) {
    check_fits("pow", item(b), dtype, "exponent");
  }
  return broadcast_spec("pow", a, b, dtype);
}

// What the larger of the two gets, half of it at a tie; NaN wins over all, and of it both
// get the whole.
Tensor shared(const Tensor& g, const Tensor& a, const Tensor& b) {
  return where(eq(a, b), g * 0.5, g);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .doc("self + alpha * other.  Broadcasts and promotes; gradient to both.")
      .pointwise()
      .shape(add_rule)
      .cpu(add_kernel<1>)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative("other", "alpha", scaled<1>)
      .in_place();
  m.def("sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .doc("self - alpha * other.  Broadcasts and promotes; gradient to both.")
      .pointwise()
      .shape(sub_rule)
      .cpu(add_kernel<-1>)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative("other", "alpha", scaled<-1>)
      .in_place();
  binary_any(m.def("mul(Tensor self, Tensor other) -> Tensor"),
             [](auto x, auto y) { return wraps(x) * wraps(y); })
      .doc("self * other.  Broadcasts and promotes; gradient to both.")
      .derivative("self", "other", [](auto& g, auto& other) { return g * other; })
      .derivative("other", "self", [](auto& g, auto& self) { return g * self; })
      .in_place();
  m.def("pow(Tensor self, Tensor exponent) -> Tensor")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(power_rule)
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, result_type(a, b), kNumberType, Power{});
      })
      .doc("self ** exponent.")
      .derivative("self", "self exponent", [](auto& g, auto& self, auto& exponent) {
        const Tensor x = as_gradient(self, g), e = as_gradient(exponent, g);
        // x^0 has slope 0, also at x = 0, where 0 * x^-1 would be NaN.
        return g * (e * pow(x, where(eq(e, 0), 0, e - 1)));
      })
      .derivative("exponent", "self exponent result",
                  [](auto& g, auto& self, auto& exponent, auto& result) {
                    const Tensor x = as_gradient(self, g), e = as_gradient(exponent, g);
                    // 0^e is flat for e >= 0; log(0) would make it NaN.
                    const Tensor flat = eq(x, 0) * (e >= 0);
                    return g * (result * log(where(flat, 1, x)));
                  })
      .in_place();
  binary_any(m.def("maximum(Tensor self, Tensor other) -> Tensor"),
             [](auto x, auto y) { return x < y || y != y ? y : x; })
      .doc("Larger of the two; NaN wins.  At a tie both get half the gradient.")
      .derivative("self", "self other", [](auto& g, auto& a, auto& b) {
        return where(a < b, 0, shared(g, a, b));
      })
      .derivative("other", "self other", [](auto& g, auto& a, auto& b) {
        return where(b < a, 0, shared(g, a, b));
      });
  binary_any(m.def("minimum(Tensor self, Tensor other) -> Tensor"),
             [](auto x, auto y) { return x > y || y != y ? y : x; })
      .doc("Smaller of the two; NaN wins.  At a tie both get half the gradient.")
      .derivative("self", "self other", [](auto& g, auto& a, auto& b) {
        return where(a > b, 0, shared(g, a, b));
      })
      .derivative("other", "self other", [](auto& g, auto& a, auto& b) {
        return where(b > a, 0, shared(g, a, b));
      });
}

}  // namespace
}  // namespace pkg::ops

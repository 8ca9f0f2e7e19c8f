// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/rectifier.cc: the nonlinearities of networks that are made of straight
// pieces, each beside its slope.  Relative: activation.cc.
#include <cmath>
#include <limits>

#include "base/number_fits.h"
#include "ops/pointwise/gradient_pass.h"
#include "ops/pointwise/limits.h"
#include "tensor/fill.h"

namespace pkg::ops {
namespace {

// A number that fits the dtype, as its elements: integers do not go through double.
struct Limit {
  Limit(const Scalar& number, DType dtype)
      : floating(number.to<double>()),
        integer(is_floating(dtype) ? 0 : number.to<int64_t>()) {}
  template <class T>
  T as() const {
    if constexpr (std::is_integral_v<T>) return T(integer);
    else return T(floating);
  }
  double floating;
  int64_t integer;
};
Spec threshold_rule(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  check_factor("threshold", threshold, self.dtype(), "threshold");
  check_factor("threshold", value, self.dtype(), "value");
  return self.spec();
}
Spec leaky_relu_rule(const Tensor& self, const Scalar& negative_slope) {
  const Spec spec = float_shape(self);
  check_factor("leaky_relu", negative_slope, spec.dtype, "negative_slope");
  return spec;
}
Spec hardtanh_rule(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  const double low = min_val.to<double>(), high = max_val.to<double>();
  PKG_CHECK(!(low > high), ValueError,
            "[hardtanh] min_val cannot be greater than max_val, "
            "got min_val=",
            min_val, " and max_val=", max_val, ".");
  PKG_CHECK(self.dtype() != DType::UInt8 || (low >= 0 && high >= 0), RuntimeError,
            "[hardtanh] cannot do hardtanh on an unsigned type with negative limits, got "
            "min_val=",
            min_val, " and max_val=", max_val, ".");
  check_fits("hardtanh", min_val, self.dtype(), "min_val");
  check_fits("hardtanh", max_val, self.dtype(), "max_val");
  return self.spec();
}

}  // namespace

void limit(Tensor& out, const Tensor& self, const Scalar* low, const Scalar* high) {
  const DType dtype = self.dtype();
  for (const Scalar* number : {low, high}) {  // so that the loop need not ask
    if (number && std::isnan(number->to<double>())) return fill(out, *number);
  }
  const Limit least(low ? *low : Scalar(0), dtype), most(high ? *high : Scalar(0), dtype);
  run_unary(out, self, dtype, kNumberType,
            [=, any_low = low != nullptr, any_high = high != nullptr](auto x) {
              using T = decltype(x);
              using Numbers = std::numeric_limits<T>;
              constexpr bool infinite = Numbers::has_infinity;
              const T lowest = infinite ? -Numbers::infinity() : Numbers::lowest();
              const T highest = infinite ? Numbers::infinity() : Numbers::max();
              const T above = any_low ? least.as<T>() : lowest;
              const T below = any_high ? most.as<T>() : highest;
              const T larger = x < above ? above : x;  // NaN stays
              return below < larger ? below : larger;
            });
}

namespace {

PKG_LIBRARY_FRAGMENT(pkg, m) {
  unary_any(m.def("relu(Tensor self) -> Tensor"),
            [](auto x) {
              if constexpr (std::is_same_v<decltype(x), bool>) return x;
              else return x < decltype(x)(0) ? decltype(x)(0) : x;  // NaN stays
            })
      .doc("max(self, 0); the gradient at zero is zero.")
      .derivative("self", "result", [](auto& g, auto& y) { return relu_backward(g, y); })
      .in_place();
  gradient_pass(m.def("_relu_backward(Tensor grad, Tensor output) -> Tensor"),
                [](auto g, auto y) { return y <= 0 ? decltype(g)(0) : g; })
      .doc("grad, but 0 where output, that of relu, is not positive.")
      .derivative("grad", "output", relu_backward)
      .derivative("output", "", [](auto& g) { return full_like(g, 0); });
  m.def("relu6(Tensor self) -> Tensor")
      .doc("min(max(self, 0), 6).")
      .composite([](const Tensor& self) { return hardtanh(self, 0, 6); });
  m.def("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor")
      .doc("self limited to [min_val, max_val], a NaN there wins; no gradient at the "
           "limits.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(hardtanh_rule)
      .cpu([](Tensor& out, const Tensor& self, const Scalar& min_val,
              const Scalar& max_val) { limit(out, self, &min_val, &max_val); })
      .derivative(
          "self", "self min_val max_val",
          [](const Tensor& g, const Tensor& self, const Scalar& low, const Scalar& high) {
            if (!grad_enabled()) return hardtanh_backward(g, self, low, high);
            const Tensor x = as_computed(self);  // NaN is beyond no limit
            return where((x <= Tensor(low)) | (x >= Tensor(high)), 0, g);
          })
      .second_is_zero()
      .in_place();
  gradient_pass_by(m.def("_hardtanh_backward(Tensor grad, Tensor self, Scalar min_val, "
                         "Scalar max_val) -> Tensor"),
                   [](double low, double high) {
                     return [=](auto g, auto x) {
                       using T = decltype(x);
                       return (x <= T(low)) | (x >= T(high)) ? T(0) : g;
                     };
                   })
      .doc("Gradient of hardtanh.");
  m.def("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor")
      .doc("self where positive, else negative_slope * self.")
      .pointwise()
      .shape(leaky_relu_rule)
      .cpu([](Tensor& out, const Tensor& self, const Scalar& negative_slope) {
        const double slope = negative_slope.to<double>();
        run_float(out, self, [=](auto x) {
          const auto slanted = x * decltype(x)(slope);
          return x > 0 ? x : slanted;
        });
      })
      .derivative("self", "self negative_slope",
                  [](const Tensor& g, const Tensor& x, const Scalar& slope) {
                    if (!grad_enabled()) return leaky_relu_backward(g, x, slope);
                    return where(x > 0, g, g * Tensor(slope));
                  })
      .second_is_zero()
      .in_place();
  gradient_pass_by(m.def("_leaky_relu_backward(Tensor grad, Tensor self, "
                         "Scalar negative_slope) -> Tensor"),
                   [](double slope) {
                     return [=](auto g, auto x) {
                       const auto slanted = g * decltype(x)(slope);
                       return x > 0 ? g : slanted;
                     };
                   })
      .doc("Gradient of leaky_relu.");
  m.def("prelu(Tensor self, Tensor weight) -> Tensor")
      .doc("leaky_relu with a learnt slope: one, or one for each channel (dim 1).")
      .composite([](const Tensor& self, const Tensor& weight) {
        const bool fits = weight.numel() == 1 || (weight.ndim() == 1 && self.ndim() >= 2 &&
                                                  weight.size(0) == self.size(1));
        PKG_CHECK(fits && weight.ndim() <= 1, RuntimeError,
                  "[prelu] expected weight to "
                  "hold one value or one for each channel of self ",
                  self.sizes(), ", got ", weight.sizes(), ".");
        Shape sizes;
        if (weight.numel() != 1) {
          sizes = Shape(size_t(self.ndim()), 1);
          sizes[1] = weight.size(0);
        }
        return prelu_pointwise(self, reshape(weight, sizes));
      });
  binary_any(m.def("_prelu(Tensor self, Tensor weight) -> Tensor"),
             [](auto x, auto w) {
               const auto product = decltype(x)(wraps(x) * wraps(w));
               return x > decltype(x)(0) ? x : product;
             })
      .doc("prelu with a weight that broadcasts to self.")
      // where, not a product with 0: of an infinite x that would be NaN.
      .derivative("self", "self weight",
                  [](auto& g, auto& x, auto& weight) {
                    if (!grad_enabled()) return where(x > 0, g, g * weight);
                    return where(x > 0, g,
                                 g * where(eq(x, 0), share(weight), weight));  // see below
                  })
      // At 0 neither gradient changes with the other's argument.
      .derivative("weight", "self", [](auto& g, auto& x) {
        return grad_enabled() ? where(x >= 0, 0, g * x) : prelu_weight_backward(g, x);
      });
  gradient_pass(m.def("_prelu_weight_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) {
                  const auto product = g * x;
                  return x > 0 ? decltype(g)(0) : product;
                })
      .doc("Gradient of the weight of prelu, before the sum.");
  unary_root(m.def("hardsigmoid(Tensor self) -> Tensor"),
             [](auto x) {
               using T = decltype(x);
               return x < T(-3) ? T(0) : x > T(3) ? T(1) : (x + T(3)) / T(6);
             })
      .doc("relu6(self + 3) / 6.")
      .derivative("self", "self",
                  [](auto& g, auto& x) {
                    if (!grad_enabled()) return hardsigmoid_backward(g, x);
                    return where((x > -3) & (x < 3), g * (1.0 / 6), 0);
                  })
      .second_is_zero()
      .in_place();
  gradient_pass(m.def("_hardsigmoid_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) {
                  const auto part = g * decltype(g)(1.0 / 6);
                  return (x > -3) & (x < 3) ? part : decltype(g)(0);
                })
      .doc("Gradient of hardsigmoid.");
  unary_root(m.def("hardswish(Tensor self) -> Tensor"),
             [](auto x) {
               using T = decltype(x);
               const T shifted = x + T(3);
               return x * (shifted < T(0) ? T(0) : shifted > T(6) ? T(6) : shifted) / T(6);
             })
      .doc("self * relu6(self + 3) / 6.")
      .derivative("self", "self", [](auto& g, auto& x) {
        if (!grad_enabled()) return hardswish_backward(g, x);
        const Tensor inner = where((x > -3) & (x < 3), x, 0);  // not 0 * inf
        return where(x <= -3, 0, where(x < 3, g * (inner / 3 + 0.5), g));
      });
  gradient_pass(m.def("_hardswish_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) {
                  using T = decltype(x);
                  const T curved = g * (x / T(3) + T(0.5));
                  return x <= -3 ? T(0) : x < 3 ? curved : g;
                })
      .doc("Gradient of hardswish.");
  m.def("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor")
      .doc("value where self <= threshold, else self; of integers, both without fraction.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(threshold_rule)
      .cpu([](Tensor& out, const Tensor& self, const Scalar& threshold,
              const Scalar& value) {
        const Limit limit(threshold, self.dtype()), other(value, self.dtype());
        run_unary(out, self, self.dtype(), kNumberType, [=](auto x) -> decltype(x) {
          using T = decltype(x);
          const T most = limit.as<T>(), instead = other.as<T>();
          return x <= most ? instead : x;
        });
      })
      .derivative("self", "self threshold",
                  [](const Tensor& g, const Tensor& x, const Scalar& limit) {
                    if (!grad_enabled()) return threshold_backward(g, x, limit);
                    return where(as_computed(x) <= Tensor(limit), 0, g);
                  })
      .second_is_zero();
  gradient_pass_by(
      m.def("_threshold_backward(Tensor grad, Tensor self, Scalar threshold) -> Tensor"),
      [](double limit) {
        return [=](auto g, auto x) { return x <= decltype(x)(limit) ? decltype(x)(0) : g; };
      })
      .doc("Gradient of threshold.");
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/activation.cc: the nonlinearities of networks.  Integers are converted to
// floating; each formula stands next to its slope.
#include "base/number_fits.h"
#include "base/vecmath.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;  // Hendrycks & Gimpel 2016
constexpr double kSeluAlpha = 1.6732632423543772848;  // Klambauer et al. 2017
constexpr double kSeluScale = 1.0507009873554804934;

template <class F>
void run_float(Tensor& out, const Tensor& self, F f) {
  run_unary(out, self, to_floating(self.dtype()), kFloatType, f);
}

bool tanh_form(const std::string& approximate) {
  PKG_CHECK(approximate == "none" || approximate == "tanh", RuntimeError,
            "[gelu] expected approximate to be 'none' or 'tanh', got '", approximate, "'.");
  return approximate == "tanh";
}
Tensor gelu_slope(const Tensor& x) {
  const Tensor cdf = mul(add(erf(mul(x, Tensor(kSqrtHalf))), Tensor(1)), Tensor(0.5));
  const Tensor pdf = mul(exp(mul(mul(x, x), Tensor(-0.5))), Tensor(kInvSqrt2Pi));
  return add(cdf, mul(x, pdf));
}
Tensor gelu_tanh_slope(const Tensor& x) {
  const Tensor square = mul(x, x);
  const Tensor inner = mul(add(x, mul(mul(square, x), Tensor(kGeluCubic))),
                           Tensor(kSqrt2OverPi));
  const Tensor t = tanh(inner);
  const Tensor inner_slope =
      mul(add(mul(square, Tensor(3 * kGeluCubic)), Tensor(1)), Tensor(kSqrt2OverPi));
  const Tensor curved = mul(mul(x, sub(Tensor(1), mul(t, t))), inner_slope);
  return mul(add(add(t, Tensor(1)), curved), Tensor(0.5));
}

// Slopes below choose between gradients, not factors: a factor chosen from two bare
// numbers would have the default dtype's precision.
TensorList elu_gradient(const GradContext& g) {
  const double alpha = g.arg<Scalar>(1).to<double>(), scale = g.arg<Scalar>(2).to<double>();
  const double inside = g.arg<Scalar>(3).to<double>();
  const Tensor& x = g.input(0);
  // minimum: exp(x) of the other branch may be infinite, and 0 * inf is NaN.
  const Tensor curve = exp(mul(minimum(x, Tensor(0)), Tensor(inside)));
  return {where(le(x, Tensor(0)), mul(mul(g.grad(), curve), Tensor(alpha * scale * inside)),
                mul(g.grad(), Tensor(scale)))};
}
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
Spec elu_rule(const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale) {
  const Spec spec = float_shape(self);
  check_factor("elu", alpha, spec.dtype, "alpha");
  check_factor("elu", scale, spec.dtype, "scale");
  check_factor("elu", input_scale, spec.dtype, "input_scale");
  return spec;
}
Spec leaky_relu_rule(const Tensor& self, const Scalar& negative_slope) {
  const Spec spec = float_shape(self);
  check_factor("leaky_relu", negative_slope, spec.dtype, "negative_slope");
  return spec;
}
Spec softplus_rule(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  const Spec spec = float_shape(self);
  check_factor("softplus", beta, spec.dtype, "beta");
  check_factor("softplus", threshold, spec.dtype, "threshold");
  return spec;
}
Spec hardtanh_rule(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  const double low = min_val.to<double>(), high = max_val.to<double>();
  PKG_CHECK(!(low > high), ValueError, "[hardtanh] min_val cannot be greater than max_val, "
            "got min_val=", min_val, " and max_val=", max_val, ".");
  PKG_CHECK(self.dtype() != DType::UInt8 || (low >= 0 && high >= 0), RuntimeError,
            "[hardtanh] cannot do hardtanh on an unsigned type with negative limits, got "
            "min_val=", min_val, " and max_val=", max_val, ".");
  check_fits("hardtanh", min_val, self.dtype(), "min_val");
  check_fits("hardtanh", max_val, self.dtype(), "max_val");
  return self.spec();
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  unary_any(m.def("relu(Tensor self) -> Tensor"),
            [](auto x) {
              if constexpr (std::is_same_v<decltype(x), bool>) return x;
              else return x < decltype(x)(0) ? decltype(x)(0) : x;  // NaN stays
            })
      .doc("max(self, 0); the gradient at zero is zero.")
      .grad("result",
            [](const GradContext& g) -> TensorList {
              return {relu_backward(g.grad(), g.result())};
            })
      .in_place();
  gradient_pass(m.def("_relu_backward(Tensor grad, Tensor output) -> Tensor"),
                [](auto g, auto y) { return y <= 0 ? decltype(g)(0) : g; })
      .doc("grad, but 0 where output, that of relu, is not positive.")
      .grad("output", [](const GradContext& g) -> TensorList {
        return {relu_backward(g.grad(), g.input(1)),
                g.needs(1) ? full_like(g.grad(), 0) : Tensor()};
      });
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
              const Scalar& max_val) {
        const Limit low(min_val, self.dtype()), high(max_val, self.dtype());
        run_unary(out, self, self.dtype(), kNumberType, [=](auto x) -> decltype(x) {
          using T = decltype(x);
          const T least = low.as<T>(), most = high.as<T>();
          if (most != most) return most;
          return x < least || least != least ? least : x > most ? most : x;
        });
      })
      .grad("self",
            [](const GradContext& g) -> TensorList {  // NaN is beyond no limit
              const Tensor x = as_computed(g.input(0));
              const Tensor cut = logical_or(le(x, Tensor(g.arg<Scalar>(1))),
                                               ge(x, Tensor(g.arg<Scalar>(2))));
              return {where(cut, Tensor(0), g.grad())};
            })
      .second_is_zero()
      .in_place();
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
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {where(gt(g.input(0), Tensor(0)), g.grad(),
                            mul(g.grad(), Tensor(g.arg<Scalar>(1))))};
            })
      .second_is_zero()
      .in_place();
  m.def("prelu(Tensor self, Tensor weight) -> Tensor")
      .doc("leaky_relu with a learnt slope: one, or one for each channel (dim 1).")
      .composite([](const Tensor& self, const Tensor& weight) {
        const bool fits = weight.numel() == 1 || (weight.ndim() == 1 && self.ndim() >= 2 &&
                                                  weight.size(0) == self.size(1));
        PKG_CHECK(fits && weight.ndim() <= 1, RuntimeError, "[prelu] expected weight to "
                  "hold one value or one for each channel of self ", self.sizes(),
                  ", got ", weight.sizes(), ".");
        Shape sizes;
        if (weight.numel() != 1) {
          sizes = Shape(size_t(self.ndim()), 1);
          sizes[1] = weight.size(0);
        }
        return prelu_pointwise(self, reshape(weight, sizes));
      });
  binary_any(m.def("_prelu(Tensor self, Tensor weight) -> Tensor"),
             [](auto x, auto w) { return x > decltype(x)(0) ? x : x * w; })
      .doc("prelu with a weight that broadcasts to self.")
      .grad("self weight", [](const GradContext& g) -> TensorList {
        // where, not a product with 0: of an infinite x that would be NaN.
        const Tensor &x = g.input(0), zero(0), positive = gt(x, zero);
        Tensor self, weight;
        if (g.needs(0)) {
          self = sum_to(where(positive, g.grad(), mul(g.grad(), g.input(1))), g.shape(0));
        }
        if (g.needs(1)) {
          weight = sum_to(where(positive, zero, mul(g.grad(), x)), g.shape(1));
        }
        return {self, weight};
      });
  m.def("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor")
      .doc("scale * (alpha * (exp(input_scale * self) - 1) where negative, else self).")
      .pointwise()
      .shape(elu_rule)
      .cpu([](Tensor& out, const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale) {
        const double a = alpha.to<double>() * scale.to<double>();
        const double s = scale.to<double>(), inside = input_scale.to<double>();
        run_float(out, self, [=](auto x) {
          using T = decltype(x);
          const T curved = T(a) * vec::expm1(x * T(inside)), straight = T(s) * x;
          return x < 0 ? curved : straight;
        });
      })
      .grad("self", elu_gradient)
      .in_place();
  m.def("selu(Tensor self) -> Tensor")
      .doc("elu scaled so that deep networks keep zero mean and unit variance.")
      .composite([](const Tensor& self) {
        return elu(self, kSeluAlpha, kSeluScale, 1);
      });
  m.def("celu(Tensor self, Scalar alpha=1.0) -> Tensor")
      .doc("max(0, self) + min(0, alpha * (exp(self / alpha) - 1)).")
      .composite([](const Tensor& self, const Scalar& alpha) {
        PKG_CHECK(alpha.to<double>() != 0, RuntimeError,
                  "[celu] expected a non-zero alpha, got ", alpha, ".");
        return elu(self, alpha, 1, 1 / alpha.to<double>());
      });
  unary_float(m.def("silu(Tensor self) -> Tensor"),
              [](auto x) { return x / (1 + vec::exp(-x)); })
      .doc("self * sigmoid(self).")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              if (!grad_enabled()) return {silu_backward(g.grad(), g.input(0))};
              const Tensor s = sigmoid(g.input(0));
              const Tensor slope =
                  mul(s, add(mul(g.input(0), sub(Tensor(1), s)), Tensor(1)));
              return {mul(g.grad(), slope)};
            })
      .in_place();
  gradient_pass(m.def("_silu_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) {
                  const auto s = vec::sigmoid(x);
                  return g * s * (1 + x * (1 - s));
                })
      .doc("Gradient of silu.");
  unary_float(m.def("mish(Tensor self) -> Tensor"),
              [](auto x) {
                using T = decltype(x);
                // tanh(log(1 + e)) is n / (n + 2) of n = e (e + 2); 1 from 25 on.
                const T e = vec::exp(x > T(25) ? T(25) : x), n = e * (e + T(2));
                return x * (n / (n + T(2)));
              })
      .doc("self * tanh(softplus(self)).")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              const Tensor& x = g.input(0);
              const Tensor t = tanh(softplus(x));
              const Tensor curved =
                  mul(mul(x, sigmoid(x)), sub(Tensor(1), mul(t, t)));
              return {mul(g.grad(), add(t, curved))};
            })
      .in_place();
  m.def("gelu(Tensor self, *, str approximate='none') -> Tensor")
      .doc("self * Phi(self), Phi the normal distribution (Hendrycks & Gimpel 2016); "
           "approximate='tanh' takes their cheaper formula.")
      .pointwise()
      .shape([](const Tensor& self, const std::string& approximate) {
        tanh_form(approximate);
        return float_shape(self);
      })
      .cpu([](Tensor& out, const Tensor& self, const std::string& approximate) {
        if (tanh_form(approximate)) {
          return run_float(out, self, [](auto x) {
            using T = decltype(x);
            const T inner = T(kSqrt2OverPi) * (x + T(kGeluCubic) * x * x * x);
            return T(0.5) * x * (T(1) + vec::tanh(inner));
          });
        }
        run_float(out, self, [](auto x) { return x * vec::Normal(x).probability; });
      })
      .grad("self", [](const GradContext& g) -> TensorList {
        const Tensor& x = g.input(0);
        const bool approximate = tanh_form(g.arg<std::string>(1));
        if (!grad_enabled()) {
          return {(approximate ? gelu_tanh_backward : gelu_backward)(g.grad(), x)};
        }
        return {mul(g.grad(), approximate ? gelu_tanh_slope(x) : gelu_slope(x))};
      });
  gradient_pass(m.def("_gelu_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) {
                  const vec::Normal normal(x);
                  return g * (normal.probability + x * normal.density);
                })
      .doc("Gradient of gelu.");
  gradient_pass(m.def("_gelu_tanh_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) {
                  using T = decltype(x);
                  const T square = x * x;
                  const T t = vec::tanh(T(kSqrt2OverPi) * (x + T(kGeluCubic) * square * x));
                  const T inner = T(kSqrt2OverPi) * (1 + T(3 * kGeluCubic) * square);
                  return g * T(0.5) * (1 + t + x * (1 - t * t) * inner);
                })
      .doc("Gradient of gelu with approximate='tanh'.");
  m.def("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor")
      .doc("log(1 + exp(beta * self)) / beta; self where beta * self > threshold.")
      .pointwise()
      .shape(softplus_rule)
      .cpu([](Tensor& out, const Tensor& self, const Scalar& beta,
              const Scalar& threshold) {
        const double b = beta.to<double>(), limit = threshold.to<double>();
        run_float(out, self, [=](auto x) {
          using T = decltype(x);
          const T scaled = x * T(b), most = T(limit), curved = vec::softplus(scaled) / T(b);
          return scaled > most ? x : curved;
        });
      })
      .grad("self", [](const GradContext& g) -> TensorList {
        const Tensor x = mul(g.input(0), Tensor(g.arg<Scalar>(1)));
        const Tensor beyond =
            gt(mul(as_computed(g.input(0)), Tensor(g.arg<Scalar>(1))), Tensor(g.arg<Scalar>(2)));
        return {where(beyond, g.grad(), mul(g.grad(), sigmoid(x)))};
      });
  unary_float(m.def("logsigmoid(Tensor self) -> Tensor"),
              [](auto x) { return -vec::softplus(-x); })
      .doc("log(sigmoid(self)), stable for large negative values.")
      .grad("self", [](const GradContext& g) -> TensorList {
        return {mul(g.grad(), sigmoid(neg(g.input(0))))};
      });
  unary_float(m.def("hardsigmoid(Tensor self) -> Tensor"),
              [](auto x) {
                using T = decltype(x);
                return x < T(-3) ? T(0) : x > T(3) ? T(1) : (x + T(3)) / T(6);
              })
      .doc("relu6(self + 3) / 6.")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              const Tensor &x = g.input(0), slope = mul(g.grad(), Tensor(1.0 / 6));
              const Tensor inside = logical_and(gt(x, Tensor(-3)), lt(x, Tensor(3)));
              return {where(inside, slope, Tensor(0))};
            })
      .second_is_zero()
      .in_place();
  unary_float(m.def("hardswish(Tensor self) -> Tensor"),
              [](auto x) {
                using T = decltype(x);
                const T shifted = x + T(3);
                return x * (shifted < T(0) ? T(0) : shifted > T(6) ? T(6) : shifted) / T(6);
              })
      .doc("self * relu6(self + 3) / 6.")
      .grad("self", [](const GradContext& g) -> TensorList {
        const Tensor& x = g.input(0);
        const Tensor curved = mul(g.grad(), add(div(x, Tensor(3)), Tensor(0.5)));
        return {where(le(x, Tensor(-3)), Tensor(0),
                      where(lt(x, Tensor(3)), curved, g.grad()))};
      });
  m.def("softsign(Tensor self) -> Tensor")
      .doc("self / (1 + |self|).")
      .composite([](const Tensor& self) { return div(self, add(abs(self), Tensor(1))); });
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
      .grad("self", [](const GradContext& g) -> TensorList {
        const Tensor cut = le(as_computed(g.input(0)), Tensor(g.arg<Scalar>(1)));
        return {where(cut, Tensor(0), g.grad())};
      })
      .second_is_zero();
  m.def("glu(Tensor self, int dim=-1) -> Tensor")
      .doc("First half of dim times the sigmoid of the second half.")
      .composite([](const Tensor& self, int64_t dim) {
        PKG_CHECK(self.ndim() > 0 && self.size(dim) % 2 == 0, RuntimeError,
                  "[glu] expected dim ", dim, " to have an even size, got shape ",
                  self.sizes(), ".");
        const TensorList halves = chunk(self, 2, dim);
        return mul(halves[0], sigmoid(halves[1]));
      });
}

}  // namespace
}  // namespace pkg::ops

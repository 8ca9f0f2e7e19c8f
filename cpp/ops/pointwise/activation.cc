// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/activation.cc: the curved nonlinearities of networks.  Integers are
// converted to floating; each formula stands next to its slope.  Relative: rectifier.cc.
#include "base/number_fits.h"
#include "base/vecmath.h"
#include "ops/pointwise/gradient_pass.h"

namespace pkg::ops {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;               // Hendrycks & Gimpel 2016
constexpr double kSeluAlpha = 1.6732632423543772848;  // Klambauer et al. 2017
constexpr double kSeluScale = 1.0507009873554804934;

bool tanh_form(const std::string& approximate) {
  PKG_CHECK(approximate == "none" || approximate == "tanh", RuntimeError,
            "[gelu] expected approximate to be 'none' or 'tanh', got '", approximate, "'.");
  return approximate == "tanh";
}
Tensor gelu_slope(const Tensor& x) {
  const Tensor cdf = (erf(x * kSqrtHalf) + 1) * 0.5;
  return cdf + x * (exp(x * x * -0.5) * kInvSqrt2Pi);
}
Tensor gelu_tanh_slope(const Tensor& x) {
  const Tensor square = x * x, t = tanh((x + square * x * kGeluCubic) * kSqrt2OverPi);
  const Tensor inner_slope = (square * (3 * kGeluCubic) + 1) * kSqrt2OverPi;
  return (t + 1 + x * (1 - t * t) * inner_slope) * 0.5;
}

// Chooses between gradients, not factors: a factor chosen from two bare numbers would have
// the default dtype's precision.
Tensor elu_gradient(const Tensor& g, const Tensor& x, double alpha, double scale,
                    double inside) {
  // exp(x) of the other branch may be infinite, and 0 * inf is NaN; at 0 nothing curves.
  const Tensor curve = exp(where(x < 0, x, 0) * inside);
  return where(x <= 0, g * curve * (alpha * scale * inside), g * scale);
}
Spec elu_rule(const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale) {
  const Spec spec = float_shape(self);
  check_factor("elu", alpha, spec.dtype, "alpha");
  check_factor("elu", scale, spec.dtype, "scale");
  check_factor("elu", input_scale, spec.dtype, "input_scale");
  return spec;
}
Spec softplus_rule(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  const Spec spec = float_shape(self);
  check_factor("softplus", beta, spec.dtype, "beta");
  check_factor("softplus", threshold, spec.dtype, "threshold");
  return spec;
}
PKG_LIBRARY_FRAGMENT(pkg, m) {
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
      .derivative("self", "self alpha scale input_scale",
                  [](const Tensor& g, const Tensor& x, const Scalar& alpha,
                     const Scalar& scale, const Scalar& inside) {
                    if (!grad_enabled()) return elu_backward(g, x, alpha, scale, inside);
                    return elu_gradient(g, x, alpha.to<double>(), scale.to<double>(),
                                        inside.to<double>());
                  })
      .in_place();
  gradient_pass_by(m.def("_elu_backward(Tensor grad, Tensor self, Scalar alpha, "
                         "Scalar scale, Scalar input_scale) -> Tensor"),
                   [](double alpha, double scale, double inside) {
                     return [=](auto g, auto x) {
                       using T = decltype(x);
                       const T steep = T(alpha * scale * inside), straight = g * T(scale);
                       const T curved = g * vec::exp(x * T(inside)) * steep;
                       return x <= 0 ? curved : straight;
                     };
                   })
      .doc("Gradient of elu.");
  m.def("selu(Tensor self) -> Tensor")
      .doc("elu scaled so that deep networks keep zero mean and unit variance.")
      .composite([](const Tensor& self) { return elu(self, kSeluAlpha, kSeluScale, 1); });
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
      .derivative("self", "self",
                  [](auto& g, auto& x) {
                    if (!grad_enabled()) return silu_backward(g, x);
                    const Tensor s = sigmoid(x);
                    return g * (s * (x * (1 - s) + 1));
                  })
      .in_place();
  gradient_pass(m.def("_silu_backward(Tensor grad, Tensor self) -> Tensor"), [](auto g,
                                                                                auto x) {
    const auto s = vec::sigmoid(x);
    return g * s * (1 + x * (1 - s));
  }).doc("Gradient of silu.");
  unary_float(m.def("mish(Tensor self) -> Tensor"),
              [](auto x) {
                using T = decltype(x);
                // tanh(log(1 + e)) is n / (n + 2) of n = e (e + 2); 1 from 25 on.
                const T e = vec::exp(x > T(25) ? T(25) : x), n = e * (e + T(2));
                return x * (n / (n + T(2)));
              })
      .doc("self * tanh(softplus(self)).")
      .derivative("self", "self",
                  [](auto& g, auto& x) {
                    if (!grad_enabled()) return mish_backward(g, x);
                    const Tensor t = tanh(softplus(x, 1, 20));
                    return g * (t + x * sigmoid(x) * (1 - t * t));
                  })
      .in_place();
  gradient_pass(m.def("_mish_backward(Tensor grad, Tensor self) -> Tensor"), [](auto g,
                                                                                auto x) {
    using T = decltype(x);
    // n / (n + 2) + x 4 e (1 + e) / (n + 2)^2, as above; 1 from 25 on.
    const T most = x > T(25) ? T(25) : x, e = vec::exp(most);
    const T n = e * (e + T(2)), r = T(1) / (n + T(2));
    return g * (r * (n + most * (T(4) * e * (T(1) + e) * r)));
  }).doc("Gradient of mish.");
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
      .derivative("self", "self approximate",
                  [](const Tensor& g, const Tensor& x, const std::string& approximate) {
                    const bool by_tanh = tanh_form(approximate);
                    if (grad_enabled())
                      return g * (by_tanh ? gelu_tanh_slope : gelu_slope)(x);
                    return (by_tanh ? gelu_tanh_backward : gelu_backward)(g, x);
                  });
  gradient_pass(m.def("_gelu_backward(Tensor grad, Tensor self) -> Tensor"), [](auto g,
                                                                                auto x) {
    const vec::Normal normal(x);
    return g * (normal.probability + x * normal.density);
  }).doc("Gradient of gelu.");
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
      .derivative("self", "self beta threshold",
                  [](const Tensor& g, const Tensor& x, const Scalar& beta,
                     const Scalar& threshold) {
                    if (!grad_enabled()) return softplus_backward(g, x, beta, threshold);
                    const Tensor scaled = as_computed(x) * Tensor(beta);
                    const Tensor limit = Tensor(threshold), z = x * Tensor(beta);
                    // From the threshold on nothing curves.
                    const Tensor curved = sigmoid(where(scaled >= limit, share(z), z));
                    return where(scaled > limit, g, g * curved);
                  });
  gradient_pass_by(m.def("_softplus_backward(Tensor grad, Tensor self, Scalar beta, "
                         "Scalar threshold) -> Tensor"),
                   [](double beta, double threshold) {
                     return [=](auto g, auto x) {
                       using T = decltype(x);
                       const T scaled = x * T(beta), curved = g * vec::sigmoid(scaled);
                       return scaled > T(threshold) ? g : curved;
                     };
                   })
      .doc("Gradient of softplus.");
  unary_float(m.def("logsigmoid(Tensor self) -> Tensor"),
              [](auto x) { return -vec::softplus(-x); })
      .doc("log(sigmoid(self)), stable for large negative values.")
      .derivative("self", "self", [](auto& g, auto& x) {
        return grad_enabled() ? g * sigmoid(-x) : logsigmoid_backward(g, x);
      });
  gradient_pass(m.def("_logsigmoid_backward(Tensor grad, Tensor self) -> Tensor"),
                [](auto g, auto x) { return g * vec::sigmoid(-x); })
      .doc("Gradient of logsigmoid.");
  m.def("softsign(Tensor self) -> Tensor")
      .doc("self / (1 + |self|).")
      .composite([](const Tensor& self) { return div(self, add(abs(self), Tensor(1))); });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/unary.cc: functions of one tensor, each with its gradient beside it.
// Relatives: activation.cc, trigonometry.cc, rounding.cc.
#include "base/vecmath.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kLn2 = 0.69314718055994530942, kLn10 = 2.30258509299404568402;

// The bits of a float without its sign, as a number, beside those of infinity: what is
// larger is NaN.
template <class Bits, class F>
void run_size_bits(Tensor& out, const Tensor& self, Bits infinity, F f) {
  constexpr Bits sizes = Bits(Bits(~Bits(0)) >> 1);
  const auto formula = [=](Bits x) -> bool { return f(Bits(x & sizes), infinity); };
  Pointwise kernel{block<decltype(formula), bool, Bits>, &formula};
  kernel.add(out, DType::Bool);
  kernel.add(self, self.dtype());
  run_pointwise(kernel);
}

// The same of floats that vectors compare.
template <class T, class F>
void run_size(Tensor& out, const Tensor& self, F f) {
  const auto formula = [=](T x) -> bool {
    return f(std::abs(x), std::numeric_limits<T>::infinity());
  };
  Pointwise kernel{block<decltype(formula), bool, T>, &formula};
  kernel.add(out, DType::Bool);
  kernel.add(self, self.dtype());
  run_pointwise(kernel);
}

// Stanza of a predicate of what kind of number it is; all integers are like 0.
template <class F>
void def_kind_of_number(Library& m, const char* name, const char* doc, F) {
  m.def(str(name, "(Tensor self) -> Tensor"))
      .doc(doc)
      .pointwise()
      .non_differentiable()
      .shape(bool_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            const F f;
            switch (self.dtype()) {
              case DType::Float16: return run_size_bits(out, self, uint16_t{0x7c00}, f);
              case DType::BFloat16: return run_size_bits(out, self, uint16_t{0x7f80}, f);
              case DType::Float32: return run_size<float>(out, self, f);
              case DType::Float64: return run_size<double>(out, self, f);
              default: break;
            }
            const auto of_integers = [=]() -> bool { return f(0, 1); };
            Pointwise kernel{block<decltype(of_integers), bool>, &of_integers};
            kernel.add(out, DType::Bool);
            run_pointwise(kernel);
          },
          kStrided);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  unary_sign(
      m.def("neg(Tensor self) -> Tensor"),
      // As a byte at once: the compiler negates what C++ has widened as 16 bits.
      [](auto x) -> decltype(x) { return decltype(x)(-wraps(x)); },
      [](uint16_t bits) { return uint16_t(bits ^ 0x8000); })
      .shape([](const Tensor& self) {
        PKG_CHECK(self.dtype() != DType::Bool, RuntimeError,
                  "[neg] Negation, the `-` "
                  "operator, on a bool tensor is not supported. To invert a mask, use the "
                  "`~` or logical_not.");
        return same_shape(self);
      })
      .doc("-self.")
      .derivative("self", "", [](auto& g) { return -g; })
      .in_place();
  unary_sign(
      m.def("abs(Tensor self) -> Tensor"),
      [](auto x) {
        if constexpr (std::is_floating_point_v<decltype(x)>) return std::abs(x);
        else if constexpr (std::is_unsigned_v<decltype(x)>) return x;
        else return decltype(x)(x < 0 ? -wraps(x) : wraps(x));
      },
      [](uint16_t bits) { return uint16_t(bits & 0x7fff); })
      .doc("Absolute value; the gradient at zero is zero.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * sign(x); })
      .in_place();
  unary_any(m.def("sign(Tensor self) -> Tensor"),
            [](auto x) {
              using T = decltype(x);
              if constexpr (std::is_same_v<T, bool>) return x;
              else if constexpr (std::is_unsigned_v<T>) return T(x > 0);
              else return T(T(x > 0) - T(x < 0));
            })
      .doc("-1, 0 or 1; no gradient flows.")
      .derivative("self", "", [](auto& g) { return full_like(g, 0); })
      .in_place();
  unary_any(m.def("square(Tensor self) -> Tensor"),
            [](auto x) { return wraps(x) * wraps(x); })
      .shape([](const Tensor& self) {
        Spec spec = same_shape(self);
        if (spec.dtype == DType::Bool) spec.dtype = DType::Int64;  // a number, as by pow
        return spec;
      })
      .doc("self * self.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * (x * 2); })
      .in_place();
  unary_float(m.def("exp(Tensor self) -> Tensor"), vec::Exp())
      .doc("e raised to self; within 2 ulp.")
      .derivative("self", "result", [](auto& g, auto& y) { return g * y; })
      .in_place();
  unary_float(m.def("exp2(Tensor self) -> Tensor"), [](auto x) { return vec::exp2(x); })
      .doc("2 raised to self; within 2 ulp.")
      .derivative("self", "result", [](auto& g, auto& y) { return g * (y * kLn2); })
      .in_place();
  unary_float(m.def("expm1(Tensor self) -> Tensor"), [](auto x) { return vec::expm1(x); })
      .doc("exp(self) - 1, exact near zero; within 2 ulp.")
      .derivative("self", "result", [](auto& g, auto& y) { return g * (y + 1); })
      .in_place();
  unary_float(m.def("log(Tensor self) -> Tensor"), vec::Log())
      .doc("Natural logarithm; within 1 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g / x; })
      .in_place();
  unary_float(m.def("log2(Tensor self) -> Tensor"), vec::Log2())
      .doc("Logarithm to base 2; within 1 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g / (x * kLn2); })
      .in_place();
  unary_float(m.def("log10(Tensor self) -> Tensor"), vec::Log10())
      .doc("Logarithm to base 10; within 1 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g / (x * kLn10); })
      .in_place();
  unary_float(m.def("log1p(Tensor self) -> Tensor"), vec::Log1p())
      .doc("log(1 + self), exact near zero; within 1 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g / (x + 1); })
      .in_place();
  unary_root(m.def("sqrt(Tensor self) -> Tensor"), [](auto x) { return std::sqrt(x); })
      .doc("Square root.")
      .derivative("self", "result", [](auto& g, auto& y) { return g / (y * 2); })
      .in_place();
  unary_root(m.def("rsqrt(Tensor self) -> Tensor"),
             [](auto x) { return decltype(x)(1) / std::sqrt(x); })
      .doc("1 / sqrt(self).")
      .derivative("self", "result",
                  [](auto& g, auto& y) { return g * (y * (y * y) * -0.5); })
      .in_place();
  unary_root(m.def("reciprocal(Tensor self) -> Tensor"),
             [](auto x) { return decltype(x)(1) / x; })
      .doc("1 / self.")
      .derivative("self", "result", [](auto& g, auto& y) { return -(g * (y * y)); })
      .in_place();
  unary_float(m.def("sin(Tensor self) -> Tensor"), vec::Sine())
      .doc("Sine of radians; within 1 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * cos(x); })
      .in_place();
  unary_float(m.def("cos(Tensor self) -> Tensor"), vec::Cosine())
      .doc("Cosine of radians; within 1 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return -(g * sin(x)); })
      .in_place();
  unary_float(m.def("tanh(Tensor self) -> Tensor"), [](auto x) { return vec::tanh(x); })
      .doc("Hyperbolic tangent; within 3 ulp.")
      .derivative("self", "result",
                  [](auto& g, auto& y) {
                    return grad_enabled() ? g * (1 - y * y) : tanh_backward(g, y);
                  })
      .in_place();
  gradient_pass(m.def("_tanh_backward(Tensor grad, Tensor result) -> Tensor"), [](auto g,
                                                                                  auto y) {
    return g * (1 - y * y);
  }).doc("Gradient of tanh.");
  unary_float(m.def("sigmoid(Tensor self) -> Tensor"),
              [](auto x) { return vec::sigmoid(x); })
      .doc("1 / (1 + exp(-self)); within 3 ulp.")
      .derivative("self", "result",
                  [](auto& g, auto& y) {
                    return grad_enabled() ? g * (y * (1 - y)) : sigmoid_backward(g, y);
                  })
      .in_place();
  gradient_pass(m.def("_sigmoid_backward(Tensor grad, Tensor result) -> Tensor"),
                [](auto g, auto y) { return g * y * (1 - y); })
      .doc("Gradient of sigmoid.");
  unary_float(m.def("erf(Tensor self) -> Tensor"), vec::Erf())
      .doc("Error function; within 3 ulp.")
      .derivative("self", "self",
                  [](auto& g, auto& x) { return g * (exp(-(x * x)) * kTwoOverSqrtPi); })
      .in_place();
  unary_float(m.def("erfc(Tensor self) -> Tensor"), [](auto x) { return vec::erfc(x); })
      .doc("1 - erf(self), exact for large self; within 4 ulp.")
      .derivative("self", "self",
                  [](auto& g, auto& x) { return g * (exp(-(x * x)) * -kTwoOverSqrtPi); })
      .in_place();
  def_kind_of_number(m, "isnan", "True where self is not a number.",
                     [](auto size, auto infinity) { return !(size <= infinity); });
  def_kind_of_number(m, "isinf", "True where self is infinite.",
                     [](auto size, auto infinity) { return size == infinity; });
  def_kind_of_number(m, "isfinite", "True where self is a finite number.",
                     [](auto size, auto infinity) { return size < infinity; });
}

}  // namespace
}  // namespace pkg::ops

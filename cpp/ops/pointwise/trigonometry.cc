// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/trigonometry.cc: circular and hyperbolic functions, their inverses, angles.
// sin, cos and tanh are in unary.cc.
#include "base/vecmath.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

// g / (x^2 + y^2); the origin has no angle: its slopes are 0, as in PyTorch.
Tensor over_square(const Tensor& g, const Tensor& x, const Tensor& y) {
  const Tensor square = x * x + y * y, origin = eq(square, 0);
  return where(origin, 0, g / where(origin, 1, square));
}

// Stanza of a floating function of two tensors.
template <class F>
OpBuilder binary_float(OpBuilder op, F) {
  op.pointwise()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, to_floating(result_type(a, b)));
      })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, to_floating(result_type(a, b)), kFloatType, Long<F>{});
      });
  return op;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  unary_float(m.def("tan(Tensor self) -> Tensor"), vec::Tangent())
      .doc("Tangent of radians; within 3 ulp.")
      .derivative("self", "result", [](auto& g, auto& y) { return g * (y * y + 1); })
      .in_place();
  unary_float(m.def("asin(Tensor self) -> Tensor"), [](auto x) { return vec::asin(x); })
      .doc("Angle in [-pi/2, pi/2] with this sine, within 3 ulp; NaN outside [-1, 1].")
      .derivative("self", "self", [](auto& g, auto& x) { return g * rsqrt(1 - x * x); })
      .in_place();
  unary_float(m.def("acos(Tensor self) -> Tensor"), [](auto x) { return vec::acos(x); })
      .doc("Angle in [0, pi] with this cosine, within 2 ulp; NaN outside [-1, 1].")
      .derivative("self", "self", [](auto& g, auto& x) { return -(g * rsqrt(1 - x * x)); })
      .in_place();
  unary_float(m.def("atan(Tensor self) -> Tensor"), vec::Arctangent())
      .doc("Angle in (-pi/2, pi/2) with this tangent; within 2 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g / (x * x + 1); })
      .in_place();
  unary_float(m.def("sinh(Tensor self) -> Tensor"), [](auto x) { return vec::sinh(x); })
      .doc("Hyperbolic sine; within 2 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * cosh(x); })
      .in_place();
  unary_float(m.def("cosh(Tensor self) -> Tensor"), [](auto x) { return vec::cosh(x); })
      .doc("Hyperbolic cosine; within 2 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * sinh(x); })
      .in_place();
  unary_float(m.def("asinh(Tensor self) -> Tensor"), [](auto x) { return vec::asinh(x); })
      .doc("Inverse of sinh; within 3 ulp.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * rsqrt(x * x + 1); })
      .in_place();
  unary_float(m.def("acosh(Tensor self) -> Tensor"), [](auto x) { return vec::acosh(x); })
      .doc("Inverse of cosh, within 3 ulp; NaN below 1.")
      .derivative("self", "self", [](auto& g, auto& x) { return g * rsqrt(x * x - 1); })
      .in_place();
  unary_float(m.def("atanh(Tensor self) -> Tensor"), [](auto x) { return vec::atanh(x); })
      .doc("Inverse of tanh, within 3 ulp; NaN outside [-1, 1].")
      .derivative("self", "self", [](auto& g, auto& x) { return g / (1 - x * x); })
      .in_place();
  binary_float(m.def("atan2(Tensor self, Tensor other) -> Tensor"),
               [](auto y, auto x) { return vec::atan2(y, x); })
      .doc("Angle of the point (other, self) in [-pi, pi]; within 2 ulp.")
      .derivative("self", "self other",
                  [](auto& g, auto& y, auto& x) { return over_square(g, x, y) * x; })
      .derivative("other", "self other",
                  [](auto& g, auto& y, auto& x) { return -(over_square(g, x, y) * y); })
      .in_place();
  binary_float(m.def("hypot(Tensor self, Tensor other) -> Tensor"),
               [](auto x, auto y) { return vec::hypot(x, y); })
      .doc("sqrt(self^2 + other^2) without overflow; within 2 ulp.")
      // The quotient first: it is at most 1.
      .derivative("self", "self result",
                  [](auto& g, auto& x, auto& r) { return g * (x / r); })
      .derivative("other", "other result",
                  [](auto& g, auto& y, auto& r) { return g * (y / r); })
      .in_place();
  m.def("deg2rad(Tensor self) -> Tensor")
      .doc("Degrees as radians.")
      .composite([](const Tensor& self) { return self * 0.017453292519943295769; });
  m.def("rad2deg(Tensor self) -> Tensor")
      .doc("Radians as degrees.")
      .composite([](const Tensor& self) { return self * 57.295779513082320877; });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/trigonometry.cc: circular and hyperbolic functions, their inverses, angles.
// sin, cos and tanh are in unary.cc.
#include <cmath>

#include "ops/loops.h"

namespace pkg::ops {
namespace {

const UnaryOp rsqrt_op{"rsqrt"}, sinh_op{"sinh"}, cosh_op{"cosh"};

Tensor one_minus_square(const Tensor& x) { return sub(Tensor(1), mul(x, x)); }

// Stanza of a floating function of two tensors.
template <class F>
OpBuilder binary_float(OpBuilder op, F) {
  op.pointwise()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, to_floating(result_type(a, b)));
      })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, to_floating(result_type(a, b)), kFloatType, F{});
      });
  return op;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  unary_float(m.def("tan(Tensor self) -> Tensor"), [](auto x) { return std::tan(x); })
      .doc("Tangent of radians.")
      .grad("result",
            [](const GradContext& g) -> TensorList {
              return {mul(g.grad(), add(mul(g.result(), g.result()), Tensor(1)))};
            })
      .in_place();
  unary_float(m.def("asin(Tensor self) -> Tensor"), [](auto x) { return std::asin(x); })
      .doc("Angle in [-pi/2, pi/2] with this sine; NaN outside [-1, 1].")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {mul(g.grad(), rsqrt_op(one_minus_square(g.input(0))))};
            })
      .in_place();
  unary_float(m.def("acos(Tensor self) -> Tensor"), [](auto x) { return std::acos(x); })
      .doc("Angle in [0, pi] with this cosine; NaN outside [-1, 1].")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {neg(mul(g.grad(), rsqrt_op(one_minus_square(g.input(0)))))};
            })
      .in_place();
  unary_float(m.def("atan(Tensor self) -> Tensor"), [](auto x) { return std::atan(x); })
      .doc("Angle in (-pi/2, pi/2) with this tangent.")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {div(g.grad(), add(mul(g.input(0), g.input(0)), Tensor(1)))};
            })
      .in_place();
  unary_float(m.def("sinh(Tensor self) -> Tensor"), [](auto x) { return std::sinh(x); })
      .doc("Hyperbolic sine.")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {mul(g.grad(), cosh_op(g.input(0)))};
            })
      .in_place();
  unary_float(m.def("cosh(Tensor self) -> Tensor"), [](auto x) { return std::cosh(x); })
      .doc("Hyperbolic cosine.")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {mul(g.grad(), sinh_op(g.input(0)))};
            })
      .in_place();
  unary_float(m.def("asinh(Tensor self) -> Tensor"),
              [](auto x) { return std::asinh(x); })
      .doc("Inverse of sinh.")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              const Tensor square = mul(g.input(0), g.input(0));
              return {mul(g.grad(), rsqrt_op(add(square, Tensor(1))))};
            })
      .in_place();
  unary_float(m.def("acosh(Tensor self) -> Tensor"),
              [](auto x) { return std::acosh(x); })
      .doc("Inverse of cosh; NaN below 1.")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              const Tensor square = mul(g.input(0), g.input(0));
              return {mul(g.grad(), rsqrt_op(sub(square, Tensor(1))))};
            })
      .in_place();
  unary_float(m.def("atanh(Tensor self) -> Tensor"),
              [](auto x) { return std::atanh(x); })
      .doc("Inverse of tanh; NaN outside [-1, 1].")
      .grad("self",
            [](const GradContext& g) -> TensorList {
              return {div(g.grad(), one_minus_square(g.input(0)))};
            })
      .in_place();
  binary_float(m.def("atan2(Tensor self, Tensor other) -> Tensor"),
               [](auto y, auto x) { return std::atan2(y, x); })
      .doc("Angle of the point (other, self) in (-pi, pi].")
      .grad("self other",
            [](const GradContext& g) -> TensorList {
              const Tensor &y = g.input(0), &x = g.input(1);
              // The origin has no angle: its slopes are 0, as in PyTorch.
              const Tensor square = add(mul(x, x), mul(y, y));
              const Tensor origin = eq(square, Tensor(0));
              const Tensor part = where(origin, Tensor(0),
                                        div(g.grad(), where(origin, Tensor(1), square)));
              return {g.needs(0) ? sum_to(mul(part, x), g.shape(0)) : Tensor(),
                      g.needs(1) ? sum_to(neg(mul(part, y)), g.shape(1)) : Tensor()};
            })
      .in_place();
  binary_float(m.def("hypot(Tensor self, Tensor other) -> Tensor"),
               [](auto x, auto y) { return std::hypot(x, y); })
      .doc("sqrt(self^2 + other^2) without overflow.")
      .grad("self other result",
            [](const GradContext& g) -> TensorList {
              const auto part = [&](size_t i) {  // the quotient first: it is at most 1
                if (!g.needs(i)) return Tensor();
                return sum_to(mul(g.grad(), div(g.input(i), g.result())), g.shape(i));
              };
              return {part(0), part(1)};
            })
      .in_place();
  m.def("deg2rad(Tensor self) -> Tensor")
      .doc("Degrees as radians.")
      .composite([](const Tensor& self) {
        return mul(self, Tensor(0.017453292519943295769));
      });
  m.def("rad2deg(Tensor self) -> Tensor")
      .doc("Radians as degrees.")
      .composite([](const Tensor& self) {
        return mul(self, Tensor(57.295779513082320877));
      });
}

}  // namespace
}  // namespace pkg::ops

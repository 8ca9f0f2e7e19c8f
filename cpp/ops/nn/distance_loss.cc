// SPDX-License-Identifier: Apache-2.0
// ops/nn/distance_loss.cc: losses of the distance of two tensors, element by element: one
// pass forward and one backward for each.
#include <cmath>
#include <limits>

#include "base/number_fits.h"
#include "ops/loops.h"
#include "ops/nn/loss_reduction.h"

namespace pkg::ops {
namespace {

Spec floating_pair(const char* op, const Tensor& input, const Tensor& target) {
  return broadcast_spec(op, input, target, to_floating(result_type(input, target)));
}
Spec gradient_rule(const Tensor& grad, const Tensor& input, const Tensor& target) {
  check_gradient(grad, floating_pair("loss", input, target).sizes);
  return grad.spec();
}
template <class F>
void run_gradient(Tensor& out, const Tensor& grad, const Tensor& input,
                  const Tensor& target, F slope) {
  run_ternary(out, grad, input, target, grad.dtype(), kFloatType,
              [=](auto g, auto x, auto y) -> decltype(g) { return g * slope(x - y); });
}

// What is a loss of a distance d: value(d) and slope(d) with a number, and the slopes as a
// formula for when they are differentiated themselves.  |d| where beta is 0.
struct SmoothL1 {
  static constexpr const char *name = "smooth_l1", *full_name = "smooth_l1_loss";
  template <class T>
  static T value(T d, double beta) {
    const T size = std::abs(d), width = T(beta);
    return size < width ? T(0.5) * size * size / width : size - T(0.5) * width;
  }
  // Chosen by the distance, so that an infinite one has slope 1 and not inf / inf.
  template <class T>
  static T slope(T d, double beta) {
    const T size = std::abs(d),
            bend = beta > 0 ? T(beta) : std::numeric_limits<T>::denorm_min();
    const T inside = d / bend, outside = d < 0 ? T(-1) : T(1);
    return size >= bend ? outside : inside;
  }
  static Tensor slopes(const Tensor& g, const Tensor& d, double beta) {
    if (beta == 0) return g * sign(d);
    const Tensor far = as_computed(d);
    return g * where(far <= -beta, -1, where(far >= beta, 1, d / beta));
  }
};

struct Huber {
  static constexpr const char *name = "huber", *full_name = "huber_loss";
  template <class T>
  static T value(T d, double delta) {
    const T size = std::abs(d), bend = T(delta);
    return size < bend ? T(0.5) * size * size : bend * (size - T(0.5) * bend);
  }
  template <class T>
  static T slope(T d, double delta) {
    const T bend = T(delta), low = d <= -bend ? -bend : d;
    return d >= bend ? bend : low;
  }
  // A delta beyond the dtype bends nothing.
  static Tensor slopes(const Tensor& g, const Tensor& d, double delta) {
    const double bend = fits(delta, g.dtype()) ? delta : HUGE_VAL;
    const Tensor far = as_computed(d);
    return g * where(far <= -bend, -bend, where(far >= bend, bend, d));
  }
};

using Gradient = Op<Tensor(const Tensor&, const Tensor&, const Tensor&, double)>;

// The gradient to input; that to target is the negative.
template <class Loss, const Gradient& backward, int Sign>
Tensor distance_slope(const Tensor& g, const Tensor& x, const Tensor& y, double p) {
  const Tensor slope = grad_enabled()
                           ? Loss::slopes(g, as_gradient(x, g) - as_gradient(y, g), p)
                           : backward(g, x, y, p);
  return Sign > 0 ? slope : -slope;
}

// Stanzas of a loss of each element and of its gradient.
template <class Loss, const Gradient& backward>
void def_distance(Library& m, const char* number) {
  const std::string saved = str("input target ", number);
  m.def(str("_", Loss::name, "(Tensor input, Tensor target, float ", number, ") -> Tensor"))
      .doc("The loss of each element.")
      .pointwise()
      .shape([](const Tensor& x, const Tensor& y, double) {
        return floating_pair(Loss::full_name, x, y);
      })
      .cpu([](Tensor& out, const Tensor& x, const Tensor& y, double p) {
        run_binary(out, x, y, to_floating(result_type(x, y)), kFloatType,
                   [p](auto u, auto v) { return Loss::value(u - v, p); });
      })
      .derivative("input", saved, distance_slope<Loss, backward, 1>)
      .derivative("target", saved, distance_slope<Loss, backward, -1>);
  m.def(str("_", Loss::name, "_backward(Tensor grad, Tensor input, Tensor target, float ",
            number, ") -> Tensor"))
      .doc("Gradient of the loss of each element to input, in one pass.")
      .pointwise()
      .dtypes("grad", kFloatDTypes)
      .non_differentiable()
      .shape([](const Tensor& g, const Tensor& x, const Tensor& y, double) {
        return gradient_rule(g, x, y);
      })
      .cpu(
          [](Tensor& out, const Tensor& g, const Tensor& x, const Tensor& y, double p) {
            run_gradient(out, g, x, y, [p](auto d) { return Loss::slope(d, p); });
          },
          kStrided);
}

Tensor squared_slope(const Tensor& g, const Tensor& x, const Tensor& y) {
  if (!grad_enabled()) return squared_distance_backward(g, x, y);
  return g * ((as_gradient(x, g) - as_gradient(y, g)) * 2);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("l1_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor")
      .doc("|input - target|, averaged by default.")
      .composite([](const Tensor& input, const Tensor& target,
                    const std::string& reduction) {
        const bool floats = is_floating(result_type(input, target));
        return reduce_loss(floats ? smooth_l1(input, target, 0.0) : abs(sub(input, target)),
                           reduction);
      });
  m.def("mse_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor")
      .doc("Squared difference, averaged by default.")
      .composite(
          [](const Tensor& input, const Tensor& target, const std::string& reduction) {
            const DType common = result_type(input, target);
            if (is_floating(common)) {
              return reduce_loss(squared_distance(input, target), reduction);
            }
            const auto number = [&](const Tensor& t) {  // bools have no difference
              return t.dtype() == DType::Bool ? to_dtype(t, common) : t;
            };
            const Tensor d = sub(number(input), number(target));
            return reduce_loss(mul(d, d), reduction);
          });
  m.def("_squared_distance(Tensor input, Tensor target) -> Tensor")
      .doc("(input - target) squared.")
      .pointwise()
      .shape(
          [](const Tensor& x, const Tensor& y) { return floating_pair("mse_loss", x, y); })
      .cpu([](Tensor& out, const Tensor& x, const Tensor& y) {
        run_binary(out, x, y, to_floating(result_type(x, y)), kFloatType,
                   [](auto u, auto v) { return (u - v) * (u - v); });
      })
      .derivative("input", "input target", squared_slope)
      .derivative("target", "input target",
                  [](auto& g, auto& x, auto& y) { return -squared_slope(g, x, y); });
  m.def("_squared_distance_backward(Tensor grad, Tensor input, Tensor target) -> Tensor")
      .doc("Its gradient to input in one pass.")
      .pointwise()
      .dtypes("grad", kFloatDTypes)
      .non_differentiable()
      .shape(gradient_rule)
      .cpu(
          [](Tensor& out, const Tensor& g, const Tensor& x, const Tensor& y) {
            run_gradient(out, g, x, y, [](auto d) { return 2 * d; });
          },
          kStrided);
  m.def("smooth_l1_loss(Tensor input, Tensor target, *, str reduction='mean', "
        "float beta=1.0) -> Tensor")
      .doc("A parabola up to a distance of beta, |input - target| - beta / 2 beyond.")
      .composite([](const Tensor& input, const Tensor& target, const std::string& reduction,
                    double beta) {
        PKG_CHECK(beta >= 0, RuntimeError, "[smooth_l1_loss] expected beta >= 0, got ",
                  beta);
        const bool floats = beta > 0 || is_floating(result_type(input, target));
        return reduce_loss(
            floats ? smooth_l1(input, target, beta) : abs(sub(input, target)), reduction);
      });
  def_distance<SmoothL1, smooth_l1_backward>(m, "beta");
  m.def("huber_loss(Tensor input, Tensor target, *, str reduction='mean', "
        "float delta=1.0) -> Tensor")
      .doc("smooth_l1_loss times delta, which may be infinite: half the square.")
      .composite([](const Tensor& input, const Tensor& target, const std::string& reduction,
                    double delta) {
        PKG_CHECK(delta > 0, RuntimeError, "[huber_loss] expected delta > 0, got ", delta);
        return reduce_loss(huber(input, target, delta), reduction);
      });
  def_distance<Huber, huber_backward>(m, "delta");
}

}  // namespace
}  // namespace pkg::ops

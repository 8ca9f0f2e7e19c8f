// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/arithmetic.cc: sums, products and extremes of two tensors, with
// broadcasting and type promotion.  Relatives: division.cc, power.cc.
#include "base/number_fits.h"
#include "ops/loops.h"
#include "ops/pointwise/limits.h"

namespace pkg::ops {
namespace {

[[gnu::cold]] void check_alpha(const Scalar& alpha, DType dtype) {
  PKG_CHECK(!alpha.is_float() || is_floating(dtype), RuntimeError,
            "[add] For integral input tensors, argument alpha must not be a floating "
            "point number (alpha=",
            alpha, ").");
  PKG_CHECK(alpha.kind() != Scalar::Kind::Bool || dtype == DType::Bool, RuntimeError,
            "[add] Boolean alpha only supported for Boolean results, got alpha=", alpha,
            ".");
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

Tensor half_of_ties(const Tensor& g, const Tensor& a, const Tensor& b) {
  return where(eq(a, b), g * 0.5, g);
}

// The larger of two 16-bit floats, or the smaller: by their bits, which needs no conversion.
template <bool larger>
struct ExtremeOfBits {
  int16_t infinity;
  static int16_t size(uint16_t x) { return int16_t(x & 0x7fff); }
  static int16_t order(uint16_t x) {  // as the numbers are ordered, both zeros 0
    const int16_t sign = int16_t(int16_t(x) >> 15);
    return int16_t((size(x) ^ sign) - sign);
  }
  uint16_t operator()(uint16_t x, uint16_t y) const {
    const bool better = larger ? order(y) > order(x) : order(y) < order(x);
    const bool known = size(x) <= infinity, other_known = size(y) <= infinity;
    return (better & known) | !other_known ? y : x;
  }
};

// Stanza of such a function of any type; F is for all types but 16-bit floats.
template <bool larger, class F>
OpBuilder def_extreme(OpBuilder op, F) {
  op.pointwise()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, result_type(a, b));
      })
      .cpu(
          [](Tensor& out, const Tensor& a, const Tensor& b) {
            const DType dtype = result_type(a, b);
            const auto run = [&](Pointwise kernel, DType type) {
              kernel.add(out, type);
              kernel.add(a, type);
              kernel.add(b, type);
              run_pointwise(kernel);
            };
            if (is_reduced(dtype)) {
              using Bits = ExtremeOfBits<larger>;
              using T = uint16_t;
              const Bits f{int16_t(dtype == DType::Float16 ? 0x7c00 : 0x7f80)};
              return run({block<Bits, T, T, T>, &f, if_short<Bits, T, T, 1>()}, dtype);
            }
            kAnyType(dtype, [&]<class T>(TypeTag<T>) {
              const auto f = [](T x, T y) -> T { return F{}(x, y); };
              using Formula = decltype(f);
              run({block<Formula, T, T, T>, &f, if_short<Formula, T, T, 1>()}, dtype_of<T>);
            });
          },
          kStrided);
  return op;
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
  def_extreme<true>(m.def("maximum(Tensor self, Tensor other) -> Tensor"),
                    [](auto x, auto y) {
                      const auto larger = y > x ? y : x;
                      return y == y ? larger : y;
                    })
      .doc("Larger of the two; NaN wins.  At a tie both get half the gradient.")
      .derivative("self", "self other", of_larger)
      .derivative("other", "self other",
                  [](auto& g, auto& a, auto& b) { return of_larger(g, b, a); });
  def_extreme<false>(m.def("minimum(Tensor self, Tensor other) -> Tensor"),
                     [](auto x, auto y) {
                       const auto smaller = y < x ? y : x;
                       return y == y ? smaller : y;
                     })
      .doc("Smaller of the two; NaN wins.  At a tie both get half the gradient.")
      .derivative("self", "self other", of_smaller)
      .derivative("other", "self other",
                  [](auto& g, auto& a, auto& b) { return of_smaller(g, b, a); });
}

}  // namespace

Tensor of_larger(const Tensor& g, const Tensor& a, const Tensor& b) {
  return where(a < b, 0, half_of_ties(g, a, b));
}
Tensor of_smaller(const Tensor& g, const Tensor& a, const Tensor& b) {
  return where(a > b, 0, half_of_ties(g, a, b));
}

}  // namespace pkg::ops

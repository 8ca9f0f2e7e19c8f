// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/rounding.cc: steps.  Their slope is zero wherever it exists, so the gradient is
// zeros rather than an error, as in PyTorch.
#include <cmath>

#include "ops/loops.h"
#include "tensor/fill.h"

namespace pkg::ops {
namespace {

constexpr auto no_slope = [](const Tensor& g) { return full_like(g, 0); };

// Runs f(x) on floats; false of other types.
template <class F>
bool run_floating(Tensor& out, const Tensor& self, F) {
  if (!is_floating(self.dtype())) return false;
  run_unary(out, self, self.dtype(), kFloatType,
            [](auto x) -> decltype(x) { return decltype(x)(F{}(x)); });
  return true;
}

// Stanza of a step function, which leaves integers and bools as they are.
template <class F>
void def_step(Library& m, const char* name, const char* doc, F) {
  m.def(str(name, "(Tensor self) -> Tensor"))
      .doc(doc)
      .pointwise()
      .shape(same_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            if (!run_floating(out, self, F{}) && !out.is_same(self)) copy_into(out, self);
          },
          kStrided)
      .derivative("self", "", no_slope)
      .in_place();
}

Spec round_rule(const Tensor& self, int64_t decimals) {
  PKG_CHECK(decimals >= 0 || is_floating(self.dtype()), NotImplementedError,
            "[round] expected decimals >= 0 for integers, got ", decimals, ".");
  return self.spec();
}
void round_kernel(Tensor& out, const Tensor& self, int64_t decimals) {
  // A power of ten is exact, its inverse is not: divide on the negative side.
  const double scale = std::pow(10.0, std::abs(double(decimals)));
  const bool before_point = decimals < 0;
  if (!is_floating(self.dtype())) {
    if (!out.is_same(self)) copy_into(out, self);
    return;
  }
  run_unary(out, self, self.dtype(), kFloatType, [=](auto x) -> decltype(x) {
    using T = decltype(x);
    return before_point ? std::rint(x / T(scale)) * T(scale)
                        : std::rint(x * T(scale)) / T(scale);
  });
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  def_step(m, "floor", "Largest integer not above self.",
           [](auto x) { return std::floor(x); });
  def_step(m, "ceil", "Smallest integer not below self.",
           [](auto x) { return std::ceil(x); });
  def_step(m, "trunc", "The integer part: towards zero.",
           [](auto x) { return std::trunc(x); });
  def_step(m, "round", "Nearest integer, ties to even.",
           [](auto x) { return std::rint(x); });
  m.def("round.decimals(Tensor self, *, int decimals) -> Tensor")
      .doc("Nearest number with so many digits after the point; negative: before it.")
      .pointwise()
      .shape(round_rule)
      .cpu(round_kernel, kStrided)
      .derivative("self", "", no_slope)
      .in_place();
  m.def("fix(Tensor self) -> Tensor")
      .doc("trunc by another name.")
      .composite([](const Tensor& self) { return trunc(self); });
  m.def("frac(Tensor self) -> Tensor")
      .doc("self - trunc(self): the part after the point, with self's sign.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            const auto part = [](auto x) { return x - std::trunc(x); };
            if (!run_floating(out, self, part)) fill(out, 0);
          },
          kStrided)
      .derivative("self", "", [](auto& g) { return g; });
}

}  // namespace
}  // namespace pkg::ops

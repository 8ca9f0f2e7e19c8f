// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/gating.cc: half of a tensor as the gate of the other half.
#include <algorithm>

#include "base/vecmath.h"
#include "ops/loops.h"
#include "tensor/layout.h"

namespace pkg::ops {
namespace {

// One of the two halves of dim, over the same memory.
Tensor half_of(const Tensor& t, int64_t dim, int64_t which) {
  const auto d = size_t(wrap_dim("glu", dim, t.ndim()));
  Shape sizes = t.sizes();
  sizes[d] /= 2;
  return alias(t, sizes, t.strides(), t.offset() + which * sizes[d] * t.strides()[d]);
}
Shape half_sizes(const Tensor& self, int64_t dim) {
  PKG_CHECK(self.ndim() > 0 && self.size(dim) % 2 == 0, RuntimeError, "[glu] expected dim ",
            dim, " to have an even size, got shape ", self.sizes(), ".");
  Shape sizes = self.sizes();
  sizes[size_t(wrap_dim("glu", dim, self.ndim()))] /= 2;
  return sizes;
}

Tensor gate_gradient(const Tensor& g, const Tensor& x, int64_t dim) {
  if (!grad_enabled()) return glu_backward(g, x, dim);
  const TensorList halves = chunk(x, 2, dim);
  const Tensor s = sigmoid(halves[1]);
  return cat(TensorList{g * s, g * halves[0] * (s * (1 - s))}, dim);
}

// The result lies in memory as self does, whatever the order of its dimensions.
Tensor glu(const Tensor& self, int64_t dim) {
  half_sizes(self, dim);
  const int64_t at = wrap_dim("glu", dim, self.ndim());
  if (self.is_contiguous()) return gated_half(self, at);
  const Tensor* const operands[] = {&self};
  const Shape steps = strides_like(self.sizes(), operands);
  Shape order, back(steps.size(), 0);
  for (int64_t d = 0; d < self.ndim(); ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return steps[size_t(a)] > steps[size_t(b)];
  });
  for (size_t d = 0; d < order.size(); ++d) back[size_t(order[d])] = int64_t(d);
  return permute(gated_half(permute(self, order), back[size_t(at)]), back);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("glu(Tensor self, int dim=-1) -> Tensor")
      .doc("First half of dim times the sigmoid of the second half.")
      .composite(glu);
  m.def("_glu(Tensor self, int dim) -> Tensor")
      .doc("glu, with a row-major result.")
      .shape([](const Tensor& self, int64_t dim) {
        return Spec{half_sizes(self, dim), to_floating(self.dtype()), self.device()};
      })
      .cpu([](Tensor& out, const Tensor& self, int64_t dim) {
        run_binary(out, half_of(self, dim, 0), half_of(self, dim, 1), out.dtype(),
                   kFloatType, [](auto x, auto y) { return x * vec::sigmoid(y); });
      })
      .derivative("self", "self dim", gate_gradient);
  m.def("_glu_backward(Tensor grad, Tensor self, int dim) -> Tensor")
      .doc("Gradient of glu.")
      .dtypes("grad", kFloatDTypes)
      .shape([](const Tensor& grad, const Tensor& self, int64_t dim) {
        check_gradient(grad, half_sizes(self, dim));
        return Spec{self.sizes(), grad.dtype(), self.device()};
      })
      .cpu([](Tensor& out, const Tensor& grad, const Tensor& self, int64_t dim) {
        Tensor first = half_of(out, dim, 0), second = half_of(out, dim, 1);
        const Tensor x = half_of(self, dim, 0), gate = half_of(self, dim, 1);
        run_binary(first, grad, gate, grad.dtype(), kFloatType,
                   [](auto g, auto y) { return g * vec::sigmoid(y); });
        run_ternary(second, grad, x, gate, grad.dtype(), kFloatType,
                    [](auto g, auto v, auto y) {
                      const auto s = vec::sigmoid(y);
                      return g * v * (s * (1 - s));
                    });
      });
}

}  // namespace
}  // namespace pkg::ops

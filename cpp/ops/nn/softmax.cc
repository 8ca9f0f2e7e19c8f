// SPDX-License-Identifier: Apache-2.0
// ops/nn/softmax.cc: softmax and log_softmax over any dimension.  The kernels work on the
// last one.
#include "ops/op.h"

namespace pkg::ops {
namespace {

Tensor row_sum(const Tensor& x) { return sum(x, Dims(Shape{-1}), true); }

Tensor along(const UnaryOp& rows, const char* name, const Tensor& self, int64_t dim,
             std::optional<DType> dtype) {
  PKG_CHECK(!dtype || is_floating(*dtype), NotImplementedError, "[", name,
            "] expected a floating dtype, got dtype=", *dtype, ".");
  const Tensor x = dtype ? to_dtype(self, *dtype) : self;
  const int64_t last = std::max<int64_t>(x.ndim(), 1) - 1;
  const int64_t d = wrap_dim(name, dim, x.ndim());
  if (d == last) return rows(x);
  return transpose(rows(transpose(x, d, last)), d, last);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_softmax(Tensor self) -> Tensor")
      .doc("softmax over the last dimension.")
      .shape(float_shape)
      .element_cost(1.5)
      .derivative("self", "result", [](auto& g, auto& y) {
        return grad_enabled() ? y * (g - row_sum(g * y)) : softmax_backward(g, y, false);
      });
  m.def("_log_softmax(Tensor self) -> Tensor")
      .doc("log_softmax over the last dimension.")
      .shape(float_shape)
      .element_cost(1.5)
      .derivative("self", "result", [](auto& g, auto& y) {
        return grad_enabled() ? g - exp(y) * row_sum(g) : softmax_backward(g, y, true);
      });
  m.def("_softmax_backward(Tensor grad, Tensor result, bool logarithm) -> Tensor")
      .doc("Gradient of _softmax or _log_softmax from its result, in one pass.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("result", kFloatDTypes)
      .non_differentiable()
      .element_cost(1.5)
      .shape([](const Tensor& grad, const Tensor& result, bool) {
        check_gradient(grad, result.sizes());
        return result.spec();
      });
  m.def("softmax(Tensor self, int dim, DType? dtype=None) -> Tensor")
      .doc("exp(self) normalised to sum 1 over dim, computed in dtype if given.")
      .composite([](const Tensor& self, int64_t dim, std::optional<DType> dtype) {
        return along(softmax_rows, "softmax", self, dim, dtype);
      });
  m.def("log_softmax(Tensor self, int dim, DType? dtype=None) -> Tensor")
      .doc("Logarithm of softmax, stable for large values.")
      .composite([](const Tensor& self, int64_t dim, std::optional<DType> dtype) {
        return along(log_softmax_rows, "log_softmax", self, dim, dtype);
      });
}

}  // namespace
}  // namespace pkg::ops

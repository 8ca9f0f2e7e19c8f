// SPDX-License-Identifier: Apache-2.0
// ops/nn/softmax.cc: softmax and log_softmax over any dimension.  There are kernels for
// rows, elements of the last dimension, and for columns, those of another.
#include "ops/op.h"

namespace pkg::ops {
namespace {

Tensor row_sum(const Tensor& x) { return sum(x, Dims(Shape{-1}), true); }

void check_columns(const Tensor& x, int64_t dim) {
  PKG_CHECK(dim >= 0 && dim < x.ndim() - 1, IndexError,
            "[_softmax_columns] expected a dim from 0 to ", x.ndim() - 2,
            ", which is before the last, got ", dim, ".");
}
Tensor column_sum(const Tensor& x, int64_t dim) { return sum(x, Dims(Shape{dim}), true); }

// Whether elements along the dimension, which is not the last, are better taken as columns:
// where they lie apart, many side by side.
bool as_columns(const Tensor& x, int64_t dim) {
  constexpr int64_t kLongest = 2048;  // of which a line of cache of each stays in it
  const int64_t n = x.size(dim);
  if (n < 2 || n > kLongest || x.strides()[size_t(dim)] == 1) return false;
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < x.ndim(); ++d) inner *= x.size(d);
  return inner >= 16;
}

Tensor along(const UnaryOp& rows, const char* name, const Tensor& self, int64_t dim,
             std::optional<DType> dtype, bool logarithm) {
  PKG_CHECK(!dtype || is_floating(*dtype), NotImplementedError, "[", name,
            "] expected a floating dtype, got dtype=", *dtype, ".");
  const Tensor x = dtype ? to_dtype(self, *dtype) : self;
  const int64_t last = std::max<int64_t>(x.ndim(), 1) - 1;
  const int64_t d = wrap_dim(name, dim, x.ndim());
  if (d == last) return rows(x);
  if (as_columns(x, d)) return softmax_columns(x, d, logarithm);
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
  m.def("_softmax_columns(Tensor self, int dim, bool logarithm) -> Tensor")
      .doc("softmax or its logarithm over a dimension that is not the last.")
      .shape([](const Tensor& self, int64_t dim, bool) {
        check_columns(self, dim);
        return float_shape(self);
      })
      .element_cost(1.5)
      .derivative("self", "result dim logarithm",
                  [](const Tensor& g, const Tensor& y, int64_t dim, bool logarithm) {
                    if (!grad_enabled()) {
                      return softmax_columns_backward(g, y, dim, logarithm);
                    }
                    return logarithm ? g - exp(y) * column_sum(g, dim)
                                     : y * (g - column_sum(g * y, dim));
                  });
  m.def("_softmax_columns_backward(Tensor grad, Tensor result, int dim, bool logarithm) "
        "-> Tensor")
      .doc("Gradient of _softmax_columns from its result, in one pass.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("result", kFloatDTypes)
      .non_differentiable()
      .element_cost(1.5)
      .shape([](const Tensor& grad, const Tensor& result, int64_t dim, bool) {
        check_columns(result, dim);
        check_gradient(grad, result.sizes());
        return result.spec();
      });
  m.def("softmax(Tensor self, int dim, DType? dtype=None) -> Tensor")
      .doc("exp(self) normalised to sum 1 over dim, computed in dtype if given.")
      .composite([](const Tensor& self, int64_t dim, std::optional<DType> dtype) {
        return along(softmax_rows, "softmax", self, dim, dtype, false);
      });
  m.def("log_softmax(Tensor self, int dim, DType? dtype=None) -> Tensor")
      .doc("Logarithm of softmax, stable for large values.")
      .composite([](const Tensor& self, int64_t dim, std::optional<DType> dtype) {
        return along(log_softmax_rows, "log_softmax", self, dim, dtype, true);
      });
}

}  // namespace
}  // namespace pkg::ops

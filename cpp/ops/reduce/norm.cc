// SPDX-License-Identifier: Apache-2.0
// ops/reduce/norm.cc: vector norms, and what is measured with them.
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/reduce/reduced_dims.h"

namespace pkg::ops {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Spec vector_norm_rule(const Tensor& self, const Scalar& ord, const Dims& dim, bool keepdim,
                      MaybeDType dtype) {
  const DType type = dtype.value_or(self.dtype());
  PKG_CHECK(is_floating(self.dtype()) && is_floating(type), RuntimeError,
            "[linalg_vector_norm] Expected a floating point tensor as input. Got ",
            self.dtype(), " and dtype=", type,
            ". Convert first, for example with "
            ".to(pkg.float32).");
  PKG_CHECK(promote(self.dtype(), type) == type, RuntimeError,
            "[linalg_vector_norm] the "
            "dtype of the input (",
            self.dtype(),
            ") should be convertible without narrowing "
            "to the specified dtype (",
            type, ").");
  const double p = ord.to<double>();
  PKG_CHECK(
      (p >= 0 && p != kInf) || reduced_count("linalg_vector_norm", self.sizes(), dim) > 0,
      RuntimeError, "[linalg_vector_norm] cannot compute the ", p,
      " norm on an empty tensor "
      "because the operation does not have an identity");
  return {reduced_shape("linalg_vector_norm", self, dim, keepdim), type, self.device()};
}

// d|x|_p / dx = sign(x) |x|^(p-1) / |x|_p^(p-1); zero where the norm has a kink.
Tensor vector_norm_gradient(const Tensor& g, const Tensor& self, const Scalar& ord,
                            const Dims& dim, bool keepdim, const Tensor& result) {
  const auto p = ord.to<double>();
  const Tensor grad = restore_dims(g, self.sizes(), dim, keepdim);
  const Tensor norm = restore_dims(result, self.sizes(), dim, keepdim);
  const Tensor x = to_dtype(self, result.dtype());
  if (p == 0) {  // zeros that have a derivative, zeros too
    return where(full_like(x, 1), Tensor(0), second_is_zero(x));
  }
  if (p == 1) return grad * sign(x);
  if (std::isinf(p)) {  // equal elements share
    const Tensor at = same(abs(x), norm);
    const Tensor ties = sum(at, dim, true, x.dtype());
    const Tensor way = where(ne(x, x), Tensor(0), sign(x));  // as PyTorch: none to NaN
    return way * where(at, grad / ties, Tensor(0));
  }
  const Tensor safe = where(eq(norm, Tensor(0)), Tensor(1), norm);
  if (p == 2) return x / safe * grad;  // the quotient is at most 1
  // No power of a small number leaves the range.
  if (p > 2) return sign(x) * pow(abs(x) / safe, Tensor(p - 1)) * grad;
  const Tensor zero = eq(x, Tensor(0));
  // Zero has the slope zero, unless the order is no number.
  const Tensor size = where(zero, Tensor(std::isnan(p) ? p : 1.0), abs(x));
  const Tensor slope = sign(x) * pow(size, Tensor(p - 1));
  const Tensor scale = grad / pow(safe, Tensor(p - 1));
  return slope * where(eq(norm, Tensor(0)), Tensor(0), scale);
}

double order_named(const std::string& p) {
  PKG_CHECK(p == "fro", NotImplementedError,
            "[norm] expected p to be a number or 'fro', "
            "got '",
            p, "'.");
  return 2;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("linalg_vector_norm(Tensor self, Scalar ord=2, int[]? dim=None, "
        "bool keepdim=False, *, DType? dtype=None) -> Tensor")
      .doc("(sum |x|^ord)^(1/ord) over dim; inf and -inf: largest and smallest |x|; 0: "
           "how many are not zero.")
      .shape(vector_norm_rule)
      .derivative("self", "self ord dim keepdim result", vector_norm_gradient);
  m.def("norm(Tensor self, Scalar p=2, int[]? dim=None, bool keepdim=False, *, "
        "DType? dtype=None) -> Tensor")
      .doc("Vector norm over dim (all by default) of any order p.")
      .composite(
          [](const Tensor& self, const Scalar& p, const Dims& dim, bool keepdim,
             MaybeDType dtype) { return vector_norm(self, p, dim, keepdim, dtype); });
  m.def("norm.named(Tensor self, str p, int[]? dim=None, bool keepdim=False, *, "
        "DType? dtype=None) -> Tensor")
      .doc("The norm of this name: 'fro', the square root of the sum of squares.")
      .composite([](const Tensor& self, const std::string& p, const Dims& dim, bool keepdim,
                    MaybeDType dtype) {
        return vector_norm(self, order_named(p), dim, keepdim, dtype);
      });
  m.def("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor")
      .doc("Norm of self - other.")
      .composite([](const Tensor& self, const Tensor& other, const Scalar& p) {
        return vector_norm(sub(self, other), p, Dims(), false, MaybeDType());
      });
  m.def("normalize(Tensor input, Scalar p=2.0, int[] dim=1, float eps=1e-12) -> Tensor")
      .doc("input / max(norm over dim, eps).")
      .composite([](const Tensor& input, const Scalar& p, const Shape& dim, double eps) {
        const Tensor size = vector_norm(input, p, Dims(dim), true, MaybeDType());
        return div(input, clamp(size, Tensor(eps), Tensor()));
      });
  m.def("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
      .doc("Product of x1 and x2 over dim, divided by their norms (each at least eps).")
      .composite([](const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
        const Shape shape = broadcast_shapes("cosine_similarity", x1.sizes(), x2.sizes());
        const Dims over = Shape{dim};
        // Of the dtypes alone: a 0-d operand counts as much as the other.
        const DType dtype = to_floating(promote(operand_type(x1), operand_type(x2)));
        PKG_CHECK(eps >= 0, RuntimeError, "[cosine_similarity] expected eps >= 0, got ",
                  eps, ".");
        const auto unit = [&](const Tensor& given) {
          const Tensor x = expand(given.dtype() == dtype ? given : to_dtype(given, dtype),
                                  shape);
          const Tensor size = vector_norm(x, 2, over, true, MaybeDType());
          return div(x, clamp(size, Tensor(eps), Tensor()));
        };
        return sum(mul(unit(x1), unit(x2)), over, false, MaybeDType());
      });
}

}  // namespace
}  // namespace pkg::ops

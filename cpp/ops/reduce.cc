// SPDX-License-Identifier: Apache-2.0
// ops/reduce.cc: sums, means and extremes over dimensions.
#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

using Dims = std::optional<Shape>;
const Op<Tensor(const Tensor&, const Dims&, bool)> amax_op{"amax"}, amin_op{"amin"};
const Op<Tensor(const Tensor&, std::optional<int64_t>, bool)> argmax_op{"argmax"},
    argmin_op{"argmin"};
const Op<Tensor(const Tensor&, int64_t, const Tensor&)> gather_op{"gather"};
const Op<Tensor(const Tensor&, const Dims&, bool, std::optional<DType>)> mean_op{"mean"};

Shape reduced_shape(const char* op, const Tensor& self, const Dims& dim, bool keepdim) {
  const Shape dims = wrap_dims(op, dim.value_or(Shape()), self.ndim());
  Shape sizes;
  for (int64_t d = 0; d < self.ndim(); ++d) {
    const bool gone = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!gone) sizes.push_back(self.sizes()[size_t(d)]);
    else if (keepdim) sizes.push_back(1);
  }
  return sizes;
}

// Brings a reduced tensor back to the rank of what it was made from.
Tensor restore_dims(const Tensor& t, const Shape& shape, const Dims& dim, bool keepdim) {
  if (keepdim) return t;
  Shape sizes = shape;
  for (int64_t d : wrap_dims("sum", dim.value_or(Shape()), int64_t(shape.size()))) {
    sizes[size_t(d)] = 1;
  }
  return reshape(t, sizes);
}
int64_t reduced_count(const Shape& shape, const Dims& dim) {
  int64_t count = 1;
  for (int64_t d : wrap_dims("mean", dim.value_or(Shape()), int64_t(shape.size()))) {
    count *= shape[size_t(d)];
  }
  return count;
}

DType sum_type(DType dtype) { return is_floating(dtype) ? dtype : DType::Int64; }

TensorList extreme_gradient(const GradContext& g) {
  const auto& dim = g.arg<Dims>(1);
  const bool keepdim = g.arg<bool>(2);
  const Tensor top = restore_dims(g.result(), g.shape(0), dim, keepdim);
  const Tensor grad = restore_dims(g.grad(), g.shape(0), dim, keepdim);
  const Tensor mask = to_dtype(eq(g.input(0), top), g.specs[0].dtype);
  const Tensor ties = sum(mask, dim, true, std::optional<DType>());
  return {mul(div(mask, keepdim || !dim ? restore_dims(reshape(ties, g.result().sizes()),
                                                       g.shape(0), dim, keepdim)
                                        : ties),
              grad)};
}

Spec arg_rule(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  PKG_CHECK(self.numel() > 0, IndexError,
            "argmax(): Expected reduction dim to be specified for input.numel() == 0");
  const Dims dims = dim ? Dims(Shape{*dim}) : Dims();
  return {reduced_shape("argmax", self, dims, keepdim), DType::Int64, self.device()};
}

using Pair = std::tuple<Tensor, Tensor>;
Pair along(const Op<Tensor(const Tensor&, std::optional<int64_t>, bool)>& arg,
           const Tensor& self, int64_t dim, bool keepdim) {
  const Tensor index = arg(self, std::optional<int64_t>(dim), true);
  const Tensor value = gather_op(self, wrap_dim("max", dim, self.ndim()), index);
  if (keepdim || self.ndim() == 0) return {value, index};
  const Shape sizes = reduced_shape("max", self, Dims(Shape{dim}), false);
  return {reshape(value, sizes), reshape(index, sizes)};
}

Tensor var(const Tensor& self, const Dims& dim, int64_t correction, bool keepdim) {
  const Tensor centred =
      sub(self, mean_op(self, dim, true, std::optional<DType>()));
  const auto n = double(reduced_count(self.sizes(), dim));
  const Tensor total = sum(mul(centred, centred), dim, keepdim, std::optional<DType>());
  return div(total, Tensor(std::max(0.0, n - double(correction))));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("sum(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) "
        "-> Tensor")
      .doc("Sum over dim (all by default); integers are summed in int64.")
      .shape([](const Tensor& self, const Dims& dim, bool keepdim,
                std::optional<DType> dtype) {
        return Spec{reduced_shape("sum", self, dim, keepdim),
                    dtype.value_or(sum_type(self.dtype())), self.device()};
      })
      .grad("", [](const GradContext& g) -> TensorList {
        const Tensor grad =
            restore_dims(g.grad(), g.shape(0), g.arg<Dims>(1), g.arg<bool>(2));
        return {expand(grad, g.shape(0))};
      });
  m.def("mean(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) "
        "-> Tensor")
      .doc("Arithmetic mean over dim (all by default) of a floating tensor.")
      .composite([](const Tensor& self, const Dims& dim, bool keepdim,
                    std::optional<DType> dtype) {
        const DType type = dtype.value_or(self.dtype());
        PKG_CHECK(is_floating(type), RuntimeError, "mean(): could not infer output dtype. "
                  "Input dtype must be a floating point dtype, got ", type);
        const auto n = double(reduced_count(self.sizes(), dim));
        return div(sum(self, dim, keepdim, dtype), Tensor(n));
      });
  for (const char* name : {"amax", "amin"}) {
    m.def(str(name, "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"))
        .doc("Extreme value over dim; NaN wins; ties share the gradient.")
        .shape([](const Tensor& self, const Dims& dim, bool keepdim) {
          PKG_CHECK(self.numel() > 0, RuntimeError,
                    "[amax] Expected a non-empty tensor, got shape ", self.sizes());
          return Spec{reduced_shape("amax", self, dim, keepdim), self.dtype(),
                      self.device()};
        })
        .grad("self result", extreme_gradient);
  }
  for (const char* name : {"argmax", "argmin"}) {
    m.def(str(name, "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"))
        .doc("Index of the first extreme value, over dim or of the flattened tensor.")
        .shape(arg_rule)
        .non_differentiable();
  }
  for (const char* name : {"all", "any"}) {
    m.def(str(name, "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"))
        .doc("Whether all (or any) of the elements over dim are non-zero.")
        .shape([](const Tensor& self, const Dims& dim, bool keepdim) {
          return Spec{reduced_shape("all", self, dim, keepdim), DType::Bool,
                      self.device()};
        })
        .non_differentiable();
  }
  m.def("max(Tensor self) -> Tensor").doc("Largest element.").composite(
      [](const Tensor& self) { return amax_op(self, Dims(), false); });
  m.def("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .doc("Largest elements over dim, and where they stand.")
      .composite([](const Tensor& self, int64_t dim, bool keepdim) {
        return along(argmax_op, self, dim, keepdim);
      });
  m.def("min(Tensor self) -> Tensor").doc("Smallest element.").composite(
      [](const Tensor& self) { return amin_op(self, Dims(), false); });
  m.def("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .doc("Smallest elements over dim, and where they stand.")
      .composite([](const Tensor& self, int64_t dim, bool keepdim) {
        return along(argmin_op, self, dim, keepdim);
      });
  m.def("var(Tensor self, int[]? dim=None, *, int correction=1, bool keepdim=False) -> Tensor")
      .doc("Variance over dim, divided by n - correction.")
      .composite(var);
  m.def("std(Tensor self, int[]? dim=None, *, int correction=1, bool keepdim=False) -> Tensor")
      .doc("Standard deviation over dim.")
      .composite([](const Tensor& self, const Dims& dim, int64_t correction, bool keepdim) {
        return sqrt(var(self, dim, correction, keepdim));
      });
}

}  // namespace
}  // namespace pkg::ops

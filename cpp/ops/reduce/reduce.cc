// SPDX-License-Identifier: Apache-2.0
// ops/reduce/reduce.cc: sums, means and extremes over dimensions.
#include "ops/op.h"
#include "ops/reduce/mean.h"
#include "ops/reduce/reduced_dims.h"
#include "ops/reduce/sum_dtype.h"

namespace pkg::ops {
namespace {

// One dimension, or all.
Dims dims_of(std::optional<int64_t> dim) { return dim ? Dims(Shape{*dim}) : Dims(); }

// Elements equal to the extreme share its gradient.
Tensor extreme_gradient(const Tensor& g, const Tensor& self, const Tensor& result,
                        const Dims& dim, bool keepdim) {
  const Tensor top = restore_dims(result, self.sizes(), dim, keepdim);
  const Tensor at = same(self, top);
  const Tensor ties = sum(at, dim, true, g.dtype());
  return where(at, restore_dims(g, self.sizes(), dim, keepdim) / ties, 0);
}

TensorList extremes_gradient(const GradContext& g) {
  const Dims dim = dims_of(g.arg<std::optional<int64_t>>(1));
  TensorList grads(1);
  for (size_t k = 0; k < 2; ++k) {
    if (!g.grad(k).defined()) continue;
    const Tensor one = extreme_gradient(g.grad(k), g.input(0), g.result(k), dim,
                                        g.arg<bool>(2));
    grads[0] = grads[0].defined() ? grads[0] + one : one;
  }
  return grads;
}

Spec extreme_rule(const char* op, const Tensor& self, const Dims& dim, bool keepdim) {
  PKG_CHECK(reduced_count(op, self.sizes(), dim) > 0, IndexError, "[", op,
            "] Expected reduction over at least one element, got shape ", self.sizes());
  return {reduced_shape(op, self, dim, keepdim), self.dtype(), self.device()};
}

Spec arg_rule(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const Dims dims = dims_of(dim);
  PKG_CHECK(reduced_count("argmax", self.sizes(), dims) > 0, IndexError,
            "[argmax] Expected reduction over at least one element, got shape ",
            self.sizes());
  return {reduced_shape("argmax", self, dims, keepdim), DType::Int64, self.device()};
}

Two along(const char* op,
          const Op<Tensor(const Tensor&, std::optional<int64_t>, bool)>& arg,
          const Tensor& self, int64_t dim, bool keepdim) {
  dim = wrap_dim(op, dim, self.ndim());
  PKG_CHECK(self.ndim() == 0 || self.sizes()[size_t(dim)] > 0, IndexError, "[", op,
            "] Expected reduction dim ", dim, " to have non-zero size, got shape ",
            self.sizes());
  const Tensor index = arg(self, std::optional<int64_t>(dim), true);
  const Tensor value = gather(self, dim, index);
  if (keepdim || self.ndim() == 0) return {value, index};
  const Shape sizes = reduced_shape(op, self, Dims(Shape{dim}), false);
  return {reshape(value, sizes), reshape(index, sizes)};
}

// What an element of a reduction costs, for element_cost(): it is read, in order.  Of 64 bits
// twice as much as of 32, so between both.
constexpr double kReadNanoseconds = 0.2;

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("sum(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) "
        "-> Tensor")
      .doc("Sum over dim (all by default); integers are summed in int64.")
      .element_cost(kReadNanoseconds)
      .shape([](const Tensor& self, const Dims& dim, bool keepdim,
                std::optional<DType> dtype) {
        return Spec{reduced_shape("sum", self, dim, keepdim), sum_dtype("sum", self, dtype),
                    self.device()};
      })
      .derivative("self", "self.shape dim keepdim",
                  [](const Tensor& g, const Shape& sizes, const Dims& dim, bool keepdim) {
                    return expand(restore_dims(g, sizes, dim, keepdim), sizes);
                  });
  m.def("mean(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) "
        "-> Tensor")
      .doc("Arithmetic mean over dim (all by default) of a floating tensor.")
      .composite([](const Tensor& self, const Dims& dim, bool keepdim,
                    std::optional<DType> dtype) {
        const DType type = dtype.value_or(self.dtype());
        PKG_CHECK(is_floating(type), RuntimeError,
                  "[mean] could not infer output dtype. "
                  "Input dtype must be a floating point dtype, got ",
                  type);
        const auto n = double(reduced_count("mean", self.sizes(), dim));
        return sum_over(n, self, dim, keepdim, dtype);
      });
  for (const char* name : {"amax", "amin"}) {
    m.def(str(name, "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"))
        .doc("Extreme value over dim; NaN wins; ties share the gradient.")
        .element_cost(kReadNanoseconds)
        .shape([](const Tensor& self, const Dims& dim, bool keepdim) {
          return extreme_rule("amax", self, dim, keepdim);
        })
        .derivative("self", "self result dim keepdim", extreme_gradient);
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
          return Spec{reduced_shape("all", self, dim, keepdim), DType::Bool, self.device()};
        })
        .non_differentiable();
  }
  m.def("max(Tensor self) -> Tensor")
      .doc("Largest element.")
      .composite([](const Tensor& self) { return amax(self, Dims(), false); });
  m.def(
       "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .doc("Largest elements over dim, and where they stand.")
      .composite([](const Tensor& self, int64_t dim, bool keepdim) {
        return along("max", argmax, self, dim, keepdim);
      });
  m.def("max.other(Tensor self, Tensor other) -> Tensor")
      .doc("maximum: the larger of the two, elementwise.")
      .composite(
          [](const Tensor& self, const Tensor& other) { return maximum(self, other); });
  m.def("min(Tensor self) -> Tensor")
      .doc("Smallest element.")
      .composite([](const Tensor& self) { return amin(self, Dims(), false); });
  m.def(
       "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .doc("Smallest elements over dim, and where they stand.")
      .composite([](const Tensor& self, int64_t dim, bool keepdim) {
        return along("min", argmin, self, dim, keepdim);
      });
  m.def("min.other(Tensor self, Tensor other) -> Tensor")
      .doc("minimum: the smaller of the two, elementwise.")
      .composite(
          [](const Tensor& self, const Tensor& other) { return minimum(self, other); });
  m.def("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) "
        "-> (Tensor min, Tensor max)")
      .doc("Smallest and largest element over dim (all by default), as of amin and amax.")
      .element_cost(kReadNanoseconds)
      .shape([](const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
        const Spec one = extreme_rule("aminmax", self, dims_of(dim), keepdim);
        return std::array<Spec, 2>{one, one};
      })
      .grad("self result result1", extremes_gradient);
  m.def("count_nonzero(Tensor self, int[]? dim=None) -> Tensor")
      .doc("How many elements over dim are not zero, as int64.")
      .element_cost(kReadNanoseconds)
      .shape([](const Tensor& self, const Dims& dim) {
        return Spec{reduced_shape("count_nonzero", self, dim, false), DType::Int64,
                    self.device()};
      })
      .non_differentiable();
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/index/sorting.cc: order along a dimension.  NaN counts as the largest number.
#include "ops/index/slices.h"
#include "ops/op.h"
#include "ops/reduce/reduced_dims.h"

namespace pkg::ops {
namespace {

std::array<Spec, 2> values_and_indices(const Tensor& self, const Shape& sizes) {
  return {Spec{sizes, self.dtype(), self.device()},
          Spec{sizes, DType::Int64, self.device()}};
}

// Back to where the values came from.
Tensor order_gradient(const Tensor& g, const Shape& sizes, int64_t dim,
                      const Tensor& indices) {
  return scatter_add(zeros_to_add_to(sizes, g), dim, indices, g);
}

// The same of one element of each line.
Tensor picked_gradient(const Tensor& g, const Shape& sizes, int64_t dim, bool keepdim,
                       const Tensor& index) {
  if (sizes.empty() || keepdim) return order_gradient(g, sizes, dim, index);
  const int64_t at = wrap_dim("kthvalue", dim, int64_t(sizes.size()));
  return order_gradient(unsqueeze(g, at), sizes, at, unsqueeze(index, at));
}
void check_middle(bool is_there, const Tensor& self) {
  PKG_CHECK(is_there, IndexError,
            "[median] Expected reduction over at least one element, got shape ",
            self.sizes());
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("sort(Tensor self, int dim=-1, bool descending=False, bool stable=False) "
        "-> (Tensor values, Tensor indices)")
      .doc("Values in order along dim, and where they were; always stable.")
      .shape([](const Tensor& self, int64_t dim, bool, bool) {
        wrap_dim("sort", dim, self.ndim());
        return values_and_indices(self, self.sizes());
      })
      .derivative("self", "self.shape dim result1", order_gradient);
  m.def("_sorted(Tensor self) -> Tensor")
      .doc("All elements in order, as one line.")
      .shape([](const Tensor& self) {
        return Spec{Shape{self.numel()}, self.dtype(), self.device()};
      })
      .non_differentiable();
  m.def("argsort(Tensor self, int dim=-1, bool descending=False, bool stable=False) "
        "-> Tensor")
      .doc("Indices that sort along dim.")
      .composite([](const Tensor& self, int64_t dim, bool descending, bool stable) {
        return std::get<1>(sort(self, dim, descending, stable));
      });
  m.def("topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) "
        "-> (Tensor values, Tensor indices)")
      .doc("The k largest (or smallest) values along dim in order, and where they stand.")
      .shape([](const Tensor& self, int64_t k, int64_t dim, bool, bool) {
        const int64_t d = wrap_dim("topk", dim, self.ndim());
        const int64_t n = self.ndim() ? self.size(d) : 1;
        PKG_CHECK(k >= 0 && k <= n, RuntimeError,
                  "[topk] selected index k out of range: "
                  "k is ",
                  k, ", dim ", dim, " has size ", n, ".");
        Shape sizes = self.sizes();
        if (self.ndim()) sizes[size_t(d)] = k;
        return values_and_indices(self, sizes);
      })
      .derivative("self", "self.shape dim result1", order_gradient);
  m.def("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) "
        "-> (Tensor values, Tensor indices)")
      .doc("The k-th smallest value along dim, counted from 1, and where it stands.")
      .shape([](const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
        const int64_t n = self.ndim() ? self.size(dim) : 1;
        PKG_CHECK(k >= 1 && k <= n, RuntimeError,
                  "[kthvalue] selected number k out of range for dimension ", dim,
                  ": k is ", k, ", the size is ", n, ".");
        return values_and_indices(
            self, reduced_shape("kthvalue", self, Dims(Shape{dim}), keepdim));
      })
      .derivative("self", "self.shape dim keepdim result1", picked_gradient);
  m.def("median(Tensor self) -> Tensor")
      .doc("The lower middle value of all elements; equals share the gradient.")
      .shape([](const Tensor& self) {
        check_middle(self.numel() > 0 || is_floating(self.dtype()), self);
        return Spec{Shape(), self.dtype(), self.device()};
      })
      .derivative("self", "self result", [](auto& g, auto& x, auto& middle) {
        const Tensor at = same(x, middle);
        return where(at, g / sum(at, Dims(), false, g.dtype()), 0);
      });
  m.def("median.dim(Tensor self, int dim, bool keepdim=False) "
        "-> (Tensor values, Tensor indices)")
      .doc("The lower middle values over dim, and where they stand.")
      .shape([](const Tensor& self, int64_t dim, bool keepdim) {
        const auto at = size_t(wrap_dim("median", dim, self.ndim()));
        check_middle(self.ndim() == 0 || self.sizes()[at] > 0, self);
        return values_and_indices(self,
                                  reduced_shape("median", self, Dims(Shape{dim}), keepdim));
      })
      .derivative("self", "self.shape dim keepdim result1", picked_gradient);
  m.def("mode(Tensor self, int dim=-1, bool keepdim=False) "
        "-> (Tensor values, Tensor indices)")
      .doc("The most frequent value along dim, the smallest of equals, and its last place.")
      .shape([](const Tensor& self, int64_t dim, bool keepdim) {
        const auto at = size_t(wrap_dim("mode", dim, self.ndim()));
        PKG_CHECK(self.ndim() == 0 || self.sizes()[at] > 0, IndexError,
                  "[mode] expected values along dim ", dim, ", got shape ", self.sizes(),
                  ".");
        return values_and_indices(self,
                                  reduced_shape("mode", self, Dims(Shape{dim}), keepdim));
      })
      .derivative("self", "self.shape dim keepdim result1", picked_gradient);
}

}  // namespace
}  // namespace pkg::ops

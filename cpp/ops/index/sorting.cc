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

// Back to where the values came from; `dim` is the argument at place `at`.
template <size_t at>
TensorList order_gradient(const GradContext& g) {
  const Tensor zeros = zeros_to_add_to(g.shape(0), g.grad());
  return {scatter_add(zeros, g.arg<int64_t>(at), g.result(1), g.grad())};
}

// The same of one element of each line; after `dim` comes whether the result keeps it.
template <size_t at>
TensorList picked_gradient(const GradContext& g) {
  const int64_t ndim = int64_t(g.shape(0).size());
  const int64_t dim = wrap_dim("kthvalue", g.arg<int64_t>(at), ndim);
  const bool whole = ndim == 0 || g.arg<bool>(at + 1);
  const auto in_place = [&](const Tensor& t) { return whole ? t : unsqueeze(t, dim); };
  const Tensor zeros = zeros_to_add_to(g.shape(0), g.grad());
  return {scatter_add(zeros, dim, in_place(g.result(1)), in_place(g.grad()))};
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
      .grad("result1", order_gradient<1>);
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
      .grad("result1", order_gradient<2>);
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
      .grad("result1", picked_gradient<2>);
  m.def("median(Tensor self) -> Tensor")
      .doc("The lower middle value of all elements; equals share the gradient.")
      .shape([](const Tensor& self) {
        check_middle(self.numel() > 0 || is_floating(self.dtype()), self);
        return Spec{Shape(), self.dtype(), self.device()};
      })
      .grad("self result", [](const GradContext& g) -> TensorList {
        const Tensor at = to_dtype(same(g.input(0), g.result()), g.specs[0].dtype);
        return {mul(at, div(g.grad(), sum(at, Dims(), false)))};
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
      .grad("result1", picked_gradient<1>);
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
      .grad("result1", picked_gradient<1>);
}

}  // namespace
}  // namespace pkg::ops

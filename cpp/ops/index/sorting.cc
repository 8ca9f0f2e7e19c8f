// SPDX-License-Identifier: Apache-2.0
// ops/index/sorting.cc: order along a dimension.  NaN counts as the largest number.
#include "ops/index/slices.h"
#include "ops/op.h"

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

Two mode(const Tensor& self, int64_t dim, bool keepdim) {
  const auto [values, places] = sort(self, dim, false, true);
  if (self.ndim() == 0) return {values, places};
  const int64_t d = wrap_dim("mode", dim, self.ndim());
  PKG_CHECK(self.size(d) > 0, IndexError, "[mode] expected values along dim ", dim,
            ", got shape ", self.sizes(), ".");
  // How many equals stand in a row up to each place; the first of all is not compared.
  const Tensor before = roll(values, Shape{1}, Shape{d});
  const Tensor same = to_dtype(eq(values, before), DType::Float64);
  const Tensor equals = linear_scan(same, full_like(same, 1), d, false);
  const Tensor index = gather(places, d, argmax(equals, d, true));
  const Tensor value = gather(self, d, index);
  if (keepdim) return {value, index};
  return {select(value, d, 0), select(index, d, 0)};
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
      .composite([](const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
        const int64_t n = self.ndim() ? self.size(dim) : 1;
        PKG_CHECK(k >= 1 && k <= n, RuntimeError,
                  "[kthvalue] selected number k out of range for dimension ", dim,
                  ": k is ", k, ", the size is ", n, ".");
        const auto [values, indices] = sort(self, dim, false, true);
        if (self.ndim() == 0) return Two{values, indices};
        const Tensor value = select(values, dim, k - 1),
                     index = select(indices, dim, k - 1);
        if (!keepdim) return Two{value, index};
        const int64_t d = wrap_dim("kthvalue", dim, self.ndim());
        return Two{unsqueeze(value, d), unsqueeze(index, d)};
      });
  m.def("mode(Tensor self, int dim=-1, bool keepdim=False) "
        "-> (Tensor values, Tensor indices)")
      .doc("The most frequent value along dim, the smallest of equals, and its last place.")
      .composite(mode);
}

}  // namespace
}  // namespace pkg::ops

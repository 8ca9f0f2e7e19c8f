// SPDX-License-Identifier: Apache-2.0
// ops/strided_view.cc: a part of a tensor's memory as a view, and a tensor with such a
// part replaced: the two ops that the history of views is written in (autograd/views.h).
#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

const Op<Tensor(const Tensor&, const Shape&, const Shape&, int64_t)> strided_view{
    "_strided_view"};
const Op<Tensor(const Tensor&, const Tensor&, const Shape&, const Shape&, int64_t)>
    strided_scatter{"_strided_scatter"};

// A view that repeats elements (expand) collects a gradient for each repetition.
Tensor without_repeats(Tensor grad, Shape& sizes, const Shape& strides) {
  Shape repeated;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] != 0 || sizes[d] == 1) continue;
    repeated.push_back(int64_t(d));
    sizes[d] = 1;
  }
  if (repeated.empty()) return grad;
  return sum(grad, std::optional<Shape>(repeated), true, std::optional<DType>());
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_strided_view(Tensor self, int[] size, int[] stride, int offset) -> Tensor")
      .doc("The elements of self's memory, from its first, at offset + index * stride.")
      .view([](const Tensor& self, const Shape& size, const Shape& stride,
               int64_t offset) {
        const int64_t held = self.storage().nbytes() / itemsize(self.dtype());
        check_inside(held - self.offset(), size, stride, offset);
        return alias(self, size, stride, self.offset() + offset);
      })
      .grad("", [](const GradContext& g) -> TensorList {
        Shape size = g.arg<Shape>(1);
        const Shape& stride = g.arg<Shape>(2);
        const Tensor part = without_repeats(g.grad(), size, stride);
        return {strided_scatter(zeros_of(g.shape(0), g.grad()), part, size, stride,
                                g.arg<int64_t>(3))};
      });
  // The result is laid out as self's memory was, row-major, which is what the offsets
  // and strides mean; autograd only records it for tensors that own their memory.
  m.def("_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int offset) "
        "-> Tensor")
      .doc("A copy of self with the elements at offset + index * stride taken from src.")
      .shape([](const Tensor& self, const Tensor& src, const Shape& size,
                const Shape& stride, int64_t offset) {
        check_inside(self.numel(), size, stride, offset);
        PKG_CHECK(broadcast_shapes("_strided_scatter", size, src.sizes()) == size, RuntimeError,
                  "[_strided_scatter] expected src to broadcast to ", size, ", got ",
                  src.sizes(), ".");
        return self.spec();
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& src, const Shape& size,
              const Shape& stride, int64_t offset) {
        copy_into(out, self);
        copy_into(alias(out, size, stride, offset), src);
      })
      .grad("", [](const GradContext& g) -> TensorList {
        const Shape &size = g.arg<Shape>(2), &stride = g.arg<Shape>(3);
        const int64_t offset = g.arg<int64_t>(4);
        Tensor self, src;
        if (g.needs(0)) {
          const Tensor none = zeros_of(g.shape(1), g.grad());
          self = strided_scatter(g.grad(), none, size, stride, offset);
        }
        if (g.needs(1)) src = strided_view(contiguous(g.grad()), size, stride, offset);
        return {self, src};
      });
}

}  // namespace
}  // namespace pkg::ops

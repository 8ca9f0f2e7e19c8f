// SPDX-License-Identifier: Apache-2.0
// ops/shape/strided_view.cc: a part of a tensor's memory as a view, and a tensor with such a
// part replaced: the two ops that the history of views is written in (autograd/views.h).
#include "ops/op.h"

namespace pkg::ops {
namespace {

using Layout = Dims;  // strides; none: row-major

// Where gradients are put that offsets and strides shall mean something in.
int64_t room_of(const Shape& sizes, const Layout& layout) {
  return layout ? extent(sizes, *layout) : sizes.numel();
}
// The memory of a tensor laid out so: its elements, and zeros in the gaps between them.
Tensor memory_of(const Tensor& tensor, const Layout& layout) {
  if (!layout) return contiguous(tensor);
  const Tensor none = zeros_of(Shape{room_of(tensor.sizes(), layout)}, tensor);
  return strided_scatter(none, tensor, tensor.sizes(), *layout, 0, Layout());
}

// A view that repeats elements (expand) collects a gradient for each repetition.
Tensor without_repeats(Tensor grad, Shape& sizes, const Shape& strides) {
  Shape repeated;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] != 0 || sizes[d] <= 1) continue;
    repeated.push_back(int64_t(d));
    sizes[d] = 1;
  }
  if (repeated.empty()) return grad;
  return sum(grad, std::optional<Shape>(repeated), true, std::optional<DType>());
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_strided_view(Tensor self, int[] size, int[] stride, int offset, "
        "int[]? layout=None) -> Tensor")
      .doc("The elements of self's memory, from its first, at offset + index * stride. "
           "layout: the strides of a self that is not row-major.")
      .view([](const Tensor& self, const Shape& size, const Shape& stride,
               int64_t offset, const Layout& layout) {
        PKG_CHECK(!layout || *layout == self.strides(), RuntimeError, "[_strided_view] "
                  "expected the strides of self as layout, got ", *layout, " for ",
                  self.strides(), ".");
        const int64_t held = self.storage().nbytes() / itemsize(self.dtype());
        check_inside(held - self.offset(), size, stride, offset);
        return alias(self, size, stride, self.offset() + offset);
      })
      .grad("", [](const GradContext& g) -> TensorList {
        Shape size = g.arg<Shape>(1);
        const Shape& stride = g.arg<Shape>(2);
        const Tensor part = without_repeats(g.grad(), size, stride);
        return {strided_scatter(zeros_of(g.shape(0), g.grad()), part, size, stride,
                                g.arg<int64_t>(3), g.arg<Layout>(4))};
      });
  // Offsets and strides mean the memory of the tensor that was written, whatever self, a
  // gradient of it, is laid out like; autograd only records it for tensors that own theirs.
  m.def("_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int offset, "
        "int[]? layout=None) -> Tensor")
      .doc("A copy of self with the elements at offset + index * stride taken from src, "
           "as if self had the strides `layout`; None: row-major.")
      .shape([](const Tensor& self, const Tensor& src, const Shape& size,
                const Shape& stride, int64_t offset, const Layout& layout) {
        check_inside(room_of(self.sizes(), layout), size, stride, offset);
        PKG_CHECK(broadcast_shapes("_strided_scatter", size, src.sizes()) == size, RuntimeError,
                  "[_strided_scatter] expected src to broadcast to ", size, ", got ",
                  src.sizes(), ".");
        return self.spec();
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& src, const Shape& size,
              const Shape& stride, int64_t offset, const Layout& layout) {
        if (!layout) {
          copy_into(out, self);
          return copy_into(alias(out, size, stride, offset), src);
        }
        const Tensor memory = empty(Shape{room_of(self.sizes(), layout)}, out.dtype());
        const Tensor inside = alias(memory, self.sizes(), *layout, 0);
        copy_into(inside, self);
        copy_into(alias(memory, size, stride, offset), src);
        copy_into(out, inside);
      })
      .grad("", [](const GradContext& g) -> TensorList {
        const Shape &size = g.arg<Shape>(2), &stride = g.arg<Shape>(3);
        const int64_t offset = g.arg<int64_t>(4);
        const Layout& layout = g.arg<Layout>(5);
        Tensor self, src;
        if (g.needs(0)) {
          const Tensor none = zeros_of(g.shape(1), g.grad());
          self = strided_scatter(g.grad(), none, size, stride, offset, layout);
        }
        if (g.needs(1)) {
          src = strided_view(memory_of(g.grad(), layout), size, stride, offset, Layout());
        }
        return {self, src};
      });
}

}  // namespace
}  // namespace pkg::ops

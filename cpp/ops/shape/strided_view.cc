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
      .view([](const Tensor& self, const Shape& size, const Shape& stride, int64_t offset,
               const Layout& layout) {
        PKG_CHECK(!layout || *layout == self.strides(), RuntimeError,
                  "[_strided_view] "
                  "expected the strides of self as layout, got ",
                  *layout, " for ", self.strides(), ".");
        const int64_t held = self.storage().nbytes() / itemsize(self.dtype());
        check_inside(held - self.offset(), size, stride, offset);
        return alias(self, size, stride, self.offset() + offset);
      })
      .derivative("self", "self.shape size stride offset layout",
                  [](const Tensor& g, const Shape& sizes, const Shape& size,
                     const Shape& stride, int64_t offset, const Layout& layout) {
                    Shape kept = size;
                    const Tensor part = without_repeats(g, kept, stride);
                    return strided_scatter(zeros_of(sizes, g), part, kept, stride, offset,
                                           layout);
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
        PKG_CHECK(broadcast_shapes("_strided_scatter", size, src.sizes()) == size,
                  RuntimeError, "[_strided_scatter] expected src to broadcast to ", size,
                  ", got ", src.sizes(), ".");
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
      .derivative("self", "src.shape size stride offset layout",
                  [](const Tensor& g, const Shape& part, const Shape& size,
                     const Shape& stride, int64_t offset, const Layout& layout) {
                    return strided_scatter(g, zeros_of(part, g), size, stride, offset,
                                           layout);
                  })
      .derivative("src", "size stride offset layout",
                  [](const Tensor& g, const Shape& size, const Shape& stride,
                     int64_t offset, const Layout& layout) {
                    return strided_view(memory_of(g, layout), size, stride, offset,
                                        Layout());
                  });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/shape/flipping.cc: reversal and rotation: the input's elements in another order.
#include "ops/op.h"
#include "ops/shape/move_cost.h"

namespace pkg::ops {
namespace {

Shape flip_dims(const Tensor& self, const Shape& dims) {
  return dims.empty() ? Shape() : wrap_dims("flip", dims, self.ndim());
}

// self seen backwards: strides are negative where it is reversed.
Tensor flipped_view(const Tensor& self, const Shape& dims) {
  Shape strides = self.strides();
  int64_t offset = self.offset();
  for (int64_t d : flip_dims(self, dims)) {
    offset += (self.sizes()[size_t(d)] - 1) * strides[size_t(d)];
    strides[size_t(d)] *= -1;
  }
  return alias(self, self.sizes(), strides, offset);
}

// Of each dimension how far it moves, from 0 to its size.
Shape roll_steps(const Shape& sizes, const Shape& shifts, const Shape& dims) {
  Shape steps(sizes.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = size_t(wrap_dim("roll", dims[i], int64_t(sizes.size())));
    const int64_t n = std::max<int64_t>(sizes[d], 1);
    steps[d] = (steps[d] + (shifts[i] % n + n) % n) % n;
  }
  return steps;
}
// Copies what stays together as one, from dimension d on: `from` and `to` were cut before.
void roll_parts(const Tensor& to, const Tensor& from, const Shape& steps, size_t d) {
  while (d < steps.size() && steps[d] == 0) ++d;
  if (d == steps.size()) return copy_into(to, from);
  const int64_t n = from.sizes()[d], moved = steps[d];
  const auto part = [d](const Tensor& t, int64_t start, int64_t length) {
    Shape sizes = t.sizes();
    sizes[d] = length;
    return alias(t, sizes, t.strides(), t.offset() + start * t.strides()[d]);
  };
  roll_parts(part(to, moved, n - moved), part(from, 0, n - moved), steps, d + 1);
  roll_parts(part(to, 0, moved), part(from, n - moved, moved), steps, d + 1);
}

Tensor roll_fn(const Tensor& self, const Shape& shifts, const Shape& dims) {
  if (dims.empty()) {
    PKG_CHECK(shifts.size() == 1, RuntimeError,
              "[roll] expected one shift without dims, "
              "got ",
              shifts);
    const Tensor flat = reshape(self, Shape{self.numel()});
    return reshape(rolled(flat, shifts, Shape{0}), self.sizes());
  }
  PKG_CHECK(shifts.size() == dims.size(), RuntimeError,
            "[roll] shifts and dimensions must "
            "align. shifts: ",
            shifts, ", dims: ", dims);
  PKG_CHECK(self.ndim() > 0, IndexError, "[roll] Dimension specified as ", dims[0],
            " but tensor has no dimensions");
  return rolled(self, shifts, dims);
}

// A result never shares memory with self.
Tensor rot90(const Tensor& self, int64_t k, const Shape& dims) {
  PKG_CHECK(dims.size() == 2 && self.ndim() >= 2, RuntimeError,
            "[rot90] expected two dims "
            "of a tensor with at least two, got dims ",
            dims, " of shape ", self.sizes());
  const Shape plane = wrap_dims("rot90", dims, self.ndim());
  switch ((k % 4 + 4) % 4) {
    case 1: return transpose(flip(self, Shape{plane[1]}), plane[0], plane[1]);
    case 2: return flip(self, plane);
    case 3: return flip(transpose(self, plane[0], plane[1]), Shape{plane[1]});
    default: return self.is_contiguous() ? clone(self) : contiguous(self);
  }
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("flip(Tensor self, int[] dims) -> Tensor")
      .doc("The order along dims reversed.")
      .shape([](const Tensor& self, const Shape& dims) {
        flip_dims(self, dims);
        return self.spec();
      })
      .keeps_order()
      .cpu([](Tensor& out, const Tensor& self, const Shape& dims) {
        if (self.numel() > 0) copy_into(out, flipped_view(self, dims));
      })
      .derivative("self", "dims", flip);
  m.def("fliplr(Tensor self) -> Tensor")
      .doc("Dimension 1 reversed.")
      .composite([](const Tensor& self) {
        PKG_CHECK(self.ndim() >= 2, RuntimeError,
                  "[fliplr] Input must be >= 2-d, got shape ", self.sizes());
        return flip(self, Shape{1});
      });
  m.def("flipud(Tensor self) -> Tensor")
      .doc("Dimension 0 reversed.")
      .composite([](const Tensor& self) {
        PKG_CHECK(self.ndim() >= 1, RuntimeError,
                  "[flipud] Input must be >= 1-d, got a 0-d "
                  "tensor");
        return flip(self, Shape{0});
      });
  m.def("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor")
      .doc(
          "Turned k times by 90 degrees in the plane of dims, from the first to the second.")
      .composite(rot90);
  m.def("_roll(Tensor self, int[] shifts, int[] dims) -> Tensor")
      .doc("roll of named dimensions.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& self, const Shape& shifts, const Shape& dims) {
        PKG_CHECK(shifts.size() == dims.size(), RuntimeError,
                  "[roll] expected a shift for "
                  "each dimension, got ",
                  shifts, " for ", dims);
        roll_steps(self.sizes(), shifts, dims);
        return self.spec();
      })
      .cpu([](Tensor& out, const Tensor& self, const Shape& shifts, const Shape& dims) {
        if (self.numel() == 0) return;
        roll_parts(out, self, roll_steps(self.sizes(), shifts, dims), 0);
      })
      .derivative(
          "self", "self.shape shifts dims",
          [](const Tensor& g, const Shape& sizes, const Shape& shifts, const Shape& dims) {
            Shape back = roll_steps(sizes, shifts, dims), all;
            for (size_t d = 0; d < back.size(); ++d) {
              back[d] = -back[d];
              all.push_back(int64_t(d));
            }
            return rolled(g, back, all);
          });
  m.def("roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor")
      .doc("Elements moved along dims, those at the end coming in at the start; without "
           "dims the flattened tensor.")
      .composite(roll_fn);
}

}  // namespace
}  // namespace pkg::ops

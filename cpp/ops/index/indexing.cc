// SPDX-License-Identifier: Apache-2.0
// ops/index/indexing.cc: advanced indexing, reduced to two ops on the leading dimensions.
//
// index() moves the indexed dimensions to the front (a view), turns masks into index
// tensors, and calls _index; index_put_() likewise with _index_put.
#include "base/number_fits.h"
#include "ops/index/slices.h"
#include "ops/op.h"

namespace pkg::ops {
namespace {

Shape index_shape(const TensorList& indices) {
  Shape shape;
  for (const Tensor& index : indices) {
    PKG_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32 ||
                  index.dtype() == DType::UInt8 || index.dtype() == DType::Int8,
              IndexError,
              "[index] tensors used as indices must be integer or bool "
              "tensors, got ",
              index.dtype());
    try {
      shape = broadcast_shapes("index", shape, index.sizes());
    } catch (const RuntimeError&) {
      detail::raise<IndexError>(
          "[index] shape mismatch: indexing tensors could not be broadcast together with "
          "shapes ",
          shape, ", ", index.sizes());
    }
  }
  return shape;
}

Spec index_rule(const Tensor& self, const TensorList& indices) {
  PKG_CHECK(indices.size() <= self.sizes().size(), IndexError,
            "[index] too many indices for tensor of dimension ", self.ndim());
  Spec spec = self.spec();
  spec.sizes = index_shape(indices);
  for (size_t d = indices.size(); d < self.sizes().size(); ++d) {
    spec.sizes.push_back(self.sizes()[d]);
  }
  return spec;
}

// Indices without masks, and self with the indexed dimensions in front.
struct Front {
  Tensor whole;  // self as it was
  Tensor self;
  TensorList indices;
  Shape order;          // permutation that was applied
  int64_t back_to = 0;  // where the broadcast index dimensions belong in the result
};

// reads: nothing is written to self, which may then be a view of it.
Front to_front(Tensor self, const TensorList& given, bool reads = false) {
  TensorList expanded;  // one entry per dimension of self; undefined: not indexed
  for (const Tensor& each : given) {
    if (!each.defined() || each.dtype() != DType::Bool) {
      expanded.push_back(each.defined() ? beside(self, each) : each);
      continue;
    }
    // A mask of no dimension picks all or nothing of one more, of size 1.
    const bool single = each.ndim() == 0;
    if (single) self = unsqueeze(self, int64_t(expanded.size()));
    Tensor index = single ? reshape(each, Shape{1}) : each;
    for (int64_t d = 0; d < index.ndim(); ++d) {
      const auto at = int64_t(expanded.size()) + d;
      PKG_CHECK(at < self.ndim() && index.sizes()[size_t(d)] == self.sizes()[size_t(at)],
                IndexError, "[index] the shape of the mask ", index.sizes(), " at index ",
                d, " does not match the shape of the indexed tensor ", self.sizes());
    }
    if (reads && index.ndim() > 1 && self.is_contiguous()) {
      // Dimensions that lie in memory as one need one index; the mask is brought to lie so.
      const size_t at = expanded.size(), past = at + size_t(index.ndim());
      Shape merged(self.sizes().data(), at);
      merged.push_back(index.numel());
      for (size_t d = past; d < self.sizes().size(); ++d) merged.push_back(self.sizes()[d]);
      self = reshape(self, merged);
      index = reshape(index, Shape{index.numel()});
    }
    const Tensor places = nonzero(index);
    for (int64_t d = 0; d < index.ndim(); ++d) {
      expanded.push_back(beside(self, select(places, 1, d)));
    }
  }
  PKG_CHECK(int64_t(expanded.size()) <= self.ndim(), IndexError,
            "[index] too many indices for tensor of dimension ", self.ndim());
  Front front;
  Shape rest;
  bool adjacent = true;
  int64_t last = -1;
  for (int64_t d = 0; d < self.ndim(); ++d) {
    if (d < int64_t(expanded.size()) && expanded[size_t(d)].defined()) {
      adjacent &= last < 0 || last == d - 1;
      if (last < 0) front.back_to = d;
      last = d;
      front.order.push_back(d);
      front.indices.push_back(expanded[size_t(d)]);
    } else {
      rest.push_back(d);
    }
  }
  if (!adjacent) front.back_to = 0;
  for (int64_t d : rest) front.order.push_back(d);
  bool moved = false;
  for (size_t d = 0; d < front.order.size(); ++d) moved |= front.order[d] != int64_t(d);
  front.whole = self;
  front.self = moved ? permute(self, front.order) : self;
  return front;
}

// A vector of indices of one inner dimension names slices of it.
bool names_slices(const Front& front) {
  return front.back_to > 0 && front.indices.size() == 1 && front.indices[0].ndim() == 1;
}
Tensor for_slices(const Front& front, const Tensor& values) {
  if (values.ndim() == 0) return values;
  index_shape(front.indices);
  Shape want = front.whole.sizes();
  want[size_t(front.back_to)] = front.indices[0].numel();
  // What does not broadcast is refused by the op.
  if (values.sizes() == want ||
      broadcast_shapes("index_put", values.sizes(), want) != want) {
    return values;
  }
  return expand(values, want);
}

// Moves `count` leading dimensions to stand at `at`, or back.
Tensor move_front(const Tensor& t, int64_t count, int64_t at, bool back) {
  if (at == 0 || count == 0) return t;
  Shape order;
  const int64_t n = t.ndim();
  if (back) {
    for (int64_t d = at; d < at + count; ++d) order.push_back(d);
    for (int64_t d = 0; d < at; ++d) order.push_back(d);
  } else {
    for (int64_t d = count; d < count + at; ++d) order.push_back(d);
    for (int64_t d = 0; d < count; ++d) order.push_back(d);
  }
  for (int64_t d = at + count; d < n; ++d) order.push_back(d);
  return permute(t, order);
}

Tensor index(const Tensor& self, const TensorList& indices) {
  const Front front = to_front(self, indices, true);
  if (front.indices.empty()) return self;
  const auto count = int64_t(index_shape(front.indices).size());
  if (names_slices(front)) return slices_of(front.whole, front.back_to, front.indices[0]);
  return move_front(index_front(front.self, front.indices), count, front.back_to, false);
}

// values, laid out as self[indices], in the layout of the front form.
Tensor front_layout(const Front& front, const Tensor& values) {
  if (front.back_to == 0 || values.ndim() == 0) return values;
  const auto count = int64_t(index_shape(front.indices).size());
  Shape shape = index_rule(front.self, front.indices).sizes;
  std::rotate(shape.begin(), shape.begin() + count, shape.begin() + count + front.back_to);
  return move_front(expand(values, shape), count, front.back_to, true);
}

// The mask of self[mask] = number, to which that is masked_fill_; undefined if it is not.
Tensor mask_of_fill(const Tensor& self, const TensorList& indices, const Tensor& values) {
  if (indices.size() != 1 || !values.impl()->wrapped_number || !indices[0].defined())
    return {};
  Tensor mask = indices[0];
  const auto n = size_t(mask.ndim());
  if (mask.dtype() != DType::Bool || n == 0 || n > self.sizes().size() ||
      mask.is_meta() != self.is_meta() || Shape(self.sizes().data(), n) != mask.sizes() ||
      !fits(item(values), self.dtype())) {
    return {};
  }
  while (mask.ndim() < self.ndim()) mask = unsqueeze(mask, -1);
  return mask;
}

Tensor index_put_(const Tensor& self, const TensorList& indices, const Tensor& values,
                  bool accumulate) {
  const Tensor mask = accumulate ? Tensor() : mask_of_fill(self, indices, values);
  if (mask.defined()) return masked_fill_(self, mask, values);
  const Front front = to_front(self, indices);
  if (names_slices(front)) {
    slices_put_(front.whole, front.back_to, front.indices[0], for_slices(front, values),
                accumulate);
    return self;
  }
  const Tensor source = front_layout(front, values);
  put_front_(front.self, front.indices, source, accumulate);
  return self;
}

// index_put_ on a copy, recorded by autograd as one op.
Tensor put(const Tensor& self, const TensorList& indices, const Tensor& values,
           bool accumulate) {
  const Front front = to_front(self, indices);
  if (names_slices(front)) {
    return reshape(slices_put(front.whole, front.back_to, front.indices[0],
                              for_slices(front, values), accumulate),
                   self.sizes());
  }
  const Tensor source = front_layout(front, values);
  const Tensor result = put_front(front.self, front.indices, source, accumulate);
  Shape inverse(front.order.size(), 0);
  for (size_t d = 0; d < front.order.size(); ++d) {
    inverse[size_t(front.order[d])] = int64_t(d);
  }
  if (front.self.is_same(self)) return result;
  return contiguous(reshape(permute(result, inverse), self.sizes()));
}
Spec put_rule(const Tensor& self, const TensorList& indices, const Tensor& values, bool) {
  const Shape want = index_rule(self, indices).sizes;
  PKG_CHECK(broadcast_shapes("index_put", want, values.sizes()) == want, RuntimeError,
            "[index_put] shape mismatch: value tensor of shape ", values.sizes(),
            " cannot be broadcast to indexing result of shape ", want);
  if (values.impl()->wrapped_number) {
    check_written("index_put", item(values), self.dtype(), "values");
  }
  return self.spec();
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_index(Tensor self, Tensor[] indices) -> Tensor")
      .doc("self[indices[0], indices[1], ...] on the leading dimensions.")
      .reads_part()
      .shape(index_rule)
      .derivative(
          "self", "self.shape indices",
          [](const Tensor& g, const Shape& sizes, const TensorList& indices) {
            return gradient_of_read(
                g, sizes, indices,
                [&](const Tensor& zeros) { return put_front(zeros, indices, g, true); },
                [&](const Tensor& sum) { return put_front_(sum, indices, g, true); });
          });
  m.def("_index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) "
        "-> Tensor")
      .doc("self with values written (or added) at the indices of the leading dimensions.")
      .keeps_order()
      .shape(put_rule)
      .grad("indices accumulate",
            [](const GradContext& g) -> TensorList {
              const auto& indices = g.arg<TensorList>(1);
              const bool accumulate = g.arg<bool>(3);
              const size_t values_at = 1 + indices.size();
              Tensor self, values;
              if (g.needs(0)) {
                self = accumulate ? g.grad()
                                  : put_front(g.grad(), indices, Tensor(0.0), false);
              }
              if (g.needs(values_at)) {
                values = sum_to(index_front(g.grad(), indices), g.shape(values_at));
              }
              TensorList grads{self};
              grads.resize(values_at);
              grads.push_back(values);
              return grads;
            })
      .in_place();
  m.def("index(Tensor self, Tensor?[] indices) -> Tensor")
      .doc("Advanced indexing with integer and bool tensors, as NumPy defines it.")
      .composite(index);
  m.def("index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, "
        "bool accumulate=False) -> Tensor")
      .doc("self[indices] = values, or += with accumulate.")
      .composite(index_put_);
  m.def("nonzero(Tensor self) -> Tensor")
      .doc("Indices of the non-zero elements, one row each; waits for self.")
      .non_differentiable();
  m.def("masked_select(Tensor self, Tensor mask) -> Tensor")
      .doc("The elements where mask is true, as a vector.")
      .dtypes("mask", DType::Bool)
      .composite([](const Tensor& self, const Tensor& mask) {
        Shape sizes = broadcast_shapes("masked_select", self.sizes(), mask.sizes());
        if (sizes.empty()) sizes.push_back(1);
        return index(expand(self, sizes), {expand(mask, sizes)});
      });
  m.def("index_put(Tensor self, Tensor?[] indices, Tensor values, "
        "bool accumulate=False) -> Tensor")
      .doc("A copy of self with values written (or added) at self[indices].")
      .composite(put);
  m.def("embedding(Tensor weight, Tensor indices) -> Tensor")
      .doc("The rows of weight that indices name.")
      .dtypes("indices", kIntegerDTypes)
      .composite([](const Tensor& weight, const Tensor& indices) {
        PKG_CHECK(weight.ndim() == 2, RuntimeError,
                  "[embedding] 'weight' must be 2-D, got "
                  "shape ",
                  weight.sizes());
        return index(weight, TensorList{indices});
      });
  m.def("take(Tensor self, Tensor index) -> Tensor")
      .doc("Elements of the flattened tensor, in the shape of index.")
      .dtypes("index", kIntegerDTypes)
      .composite([](const Tensor& self, const Tensor& i) {
        PKG_CHECK(self.numel() > 0 || i.numel() == 0, IndexError,
                  "[take] tried to take from an empty tensor");
        return index_front(reshape(self, Shape{self.numel()}), TensorList{beside(self, i)});
      });
}

}  // namespace
}  // namespace pkg::ops

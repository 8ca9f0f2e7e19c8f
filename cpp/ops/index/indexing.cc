// SPDX-License-Identifier: Apache-2.0
// ops/index/indexing.cc: advanced indexing, reduced to two ops on the leading dimensions.
//
// index() moves the indexed dimensions to the front (a view), turns masks into index
// tensors, and calls _index; index_put_() likewise with _index_put.
#include "base/number_fits.h"
#include "ops/op.h"

namespace pkg::ops {
namespace {

const Op<Tensor(const Tensor&, const TensorList&, const Tensor&, bool)> put_front{
    "_index_put"};
const Op<Tensor(const Tensor&, const TensorList&, const Tensor&, bool)> put_front_{
    "_index_put_"};

Shape index_shape(const TensorList& indices) {
  Shape shape;
  for (const Tensor& index : indices) {
    PKG_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32 ||
                  index.dtype() == DType::UInt8 || index.dtype() == DType::Int8,
              IndexError, "[index] tensors used as indices must be integer or bool "
              "tensors, got ", index.dtype());
    try {
      shape = broadcast_shapes("index", shape, index.sizes());
    } catch (const RuntimeError&) {
      detail::raise<IndexError>(
          "[index] shape mismatch: indexing tensors could not be broadcast together with "
          "shapes ", shape, ", ", index.sizes());
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
  Tensor self;
  TensorList indices;
  Shape order;  // permutation that was applied
  int64_t back_to = 0;  // where the broadcast index dimensions belong in the result
};

// Of an index into a meta tensor the shape is all that counts.
Tensor beside(const Tensor& self, const Tensor& index) {
  if (!self.is_meta() || index.is_meta()) return index;
  return empty(index.sizes(), index.dtype(), self.device());
}

Front to_front(Tensor self, const TensorList& given) {
  TensorList expanded;  // one entry per dimension of self; undefined: not indexed
  for (const Tensor& each : given) {
    if (!each.defined() || each.dtype() != DType::Bool) {
      expanded.push_back(each.defined() ? beside(self, each) : each);
      continue;
    }
    // A mask of no dimension picks all or nothing of one more, of size 1.
    const bool single = each.ndim() == 0;
    if (single) self = unsqueeze(self, int64_t(expanded.size()));
    const Tensor index = single ? reshape(each, Shape{1}) : each;
    for (int64_t d = 0; d < index.ndim(); ++d) {
      const auto at = int64_t(expanded.size()) + d;
      PKG_CHECK(at < self.ndim() && index.sizes()[size_t(d)] == self.sizes()[size_t(at)],
                IndexError, "[index] the shape of the mask ", index.sizes(), " at index ",
                d, " does not match the shape of the indexed tensor ", self.sizes());
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
  front.self = moved ? permute(self, front.order) : self;
  return front;
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
  const Front front = to_front(self, indices);
  if (front.indices.empty()) return self;
  const auto count = int64_t(index_shape(front.indices).size());
  return move_front(index_front(front.self, front.indices), count, front.back_to, false);
}

// values, laid out as self[indices], in the layout of the front form.
Tensor front_layout(const Front& front, const Tensor& values) {
  if (front.back_to == 0 || values.ndim() == 0) return values;
  const auto count = int64_t(index_shape(front.indices).size());
  Shape shape = index_rule(front.self, front.indices).sizes;
  std::rotate(shape.begin(), shape.begin() + count,
              shape.begin() + count + front.back_to);
  return move_front(expand(values, shape), count, front.back_to, true);
}

Tensor index_put_(const Tensor& self, const TensorList& indices, const Tensor& values,
                  bool accumulate) {
  const Front front = to_front(self, indices);
  const Tensor source = front_layout(front, values);
  put_front_(front.self, front.indices, source, accumulate);
  return self;
}

// A tensor of no dimension as a vector of its element.
Tensor vector(const Tensor& t) { return t.ndim() == 0 ? reshape(t, Shape{1}) : t; }

// The indices that name slices of dim.
TensorList slices(const char* op, const Tensor& self, int64_t dim, const Tensor& i) {
  PKG_CHECK(i.ndim() <= 1, IndexError, "[", op, "] Index is supposed to be a vector of "
            "slices of a dimension, got index ", i.sizes(), " for ", self.sizes());
  PKG_CHECK(is_integral(i.dtype()), RuntimeError, "[", op, "] Expected an integer dtype for "
            "index, got ", i.dtype());
  TensorList indices(size_t(wrap_dim(op, dim, self.ndim())));
  indices.push_back(vector(i));
  return indices;
}
// What is written to the slices: one of self's for each index, nothing broadcasts.
Tensor source_of(const char* op, const Tensor& self, int64_t dim, const Tensor& i,
                 const Tensor& source) {
  const Tensor slices = self.ndim() == 0 ? vector(source) : source;
  Shape want = vector(self).sizes();
  want[size_t(wrap_dim(op, dim, self.ndim()))] = i.numel();
  PKG_CHECK(slices.sizes() == want, RuntimeError, "[", op, "] source tensor shape must match "
            "self tensor shape, excluding the specified dimension, which has one slice for "
            "each index: expected ", want, ", got ", source.sizes());
  return slices;
}
// alpha * t in the dtype of the tensor written to, which alpha is converted to first: for
// integers it loses its fraction, for bools it is one.
Tensor scaled(const Tensor& t, const Scalar& alpha, DType dtype) {
  if (alpha == Scalar(1)) return t;
  check_factor("index_add", alpha, dtype, "alpha");
  if (dtype == DType::Bool) return alpha.to<bool>() ? t : mul(t, Tensor(false));
  if (!alpha.is_float() || !is_integral(dtype)) return mul(t, Tensor(alpha));
  return mul(t, Tensor(Scalar(alpha.to<int64_t>())));
}
// index_put_ on a copy, recorded by autograd as one op.
Tensor put(const Tensor& self, const TensorList& indices, const Tensor& values,
           bool accumulate) {
  const Front front = to_front(self, indices);
  const Tensor source = front_layout(front, values);
  const Tensor result = put_front(front.self, front.indices, source, accumulate);
  Shape inverse(front.order.size(), 0);
  for (size_t d = 0; d < front.order.size(); ++d) {
    inverse[size_t(front.order[d])] = int64_t(d);
  }
  if (front.self.is_same(self)) return result;
  return contiguous(reshape(permute(result, inverse), self.sizes()));
}
// Writes values to slices of self, or of the vector that stands for a 0-d self: a copy of
// it, or in place.
Tensor write_slices(const Tensor& self, const TensorList& at, const Tensor& values,
                    bool accumulate, bool in_place) {
  const Tensor target = vector(self);
  if (in_place) {
    index_put_(target, at, values, accumulate);
    return self;
  }
  const Tensor result = put(target, at, values, accumulate);
  return self.ndim() == 0 ? reshape(result, Shape()) : result;
}
template <bool InPlace>
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& i, const Tensor& source,
                 const Scalar& alpha) {
  const TensorList at = slices("index_add", self, dim, i);
  return write_slices(self, at,
                      scaled(source_of("index_add", self, dim, i, source), alpha, self.dtype()),
                      true, InPlace);
}
template <bool InPlace>
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& i, const Tensor& source) {
  const TensorList at = slices("index_copy", self, dim, i);
  // A 0-d source is a slice of a vector.
  const Tensor& given = self.ndim() == 1 ? vector(source) : source;
  return write_slices(self, at, source_of("index_copy", self, dim, i, given), false, InPlace);
}
template <bool InPlace>
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& i, const Scalar& value) {
  check_fits("index_fill", value, self.dtype());
  return write_slices(self, slices("index_fill", self, dim, i), Tensor(value), false, InPlace);
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
      .shape(index_rule)
      .grad("indices", [](const GradContext& g) -> TensorList {
        const Tensor zeros = zeros_of(g.shape(0), g.grad());
        const auto& indices = g.arg<TensorList>(1);
        TensorList grads{put_front(zeros, indices, g.grad(), true)};
        grads.resize(1 + indices.size());
        return grads;
      });
  m.def("_index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) "
        "-> Tensor")
      .doc("self with values written (or added) at the indices of the leading dimensions.")
      .shape(put_rule)
      .grad("indices accumulate", [](const GradContext& g) -> TensorList {
        const auto& indices = g.arg<TensorList>(1);
        Tensor self, values;
        if (g.needs(0)) {
          self = g.arg<bool>(3) ? g.grad()
                                : put_front(g.grad(), indices, Tensor(0.0), false);
        }
        const size_t at = 1 + indices.size();
        if (g.needs(at)) values = sum_to(index_front(g.grad(), indices), g.shape(at));
        TensorList grads{self};
        grads.resize(at);
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
  m.def("index_select(Tensor self, int dim, Tensor index) -> Tensor")
      .doc("The slices of dim that a 1-d index names.")
      .dtypes("index", kIntegerDTypes)
      .composite([](const Tensor& self, int64_t dim, const Tensor& i) {
        const TensorList at = slices("index_select", self, dim, i);
        if (self.ndim() > 0) return index(self, at);
        PKG_CHECK(i.numel() == 1, RuntimeError, "[index_select] Index to a 0-d tensor can "
                  "have only 1 value, got ", i.numel());
        return reshape(index(vector(self), at), Shape());
      });
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
  m.def("index_add(Tensor self, int dim, Tensor index, Tensor source, *, "
        "Scalar alpha=1) -> Tensor")
      .doc("self with alpha * source[i] added to slice index[i] of dim.")
      .dtypes("index", kIntegerDTypes)
      .composite(index_add<false>);
  m.def("index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, "
        "Scalar alpha=1) -> Tensor(a!)")
      .doc("In-place form of index_add.")
      .dtypes("index", kIntegerDTypes)
      .composite(index_add<true>);
  m.def("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor")
      .doc("self with source[i] written to slice index[i] of dim.")
      .dtypes("index", kIntegerDTypes)
      .composite(index_copy<false>);
  m.def("index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) "
        "-> Tensor(a!)")
      .doc("In-place form of index_copy.")
      .dtypes("index", kIntegerDTypes)
      .composite(index_copy<true>);
  m.def("index_fill(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
      .doc("self with one value in the slices of dim that index names.")
      .dtypes("index", kIntegerDTypes)
      .composite(index_fill<false>);
  m.def("index_fill_(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)")
      .doc("In-place form of index_fill.")
      .dtypes("index", kIntegerDTypes)
      .composite(index_fill<true>);
  m.def("index_put(Tensor self, Tensor?[] indices, Tensor values, "
        "bool accumulate=False) -> Tensor")
      .doc("A copy of self with values written (or added) at self[indices].")
      .composite(put);
  m.def("embedding(Tensor weight, Tensor indices) -> Tensor")
      .doc("The rows of weight that indices name.")
      .dtypes("indices", kIntegerDTypes)
      .composite([](const Tensor& weight, const Tensor& indices) {
        PKG_CHECK(weight.ndim() == 2, RuntimeError, "[embedding] 'weight' must be 2-D, got "
                  "shape ", weight.sizes());
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

// SPDX-License-Identifier: Apache-2.0
// ops/index/slices.cc: slices of one dimension that a vector of integers names.
#include "ops/index/slices.h"

#include <algorithm>
#include <functional>

#include "base/number_fits.h"
#include "ops/op.h"

namespace pkg::ops {
namespace {

// A tensor of no dimension as a vector of its element.
Tensor vector(const Tensor& t) { return t.ndim() == 0 ? reshape(t, Shape{1}) : t; }

// The vector of indices that name slices of dim.
Tensor slices(const char* op, const Tensor& self, int64_t dim, const Tensor& i) {
  PKG_CHECK(i.ndim() <= 1, IndexError, "[", op,
            "] Index is supposed to be a vector of "
            "slices of a dimension, got index ",
            i.sizes(), " for ", self.sizes());
  PKG_CHECK(is_integral(i.dtype()), RuntimeError, "[", op,
            "] Expected an integer dtype for "
            "index, got ",
            i.dtype());
  wrap_dim(op, dim, self.ndim());
  return beside(self, vector(i));
}
// What is written to the slices: one of self's for each index, nothing broadcasts.
Tensor source_of(const char* op, const Tensor& self, int64_t dim, const Tensor& i,
                 const Tensor& source) {
  const Tensor slices = self.ndim() == 0 ? vector(source) : source;
  Shape want = vector(self).sizes();
  want[size_t(wrap_dim(op, dim, self.ndim()))] = i.numel();
  PKG_CHECK(slices.sizes() == want, RuntimeError, "[", op,
            "] source tensor shape must match "
            "self tensor shape, excluding the specified dimension, which has one slice for "
            "each index: expected ",
            want, ", got ", source.sizes());
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
// Writes values to slices of self, or of the vector that stands for a 0-d self: a copy of
// it, or in place.
Tensor write_slices(const Tensor& self, int64_t dim, const Tensor& i, const Tensor& values,
                    bool accumulate, bool in_place) {
  const Tensor target = vector(self);
  if (in_place) {
    slices_put_(target, dim, i, values, accumulate);
    return self;
  }
  const Tensor result = slices_put(target, dim, i, values, accumulate);
  return self.ndim() == 0 ? reshape(result, Shape()) : result;
}
template <bool InPlace>
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& i, const Tensor& source,
                 const Scalar& alpha) {
  const Tensor at = slices("index_add", self, dim, i);
  const Tensor added = source_of("index_add", self, dim, i, source);
  return write_slices(self, dim, at, scaled(added, alpha, self.dtype()), true, InPlace);
}
template <bool InPlace>
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& i, const Tensor& source) {
  const Tensor at = slices("index_copy", self, dim, i);
  // A 0-d source is a slice of a vector.
  const Tensor& given = self.ndim() == 1 ? vector(source) : source;
  return write_slices(self, dim, at, source_of("index_copy", self, dim, i, given), false,
                      InPlace);
}
template <bool InPlace>
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& i, const Scalar& value) {
  check_fits("index_fill", value, self.dtype());
  const Tensor at = slices("index_fill", self, dim, i);
  return write_slices(self, dim, at, Tensor(value), false, InPlace);
}
Tensor select_slices(const Tensor& self, int64_t dim, const Tensor& i) {
  const Tensor at = slices("index_select", self, dim, i);
  if (self.ndim() > 0) {
    if (wrap_dim("index_select", dim, self.ndim()) > 0) return slices_of(self, dim, at);
    return index_front(self, TensorList{at});
  }
  PKG_CHECK(i.numel() == 1, RuntimeError,
            "[index_select] Index to a 0-d tensor can "
            "have only 1 value, got ",
            i.numel());
  return reshape(index_front(vector(self), TensorList{at}), Shape());
}

Shape slices_shape(const Tensor& self, int64_t dim, const Tensor& index) {
  PKG_CHECK(self.ndim() > 0 && index.ndim() == 1, RuntimeError,
            "[index] expected a vector of "
            "indices of a dimension, got shape ",
            index.sizes(), " for ", self.sizes());
  Shape sizes = self.sizes();
  sizes[size_t(wrap_dim("index", dim, self.ndim()))] = index.numel();
  return sizes;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_slices(Tensor self, int dim, Tensor index) -> Tensor")
      .doc("The slices of dim that a vector names; negative indices count from the end.")
      .reads_part()
      .dtypes("index", kIntegerDTypes)
      .shape([](const Tensor& self, int64_t dim, const Tensor& index) {
        return Spec{slices_shape(self, dim, index), self.dtype(), self.device()};
      })
      .derivative(
          "self", "self.shape dim index",
          [](const Tensor& g, const Shape& sizes, int64_t dim, const Tensor& index) {
            return gradient_of_read(
                g, sizes, {&index, 1},
                [&](const Tensor& zeros) { return slices_put(zeros, dim, index, g, true); },
                [&](const Tensor& sum) { return slices_put_(sum, dim, index, g, true); });
          });
  m.def("_slices_put(Tensor self, int dim, Tensor index, Tensor source, "
        "bool accumulate=False) -> Tensor")
      .doc("self with source, slices or one number, written (or added) to slices of dim.")
      .keeps_order()
      .dtypes("index", kIntegerDTypes)
      .shape([](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                bool) {
        const Shape want = slices_shape(self, dim, index);
        PKG_CHECK(source.ndim() == 0 || source.sizes() == want, RuntimeError,
                  "[index_put] "
                  "shape mismatch: value tensor of shape ",
                  source.sizes(), " cannot be broadcast to indexing result of shape ",
                  want);
        if (source.impl()->wrapped_number) {
          check_written("index_put", item(source), self.dtype(), "values");
        }
        return self.spec();
      })
      .derivative("self", "dim index accumulate",
                  [](const Tensor& g, int64_t dim, const Tensor& index, bool accumulate) {
                    return accumulate ? g : slices_put(g, dim, index, Tensor(0.0), false);
                  })
      .derivative(
          "source", "dim index source.shape",
          [](const Tensor& g, int64_t dim, const Tensor& index, const Shape& sizes) {
            return sum_to(slices_of(g, dim, index), sizes);
          })
      .in_place();
  m.def("index_select(Tensor self, int dim, Tensor index) -> Tensor")
      .doc("The slices of dim that a 1-d index names.")
      .dtypes("index", kIntegerDTypes)
      .composite(select_slices);
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
}

}  // namespace

bool are_distinct(std::span<const Tensor> indices) {
  const auto one = [](const Tensor& index) { return index.numel() == 1; };
  if (std::all_of(indices.begin(), indices.end(), one)) return true;
  if (indices.size() != 1 || indices[0].dtype() != DType::Int64) return false;
  const Tensor& index = indices[0];
  if (!index.is_contiguous() || index.device() != Device{}) return false;
  index.wait();
  const std::span places(index.data<int64_t>(), size_t(index.numel()));
  return places.empty() ||
         (places[0] >= 0 && std::adjacent_find(places.begin(), places.end(),
                                               std::greater_equal<>()) == places.end());
}

}  // namespace pkg::ops
